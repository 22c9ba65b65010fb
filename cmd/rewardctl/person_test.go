package main

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"rewardctl/grant/granttest"
)

// person makes somebody else give the commands that follow: another operator with a database user
// of his own. Without a name it is mara again, as the configuration says.
func (s *script) person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: person [NAME]")
	}
	if len(args) == 0 {
		ts.Setenv("REWARDCTL_POSTGRES_URL", "")
		ts.Setenv("REWARDCTL_OPERATOR", "")
		return
	}
	at, err := url.Parse(databaseUser(s.t, s.world, args[0]))
	ts.Check(err)
	query := at.Query()
	query.Del("search_path")
	at.RawQuery = query.Encode()
	ts.Setenv("REWARDCTL_POSTGRES_URL", at.String())
	ts.Setenv("REWARDCTL_OPERATOR", args[0])
}

// databaseUser returns a URL under which somebody is another user to the database. The user is
// removed when the test ends.
func databaseUser(t *testing.T, w *granttest.World, name string) string {
	t.Helper()
	user := w.Schema + "_" + name
	quoted := pgx.Identifier{user}.Sanitize()
	var there bool
	err := w.Pool.QueryRow(t.Context(), "select exists (select from pg_roles where rolname = $1)",
		user).Scan(&there)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		if _, err := w.Pool.Exec(t.Context(), "create role "+quoted+" superuser login"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dropUser(t, w, quoted) })
	}
	at, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.User(user)
	return at.String()
}

func dropUser(t *testing.T, w *granttest.World, quoted string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.Conn.Copy())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "drop role "+quoted); err != nil {
		t.Error(err)
	}
}
