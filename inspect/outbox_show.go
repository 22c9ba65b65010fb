package inspect

import (
	"context"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// OutboxAttempt is one attempt to deliver a posting.
type OutboxAttempt struct {
	ClaimID string    `db:"claim_id"`
	Attempt int       `db:"attempt"` // counted from 1
	Relay   string    `db:"relay"`   // who made it: name@host/pid
	Sink    string    `db:"sink"`    // empty for an attempt of a relay that vanished
	Verdict string    `db:"verdict"` // delivered, repeated, refused, failed, not_now, unknown, lost
	Detail  string    `db:"detail"`  // text of a receiver: it may hold anything
	Probed  bool      `db:"probed"`  // the receiver was asked before anything was sent
	Kept    bool      `db:"kept"`    // false: the claim was over before the answer was written down
	Started time.Time `db:"started_at"`
	Ended   time.Time `db:"ended_at"`
}

// OutboxDetail is everything about one delivery.
type OutboxDetail struct {
	OutboxRow

	Attempts []OutboxAttempt // oldest first
	Message  []byte          // what is sent: JSON
	Key      string          // what receivers deduplicate by
}

// OutboxShow returns one delivery by its ledger id. It returns a *NotFoundError when there is no
// such posting or it is not queued.
func (r *Reader) OutboxShow(ctx context.Context, ledgerID int64) (OutboxDetail, error) {
	d := OutboxDetail{}
	type args struct {
		LedgerID int64 `db:"ledger_id"`
	}
	sql := strings.NewReplacer("{lane}", "true", "{after}", "o.ledger_id = @after::bigint",
		"{order}", "o.ledger_id").Replace(outboxListSQL)
	err := r.read(ctx, "show the delivery", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[outboxRow](ctx, tx, sql, outboxListArgs{
			After: ledgerID, Pass: r.opts.OutboxPass, Limit: 1, IDs: []int64{},
		})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return &NotFoundError{What: "outbox row", Name: strconv.FormatInt(ledgerID, 10)}
		}
		d.OutboxRow = rows[0].row()
		if d.Attempts, err = collect[OutboxAttempt](ctx, tx, outboxAttemptsSQL,
			args{ledgerID}); err != nil {
			return err
		}
		return d.render(ctx, tx, args{ledgerID}, r.opts.OutboxSource)
	})
	return d, err
}

// render makes the message as a relay does.
func (d *OutboxDetail) render(ctx context.Context, tx pgx.Tx, args any, source string) error {
	rows, err := collect[struct {
		PlayerID string    `db:"player_id"`
		EventID  string    `db:"reward_event_id"`
		Kind     string    `db:"kind"`
		Amount   int64     `db:"amount"`
		Token    int64     `db:"fence_token"`
		At       time.Time `db:"created_at"`
		Reverses string    `db:"reverses"`
	}](ctx, tx, outboxMessageSQL, args)
	if err != nil || len(rows) == 0 {
		return err
	}
	row := rows[0]
	m := grant.Message{
		PlayerID: row.PlayerID, EventID: row.EventID, Kind: row.Kind, Amount: row.Amount,
		Token: row.Token, LedgerID: d.LedgerID, At: row.At, Reverses: row.Reverses, Source: source,
	}
	d.Key = m.Key()
	d.Message, err = m.Encode()
	return err
}
