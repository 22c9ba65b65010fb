package granttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/granttest"
)

func TestMain(m *testing.M) { granttest.Main(m) }

// recorder is a testing.TB that takes down errors instead of failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func exec(t *testing.T, w *granttest.World, sql string) {
	t.Helper()
	if _, err := w.Pool.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestWorldsAreApart(t *testing.T) {
	t.Parallel()
	a, b := granttest.New(t), granttest.New(t)
	exec(t, a, `insert into reward_fence (resource, last_token, last_owner)
		values ('reward:p', 7, 'o')`)
	var rows int
	err := b.Pool.QueryRow(t.Context(), "select count(*) from reward_fence").Scan(&rows)
	if err != nil || rows != 0 {
		t.Fatalf("the other world sees %d rows, %v", rows, err)
	}
	var path string
	if err := a.Pool.QueryRow(t.Context(), "show search_path").Scan(&path); err != nil {
		t.Fatal(err)
	}
	if path != a.Schema {
		t.Errorf("search_path is %q, want exactly %q", path, a.Schema)
	}
	conn, err := pgx.Connect(t.Context(), a.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	row := conn.QueryRow(t.Context(), "select last_token from reward_fence")
	if err := row.Scan(&rows); err != nil {
		t.Errorf("the URL leads elsewhere: %v", err)
	}
}

func TestWorldDisappears(t *testing.T) {
	t.Parallel()
	outer := granttest.New(t)
	var w *granttest.World
	t.Run("world", func(t *testing.T) {
		w = granttest.New(t)
		if err := w.Redis.Set(t.Context(), w.Prefix+"k", "v", time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		// A session in the middle of a transaction must not keep the schema.
		conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		if _, err := conn.Exec(t.Context(), "begin; lock table reward_ledger"); err != nil {
			t.Fatal(err)
		}
	})
	var there bool
	err := outer.Pool.QueryRow(t.Context(),
		"select exists (select from pg_namespace where nspname = $1)", w.Schema).Scan(&there)
	if err != nil || there {
		t.Errorf("schema %s is still there (%v)", w.Schema, err)
	}
	if n, err := outer.Redis.Exists(t.Context(), w.Prefix+"k").Result(); err != nil || n != 0 {
		t.Errorf("the key is still there (%v)", err)
	}
}

// wellPaid is one grant, written by hand as the engine would.
const wellPaid = `
	insert into reward_fence (resource, last_token, last_owner) values ('reward:p', 5, 'o5');
	insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status)
		values ('p', 'e', 'gems', 10, 5, 'applied');
	insert into reward_ledger (id, player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason) values (1, 'p', 'e', 'gems', 10, 5, 'o5', 'a', 'r');
	insert into reward_balance (player_id, kind, amount) values ('p', 'gems', 10);
	insert into reward_outbox (ledger_id) values (1);`

// another is a second posting of the same player.
func another(event string, token int, owner string) string {
	return fmt.Sprintf(`
	insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status)
		values ('p', '%[1]s', 'gold', 1, 5, 'applied');
	insert into reward_ledger (id, player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason) values (2, 'p', '%[1]s', 'gold', 1, %[2]d, '%[3]s', 'a', 'r');
	insert into reward_balance (player_id, kind, amount) values ('p', 'gold', 1);
	insert into reward_outbox (ledger_id) values (2);`, event, token, owner)
}

func TestCheckInvariants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, change, want string }{
		{"nothing", "", ""},
		{"a reversal", `insert into reward_ledger (id, player_id, reward_event_id, kind, amount,
			fence_token, lease_owner, actor, reason, reverses)
			values (2, 'p', 'reverse:1', 'gems', -4, 0, '', 'a', 'r', 1);
			insert into reward_outbox (ledger_id) values (2);
			update reward_balance set amount = 6`, ""},
		{"a good second posting", another("e2", 5, "o5"), ""},
		{"posted twice", `
			alter table reward_ledger drop constraint reward_ledger_event_once;
			alter table reward_claim drop constraint reward_claim_event_once;` +
			another("e", 5, "o5"), "I1 "},
		{"claimed and not paid", `insert into reward_claim (player_id, reward_event_id, kind,
			amount, status) values ('q', 'e', 'gems', 3, 'applied')`, "I2 a claim"},
		{"a pending claim", `insert into reward_claim (player_id, reward_event_id, kind,
			amount) values ('q', 'e', 'gems', 3)`, ""},
		{"paid and not claimed", `delete from reward_claim`, "I2 a claim"},
		{"paid another amount", `update reward_claim set amount = 11`, "I2 a claim"},
		{"balance off", `update reward_balance set amount = 11`, "I2 a balance"},
		{"balance missing", `delete from reward_balance`, "I2 a balance"},
		{"no outbox row", `delete from reward_outbox`, "I3 "},
		{"no posting", `insert into reward_outbox (ledger_id) values (9)`, "I3 "},
		{"token went down", another("e2", 4, "o4"), "I4 tokens"},
		{"fence below", `update reward_fence set last_token = 4`, "I4 tokens"},
		{"two owners", another("e2", 5, "thief"), "I4 a token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			exec(t, w, wellPaid)
			exec(t, w, c.change)
			r := &recorder{TB: t}
			w.CheckInvariants(r)
			got := strings.Join(r.errors, "\n")
			switch {
			case c.want == "" && got != "":
				t.Errorf("false alarm: %s", got)
			case c.want != "" && !strings.Contains(got, c.want):
				t.Errorf("not noticed; got %q", got)
			}
		})
	}
}
