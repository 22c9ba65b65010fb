package drill

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// counts is the row of invariants.sql.
type counts struct {
	Postings  int64 `db:"postings"`
	Paid      int64 `db:"paid"`
	Expected  int64 `db:"expected"`
	Balance   int64 `db:"balance"`
	LedgerSum int64 `db:"ledger_sum"`
	Queued    int64 `db:"queued"`
	Stray     int64 `db:"stray"`
}

// check fills the report's invariants.
func (r *race) check(ctx context.Context) error {
	var c counts
	options := pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}
	err := pgx.BeginTxFunc(ctx, r.db.pool, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, heapOnlySQL); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, invariantsSQL, r.player, r.event)
		if err != nil {
			return err
		}
		c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[counts])
		return err
	})
	if err != nil {
		return postgresError("check the invariants", err)
	}
	r.report.Checks = c.checks()
	r.report.OK = true
	for _, check := range r.report.Checks {
		r.report.OK = r.report.OK && check.Holds
	}
	return nil
}

// checks compares. That nothing at all was paid is a failure too: the sums would not agree.
func (c counts) checks() []Check {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []Check{
		{"count(player_id, reward_event_id) <= 1", "1", number(c.Postings), c.Postings == 1},
		{
			"ledger_sum(event) = expected_reward(event)", number(c.Expected), number(c.Paid),
			c.Paid == c.Expected,
		},
		{
			"balance = ledger_sum(player)", number(c.LedgerSum), number(c.Balance),
			c.Balance == c.LedgerSum,
		},
		{
			"each posting has one outbox row", number(c.Postings), number(c.Queued),
			c.Queued == c.Postings && c.Stray == 0,
		},
	}
}
