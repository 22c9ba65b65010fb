package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/inspect"
)

// The doctor names an operator who can post by hand, and tells one whose roles are older than the
// tables why he cannot post.
func TestDoctorLooksAtOperatorsAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const check = "operators' accounts"
	wants(t, diagnose(t, b.reader), check, inspect.Warning, inspect.Pass, "only with a row")

	name := b.Schema + "_mara"
	user := pgx.Identifier{name}.Sanitize()
	conf := b.Conn.Copy()
	password := strings.ReplaceAll(conf.Password, "'", "''")
	b.exec(t, "create role "+user+" login password '"+password+"'")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.ConnectConfig(ctx, b.Conn.Copy())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "drop owned by "+user+"; drop role "+user); err != nil {
			t.Error(err)
		}
	})
	schema := pgx.Identifier{b.Schema}.Sanitize()
	b.exec(t, "grant usage on schema "+schema+" to "+user)
	b.exec(t, "grant select on all tables in schema "+schema+" to "+user)
	b.exec(t, "grant insert (reason) on operator_action to "+user)

	settings, err := pgxpool.ParseConfig("")
	if err != nil {
		t.Fatal(err)
	}
	settings.ConnConfig = conf
	conf.User = name
	pool, err := pgxpool.NewWithConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	own, err := inspect.New(pool, b.store, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, diagnose(t, own), check, inspect.Warning, inspect.Fail, "reward_grant_logged",
		"migrate roles")
	b.exec(t, "grant execute on function reward_grant_logged to "+user)
	wants(t, diagnose(t, own), check, inspect.Warning, inspect.Pass)

	b.exec(t, "grant insert (id, amount) on reward_ledger to "+user)
	wants(t, diagnose(t, b.reader), check, inspect.Warning, inspect.Fail, "1 can post", name)
}
