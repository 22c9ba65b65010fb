package drill

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// counts is the row of invariants.sql.
type counts struct {
	Most     int64 `db:"most"`
	Wrong    int64 `db:"wrong"`
	Paid     int64 `db:"paid"`
	Expected int64 `db:"expected"`
	Balance  int64 `db:"balance"`
	Postings int64 `db:"postings"`
	Queued   int64 `db:"queued"`
	Stray    int64 `db:"stray"`
}

// check fills the report's invariants.
func (st *stage) check(ctx context.Context) error {
	if !st.bare {
		c, err := st.count(ctx)
		if err != nil {
			return err
		}
		st.report.Checks = c.checks()
	}
	st.report.Checks = append(st.report.Checks, st.extra...)
	st.report.OK = true
	for _, check := range st.report.Checks {
		st.report.OK = st.report.OK && check.Holds
	}
	return nil
}

func (st *stage) count(ctx context.Context) (c counts, err error) {
	options := pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}
	err = pgx.BeginTxFunc(ctx, st.db.pool, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, heapOnlySQL); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, invariantsSQL, st.events)
		if err != nil {
			return err
		}
		c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[counts])
		return err
	})
	if err != nil {
		return c, postgresError("check the invariants", err)
	}
	return c, nil
}

// checks compares. That nothing at all was paid is a failure too: the sums would not agree.
func (c counts) checks() []Check {
	paid := number(c.Paid)
	if c.Wrong > 0 && c.Paid == c.Expected { // one event too much, another not at all
		paid += fmt.Sprintf(", %d events wrong", c.Wrong)
	}
	return []Check{
		{"count(player_id, reward_event_id) <= 1", "1", number(c.Most), c.Most <= 1},
		{
			"ledger_sum(event) = expected_reward(event)", number(c.Expected), paid,
			c.Wrong == 0,
		},
		{"balance = ledger_sum(player)", number(c.Paid), number(c.Balance), c.Balance == c.Paid},
		{
			"each posting has one outbox row", number(c.Postings), number(c.Queued),
			c.Queued == c.Postings && c.Stray == 0,
		},
	}
}

// expect adds a check of the drill's own: two numbers that have to be equal.
func (st *stage) expect(name string, want, have int64) {
	st.extra = append(st.extra, Check{name, number(want), number(have), want == have})
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
