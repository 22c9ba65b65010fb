package schema_test

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/granttest"
	"rewardctl/grant/schema"
)

// TestMigrateChild is the process that TestFaultKillMigration kills. Without orders it has nothing
// to do.
func TestMigrateChild(t *testing.T) {
	var at string
	if granttest.Ordered(t, &at) == nil {
		return
	}
	config, err := pgx.ParseConfig(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Up(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

// TestFaultKillMigration kills a migrating process just before each of its commits: running it
// again brings the schema up to date, each migration whole and once.
func TestFaultKillMigration(t *testing.T) {
	t.Parallel()
	status, err := schema.Status(t.Context(), granttest.NewEmpty(t).Conn)
	if err != nil {
		t.Fatal(err)
	}
	var kills atomic.Int64
	t.Run("at", func(t *testing.T) {
		for n := range len(status) + 2 { // the table of versions commits, too
			t.Run(fmt.Sprintf("commit %d", n), func(t *testing.T) {
				t.Parallel()
				if killMigration(t, n) {
					kills.Add(1)
				}
			})
		}
	})
	if n := kills.Load(); n < int64(len(status)) {
		t.Errorf("%d kills for %d migrations", n, len(status))
	}
}

// killMigration kills a process at its n-th commit, counted from 0, and finishes its work. It
// returns false when there is no such commit.
func killMigration(t *testing.T, n int) bool {
	t.Helper()
	w := granttest.NewEmpty(t)
	proxy := granttest.NewPostgresProxy(t, fmt.Sprintf("%s:%d", w.Conn.Host, w.Conn.Port))
	held := proxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Commit, Skip: n, Fault: granttest.Hold,
	})
	at, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	at.Host = proxy.Addr()
	child := granttest.StartChild(t, "TestMigrateChild", at.String())
	reached := false
	select {
	case <-held.Fired():
		reached = true
		child.Kill()
	case <-child.Ended():
		if err := child.Result(); err != nil {
			t.Fatalf("the migrating process: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the migrating process neither committed nor ended")
	}
	proxy.SetPath(granttest.Refused)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := schema.Up(ctx, w.Conn); err != nil {
		t.Fatalf("after a kill at commit %d: %v", n, err)
	}
	status, err := schema.Status(ctx, w.Conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range status {
		if s.AppliedAt.IsZero() {
			t.Errorf("after a kill at commit %d migration %d is pending", n, s.Version)
		}
	}
	return reached
}
