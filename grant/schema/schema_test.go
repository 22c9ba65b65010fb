package schema_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant/granttest"
	"rewardctl/grant/schema"
)

func TestMain(m *testing.M) { granttest.Main(m) }

func TestUpIsIdempotentAndSafeInParallel(t *testing.T) {
	t.Parallel()
	w := granttest.NewEmpty(t)
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		applied int
	)
	for range 4 {
		wg.Go(func() {
			steps, err := schema.Up(t.Context(), w.Conn)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			applied += len(steps)
			mu.Unlock()
		})
	}
	wg.Wait()
	status, err := schema.Status(t.Context(), w.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if applied != len(status) {
		t.Errorf("%d migrations applied over four processes, want each of %d once", applied,
			len(status))
	}
	for _, s := range status {
		if s.AppliedAt.IsZero() || s.Name == "" {
			t.Errorf("migration %d %q is still pending", s.Version, s.Name)
		}
	}
}

func TestStatusOfAnEmptySchema(t *testing.T) {
	t.Parallel()
	w := granttest.NewEmpty(t)
	status, err := schema.Status(t.Context(), w.Conn)
	if err != nil || len(status) == 0 {
		t.Fatalf("status: %v, %v", status, err)
	}
	for _, s := range status {
		if !s.AppliedAt.IsZero() {
			t.Errorf("migration %d counts as applied", s.Version)
		}
	}
}

// The ledger and the operator log are append-only for everybody, also for replication sessions,
// which skip ordinary triggers.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, sql := range []string{
		`insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason) values ('p', 'e', 'k', 1, 1, 'o', 'a', 'r')`,
		`insert into operator_action (operator, action, target, arguments, observed, reason,
			outcome, command) values ('o', 'a', 't', '{}', '{}', 'r', 'done', 'c')`,
	} {
		if _, err := w.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{"origin", "replica"} {
		for _, sql := range []string{
			"update reward_ledger set amount = 2",
			"delete from reward_ledger",
			"truncate reward_ledger",
			"update operator_action set reason = 'x'",
			"delete from operator_action",
			"truncate operator_action",
		} {
			tx, err := w.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(),
				"set local session_replication_role = "+role); err != nil {
				t.Fatal(err)
			}
			_, err = tx.Exec(t.Context(), sql)
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "42501" {
				t.Errorf("%s as %s answered %v, want 42501", sql, role, err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
