package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"

	"github.com/jackc/pgx/v5"
)

// A ledger that is too large for a look at all of it is no fault of the schema: the check that
// reads it row by row tells, and an audit that has both says nothing of it.
func TestALargeLedgerIsNoFaultOfTheSchema(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	r, err := New(w.Pool, nil, Options{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := w.Pool.Begin(t.Context()) // who reads the rows waits for this one
	if err == nil {
		_, err = tx.Exec(t.Context(), "lock table reward_ledger in access exclusive mode")
	}
	if err != nil {
		t.Fatal(err)
	}
	var d Diagnosis
	r.examineTwins(t.Context(), &d)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(d.Checks) != 1 || d.Checks[0].Status != Unseen || !d.Checks[0].slow {
		t.Fatalf("%+v", d.Checks)
	}
	both := unitRun{auditRun: &auditRun{plan: AuditPlan{Checks: []string{"schema", checkDuplicate}}}}
	if err := both.reportCheck(d.Checks[0]); err != nil {
		t.Errorf("beside the other check: %v", err)
	}
	var noted string
	alone := unitRun{auditRun: &auditRun{plan: AuditPlan{Checks: []string{"schema"}}, sink: AuditSink{
		Note: func(_, text string) error { noted = text; return nil },
	}}, check: "schema"}
	if err := alone.reportCheck(d.Checks[0]); err != nil ||
		!strings.Contains(noted, "audit run duplicate-key") {
		t.Errorf("alone: %q, %v", noted, err)
	}
}

// A question in parts may take longer than one part may; a part may not.
func TestLongQuestionsAreBoundByTheirParts(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	r, err := New(w.Pool, nil, Options{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(parts int, each string) error {
		return r.readLong(t.Context(), "wait", func(
			ctx context.Context, tx pgx.Tx, heard func(),
		) error {
			for range parts {
				if _, err := tx.Exec(ctx, "select pg_sleep_for($1::interval)", each); err != nil {
					return err
				}
				heard()
			}
			return nil
		})
	}
	if err := ask(4, "700ms"); err != nil {
		t.Errorf("four parts: %v", err)
	}
	if err := ask(1, "30s"); !errors.Is(err, errTooSlow) || !grant.Unavailable(err) {
		t.Errorf("one long part: %v", err)
	}
}
