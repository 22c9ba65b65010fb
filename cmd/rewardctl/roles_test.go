package main

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/grant/schema"
)

// account makes a database user that is a member of a role, as migrate roles makes it, and returns
// the URL under which it connects. Users and roles are removed when the test ends.
func account(t *testing.T, w *granttest.World, name, role string) string {
	t.Helper()
	user := w.Schema + "_" + name
	ctx := t.Context()
	var there bool
	err := w.Pool.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)",
		schema.DefaultPrefix(w.Schema)+"_view").Scan(&there)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Cleanup(func() { dropAccounts(t, w) })
	}
	_, err = schema.Roles(ctx, w.Conn, schema.RoleOptions{
		Prefix: schema.DefaultPrefix(w.Schema),
		Logins: []schema.RoleLogin{{Name: user, Role: role}},
	})
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := at.User.Password() // the same for everybody: whoever he is, it is a test
	if password != "" {
		_, err := w.Pool.Exec(ctx, "alter role "+pgx.Identifier{user}.Sanitize()+" password '"+
			strings.ReplaceAll(password, "'", "''")+"'")
		if err != nil {
			t.Fatal(err)
		}
		at.User = url.UserPassword(user, password)
	} else {
		at.User = url.User(user)
	}
	query := at.Query()
	query.Del("search_path")
	at.RawQuery = query.Encode()
	return at.String()
}

// dropAccounts removes every role that belongs to a world.
func dropAccounts(t *testing.T, w *granttest.World) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.Conn.Copy())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "select rolname::text from pg_roles where "+
		"starts_with(rolname, $1) or starts_with(rolname, $2)", w.Schema+"_",
		schema.DefaultPrefix(w.Schema)+"_")
	if err != nil {
		t.Error(err)
		return
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		role := pgx.Identifier{name}.Sanitize()
		if _, err := conn.Exec(ctx, "drop owned by "+role+"; drop role "+role); err != nil {
			t.Error(err)
		}
	}
}

// What each role may not do ends with 5, and names PostgreSQL as the one that refused; what it may
// do works under it.
func TestCommandsUnderOtherRoles(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	// Token 1 was issued, so that burning it is refused for want of rights alone.
	issued := c.world.Prefix + "fence:{reward:p}"
	if err := c.world.Redis.Set(t.Context(), issued, 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for role, commands := range map[string]map[string]exitCode{
		"view": {
			"lease list":         exitOK,
			"oplog list":         exitOK,
			"oplog verify":       exitOK,
			"grant list":         exitOK,
			"player history p-1": exitNotFound,
			"migrate status":     exitOK,
			"outbox list":        exitOK,
			"lease burn reward:p --token 1 --reason r":                         exitDenied,
			"grant create --player p --event e --kind k --amount 1 --reason r": exitDenied,
			"audit run balance": exitOK,
		},
		"grant": {
			"grant create --player p --event e --kind k --amount 1 --reason r": exitDenied,
			"oplog list": exitDenied, "outbox list": exitDenied,
		},
		"relay": {
			"oplog list": exitDenied,
			"grant create --player p --event e --kind k --amount 1 --reason r": exitDenied,
			"outbox relay --once --sink http":                                  exitOK,
		},
	} {
		at := account(t, c.world, role, role)
		for line, want := range commands {
			cmd := c.command(strings.Fields(line)...)
			cmd.Env = append(cmd.Env, "REWARDCTL_POSTGRES_URL="+at,
				"REWARDCTL_OUTBOX_HTTP_URL=http://127.0.0.1:1")
			out, err := cmd.CombinedOutput()
			if got := exitCode(cmd.ProcessState.ExitCode()); got != want {
				t.Errorf("%s: %s: exit %d, want %d: %v\n%s", role, line, got, want, err, out)
			}
		}
	}
}

// A worker pays under the role grant: new, again, with other content and under a stale token. What
// it must not do, such as taking a posting back, PostgreSQL refuses.
func TestWorkerUnderItsRole(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	pool, err := pgxpool.New(t.Context(), account(t, w, "payout", "grant"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := grant.NewEngine(pool, store, grant.Options{Worker: "payout@h/1", NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	ask := grant.Request{
		PlayerID: "p", EventID: "e", Kind: "gems", Amount: 5, Actor: "payout", Reason: "won",
	}
	other, stale := ask, ask
	other.Amount = 6
	stale.EventID, stale.Held = "e2", &grant.Lease{Resource: "reward:p", Token: 1, Owner: "x"}
	for i, c := range []struct {
		ask  grant.Request
		want grant.Outcome
	}{
		{ask, grant.Applied},
		{ask, grant.Replayed},
		{other, grant.Mismatch},
		{stale, grant.StaleToken},
	} {
		res, err := engine.Grant(t.Context(), c.ask)
		if err != nil || res.Outcome != c.want {
			t.Fatalf("grant %d: %+v, %v; want %s", i, res, err, c.want)
		}
	}
	_, err = engine.Reverse(t.Context(), grant.Reversal{
		Posting: 1, PlayerID: "p", Kind: "gems", Posted: 5, Part: 1, Actor: "payout", Reason: "no",
	}, nil)
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != "42501" {
		t.Errorf("a reversal answers %v, want 42501", err)
	}
	w.CheckInvariants(t)
}
