package repair_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/repair"
)

// planOrders tell a child which deed to do, and at which step to die.
type planOrders struct {
	Postgres string
	User     string // of the database
	Redis    string
	Prefix   string
	Operator string
	Deed     string // "apply" or "approve"
	Plan     int64
	Step     repair.PlanStep
	Engine   grant.Step // or at a step of the engine, with its leases held
}

// dieAt runs a deed in a process of its own that is killed at a step.
func (b *bench) dieAt(t *testing.T, o planOrders) {
	t.Helper()
	o.Postgres, o.Redis, o.Prefix = b.URL(), b.RedisAddr, b.Prefix
	step := string(o.Step)
	if o.Engine != "" {
		step = string(o.Engine)
	}
	granttest.StartChild(t, "TestPlanChild", o).KillAt(step)
}

// TestPlanChild is the child's side. Without orders it has nothing to do.
func TestPlanChild(t *testing.T) {
	var o planOrders
	orders := granttest.Ordered(t, &o)
	if orders == nil {
		return
	}
	operator, engine := o.wire(t, orders)
	stop := func(step repair.PlanStep) {
		if step == o.Step {
			orders.Stop(string(step))
		}
	}
	var err error
	switch o.Deed {
	case "apply":
		_, err = operator.ApplyPlan(t.Context(), engine, repair.PlanRun{
			Plan: repair.PlanRef{ID: o.Plan}, OnStep: stop, ClaimFor: time.Second, Workers: 1,
		})
	case "approve":
		_, err = operator.ApprovePlan(t.Context(), repair.DecideRequest{
			Plan: repair.PlanRef{ID: o.Plan}, Reason: "checked", OnStep: stop,
		})
	}
	t.Fatalf("it went on to its end: %v", err)
}

func (o planOrders) wire(
	t *testing.T, orders *granttest.Orders,
) (*repair.Operator, *grant.Engine) {
	t.Helper()
	settings, err := pgxpool.ParseConfig(o.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if o.User != "" {
		settings.ConnConfig.User = o.User
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: o.Redis, ContextTimeoutEnabled: true})
	ttl := 2 * time.Second
	if o.Engine != "" {
		ttl = 4 * time.Second // the claim of the dead process ends well before its leases
	}
	store, err := lease.New(client, lease.Options{Prefix: o.Prefix, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := grant.NewEngine(pool, store, grant.Options{
		Worker: fmt.Sprintf("child@test/%d", os.Getpid()), NewID: rand.Text,
		OnStep: func(step grant.Step) {
			if step == o.Engine {
				orders.Stop(string(step))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	operator, err := repair.New(pool, store, engine, repair.Options{
		Operator: o.Operator, NewID: rand.Text,
	})
	if err != nil {
		t.Fatal(err)
	}
	return operator, engine
}

// logIsIntact checks that the log has no gap and that each row follows from the one before.
func (b *bench) logIsIntact(t *testing.T) {
	t.Helper()
	broken := b.scalar(t, "select count(*) from (select a.id, a.prev_hash, "+
		"lag(a.hash) over (order by a.id) as before, row_number() over (order by a.id) as n "+
		"from operator_action a) x where x.id <> x.n or (x.n > 1 and x.prev_hash is distinct from "+
		"x.before)")
	if broken != "0" {
		t.Errorf("%s rows of the log do not follow from the one before", broken)
	}
}

// kill -9 between any two steps of applying a plan: the next run finishes it, nothing is doubled.
func TestPlanSurvivesKillAtEveryStepOfApply(t *testing.T) {
	t.Parallel()
	for _, step := range []repair.PlanStep{
		repair.PlanStepBegin, repair.PlanStepBegun, repair.PlanStepClaimed, repair.PlanStepGranted,
		repair.PlanStepRecorded, repair.PlanStepFinish, repair.PlanStepFinished,
	} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			const rows = 1500
			b := setup(t)
			plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(rows)),
				repair.PlanRequest{})
			b.dieAt(t, planOrders{Operator: "alice", Deed: "apply", Plan: plan.ID, Step: step})
			before, _ := b.postings(t)
			report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
			if err != nil || !report.Complete() {
				t.Fatalf("%v, %+v", err, report)
			}
			granted := report.Counts.Of(grant.Applied) + report.Counts.Of(grant.Replayed)
			if posted, sum := b.postings(t); posted != rows || sum != rows || granted != rows {
				t.Errorf("%d postings of %d, %d in the report", posted, sum, granted)
			}
			t.Logf("%d rows were granted when it was killed, %d answered replayed", before,
				report.Counts.Of(grant.Replayed))
			b.logIsIntact(t)
			b.CheckInvariants(t)
		})
	}
}

// kill -9 while the engine holds the leases of a batch: the next run takes over what the dead
// process had claimed, says what it waits for, and finishes as soon as its leases have ended.
func TestPlanWaitsForTheLeasesOfAKilledProcess(t *testing.T) {
	t.Parallel()
	const rows = 500
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(rows)), repair.PlanRequest{})
	b.dieAt(t, planOrders{
		Operator: "alice", Deed: "apply", Plan: plan.ID, Engine: grant.StepSend,
	})
	said := make(map[string]bool)
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{
		// Neither tries nor the time of a claim decide how long the leases are waited for.
		HeldTries: 1, Workers: 2, OnProgress: func(p repair.ApplyProgress) {
			if w := p.Waiting; w != nil {
				said["part"] = said["part"] || w.Parts == 1
				said["rows"] = said["rows"] || w.Rows > 0 &&
					strings.Contains(w.Owner, "child@test/") && w.Left > 0
			}
		},
	})
	if err != nil || !report.Complete() || report.Counts.Of(grant.Applied) != rows {
		t.Fatalf("%v, %+v", err, report)
	}
	if !said["part"] || !said["rows"] {
		t.Errorf("what it said to wait for: %v", said)
	}
	b.logIsIntact(t)
	b.CheckInvariants(t)
}

// kill -9 between any two steps of an approval: either it is there with its log row, or neither
// is, and approving again ends well or says that it is done.
func TestPlanSurvivesKillAtEveryStepOfApprove(t *testing.T) {
	t.Parallel()
	for step, kept := range map[repair.PlanStep]bool{
		repair.PlanStepDecide: false, repair.PlanStepWritten: false, repair.PlanStepLogged: false,
		repair.PlanStepDecided: true,
	} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			few := repair.PlanPolicy{Limits: repair.PlanLimits{Rows: 2}}
			alice, bob := b.planner(t, "alice", few), b.planner(t, "bob", few)
			plan, _ := planOf(t, alice, writeFile(t, "g.csv", manyRows(5)), repair.PlanRequest{})
			b.dieAt(t, planOrders{
				Operator: "bob", User: b.Schema + "_bob", Deed: "approve", Plan: plan.ID, Step: step,
			})
			state := b.scalar(t, "select state from grant_plan")
			rows := b.scalar(t, "select count(*) from grant_approval")
			logged := b.scalar(t, "select count(*) from operator_action where action = "+
				"'grant approve' and outcome = 'approved'")
			want := strings.Join([]string{"waiting", "0", "0"}, " ")
			if kept {
				want = "approved 1 1"
			}
			if got := state + " " + rows + " " + logged; got != want {
				t.Fatalf("after the kill: %s, want %s", got, want)
			}
			after, err := bob.ApprovePlan(t.Context(), repair.DecideRequest{
				Plan: repair.PlanRef{ID: plan.ID}, Reason: "checked",
			})
			if err != nil || after.State != repair.PlanApproved {
				t.Fatalf("%v, %+v", err, after)
			}
			report, err := runPlan(t, b, alice, plan.ID, repair.PlanRun{})
			if err != nil || report.Counts.Of(grant.Applied) != 5 {
				t.Fatalf("%v, %+v", err, report)
			}
			b.logIsIntact(t)
			b.CheckInvariants(t)
		})
	}
}
