package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// outboxSeen is an outbox row as a deed finds it.
type outboxSeen struct {
	LedgerID  int64  `db:"ledger_id"`
	State     string `db:"state"`
	Attempts  int    `db:"attempts"`
	Player    string `db:"player_id"`
	LastError string `db:"last_error"`
	InFlight  bool   `db:"in_flight"`
}

func (s outboxSeen) words() string {
	if s.InFlight {
		return "on its way: a relay has it"
	}
	return fmt.Sprintf("%s after %d attempts", s.State, s.Attempts)
}

// ChangeOutbox carries out a deed on outbox rows, with its log row in the same transaction: all of
// the rows that were counted, or none. It returns a *PreconditionError when a row or the number
// of rows is not as the operator saw it, a *NotFoundError, a *grant.Rejection for a request
// that makes no sense, and a *grant.BackendError when PostgreSQL did not do it.
func (o *Operator) ChangeOutbox(ctx context.Context, r OutboxRequest) (OutboxChange, error) {
	if problem := r.check(); problem != nil {
		return OutboxChange{}, problem
	}
	if err := checkReason(r.Reason); err != nil {
		return OutboxChange{}, err
	}
	if r.DryRun {
		return o.countOutbox(ctx, r)
	}
	var change OutboxChange
	err := o.write(ctx, r.Word(), func(ctx context.Context, tx pgx.Tx) error {
		change = OutboxChange{}
		rows, err := collect[outboxSeen](ctx, tx, outboxMatchSQL, r.matchArgs())
		if err != nil {
			return err
		}
		if err := r.expected(rows); err != nil {
			return err
		}
		if change.Rows, err = r.apply(ctx, tx, rows); err != nil {
			return err
		}
		change.describe(r, rows)
		row, err := o.log(ctx, tx, r.entry(phaseResult, rows, change.Rows))
		change.LogID, change.At = row.ID, row.At
		return err
	})
	return change, o.denyOutbox(ctx, r, err)
}

// outboxFilterArgs are the parameters that a filter fills.
type outboxFilterArgs struct {
	State  string     `db:"state"`
	Player string     `db:"player"`
	Kind   string     `db:"kind"`
	Error  string     `db:"error"`
	Since  *time.Time `db:"since"`
	Until  *time.Time `db:"until"`
}

func (r OutboxRequest) filterArgs() outboxFilterArgs {
	f := r.Filter
	args := outboxFilterArgs{State: f.State, Player: f.Player, Kind: f.Kind, Error: f.Error}
	if !f.Since.IsZero() {
		args.Since = &f.Since
	}
	if !f.Until.IsZero() {
		args.Until = &f.Until
	}
	return args
}

type outboxMatchArgs struct {
	LedgerID int64      `db:"ledger_id"`
	State    string     `db:"state"`
	Player   string     `db:"player"`
	Kind     string     `db:"kind"`
	Error    string     `db:"error"`
	Since    *time.Time `db:"since"`
	Until    *time.Time `db:"until"`
}

func (r OutboxRequest) matchArgs() outboxMatchArgs {
	if r.LedgerID != 0 {
		return outboxMatchArgs{LedgerID: r.LedgerID}
	}
	f := r.filterArgs()
	return outboxMatchArgs{
		State: f.State, Player: f.Player, Kind: f.Kind, Error: f.Error, Since: f.Since,
		Until: f.Until,
	}
}

// expected compares what is there with what the operator saw.
func (r OutboxRequest) expected(rows []outboxSeen) error {
	if r.LedgerID == 0 {
		if n := int64(len(rows)); n != r.Expect {
			return &PreconditionError{
				Resource: "the filter", Have: fmt.Sprintf("%d rows", n),
				Want: fmt.Sprintf("%d", r.Expect), WayOut: "count them again, with --dry-run",
			}
		}
		return nil
	}
	if len(rows) == 0 {
		return &NotFoundError{What: "outbox row", Name: strconv.FormatInt(r.LedgerID, 10)}
	}
	return r.asSeen(rows[0])
}

func (r OutboxRequest) asSeen(row outboxSeen) error {
	fits := r.State == row.State || r.State == "" && contained(r.Deed.possible(), row.State)
	// A claim that is over is as good as none.
	if row.State == "claimed" && !row.InFlight {
		fits = r.State == "" || r.State == "pending"
	}
	if fits && !row.InFlight && (r.Attempts < 0 || r.Attempts == row.Attempts) {
		return nil
	}
	want := r.State
	if want == "" {
		want = eitherOf(r.Deed.possible())
	}
	if r.Attempts >= 0 {
		want += fmt.Sprintf(" after %d attempts", r.Attempts)
	}
	return &PreconditionError{
		Resource: fmt.Sprintf("outbox row %d", row.LedgerID), Have: row.words(), Want: want,
		WayOut: fmt.Sprintf("look again: rewardctl outbox show %d", row.LedgerID),
	}
}

func (r OutboxRequest) apply(
	ctx context.Context, tx pgx.Tx, rows []outboxSeen,
) (int64, error) {
	sql := outboxRequeueSQL
	if r.Deed == OutboxPark {
		sql = outboxParkSQL
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.LedgerID
	}
	changed, err := first(collect[struct {
		Rows  int64  `db:"rows"`
		Woken string `db:"woken"`
	}](ctx, tx, sql, struct {
		IDs []int64 `db:"ids"`
	}{ids}))
	if err != nil {
		return 0, err
	}
	if changed.Rows != int64(len(rows)) {
		return 0, fmt.Errorf("%d rows were changed, not the %d that are locked", changed.Rows,
			len(rows))
	}
	return changed.Rows, nil
}

func (c *OutboxChange) describe(r OutboxRequest, rows []outboxSeen) {
	if r.LedgerID != 0 && len(rows) == 1 {
		c.Before, c.Player = rows[0].words(), rows[0].Player
	}
}

// countOutbox tells what a deed would do.
func (o *Operator) countOutbox(ctx context.Context, r OutboxRequest) (OutboxChange, error) {
	var change OutboxChange
	err := o.read(ctx, "preview "+r.Word(), func(ctx context.Context, tx pgx.Tx) error {
		if r.LedgerID == 0 {
			count, err := first(collect[struct {
				Rows int64 `db:"rows"`
			}](ctx, tx, outboxCountSQL, r.filterArgs()))
			change.Rows = value(count).Rows
			return err
		}
		rows, err := collect[outboxSeen](ctx, tx, outboxLookSQL, struct {
			LedgerID int64 `db:"ledger_id"`
		}{r.LedgerID})
		if err != nil {
			return err
		}
		if err := r.expected(rows); err != nil {
			return err
		}
		change.Rows = 1
		change.describe(r, rows)
		return nil
	})
	return change, plain(err)
}

// plain takes an answer of ours out of the error of the server that the transaction makes of it.
func plain(err error) error {
	var changed *PreconditionError
	var missing *NotFoundError
	switch {
	case errors.As(err, &changed):
		return changed
	case errors.As(err, &missing):
		return missing
	}
	return err
}

// denyOutbox writes down a deed that was refused because something had changed.
func (o *Operator) denyOutbox(ctx context.Context, r OutboxRequest, err error) error {
	err = plain(err)
	var changed *PreconditionError
	if !errors.As(err, &changed) {
		return err
	}
	e := r.entry(phaseDenied, nil, 0)
	e.outcome, e.observed = "precondition", map[string]string{"now": changed.Have}
	row, logErr := o.logAlone(ctx, e)
	changed.DenialID = row.ID
	if logErr != nil {
		changed.LogProblem = logErr.Error()
	}
	return changed
}

// entry is the row of the log.
func (r OutboxRequest) entry(phase string, rows []outboxSeen, changed int64) entry {
	e := entry{
		action: r, phase: phase, reason: r.Reason,
		outcome:   fmt.Sprintf("%sed: %d rows", r.Deed, changed),
		arguments: map[string]string{}, observed: map[string]string{},
	}
	if r.Deed == OutboxRequeue {
		e.outcome = fmt.Sprintf("requeued: %d rows", changed)
	}
	if r.LedgerID == 0 {
		f := r.Filter
		for name, text := range map[string]string{
			"state": f.State, "player": f.Player, "kind": f.Kind, "error": f.Error,
			"since": stamp(f.Since), "until": stamp(f.Until),
			"expect": strconv.FormatInt(r.Expect, 10),
		} {
			if text != "" {
				e.arguments[name] = text
			}
		}
		if len(rows) > 0 {
			e.observed["first"] = strconv.FormatInt(rows[0].LedgerID, 10)
			e.observed["last"] = strconv.FormatInt(rows[len(rows)-1].LedgerID, 10)
		}
		return e
	}
	e.arguments["ledger_id"] = strconv.FormatInt(r.LedgerID, 10)
	if len(rows) == 1 {
		e.observed = map[string]string{
			"state": rows[0].State, "attempts": strconv.Itoa(rows[0].Attempts),
			"player": rows[0].Player, "last_error": rows[0].LastError,
		}
		if changed == 1 {
			e.before = map[string]string{"state": rows[0].State}
			e.after = map[string]string{"state": "pending"}
			if r.Deed == OutboxPark {
				e.after["state"] = "parked"
			}
		}
	}
	return e
}

// eitherOf lists two words or more for a sentence, such as "dead, parked or pending".
func eitherOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
