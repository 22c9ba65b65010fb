package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// OutboxLane says where an outbox row stands on its way.
type OutboxLane string

// The lanes.
const (
	OutboxFresh     OutboxLane = "fresh"     // to be sent, never tried or requeued
	OutboxRetrying  OutboxLane = "retrying"  // an attempt failed, another is due later
	OutboxClaimed   OutboxLane = "in_flight" // a relay has it
	OutboxWaiting   OutboxLane = "waiting"   // an earlier row of the same player comes first
	OutboxDelivered OutboxLane = "delivered"
	OutboxDead      OutboxLane = "dead"   // given up; an operator may requeue it
	OutboxParked    OutboxLane = "parked" // taken out by an operator
)

// OutboxLanes lists the lanes in the order of a row's way.
func OutboxLanes() []OutboxLane {
	return []OutboxLane{
		OutboxFresh, OutboxRetrying, OutboxClaimed, OutboxWaiting, OutboxDelivered, OutboxDead,
		OutboxParked,
	}
}

// OutboxRow is the delivery of one posting.
type OutboxRow struct {
	LedgerID int64
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64
	Token    int64
	PostedAt time.Time

	State    string // as it is stored: pending, claimed, delivered, dead or parked
	Lane     OutboxLane
	Attempts int  // made so far
	Strikes  int  // of these, since the last requeue, those that count towards giving up
	Doubt    bool // the last attempt may have arrived

	NextAttempt  time.Time // zero when it is not waiting for one
	ClaimedBy    string    // the relay that has it; empty when none does
	ClaimedUntil time.Time
	Delivered    time.Time // zero until it is
	LastError    string    // text of a receiver: it may hold anything

	// BehindID is the earlier row of the same player that it waits for; 0 when it waits for none.
	BehindID    int64
	BehindState string
}

// Why says in words what the row waits for; empty when it waits for nothing.
func (r OutboxRow) Why() string {
	switch {
	case r.BehindID != 0 && (r.BehindState == "dead" || r.BehindState == "parked"):
		return fmt.Sprintf("waits until an operator deals with %d of the same player, which is %s",
			r.BehindID, r.BehindState)
	case r.BehindID != 0:
		return fmt.Sprintf("waits for %d of the same player, which is %s", r.BehindID,
			r.BehindState)
	case r.Doubt && r.State == "pending":
		return "an attempt may have arrived: the receiver is asked before it is sent again"
	}
	return ""
}

type outboxRow struct {
	LedgerID     int64      `db:"ledger_id"`
	PlayerID     string     `db:"player_id"`
	EventID      string     `db:"reward_event_id"`
	Kind         string     `db:"kind"`
	Amount       int64      `db:"amount"`
	Token        int64      `db:"fence_token"`
	PostedAt     time.Time  `db:"created_at"`
	State        string     `db:"state"`
	Attempts     int        `db:"attempts"`
	Strikes      int        `db:"strikes"`
	Doubt        bool       `db:"doubt"`
	NextAttempt  *time.Time `db:"next_attempt_at"`
	ClaimedBy    *string    `db:"claimed_by"`
	ClaimedUntil *time.Time `db:"claimed_until"`
	Delivered    *time.Time `db:"delivered_at"`
	LastError    *string    `db:"last_error"`
	BehindID     *int64     `db:"behind_id"`
	BehindState  *string    `db:"behind_state"`
}

func (r outboxRow) row() OutboxRow {
	out := OutboxRow{
		LedgerID: r.LedgerID, PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind,
		Amount: r.Amount, Token: r.Token, PostedAt: r.PostedAt, State: r.State,
		Attempts: r.Attempts, Strikes: r.Strikes, Doubt: r.Doubt,
		NextAttempt: value(r.NextAttempt), ClaimedBy: value(r.ClaimedBy),
		ClaimedUntil: value(r.ClaimedUntil), Delivered: value(r.Delivered),
		LastError: value(r.LastError), BehindID: value(r.BehindID),
		BehindState: value(r.BehindState),
	}
	switch r.State {
	case "pending":
		switch {
		case out.BehindID != 0:
			out.Lane = OutboxWaiting
		case r.NextAttempt != nil:
			out.Lane = OutboxRetrying
		default:
			out.Lane = OutboxFresh
		}
	case "claimed":
		out.Lane = OutboxClaimed
	default:
		out.Lane = OutboxLane(r.State)
		out.NextAttempt = time.Time{}
	}
	return out
}

// OutboxBacklog is what is not delivered. Each count stops at OutboxCountMax. Rows that wait behind
// another of their player are among Fresh.
type OutboxBacklog struct {
	Fresh    int64 `db:"fresh"`
	Retrying int64 `db:"retrying"`
	InFlight int64 `db:"claimed"`
	Dead     int64 `db:"dead"`
	Parked   int64 `db:"parked"`

	NextDue    *time.Time `db:"next_due"`  // when the next retry is due; nil when none is
	OldestID   *int64     `db:"oldest_id"` // the oldest row that is to be sent; nil when none is
	OldestAt   *time.Time `db:"oldest_at"` // when that was posted
	ServerTime time.Time  `db:"server_time"`
}

// OutboxCountMax is where counting stops.
const OutboxCountMax = 1_000_000

// Oldest is the age of the oldest row that is to be sent; 0 when there is none.
func (b OutboxBacklog) Oldest() time.Duration {
	if b.OldestAt == nil {
		return 0
	}
	return b.ServerTime.Sub(*b.OldestAt)
}

// OutboxBacklog measures the backlog. It returns a *grant.BackendError when PostgreSQL could not
// be asked.
func (r *Reader) OutboxBacklog(ctx context.Context) (OutboxBacklog, error) {
	var b OutboxBacklog
	err := r.read(ctx, "measure the backlog", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[OutboxBacklog](ctx, tx, outboxBacklogSQL, struct {
			Bound int `db:"bound"`
		}{OutboxCountMax})
		if err == nil {
			b = rows[0]
		}
		return err
	})
	return b, err
}
