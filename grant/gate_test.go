package grant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// B25: without a unique key that works, the engine refuses to grant and names what is wrong;
// reading stays possible.
func TestB25SchemaGate(t *testing.T) {
	t.Parallel()
	const drop = "alter table reward_ledger drop constraint reward_ledger_event_once"
	const flags = ` where indexrelid = 'reward_ledger_event_once'::regclass`
	cases := []struct {
		name, names string
		damage      []string
	}{
		{"missing", "no unique index", []string{drop}},
		{"plain index", "no unique index", []string{
			drop, "create index plain on reward_ledger (player_id, reward_event_id)",
		}},
		{"other columns", "no unique index", []string{
			drop, "create unique index wide on reward_ledger (player_id, reward_event_id, kind)",
		}},
		{"partial", "is partial", []string{
			drop, `create unique index part on reward_ledger (player_id, reward_event_id)
				where amount > 1`,
		}},
		{"deferrable", "is deferrable", []string{
			drop, `alter table reward_ledger add constraint later
				unique (player_id, reward_event_id) deferrable`,
		}},
		{"invalid", "is not valid", []string{
			"update pg_index set indisvalid = false" + flags,
		}},
		{"not ready", "is not ready", []string{
			"update pg_index set indisready = false" + flags,
		}},
		{"nullable", "can be null", []string{
			"alter table reward_ledger alter column player_id drop not null",
		}},
		{"no table", "does not exist", []string{"drop table reward_ledger cascade"}},
		{"no function", "a function of the grant transaction does not exist", []string{`do $$ begin
			execute 'drop function ' || (select oid::regprocedure from pg_proc
				where proname = 'reward_grant' and pronamespace = current_schema()::regnamespace);
			end $$`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			for _, sql := range c.damage {
				exec(t, w, sql)
			}
			e := engineOn(t, w, grant.Options{})
			var gate *grant.GateError
			if err := e.CheckSchema(t.Context()); !errors.As(err, &gate) {
				t.Fatalf("CheckSchema answered %v, want a GateError", err)
			}
			if !strings.Contains(gate.Problem, c.names) || gate.WayOut == "" {
				t.Errorf("the gate says %q, %q; want it to name %q", gate.Problem, gate.WayOut,
					c.names)
			}
			if _, err := e.Grant(t.Context(), gems("p1", "e1", 1)); !errors.As(err, &gate) {
				t.Errorf("Grant answered %v, want a GateError", err)
			}
			results, err := e.GrantMany(t.Context(), []grant.Request{gems("p1", "e1", 1)})
			if !errors.As(err, &gate) || results[0].Outcome != grant.Failed {
				t.Errorf("GrantMany answered %v, %v, want a GateError", results, err)
			}
		})
	}
}

// A key that breaks while the engine trusts an earlier check fails closed, and is then named.
func TestKeyBreaksAfterTheCheck(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	wantOutcome(t, mustGrant(t, e, gems("p1", "e1", 1)), grant.Applied)
	exec(t, w, "alter table reward_ledger drop constraint reward_ledger_event_once")
	var gate *grant.GateError
	if _, err := e.Grant(t.Context(), gems("p1", "e1", 1)); !errors.As(err, &gate) {
		t.Fatalf("Grant answered %v, want a GateError", err)
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
}

// A role may have turned synchronous_commit off, and a crash would then take back grants that were
// answered: the transaction turns it on for itself.
func TestSynchronousCommit(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	exec(t, w, `create function refuse_unsafe_commit() returns trigger language plpgsql as $$
		begin
			if current_setting('synchronous_commit') = 'off' then
				raise exception 'this commit would not wait for the disk';
			end if;
			return new;
		end $$`)
	exec(t, w, `create trigger refuse_unsafe_commit before insert on reward_ledger
		for each row execute function refuse_unsafe_commit()`)
	config := w.Pool.Config()
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	w.Pool = pool
	wantOutcome(t, mustGrant(t, engineOn(t, w, grant.Options{}), gems("p1", "e1", 1)),
		grant.Applied)
}

// B24: a key column can hold neither null nor an empty text, whoever writes.
func TestB24KeysAreNeverNullOrEmpty(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	const ledger = `insert into reward_ledger (player_id, reward_event_id, kind, amount,
		fence_token, lease_owner, actor, reason) values ($1, $2, 'gems', 1, 1, 'o', 'a', 'r')`
	const claim = `insert into reward_claim (player_id, reward_event_id, kind, amount)
		values ($1, $2, 'gems', 1)`
	for _, sql := range []string{ledger, claim} {
		for _, key := range [][2]any{{nil, "e"}, {"p", nil}, {"", "e"}, {"p", ""}} {
			_, err := w.Pool.Exec(t.Context(), sql, key[0], key[1])
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || (pg.Code != "23502" && pg.Code != "23514") {
				t.Errorf("key %v answered %v, want a constraint violation", key, err)
			}
		}
	}
}
