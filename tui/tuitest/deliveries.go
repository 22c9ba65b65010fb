package tuitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rewardctl/inspect"
	"rewardctl/repair"
)

// Outbox implements tui.Inspector.
func (w *World) Outbox(ctx context.Context, q inspect.OutboxQuery) (inspect.OutboxPage, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.OutboxPage{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var page inspect.OutboxPage
	for _, row := range w.outbox {
		if len(q.IDs) == 0 || slices.Contains(q.IDs, row.LedgerID) {
			page.Rows = append(page.Rows, row)
		}
	}
	return page, nil
}

// OutboxBacklog implements tui.Inspector.
func (w *World) OutboxBacklog(ctx context.Context) (inspect.OutboxBacklog, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.OutboxBacklog{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b := inspect.OutboxBacklog{ServerTime: w.now()}
	for i := range w.outbox {
		if at := w.outbox[i].PostedAt; w.outbox[i].State == "pending" &&
			(b.OldestAt == nil || at.Before(*b.OldestAt)) {
			b.OldestAt = &at
		}
		switch w.outbox[i].Lane {
		case inspect.OutboxDead:
			b.Dead++
		case inspect.OutboxParked:
			b.Parked++
		case inspect.OutboxRetrying:
			b.Retrying++
		default:
			b.Fresh++
		}
	}
	return b, nil
}

// OutboxShow implements tui.Inspector.
func (w *World) OutboxShow(ctx context.Context, id int64) (inspect.OutboxDetail, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.OutboxDetail{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, row := range w.outbox {
		if row.LedgerID == id {
			return inspect.OutboxDetail{
				OutboxRow: row, Key: row.EventID, Message: fmt.Appendf(nil,
					`{"specversion":"1.0","id":%q,"type":"reward.granted","data":`+
						`{"player_id":%q,"kind":%q,"amount":%d,"tags":["daily","late"]}}`, row.EventID,
					row.PlayerID, row.Kind, row.Amount),
				Attempts: []inspect.OutboxAttempt{{
					Attempt: 1, Relay: "relay-1@game-1/9", Sink: "http", Verdict: "refused",
					Detail: "400: unknown item", Started: row.PostedAt, Ended: row.PostedAt.Add(time.Second),
				}},
			}, nil
		}
	}
	return inspect.OutboxDetail{}, &inspect.NotFoundError{What: "delivery", Name: "row"}
}

// SetOutbox replaces the deliveries.
func (w *World) SetOutbox(rows []inspect.OutboxRow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outbox = rows
}

// Changed returns the deeds on deliveries that were carried out.
func (w *World) Changed() []repair.OutboxRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.OutboxRequest(nil), w.changed...)
}

// ChangeOutbox implements tui.Operator.
func (w *World) ChangeOutbox(ctx context.Context, q repair.OutboxRequest) (
	repair.OutboxChange, error,
) {
	if err := w.enter(ctx); err != nil {
		return repair.OutboxChange{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out repair.OutboxChange
	for i := range w.outbox {
		row := &w.outbox[i]
		all := q.LedgerID == 0 && row.State == q.Filter.State
		if row.LedgerID != q.LedgerID && !all {
			continue
		}
		if !all && (row.State != q.State || row.Attempts != q.Attempts) {
			return out, &repair.PreconditionError{
				Resource: q.Target(), Have: row.State, Want: q.State, WayOut: "look again",
			}
		}
		out.Rows++
		if !q.DryRun {
			out.Before, row.State = row.State, "pending"
			row.Lane, out.LogID = inspect.OutboxFresh, 31
			if q.Deed == repair.OutboxPark {
				row.State, row.Lane = "parked", inspect.OutboxParked
			}
		}
	}
	if !q.DryRun {
		w.changed = append(w.changed, q)
	}
	return out, nil
}

// ChangeOutboxMany implements tui.Operator.
func (w *World) ChangeOutboxMany(
	ctx context.Context, set repair.OutboxSet, onDone func(repair.OutboxOf),
) []repair.OutboxOf {
	out := make([]repair.OutboxOf, len(set.Requests))
	for i, req := range set.Requests {
		out[i].Request = req
		out[i].Change, out[i].Err = w.ChangeOutbox(ctx, req)
		onDone(out[i])
	}
	return out
}

// Log implements tui.Inspector.
func (w *World) Log(ctx context.Context, q inspect.LogQuery) (inspect.LogPage, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.LogPage{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var page inspect.LogPage
	for _, e := range w.log {
		if !q.Unfinished || e.Phase == inspect.LogIntent {
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}

// VerifyLog implements tui.Inspector.
func (w *World) VerifyLog(ctx context.Context, _ inspect.LogCheck) (inspect.LogVerdict, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.LogVerdict{}, err
	}
	return inspect.LogVerdict{State: inspect.LogIntact, Rows: 3, LastID: 3}, nil
}

// fillDeliveries puts deliveries and a log into the world.
func (w *World) fillDeliveries() {
	at := w.now().Add(-20 * time.Minute)
	row := func(id int64, state string, lane inspect.OutboxLane, tries int, problem string,
	) inspect.OutboxRow {
		return inspect.OutboxRow{
			LedgerID: id, PlayerID: "player-42", EventID: "daily:player-42:2026-11-28:gems:v1",
			Kind: "gems", Amount: 50, PostedAt: at.Add(time.Duration(id) * time.Second), State: state,
			Lane: lane, Attempts: tries, LastError: problem,
		}
	}
	w.SetOutbox([]inspect.OutboxRow{
		row(88, "dead", inspect.OutboxDead, 8, "400: unknown item"),
		row(91, "pending", inspect.OutboxRetrying, 2, "503: try later"),
		row(92, "parked", inspect.OutboxParked, 1, ""),
		row(95, "pending", inspect.OutboxFresh, 0, ""),
	})
	w.outbox[1].NextAttempt = w.now().Add(40 * time.Second)
	w.log = []inspect.LogEntry{
		{
			ID: 3, At: at.Add(2 * time.Minute), Operator: "mlee", DBUser: "ops", Host: "desk-7",
			Action: "lease release", Target: "reward:player-9", Phase: inspect.LogResult, Intent: 2,
			Outcome: "released", Reason: "worker is gone", Ticket: "INC-77",
			Command:   "rewardctl lease release reward:player-9 --owner w-9 --token 7 --reason gone",
			Observed:  `{"lock": "7:w-9", "left": "12s"}`,
			Arguments: `{"resource": "reward:player-9", "owner": "w-9", "token": "7"}`,
			Before:    `{"fence": "6", "lock": "7:w-9"}`, After: `{"fence": "7", "lock": "none"}`,
		},
		{
			ID: 2, At: at.Add(2 * time.Minute), Operator: "mlee", DBUser: "ops", Host: "desk-7",
			Action: "lease release", Target: "reward:player-9", Phase: inspect.LogIntent,
			Reason: "worker is gone", Command: "rewardctl lease release reward:player-9",
			Arguments: `{"resource": "reward:player-9", "owner": "w-9", "token": "7"}`,
		},
		{
			ID: 1, At: at, Operator: "jo", DBUser: "support", Host: "desk-2", Action: "grant create",
			Target: "player-42", Phase: inspect.LogDenied, Outcome: "denied: over the limit",
			Reason: "outage", Command: "rewardctl grant create --player player-42",
			Arguments: `{"player": "player-42", "event": "outage:player-42:ZD-5512:gems:v1", ` +
				`"kind": "gems", "amount": "200"}`,
		},
	}
}
