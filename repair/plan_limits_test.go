package repair_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

func overs(over []repair.OverLimit) string {
	words := make([]string, len(over))
	for i, o := range over {
		words[i] = o.String()
	}
	return strings.Join(words, "; ")
}

// Each limit by itself, at its edge and one beyond it.
func TestPlanLimits(t *testing.T) {
	t.Parallel()
	const file = "player_id,kind,amount,subject\na,gems,10,1\na,gems,20,2\nb,gems,5,1\nb,gold,7,1\n"
	for name, c := range map[string]struct {
		limits repair.PlanLimits
		over   string
	}{
		"none":           {repair.PlanLimits{}, ""},
		"at every limit": {repair.PlanLimits{Amount: 20, PlayerDay: 30, Rows: 4, Total: 35}, ""},
		"amount": {
			repair.PlanLimits{Amount: 19}, "amount: the largest is 20 gems, over 19, in 1 row",
		},
		"amount, two kinds": {
			repair.PlanLimits{Amount: 6}, "amount: the largest is 20 gems, over 6, in 2 rows; " +
				"amount: the largest is 7 gold, over 6, in 1 row",
		},
		"player and day": {
			repair.PlanLimits{PlayerDay: 29},
			"player and day: up to 30 gems within 24 hours, over 29, for 1 player",
		},
		"rows":  {repair.PlanLimits{Rows: 3}, "rows: 4, over 3"},
		"total": {repair.PlanLimits{Total: 34}, "total: 35 gems, over 34"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			o := b.planner(t, "alice", repair.PlanPolicy{Limits: c.limits})
			plan, preview := planOf(t, o, writeFile(t, "g.csv", file), repair.PlanRequest{})
			if overs(plan.Over) != c.over || overs(preview.Over) != c.over ||
				plan.NeedsApproval != (c.over != "") {
				t.Errorf("%q, want %q", overs(plan.Over), c.over)
			}
		})
	}
}

// What a player was given elsewhere within a day counts, what is older or of another kind does not.
// A plan that is over the limit by the time it runs waits for approval.
func TestPlayerAndDayCountsTheLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	o := b.planner(t, "alice", repair.PlanPolicy{Limits: repair.PlanLimits{PlayerDay: 30}})
	give := func(event, kind string, amount int64) {
		t.Helper()
		req := b.request("a", event, amount)
		req.Kind = kind
		if _, err := b.engine.Grant(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	give("old", "gems", 500)
	b.exec(t, "alter table reward_ledger disable trigger all")
	b.exec(t, "update reward_ledger set created_at = now() - interval '25 hours'")
	give("other", "gold", 500)
	give("today", "gems", 10)
	plan, _ := planOf(t, o, writeFile(t, "g.csv", "player_id,kind,amount\na,gems,20\n"),
		repair.PlanRequest{})
	if plan.State != repair.PlanReady {
		t.Fatalf("%+v", plan)
	}
	give("meanwhile", "gems", 1)
	_, err := runPlan(t, b, o, plan.ID, repair.PlanRun{AcceptDrift: true})
	var waits *repair.ApprovalNeededError
	if !errors.As(err, &waits) || waits.Plan.State != repair.PlanWaiting ||
		!strings.Contains(waits.Problem, "up to 31 gems within 24 hours, over 30") {
		t.Fatalf("%v", err)
	}
	bob := b.planner(t, "bob", repair.PlanPolicy{})
	_, now, err := bob.PreviewPlan(t.Context(), plan.ID)
	if err != nil {
		t.Fatal(err)
	}
	req := yesTo(waits.Plan)
	req.Seen = &now
	if _, err := bob.ApprovePlan(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := runPlan(t, b, o, plan.ID, repair.PlanRun{}); err != nil {
		t.Error(err)
	}
}

// The first rule that matches counts: by the operator's name, or by a role of the session's user.
func TestPlanLimitsByOperatorAndRole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	role := b.Schema + "_leads"
	b.exec(t, "create role "+role)
	policy := repair.PlanPolicy{
		Limits: repair.PlanLimits{Rows: 2},
		Rules: []repair.LimitRule{
			{Operator: "carol", Limits: repair.PlanLimits{Rows: 3}},
			{Role: role, Limits: repair.PlanLimits{}},
		},
	}
	// The last step first: roles that others belong to cannot be dropped before these.
	t.Cleanup(func() { b.dropRole(t, role) })
	alice, carol, dan := b.planner(t, "alice", policy), b.planner(t, "carol", policy),
		b.planner(t, "dan", policy)
	b.exec(t, fmt.Sprintf("grant %s to %s_dan", role, b.Schema))
	b.exec(t, fmt.Sprintf("alter role %s_dan nosuperuser", b.Schema))
	b.exec(t, fmt.Sprintf("grant usage on schema %s to %s_dan", b.Schema, b.Schema))
	b.exec(t, fmt.Sprintf("grant all on all tables in schema %s to %s_dan", b.Schema, b.Schema))
	t.Cleanup(func() { b.dropOwned(t, b.Schema+"_dan") })
	for i, c := range []struct {
		who  *repair.Operator
		rows int
		over bool
	}{
		{alice, 3, true}, {carol, 3, false}, {carol, 4, true}, {dan, 9, false},
	} {
		file := strings.ReplaceAll(manyRows(c.rows), "player-", fmt.Sprintf("p%d-", i))
		plan, _ := planOf(t, c.who, writeFile(t, "g.csv", file), repair.PlanRequest{})
		if plan.NeedsApproval != c.over {
			t.Errorf("case %d: %+v", i, plan.Over)
		}
	}
}

// Drift is told and needs a word: balances, rows granted elsewhere, mismatches.
func TestPlanDrift(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan, _ := planOf(t, b.operator, writeFile(t, "g.csv", manyRows(5)), repair.PlanRequest{})
	for player, amount := range map[string]int64{"player-1": 1, "player-2": 9} {
		req := b.request(player, "season-34:"+player+"::gems:v1", amount)
		_, err := b.engine.Grant(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	var drift *repair.DriftError
	if !errors.As(err, &drift) || drift.DenialID == 0 {
		t.Fatalf("%v", err)
	}
	mustContain(t, err.Error(), "already granted: 0 rows, now 1 row",
		"other content under the same id: 0 rows, now 1 row",
		"balances of gems: 0 in all, now 10 in all")
	if rows, _ := b.postings(t); rows != 2 {
		t.Fatalf("%d postings", rows)
	}
	// Whoever has seen it may go on, unless it drifts again.
	if _, err := b.engine.Grant(t.Context(), b.request("player-3", "else", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{Seen: &drift.Now}); !errors.As(
		err, &drift) {
		t.Fatalf("%v", err)
	}
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{Seen: &drift.Now})
	if err != nil || report.Counts.Of(grant.Applied) != 3 || report.Counts.Of(grant.Replayed) != 1 ||
		report.Counts.Of(grant.Mismatch) != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
}
