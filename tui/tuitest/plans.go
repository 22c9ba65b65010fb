package tuitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// Plans implements tui.Planner.
func (w *World) Plans(ctx context.Context, filter repair.PlanFilter) ([]repair.Plan, error) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []repair.Plan
	for _, p := range w.plans {
		wanted := len(filter.States) == 0 && !filter.Unreviewed ||
			filter.Unreviewed && p.BrokenGlass() != nil
		for _, s := range filter.States {
			wanted = wanted || s == p.State
		}
		if wanted {
			out = append(out, p)
		}
	}
	return out, nil
}

// PreviewPlan implements tui.Planner.
func (w *World) PreviewPlan(ctx context.Context, id int64) (
	repair.Plan, repair.PlanPreview, error,
) {
	if err := w.enter(ctx); err != nil {
		return repair.Plan{}, repair.PlanPreview{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.plans {
		if p.ID == id {
			now := p.Preview
			if !p.StartedAt.IsZero() { // what is granted is not new any more
				now.Granted += p.Decided - p.Errors
				now.Fresh -= p.Decided - p.Errors
			}
			now.Granted += w.elsewhere[id]
			w.previews++
			return p, now, nil
		}
	}
	return repair.Plan{}, repair.PlanPreview{}, fmt.Errorf("there is no plan %d", id)
}

// Plan implements tui.Planner.
func (w *World) Plan(ctx context.Context, id int64) (repair.Plan, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Plan{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.plans {
		if p.ID == id {
			return p, nil
		}
	}
	return repair.Plan{}, fmt.Errorf("there is no plan %d", id)
}

// GrantElsewhere has rows of a plan be granted since it was made.
func (w *World) GrantElsewhere(id, rows int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.elsewhere = map[int64]int64{id: rows}
}

// Previews is how often somebody asked what a plan would do, which takes long for a large one.
func (w *World) Previews() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.previews
}

// PlanOutcomes implements tui.Planner.
func (w *World) PlanOutcomes(ctx context.Context, _ int64) (repair.ApplyCounts, error) {
	return repair.ApplyCounts{}, w.enter(ctx)
}

// PlanLines implements tui.Planner.
func (w *World) PlanLines(ctx context.Context, _ int64, _ bool, take func(repair.ApplyLine) error,
) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	for i := range 5 {
		line := repair.ApplyLine{
			Line: 2 + i, NotRun: i > 2, Request: grant.Request{
				PlayerID: fmt.Sprintf("player-%d", 40+i), Kind: "gems", Amount: 200,
				EventID: fmt.Sprintf("outage:player-%d::gems:v1", 40+i),
			},
		}
		if i == 2 {
			line.Outcome, line.Detail = grant.Mismatch, "posted with another amount: 100"
		} else if i < 2 {
			line.Outcome = grant.Applied
		}
		if err := take(line); err != nil {
			return err
		}
	}
	return nil
}

// Decide implements tui.Planner.
func (w *World) Decide(ctx context.Context, word string, q repair.DecideRequest) (
	repair.Plan, error,
) {
	if err := w.enter(ctx); err != nil {
		return repair.Plan{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.plans {
		p := &w.plans[i]
		if p.ID != q.Plan.ID {
			continue
		}
		if p.Version != q.Plan.Version {
			return *p, &repair.PlanChangedError{
				Plan: *p, Have: fmt.Sprintf("version %d", p.Version),
				Want: fmt.Sprintf("version %d", q.Plan.Version), WayOut: "look again",
			}
		}
		p.Version++
		w.decided = append(w.decided, q)
		if p.State.Final() && p.BrokenGlass() != nil {
			p.Decisions = slices.Clone(p.Decisions) // the old ones are on the screen
			p.BrokenGlass().AwaitsReview = false
			return *p, nil
		}
		p.State = map[string]repair.PlanState{
			"approve": repair.PlanApproved, "reject": repair.PlanRejected, "pause": repair.PlanPaused,
			"cancel": repair.PlanCancelled,
		}[word]
		return *p, nil
	}
	return repair.Plan{}, fmt.Errorf("there is no plan %d", q.Plan.ID)
}

// ApplyPlan implements tui.Planner.
func (w *World) ApplyPlan(ctx context.Context, run repair.PlanRun) (repair.PlanReport, error) {
	if err := w.enter(ctx); err != nil {
		return repair.PlanReport{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.plans {
		if p := &w.plans[i]; p.ID == run.Plan.ID {
			p.State, p.Decided = repair.PlanDone, p.Due
			run.OnProgress(repair.ApplyProgress{Done: int(p.Due), Total: int(p.Due), Rate: 5000})
			w.applied = append(w.applied, p.ID)
			return repair.PlanReport{Plan: *p}, nil
		}
	}
	return repair.PlanReport{}, fmt.Errorf("there is no plan %d", run.Plan.ID)
}

// Decided returns the decisions about plans that were carried out.
func (w *World) Decided() []repair.DecideRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.DecideRequest(nil), w.decided...)
}

// Applied returns the plans that were carried out.
func (w *World) Applied() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]int64(nil), w.applied...)
}

// Touch raises the version of a plan, as another operator's decision does.
func (w *World) Touch(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.plans {
		if w.plans[i].ID == id {
			w.plans[i].Version++
		}
	}
}

func (w *World) plan(id int64, state repair.PlanState, due int64) repair.Plan {
	return repair.Plan{
		ID: id, State: state, Version: 3, Hash: "9f2c7be1a04d55e2", Campaign: "outage-48",
		Source: "outage.csv", Reason: "outage 2026-11-30", RequestedBy: "jo", DBUser: "liveops",
		Rows: due + 2, Due: due, Duplicates: 1, Invalid: 1, CreatedAt: w.now().Add(-time.Hour),
		Preview: repair.PlanPreview{
			Due: due, Fresh: due - 1, Granted: 1, Players: due, PlayersTwice: 7,
			Kinds: []repair.PlanKind{{
				Kind: "gems", Rows: due, Total: 200 * due, Largest: 200, Players: due,
				BalanceBefore: 1_000_000, BalanceAfter: 1_000_000 + 200*due,
			}},
		},
	}
}

// fillPlans puts plans in several states into the world.
func (w *World) fillPlans() {
	waiting := w.plan(12, repair.PlanWaiting, 100_000)
	waiting.NeedsApproval = true
	waiting.Over = []repair.OverLimit{{Limit: "rows", Value: 100_000, Max: 10_000}}
	stopped := w.plan(11, repair.PlanStopped, 5000)
	stopped.Decided, stopped.Errors, stopped.StartedAt = 3200, 4, w.now().Add(-30*time.Minute)
	done := w.plan(9, repair.PlanDone, 800)
	done.Decided = 800
	w.plans = []repair.Plan{waiting, stopped, w.plan(10, repair.PlanReady, 42), done}
}

// Break has a plan be done under broken glass, which nobody else has looked at.
func (w *World) Break(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.plans {
		if p := &w.plans[i]; p.ID == id {
			at := p.ReadAt.Add(-3 * time.Hour)
			p.State, p.Decisions = repair.PlanDone, []repair.Decision{{
				ID: 7, Approve: true, BreakGlass: true, AwaitsReview: true, Operator: "sam",
				DBUser: "sam", Reason: "nobody is awake", At: at, Used: at,
			}}
		}
	}
}
