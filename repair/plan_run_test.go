package repair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// Two executors begin at the same moment: one begins the run and uses the approval, the others
// join it. Each row is granted once.
func TestPlanManyExecutorsAtOnce(t *testing.T) {
	t.Parallel()
	const rows, executors = 6000, 4
	b := setup(t)
	alice, bob := twoPeople(t, b, repair.PlanPolicy{})
	plan := waiting(t, alice, rows)
	if _, err := bob.ApprovePlan(t.Context(), yesTo(plan)); err != nil {
		t.Fatal(err)
	}
	reports := make([]repair.PlanReport, executors)
	var all sync.WaitGroup
	for i := range executors {
		engine := b.worker(t, fmt.Sprintf("executor-%d", i), grant.Options{})
		all.Go(func() {
			var err error
			reports[i], err = alice.ApplyPlan(t.Context(), engine, repair.PlanRun{
				Plan: repair.PlanRef{ID: plan.ID},
			})
			if err != nil {
				t.Errorf("executor %d: %v", i, err)
			}
		})
	}
	all.Wait()
	mine := 0
	for _, r := range reports {
		if !r.Complete() || r.Counts.Of(grant.Applied) != rows {
			t.Errorf("%+v", r)
		}
		mine += r.Mine.Sum()
	}
	if mine != rows {
		t.Errorf("the executors decided %d rows together", mine)
	}
	if got := b.logged(t, "begun"); got != "1" {
		t.Errorf("%s executors began", got)
	}
	if got := b.logged(t, "the plan is done"); got == "0" {
		t.Errorf("nobody wrote down that it is done")
	}
	if posted, sum := b.postings(t); posted != rows || sum != rows {
		t.Errorf("%d postings of %d", posted, sum)
	}
	b.logIsIntact(t)
	b.CheckInvariants(t)
}

// A process that stalls for longer than its claim finds that another has taken its part over: it
// writes nothing down, and nothing is granted twice.
func TestPlanStalledExecutorLosesItsClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(500)), repair.PlanRequest{})
	stalled, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var first repair.PlanReport
	var firstErr error
	var run sync.WaitGroup
	run.Go(func() {
		first, firstErr = b.operator.ApplyPlan(t.Context(), b.engine, repair.PlanRun{
			Plan: repair.PlanRef{ID: plan.ID}, Workers: 1, ClaimFor: 200 * time.Millisecond,
			// A stalled process renews nothing.
			Wait: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
			OnStep: func(s repair.PlanStep) {
				if s == repair.PlanStepClaimed {
					once.Do(func() { close(stalled) })
					<-goOn
				}
			},
		})
	})
	<-stalled
	second, err := runPlan(t, b, b.as(t, "bob"), plan.ID, repair.PlanRun{})
	if err != nil || second.Counts.Of(grant.Applied) != 500 {
		t.Fatalf("%v, %+v", err, second)
	}
	close(goOn)
	run.Wait()
	if firstErr != nil || first.Lost != 1 || first.Mine.Sum() != 0 {
		t.Errorf("%v, %+v", firstErr, first)
	}
	if first.Counts.Of(grant.Applied) != 500 {
		t.Errorf("the second writer changed the outcomes: %+v", first.Counts)
	}
	b.CheckInvariants(t)
}

// Players whose lease another owner holds are tried again later, while the rest goes on; who is
// held for too long is given up, and the next run takes these.
func TestPlanWaitsForHeldLeases(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(50)), repair.PlanRequest{})
	held := b.take(t, grant.ResourceFor("player-7"), "other")
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		HeldTries: 2, HeldFor: 200 * time.Millisecond,
	})
	var stopped *repair.StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, repair.ErrPlanStopped) ||
		report.Plan.State != repair.PlanStopped || report.Counts.Of(grant.LeaseHeld) != 1 ||
		report.Counts.Of(grant.Applied) != 49 || report.Plan.Errors != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
	expire(t, b, held.Resource)
	report, err = runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	if err != nil || report.Counts.Of(grant.Applied) != 50 || report.Plan.Errors != 0 {
		t.Fatalf("%v, %+v", err, report)
	}
}

// Somebody who decides about a large plan holds it while its rows are hashed: what is granted
// meanwhile is written down all the same.
func TestPlanIsNotHeldUpByADecision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(1500)), repair.PlanRequest{})
	deciding, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deciding.Rollback(t.Context()) }()
	claimed := 0
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		Workers: 1, OnStep: func(s repair.PlanStep) {
			switch s {
			case repair.PlanStepClaimed:
				if claimed++; claimed == 1 {
					b.exec(t, "update grant_plan set active_at = now() - interval '1 minute'")
					_, err := deciding.Exec(t.Context(), "select from grant_plan for update")
					if err != nil {
						t.Error(err)
					}
				}
			case repair.PlanStepFinish:
				if err := deciding.Rollback(t.Context()); err != nil {
					t.Error(err)
				}
			}
		},
	})
	if err != nil || report.Counts.Of(grant.Applied) != 1500 || claimed != 2 {
		t.Fatalf("%v, %+v", err, report)
	}
}

// A worker with nothing to claim goes on as soon as another one of its process is through: it does
// not sit a poll out at the end of every plan.
func TestPlanIdleWorkerIsWoken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(50)), repair.PlanRequest{})
	idle := make(chan struct{})
	var once sync.Once
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		Workers: 2,
		// No pause ever ends by itself.
		Wait: func(ctx context.Context, d time.Duration) error {
			if d <= time.Second { // renewals wait longer
				once.Do(func() { close(idle) })
			}
			<-ctx.Done()
			return ctx.Err()
		},
		OnStep: func(s repair.PlanStep) {
			if s == repair.PlanStepClaimed {
				<-idle
			}
		},
	})
	if err != nil || report.Counts.Of(grant.Applied) != 50 {
		t.Fatalf("%v, %+v", err, report)
	}
}

// A plan stops for all processes once too many rows were refused, and goes on when it is asked to:
// what was refused before counts no more.
func TestPlanStopsAtMaxErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 3 {
		player := fmt.Sprintf("player-%d", i)
		_, err := b.engine.Grant(t.Context(), b.request(player, "season-34:"+player+"::gems:v1", 9))
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(2500)), repair.PlanRequest{})
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{MaxErrors: 3, Workers: 1})
	if !errors.Is(err, repair.ErrPlanStopped) || report.Plan.State != repair.PlanStopped ||
		report.Counts.NotRun != 1500 || report.Counts.Of(grant.Mismatch) != 3 ||
		!strings.Contains(report.GoOn, "1500 rows left") {
		t.Fatalf("%v, %+v", err, report)
	}
	report, err = runPlan(t, b, b.operator, plan.ID, repair.PlanRun{MaxErrors: 3, Workers: 1})
	if err != nil || report.Counts.Of(grant.Applied) != 2497 || !report.Complete() {
		t.Fatalf("%v, %+v", err, report)
	}
}

// Pause, cancel, reject and Ctrl-C end a run after the batch in hand; what is granted is counted.
func TestPlanEndsAfterTheBatchInHand(t *testing.T) {
	t.Parallel()
	type deed = func(*repair.Operator, context.Context, repair.DecideRequest) (repair.Plan, error)
	for name, c := range map[string]struct {
		do deed
		to repair.PlanState
	}{
		"pause":  {(*repair.Operator).PausePlan, repair.PlanPaused},
		"cancel": {(*repair.Operator).CancelPlan, repair.PlanCancelled},
		"reject": {(*repair.Operator).RejectPlan, repair.PlanRejected},
		"ctrl-c": {nil, repair.PlanRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(2500)),
				repair.PlanRequest{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once sync.Once
			report, err := b.operator.ApplyPlan(ctx, b.engine, repair.PlanRun{
				Plan: repair.PlanRef{ID: plan.ID}, Workers: 1,
				OnStep: func(s repair.PlanStep) {
					if s != repair.PlanStepGranted {
						return
					}
					once.Do(func() {
						if c.do == nil {
							cancel()
							return
						}
						_, err := c.do(b.as(t, "bob"), t.Context(), repair.DecideRequest{
							Plan: repair.PlanRef{ID: plan.ID}, Reason: "database is busy",
						})
						if err != nil {
							t.Error(err)
						}
					})
				},
			})
			var stopped *repair.StoppedError
			if !errors.As(err, &stopped) || report.Plan.State != c.to ||
				report.Counts.Of(grant.Applied) != 1000 || report.Counts.NotRun != 1500 {
				t.Fatalf("%v, %+v", err, report)
			}
			if rows, _ := b.postings(t); rows != 1000 {
				t.Errorf("%d postings", rows)
			}
			report, err = runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
			if c.to.Final() {
				var changed *repair.PlanChangedError
				if !errors.As(err, &changed) {
					t.Errorf("it ran again: %v", err)
				}
			} else if err != nil || report.Counts.Of(grant.Applied) != 2500 {
				t.Errorf("%v, %+v", err, report)
			}
			b.logIsIntact(t)
		})
	}
}

// A rate spreads the rows over time.
func TestPlanKeepsItsRate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(60)), repair.PlanRequest{})
	var mu sync.Mutex
	var waited time.Duration
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		Rate: 20, Workers: 1,
		Wait: func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d / 10)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
			mu.Lock()
			defer mu.Unlock()
			if d < 2*time.Second { // renewals wait longer
				waited += d
			}
			return nil
		},
	})
	if err != nil || report.Counts.Of(grant.Applied) != 60 {
		t.Fatalf("%v, %+v", err, report)
	}
	if waited < time.Second {
		t.Errorf("60 rows at 20 a second waited for %s", waited)
	}
}

// PostgreSQL goes away in the middle: the run says how far it came, and the next one finishes.
func TestPlanStopsWhenTheEngineIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(2500)), repair.PlanRequest{})
	gone := newLedger()
	gone.fault = func(call int, requests []grant.Request) ([]grant.Result, error, bool) {
		if call == 0 {
			results, err := b.engine.GrantMany(t.Context(), requests)
			return results, err, true
		}
		return nil, &grant.BackendError{
			Backend: grant.PostgreSQL, Op: "grant",
			Err: errors.New("gone"),
		}, true
	}
	report, err := b.operator.ApplyPlan(t.Context(), gone, repair.PlanRun{
		Plan: repair.PlanRef{ID: plan.ID}, Workers: 1,
	})
	var broken *grant.BackendError
	if !errors.As(err, &broken) || report.Counts.Of(grant.Applied) != 1000 ||
		report.Counts.Of(grant.Failed) != 1000 || report.Plan.Decided != 1000 {
		t.Fatalf("%v, %+v", err, report)
	}
	report, err = runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	if err != nil || report.Counts.Of(grant.Applied) != 2500 {
		t.Fatalf("%v, %+v", err, report)
	}
}

// B29 on plans: the same rows in opposite orders are two plans that run at once. No deadlock, no
// row twice, none missing.
func TestB29TwoPlansAtOnce(t *testing.T) {
	t.Parallel()
	const n = 4000
	b := setup(t)
	rows := strings.Split(strings.TrimSuffix(manyRows(n), "\n"), "\n")
	header, rows := rows[0], rows[1:]
	forward := writeFile(t, "a.csv", header+"\n"+strings.Join(rows, "\n")+"\n")
	slices.Reverse(rows)
	backward := writeFile(t, "b.csv", header+"\n"+strings.Join(rows, "\n")+"\n")
	var reports [2]repair.PlanReport
	var both sync.WaitGroup
	for i, path := range []string{forward, backward} {
		plan, _ := planOf(t, b.operator, path, repair.PlanRequest{})
		engine := b.worker(t, fmt.Sprintf("plan-%d", i), grant.Options{})
		both.Go(func() {
			var err error
			reports[i], err = b.operator.ApplyPlan(t.Context(), engine, repair.PlanRun{
				Plan: plan.Ref(), AcceptDrift: true, HeldTries: 40,
			})
			if err != nil {
				t.Errorf("plan %d: %v", i, err)
			}
		})
	}
	both.Wait()
	applied := reports[0].Counts.Of(grant.Applied) + reports[1].Counts.Of(grant.Applied)
	replayed := reports[0].Counts.Of(grant.Replayed) + reports[1].Counts.Of(grant.Replayed)
	if applied != n || replayed != n {
		t.Errorf("%d granted, %d already granted; want %d each", applied, replayed, n)
	}
	if posted, sum := b.postings(t); posted != n || sum != n {
		t.Errorf("%d postings of %d", posted, sum)
	}
	b.CheckInvariants(t)
}
