package schema_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"rewardctl/grant/granttest"
)

// A log that was begun before its rows were chained is chained when the tables are upgraded: the
// ids lose their gaps, results still name their intents, and the next row goes on. The way back
// and up again keeps every row.
func TestOldLogIsChained(t *testing.T) {
	t.Parallel()
	w := granttest.NewEmpty(t)
	db := stdlib.OpenDB(*w.Conn)
	t.Cleanup(func() { _ = db.Close() })
	steps, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS("sql"),
		goose.WithTableName("rewardctl_migration"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	const withoutChain, withChain = 3, 4
	if _, err := steps.UpTo(ctx, withoutChain); err != nil {
		t.Fatal(err)
	}
	insert := func(values string) {
		t.Helper()
		if _, err := w.Pool.Exec(ctx, "insert into operator_action (operator, action, target, "+
			"arguments, observed, reason, outcome, command) values "+values); err != nil {
			t.Fatal(err)
		}
	}
	insert(`('a', 'x', 't', '{"phase": "intent", "n": "1"}', '{}', 'r', 'o', 'c')`)
	if _, err := w.Pool.Exec(ctx, "select setval('operator_action_id_seq', 7)"); err != nil {
		t.Fatal(err)
	}
	insert(`('a', 'x', 't', '{"phase": "intent"}', '{}', 'r', 'o', 'c')`)
	insert(`('a', 'x', 't', '{"phase": "result", "intent": "8"}', '{}', 'r', 'o', 'c')`)
	expect := func(want string) {
		t.Helper()
		var got string
		err := w.Pool.QueryRow(ctx, `select string_agg(concat_ws(' ', a.id, a.phase,
			a.intent, a.arguments, a.hash = sha256(a.prev_hash || operator_action_canonical(a)),
			a.prev_hash = coalesce(before.hash,
				sha256(convert_to('rewardctl operator log ' || h.chain, 'UTF8'))),
			a.id = h.last_id and a.hash = h.hash), ', ' order by a.id)
			from operator_action a cross join operator_action_head h
			left join operator_action before on before.id = a.id - 1`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
		}
	}
	if _, err := steps.UpTo(ctx, withChain); err != nil {
		t.Fatal(err)
	}
	expect(`1 intent {"n": "1"} t t f, 2 intent {} t t f, 3 result 2 {} t t t`)
	insert(`('a', 'x', 't', '{}', '{}', 'r', 'o', 'c')`)
	expect(`1 intent {"n": "1"} t t f, 2 intent {} t t f, 3 result 2 {} t t f, 4 result {} t t t`)
	if _, err := steps.DownTo(ctx, withoutChain); err != nil {
		t.Fatal(err)
	}
	insert(`('a', 'x', 't', '{}', '{}', 'r', 'o', 'c')`)
	if _, err := steps.UpTo(ctx, withChain); err != nil {
		t.Fatal(err)
	}
	expect(`1 intent {"n": "1"} t t f, 2 intent {} t t f, 3 result 2 {} t t f, ` +
		`4 result {} t t f, 5 result {} t t t`)
}
