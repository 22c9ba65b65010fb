package repair_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/repair"
)

// broken makes a plan of alice that somebody approves by breaking the glass.
func broken(t *testing.T, alice, breaker *repair.Operator, rows int) repair.Plan {
	t.Helper()
	plan := waiting(t, alice, rows)
	req := yesTo(plan)
	req.BreakGlass = true
	plan, err := breaker.ApprovePlan(t.Context(), req)
	if err != nil || plan.State != repair.PlanApproved {
		t.Fatalf("%v, %+v", err, plan)
	}
	if plan.BrokenGlass() != nil {
		t.Errorf("it waits for a review before anything ran: %+v", plan.Decisions)
	}
	return plan
}

func (b *bench) unreviewed(t *testing.T, o *repair.Operator) []int64 {
	t.Helper()
	plans, err := o.Plans(t.Context(), repair.PlanFilter{Unreviewed: true})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for i := range plans {
		ids = append(ids, plans[i].ID)
	}
	return ids
}

func refuses(t *testing.T, what string, who *repair.Operator, plan repair.Plan) {
	t.Helper()
	_, err := who.ApprovePlan(t.Context(), yesTo(plan))
	var denied *repair.PlanDeniedError
	if !errors.As(err, &denied) || denied.DenialID == 0 {
		t.Errorf("%s reviewed it: %v", what, err)
	}
}

// What ran under broken glass waits for a second person: neither whoever made the plan nor whoever
// broke the glass, whatever name or database user one of them uses, and not by plain SQL either.
func TestBrokenGlassWaitsForAReview(t *testing.T) {
	t.Parallel()
	b := setup(t)
	policy := repair.PlanPolicy{BreakGlass: true}
	alice, bob := twoPeople(t, b, policy)
	carol := b.planner(t, "carol", policy)
	plan := broken(t, alice, carol, 5)
	if _, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{}); err != nil {
		t.Fatal(err)
	}
	done, err := alice.Plan(t.Context(), plan.ID)
	glass := done.BrokenGlass()
	if err != nil || done.State != repair.PlanDone || glass == nil || glass.Operator != "carol" {
		t.Fatalf("%v, %+v", err, done)
	}
	if got := b.unreviewed(t, bob); len(got) != 1 || got[0] != plan.ID {
		t.Errorf("plans to be reviewed: %v", got)
	}
	refuses(t, "its maker", alice, done)
	refuses(t, "who broke the glass", carol, done)
	refuses(t, "its maker under another name", b.session(t, "alice", "bob", policy), done)
	refuses(t, "its maker's name", b.session(t, "bob", "alice", policy), done)
	refuses(t, "the breaker under another name", b.session(t, "carol", "bob", policy), done)
	refuses(t, "the breaker's name", b.session(t, "bob", "carol", policy), done)
	for _, user := range []string{"alice", "carol"} {
		_, err := b.poolOf(t, user).Exec(t.Context(), "insert into grant_approval (plan_id, "+
			"decision, plan_hash, operator, db_user, requested_by, requested_db_user, reason, "+
			"expires_at) select plan_id, 'review', plan_hash, 'bob', 'bob', 'x', 'y', 'why', "+
			"'infinity' from grant_plan")
		var answer *pgconn.PgError
		if !errors.As(err, &answer) || answer.Code != "RW004" {
			t.Errorf("%s by SQL: %v", user, err)
		}
	}
	if got := b.logged(t, "denied: own plan"); got != "6" {
		t.Errorf("%s denials are logged", got)
	}
	after, err := bob.ApprovePlan(t.Context(), yesTo(done))
	if err != nil || after.BrokenGlass() != nil || after.State != repair.PlanDone ||
		after.Version != done.Version+1 || !after.EndedAt.Equal(done.EndedAt) ||
		!after.Decisions[0].Review || after.Decisions[0].Operator != "bob" {
		t.Fatalf("%v, %+v", err, after)
	}
	if got := b.unreviewed(t, bob); len(got) != 0 {
		t.Errorf("plans to be reviewed after it: %v", got)
	}
	if got := b.logged(t, "BREAK-GLASS reviewed"); got != "1" {
		t.Errorf("%s reviews are logged", got)
	}
	// Once is enough, and a review lets nothing run.
	var changed *repair.PlanChangedError
	if _, err := bob.ApprovePlan(t.Context(), yesTo(after)); !errors.As(err, &changed) {
		t.Errorf("again: %v", err)
	}
	if _, err := bob.ApprovePlan(t.Context(), yesTo(done)); !errors.As(err, &changed) {
		t.Errorf("as it was before: %v", err)
	}
	b.logIsIntact(t)
}

// While a plan is not over, the approval of somebody else is the review as well; a rejection is
// none.
func TestBrokenGlassIsReviewedByAnApproval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{BreakGlass: true})
	for i, c := range []struct {
		decide func(*repair.Operator, repair.Plan) (repair.Plan, error)
		waits  bool
	}{
		{func(o *repair.Operator, p repair.Plan) (repair.Plan, error) {
			return o.ApprovePlan(t.Context(), yesTo(p))
		}, false},
		{func(o *repair.Operator, p repair.Plan) (repair.Plan, error) {
			return o.RejectPlan(t.Context(), yesTo(p))
		}, true},
	} {
		plan, decided := broken(t, alice, alice, 1500+i), false
		_, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{
			Workers: 1, OnStep: func(s repair.PlanStep) {
				if s != repair.PlanStepGranted || decided {
					return
				}
				decided = true
				running, err := bob.Plan(t.Context(), plan.ID)
				if err != nil || running.BrokenGlass() == nil {
					t.Errorf("%d: %v, %+v", i, err, running)
				}
				if _, err = c.decide(bob, running); err != nil {
					t.Errorf("%d: %v", i, err)
				}
			},
		})
		after, perr := alice.Plan(t.Context(), plan.ID)
		if perr != nil || (after.BrokenGlass() != nil) != c.waits || (err != nil) != c.waits {
			t.Errorf("%d: %v, %v, %+v", i, err, perr, after.Decisions)
		}
		if c.waits {
			if after, err = bob.ApprovePlan(t.Context(), yesTo(after)); err != nil ||
				after.BrokenGlass() != nil || after.State != repair.PlanRejected {
				t.Errorf("the review of a rejected plan: %v, %+v", err, after)
			}
		}
	}
	if b.logged(t, "approved; BREAK-GLASS reviewed") == "0" {
		t.Error("the log does not say that the approval was the review")
	}
	b.logIsIntact(t)
}

// A review signs for the rows that ran: others than were planned are not signed for, and neither is
// a plan whose glass is whole.
func TestReviewOfWhatDidNotRunIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{BreakGlass: true})
	plan := broken(t, alice, alice, 5)
	if _, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{}); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "alter table grant_plan_row disable trigger all")
	b.exec(t, "update grant_plan_row set amount = 900 where line = 3")
	plan, err := bob.Plan(t.Context(), plan.ID)
	if err != nil {
		t.Fatal(err)
	}
	var tampered *repair.PlanTamperedError
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); !errors.As(err, &tampered) {
		t.Errorf("other rows were signed for: %v", err)
	}
	whole := waiting(t, alice, 6)
	if _, err := bob.ApprovePlan(t.Context(), yesTo(whole)); err != nil {
		t.Fatal(err)
	}
	_, err = b.poolOf(t, "bob").Exec(t.Context(), "insert into grant_approval (plan_id, decision, "+
		"plan_hash, operator, requested_by, requested_db_user, reason, expires_at) select plan_id, "+
		"'review', plan_hash, 'bob', '', '', 'why', now() from grant_plan where plan_id = $1",
		whole.ID)
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != "RW001" {
		t.Errorf("a review of nothing: %v", err)
	}
}
