package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// planDecision is what is decided about a plan, by the command's word.
type planDecision string

const (
	planApprove planDecision = "approve"
	planReject  planDecision = "reject"
	planPause   planDecision = "pause"
	planCancel  planDecision = "cancel"
	planApply   planDecision = "apply"
)

// Planner is what the console asks about plans and does with them. *repair.Operator implements
// all of it but ApplyPlan, which needs the engine.
type Planner interface {
	Plans(ctx context.Context, filter repair.PlanFilter) ([]repair.Plan, error)
	// Plan reads a plan without asking what it would do now, which takes long for a large one.
	Plan(ctx context.Context, id int64) (repair.Plan, error)
	// PlanOutcomes counts the rows of a plan by what became of them.
	PlanOutcomes(ctx context.Context, id int64) (repair.ApplyCounts, error)
	PreviewPlan(ctx context.Context, id int64) (repair.Plan, repair.PlanPreview, error)
	PlanLines(ctx context.Context, id int64, ungranted bool, take func(repair.ApplyLine) error) error
	Decide(ctx context.Context, word string, req repair.DecideRequest) (repair.Plan, error)
	ApplyPlan(ctx context.Context, run repair.PlanRun) (repair.PlanReport, error)
	Files
}

// light reports whether a decision needs no look at what the plan would do now, which takes long
// for a large one: what stops a plan should not wait.
func (w planDecision) light() bool { return w == planReject || w == planPause || w == planCancel }

// askPlan asks whether to decide about a plan as it was seen.
func askPlan(d *desk, word planDecision, p repair.Plan, at time.Time) tea.Cmd {
	seen := p.Preview
	if !p.StartedAt.IsZero() { // what was to come when it was made has come in part
		seen.Granted = p.Decided - p.Errors
		seen.Fresh = p.Due - seen.Granted - seen.Mismatches
	}
	saw := planSeen(d, word, p, seen)
	saw.At = at
	return openDeed(d, newPlanDeed(d, word, p, nil), saw)
}

// lookAtPlan reads a plan and, where the decision depends on it, what it would do now.
func lookAtPlan(ctx context.Context, d *desk, word planDecision, id int64) (
	repair.Plan, repair.PlanPreview, error,
) {
	if !word.light() {
		return d.opts.Plans.PreviewPlan(ctx, id)
	}
	p, err := d.opts.Plans.Plan(ctx, id)
	return p, p.Preview, err
}

// planAction is a decision about a plan as it was seen, as repair knows it.
func planAction(word planDecision, p repair.Plan, reason string) repair.Action {
	if word == planApply {
		return repair.PlanRun{Plan: p.Ref()}.Action()
	}
	return repair.DecideRequest{Plan: p.Ref(), Reason: reason}.Action(string(word))
}

// newPlanDeed makes the deed of a decision about a plan as it was seen. preview is the one that
// was looked at last; nil before the first look.
func newPlanDeed(d *desk, word planDecision, p repair.Plan, preview *repair.PlanPreview) deed {
	a := deed{
		word: "grant " + string(word), target: p.Name(), verb: string(word), looks: lookLong,
		cli: func(reason string) []string { return planAction(word, p, reason).CLI() },
		observe: func(ctx context.Context) (Observed, error) {
			now, fresh, err := lookAtPlan(ctx, d, word, p.ID)
			if err != nil {
				return Observed{}, err
			}
			o := planSeen(d, word, now, fresh)
			o.next = newPlanDeed(d, word, now, &fresh)
			return o, nil
		},
		execute: func(ctx context.Context, reason string) Answer {
			got, err := d.opts.Plans.Decide(ctx, string(word), repair.DecideRequest{
				Plan: p.Ref(), Reason: reason, Seen: preview,
			})
			if err != nil {
				return planFailure(d, planAction(word, p, reason), err)
			}
			return Answer{Kind: AnswerDone, Title: d.tr("%s is now %s", got.Name(), got.State)}
		},
	}
	if word == planApprove {
		a.limit = approveLimit(p.Due)
	}
	if word == planApply {
		a.verb, a.confirm, a.settled = "grant", idText(p.Left())+"-grant", true
		a.aside = func() tea.Cmd { return d.root.goTo(ScreenPlan, Args{"plan": idText(p.ID)}) }
		a.run = func(ctx context.Context, reason string, tell func(string)) Answer {
			return runPlan(ctx, d, p, preview, tell)
		}
	}
	return a
}

// approveLimit bounds the approval of a plan: the database reads each of its rows again, to approve
// exactly those. The bound is far more than a busy server takes.
func approveLimit(rows int64) time.Duration {
	return deedLimit + time.Duration(rows)*time.Millisecond
}

// planSeen is a plan as it stands beside what it would do now.
func planSeen(d *desk, word planDecision, p repair.Plan, now repair.PlanPreview) Observed {
	words, role := planWord(d, &p)
	o := Observed{At: d.now(), Facts: []Fact{
		{Name: text.N("state"), Value: words, Guard: true, Role: role},
		{Name: text.N("version"), Value: idText(p.Version), Guard: true},
		{Name: text.N("hash"), Value: p.Hash, Guard: true},
		{Name: text.N("rows"), Value: d.tr("%d due, %d left", p.Due, p.Left())},
	}}
	if word.light() {
		o.Effects = []string{d.tr("what it granted stays granted")}
		return o
	}
	o.Facts = append(o.Facts,
		// While a plan runs, what is new becomes fewer by itself.
		Fact{Name: text.N("new"), Value: idText(now.Fresh), Guard: p.StartedAt.IsZero()},
		Fact{Name: text.N("granted"), Value: idText(now.Granted), Guard: word == planApprove},
		Fact{
			Name: text.N("mismatch"), Value: idText(now.Mismatches), Guard: true,
			Role: badIf(now.Mismatches),
		})
	for _, k := range now.Kinds {
		o.Effects = append(o.Effects, d.tr("%d %s to %d players, %d at most, balances %d, then %d",
			k.Total, k.Kind, k.Players, k.Largest, k.BalanceBefore, k.BalanceAfter))
	}
	if now.PlayersTwice > 0 {
		o.Effects = append(o.Effects, d.tr("%d players are named more than once", now.PlayersTwice))
	}
	for _, one := range now.Over {
		o.Effects = append(o.Effects, d.tr("over a limit: %s", one))
	}
	if p.StartedAt.IsZero() {
		for _, drift := range now.DriftFrom(&p.Preview) {
			o.Effects = append(o.Effects, d.tr("since it was made: %s", drift))
		}
	}
	if word == planApprove {
		o.Block = planObstacle(d, &p, &now)
	}
	return o
}

// planObstacle says why a plan cannot be approved, from a fresh look at it; empty when it can.
func planObstacle(d *desk, p *repair.Plan, now *repair.PlanPreview) string {
	if p.RequestedBy == d.opts.User {
		return d.tr("it is your own plan: somebody else has to approve it")
	}
	if drift := now.DriftFrom(&p.Preview); p.State == repair.PlanWaiting && len(drift) > 0 {
		return d.tr("it is not as it was when it was asked for (%s): reject it and have it planned again",
			drift[0])
	}
	return ""
}

func badIf(n int64) paint.Role {
	if n > 0 {
		return paint.Bad
	}
	return paint.Plain
}

// runPlan applies a plan and tells how far it is.
func runPlan(ctx context.Context, d *desk, p repair.Plan, seen *repair.PlanPreview,
	tell func(string),
) Answer {
	report, err := d.opts.Plans.ApplyPlan(ctx, repair.PlanRun{
		Plan: p.Ref(), Seen: seen, OnProgress: func(at repair.ApplyProgress) {
			words := fmt.Sprintf("%d/%d", at.Done, at.Total)
			if at.Rate > 0 {
				words += d.tr(", %.0f a second", at.Rate)
			}
			if at.Left > 0 {
				words += d.tr(", %s left", brief(at.Left))
			}
			tell(words + waitWords(d, at.Waiting))
		},
	})
	answered := d.tr("%d of %d rows have an answer", report.Plan.Decided, report.Plan.Due)
	lines := append([]string{answered}, report.Notes...)
	if report.GoOn != "" {
		lines = append(lines, report.GoOn)
	}
	if errors.Is(err, repair.ErrPlanStopped) || errors.Is(err, context.Canceled) {
		// Somebody wanted it to stop, here or elsewhere: that is no failure.
		title := d.tr("%s is now %s", p.Name(), report.Plan.State)
		return Answer{Kind: AnswerRefused, Title: title, Lines: lines}
	}
	if err != nil {
		a := planFailure(d, planAction(planApply, p, ""), err)
		a.Lines = append(a.Lines, lines...)
		return a
	}
	title := d.tr("%s is now %s", p.Name(), report.Plan.State)
	return Answer{Kind: AnswerDone, Title: title, Lines: lines}
}

// waitWords say what a run stands still for.
func waitWords(d *desk, w *repair.ApplyWait) string {
	switch {
	case w == nil:
		return ""
	case w.Rows > 0:
		return d.tr(", %d rows wait for leases of others, %s at most", w.Rows, brief(w.Left))
	}
	return d.tr(", other processes hold %d parts", w.Parts)
}

// planFailure puts the errors that only plans have into words.
func planFailure(d *desk, a repair.Action, err error) Answer {
	var (
		changed *repair.PlanChangedError
		denied  *repair.PlanDeniedError
		needs   *repair.ApprovalNeededError
		drift   *repair.DriftError
	)
	switch {
	case errors.As(err, &changed):
		return Answer{
			Kind: AnswerRefused, Title: d.tr("refused: it changed, nothing was done"), Lines: []string{
				d.tr("there is now  %s", changed.Have), d.tr("you saw       %s", changed.Want),
				changed.WayOut,
			},
		}
	case errors.As(err, &denied), errors.As(err, &needs), errors.As(err, &drift):
		return Answer{
			Kind: AnswerRefused, Title: d.tr("refused: nothing was done"), Lines: []string{err.Error()},
		}
	}
	return failure(d, a, err)
}
