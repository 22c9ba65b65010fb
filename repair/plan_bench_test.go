package repair_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/repair"
)

// BenchmarkPlanAgainstGrantMany applies plans and, in turn with them on the same servers, grants
// as many rows with GrantMany in batches of the same size. It reports both rates, the ratio of the
// batches, that of the whole run with its fresh preview and its report, and the rate of planning.
func BenchmarkPlanAgainstGrantMany(b *testing.B) {
	const rows, batchMax = 20_000, 1000
	world := granttest.New(b)
	store, err := lease.New(world.Redis, lease.Options{Prefix: world.Prefix, TTL: 20 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	engine, err := grant.NewEngine(world.Pool, store, grant.Options{
		Worker: "bench@host/1", NewID: rand.Text,
	})
	if err != nil {
		b.Fatal(err)
	}
	operator, err := repair.New(world.Pool, store, engine, repair.Options{
		Operator: "ops", NewID: rand.Text,
	})
	if err != nil {
		b.Fatal(err)
	}
	grantMany(b, engine, rows, batchMax) // fences and balances are there before anything is timed
	var planning, applying, batches, granting time.Duration
	for b.Loop() {
		campaign := rand.Text()
		began := time.Now()
		plan, _, err := operator.MakePlan(b.Context(), campaignFile(b, campaign, rows),
			repair.PlanRequest{Campaign: campaign, Reason: "test"})
		if err != nil {
			b.Fatal(err)
		}
		planning += time.Since(began)
		began = time.Now()
		var begun time.Time
		report, err := operator.ApplyPlan(b.Context(), engine, repair.PlanRun{
			Plan: plan.Ref(), OnStep: func(s repair.PlanStep) {
				switch s {
				case repair.PlanStepBegun:
					begun = time.Now()
				case repair.PlanStepFinish:
					batches += time.Since(begun)
				}
			},
		})
		if err != nil || report.Counts.Of(grant.Applied) != rows {
			b.Fatalf("%v, %+v", err, report.Counts)
		}
		applying += time.Since(began)
		began = time.Now()
		grantMany(b, engine, rows, batchMax)
		granting += time.Since(began)
	}
	rate := func(d time.Duration) float64 { return float64(rows) * float64(b.N) / d.Seconds() }
	b.ReportMetric(rate(planning), "planned/s")
	b.ReportMetric(rate(applying), "applied/s")
	b.ReportMetric(rate(granting), "GrantMany/s")
	b.ReportMetric(rate(batches)/rate(granting), "ratio") // of the batches
	b.ReportMetric(rate(applying)/rate(granting), "whole-ratio")
}

func grantMany(b *testing.B, engine *grant.Engine, rows, batchMax int) {
	b.Helper()
	campaign := rand.Text()
	for from := 0; from < rows; from += batchMax {
		requests := make([]grant.Request, batchMax)
		for i := range requests {
			requests[i] = grant.Request{
				PlayerID: fmt.Sprintf("player-%d", from+i), EventID: campaign, Kind: "gems",
				Amount: 1, Actor: "ops", Reason: "test",
			}
		}
		if _, err := engine.GrantMany(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
}
