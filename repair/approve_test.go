package repair_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant"
	"rewardctl/repair"
)

// twoPeople are a maker and somebody else, to whom a plan of more than two rows needs both.
func twoPeople(t *testing.T, b *bench, policy repair.PlanPolicy) (alice, bob *repair.Operator) {
	t.Helper()
	policy.Limits.Rows = 2
	return b.planner(t, "alice", policy), b.planner(t, "bob", policy)
}

func waiting(t *testing.T, maker *repair.Operator, rows int) repair.Plan {
	t.Helper()
	plan, _ := planOf(t, maker, writeFile(t, "g.csv", manyRows(rows)), repair.PlanRequest{})
	if plan.State != repair.PlanWaiting || !plan.NeedsApproval || len(plan.Over) != 1 {
		t.Fatalf("%+v", plan)
	}
	return plan
}

func yesTo(plan repair.Plan) repair.DecideRequest {
	return repair.DecideRequest{Plan: plan.Ref(), Reason: "checked with T-1"}
}

// logged counts the rows of the log with an outcome.
func (b *bench) logged(t *testing.T, outcome string) string {
	t.Helper()
	return b.scalar(t, "select count(*) from operator_action where outcome like $1", outcome)
}

// Nobody approves his own plan: not in the same session, not as another database user under the
// same name, not under another name as the same database user, and not by plain SQL.
func TestApproveNeedsSomebodyElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{})
	plan := waiting(t, alice, 5)
	_, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{})
	var waits *repair.ApprovalNeededError
	if !errors.As(err, &waits) || waits.DenialID == 0 {
		t.Fatalf("it ran without approval: %v", err)
	}
	for name, who := range map[string]*repair.Operator{
		"the same":                    alice,
		"another name, the same user": b.session(t, "alice", "bob", repair.PlanPolicy{}),
		"the same name, another user": b.session(t, "bob", "alice", repair.PlanPolicy{}),
	} {
		_, err := who.ApprovePlan(t.Context(), yesTo(plan))
		var denied *repair.PlanDeniedError
		if !errors.As(err, &denied) || denied.DenialID == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// By SQL, in the session of the maker, who claims to be somebody else.
	pool := b.poolOf(t, "alice")
	_, err = pool.Exec(t.Context(), "insert into grant_approval (plan_id, decision, plan_hash, "+
		"operator, db_user, requested_by, requested_db_user, reason, expires_at) "+
		"select plan_id, 'approve', plan_hash, 'bob', 'bob', 'x', 'y', 'why', 'infinity' "+
		"from grant_plan")
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != "RW004" {
		t.Errorf("by SQL: %v", err)
	}
	_, err = pool.Exec(t.Context(), "update grant_plan set state = 'running'")
	if !errors.As(err, &answer) || answer.Code != "RW001" {
		t.Errorf("running by SQL: %v", err)
	}
	if got := b.logged(t, "denied: own plan"); got != "3" {
		t.Errorf("%s denials are logged", got)
	}
	if approved, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil ||
		approved.State != repair.PlanApproved || !approved.Decisions[0].InForce(approved.ReadAt) {
		t.Errorf("%v, %+v", err, approved)
	}
	b.logIsIntact(t)
}

// Two people decide at once: one wins, the other sees it, nothing is overwritten.
func TestDecisionsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{})
	eve := b.planner(t, "eve", repair.PlanPolicy{})
	for round := range 4 {
		plan := waiting(t, alice, 5+round)
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { _, errs[0] = bob.ApprovePlan(t.Context(), yesTo(plan)) })
		both.Go(func() { _, errs[1] = eve.RejectPlan(t.Context(), yesTo(plan)) })
		both.Wait()
		after, err := alice.Plan(t.Context(), plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		won, lost := 0, errs[1]
		if after.State == repair.PlanRejected {
			won, lost = 1, errs[0]
		}
		var changed *repair.PlanChangedError
		if errs[won] != nil || !errors.As(lost, &changed) || len(after.Decisions) != 1 {
			t.Errorf("%v, %v, %+v", errs[0], errs[1], after)
		}
	}
}

// One denial is a veto, also after an approval; it is final.
func TestRejectIsAVeto(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{})
	plan := waiting(t, alice, 5)
	plan, err := bob.ApprovePlan(t.Context(), yesTo(plan))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.RejectPlan(t.Context(), repair.DecideRequest{Plan: plan.Ref()}); err == nil {
		t.Error("it was rejected without a reason")
	}
	plan, err = bob.RejectPlan(t.Context(), yesTo(plan))
	if err != nil || plan.State != repair.PlanRejected {
		t.Fatalf("%v, %+v", err, plan)
	}
	var changed *repair.PlanChangedError
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); !errors.As(err, &changed) {
		t.Errorf("approving it after: %v", err)
	}
	if _, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{}); !errors.As(err, &changed) {
		t.Errorf("applying it after: %v", err)
	}
	if _, err := b.Pool.Exec(t.Context(), "update grant_plan set state = 'approved'"); err == nil {
		t.Error("by SQL it came back")
	}
	// The same rows may be planned again: that is another plan, which waits again.
	if again := waiting(t, alice, 5); again.ID == plan.ID {
		t.Errorf("%+v", again)
	}
}

// An approval expires, and one that a run has begun under ends when that lies still.
func TestApprovalExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{ApproveWithin: 700 * time.Millisecond})
	plan := waiting(t, alice, 5)
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "select pg_sleep(0.8)")
	_, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{})
	var waits *repair.ApprovalNeededError
	if !errors.As(err, &waits) {
		t.Fatalf("it ran under an approval that expired: %v", err)
	}
	if got := b.logged(t, "denied: approval % expired at %"); got != "1" {
		t.Errorf("%s denials are logged", got)
	}
	// Approved again it begins, is stopped, lies still, and waits for another approval.
	plan, _ = alice.Plan(t.Context(), plan.ID)
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = alice.ApplyPlan(ctx, b.engine, repair.PlanRun{
		Plan: repair.PlanRef{ID: plan.ID}, OnStep: func(s repair.PlanStep) {
			if s == repair.PlanStepBegun {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.exec(t, "select pg_sleep(0.8)")
	if _, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{}); !errors.As(err, &waits) {
		t.Fatalf("it went on under an approval that ended: %v", err)
	}
	plan, _ = alice.Plan(t.Context(), plan.ID)
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil {
		t.Fatal(err)
	}
	report, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{})
	if err != nil || report.Counts.Of(grant.Applied) != 5 {
		t.Fatalf("%v, %+v", err, report)
	}
}

// Rows that were swapped after the approval are refused, however far the swapper went.
func TestSwappedRowsAreRefused(t *testing.T) {
	t.Parallel()
	const swap = "update grant_plan_row set amount = 900 where line = 3; "
	const rehash = "update grant_plan_chunk c set hash = (select sha256(convert_to(string_agg(" +
		"grant_plan_row_form(r.line, r.player_id, r.reward_event_id, r.kind, r.amount, " +
		"r.duplicate_of, r.problem), '' order by r.line), 'UTF8')) from grant_plan_row r " +
		"where r.plan_id = c.plan_id and r.line between c.first_line and c.last_line); "
	const reseal = "update grant_plan set content_hash = (select sha256(string_agg(hash, ''::bytea " +
		"order by chunk)) from grant_plan_chunk); update grant_plan set plan_hash = " +
		"grant_plan_hash(campaign, reason, requested_by, content_hash); "
	for name, sql := range map[string]string{
		"one row": swap,
		"a row more": "insert into grant_plan_row select plan_id, 99, 'eve', 'e', " +
			"'gems', 9 from grant_plan; ",
		"a row less":         "delete from grant_plan_row where line = 3; ",
		"with its hash":      swap + rehash,
		"with all hashes":    swap + rehash + reseal,
		"the reason":         "update grant_plan set reason = 'another'; ",
		"who made it":        "update grant_plan set requested_by = 'mallory'; ",
		"no approval needed": swap + "update grant_plan set needs_approval = false; ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			alice, bob := twoPeople(t, b, repair.PlanPolicy{})
			plan := waiting(t, alice, 5)
			if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil {
				t.Fatal(err)
			}
			b.exec(t, "alter table grant_plan_row disable trigger all")
			b.exec(t, "alter table grant_plan_chunk disable trigger all")
			b.exec(t, "alter table grant_plan disable trigger all")
			if _, err := b.Pool.Exec(t.Context(), "do $$ begin "+sql+" end $$"); err != nil {
				t.Fatal(err)
			}
			b.exec(t, "alter table grant_plan enable always trigger grant_plan_guarded")
			_, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{AcceptDrift: true})
			var tampered *repair.PlanTamperedError
			var waits *repair.ApprovalNeededError
			if !errors.As(err, &tampered) && !errors.As(err, &waits) {
				t.Errorf("%v", err)
			}
			if rows, _ := b.postings(t); rows != 0 {
				t.Errorf("%d rows were granted", rows)
			}
			if got := b.logged(t, "denied: %"); got != "1" {
				t.Errorf("%s denials are logged", got)
			}
		})
	}
}

// Rows that are swapped while the plan runs are refused too.
func TestRowsSwappedDuringTheRunAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(1500)), repair.PlanRequest{})
	_, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		Workers: 1,
		OnStep: func(s repair.PlanStep) {
			if s == repair.PlanStepGranted {
				b.exec(t, "alter table grant_plan_row disable trigger all")
				b.exec(t, "update grant_plan_row set amount = 900 where line = 1400")
			}
		},
	})
	var tampered *repair.PlanTamperedError
	if !errors.As(err, &tampered) || tampered.Where != "lines 1002 to 1501" {
		t.Errorf("%v", err)
	}
	if rows, sum := b.postings(t); rows != 1000 || sum != 1000 {
		t.Errorf("%d postings of %d", rows, sum)
	}
}

// A maker approves his own plan only where the policy allows it, and everybody sees it.
func TestBreakGlass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, _ := twoPeople(t, b, repair.PlanPolicy{})
	plan := waiting(t, alice, 5)
	req := yesTo(plan)
	req.BreakGlass = true
	var denied *repair.PlanDeniedError
	if _, err := alice.ApprovePlan(t.Context(), req); !errors.As(err, &denied) {
		t.Fatalf("%v", err)
	}
	open := b.planner(t, "alice", repair.PlanPolicy{BreakGlass: true})
	after, err := open.ApprovePlan(t.Context(), req)
	if err != nil || !after.Approval().BreakGlass {
		t.Fatalf("%v, %+v", err, after)
	}
	if _, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{}); err != nil {
		t.Fatal(err)
	}
	if b.logged(t, "BREAK-GLASS: approved without a second person") != "1" ||
		b.logged(t, "denied: BREAK-GLASS is not allowed") != "1" {
		t.Error("the log does not say so")
	}
}
