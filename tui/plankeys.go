package tui

import (
	"slices"
	"time"

	"rewardctl/repair"

	tea "github.com/charmbracelet/bubbletea"
)

// planAbout is a plan that is on the screen: in a list, or by itself.
type planAbout struct {
	plan func() *repair.Plan
	at   func() time.Time // when it was read
	// able says whether a deed can be done on it now; the word is the deed's.
	able func(word string) (bool, string)
	// drifted says what keeps it from being approved, as far as is known; nil knows nothing.
	drifted func() string
}

// listedPlanKeys are the keys of plans in a list.
func listedPlanKeys(l *planList) []Binding { return listedPlanKeysKnowing(l, nil) }

func listedPlanKeysKnowing(l *planList, drifted func() string) []Binding {
	open := Binding{
		Keys: []string{"enter"}, Help: "the plan", Enabled: hasRow(l), Action: func() tea.Cmd {
			return l.d.root.goTo(ScreenPlan, Args{"plan": l.selected().id})
		},
	}
	return append([]Binding{open}, planKeys(l.d, planAbout{
		plan:    func() *repair.Plan { return l.selected().row },
		at:      func() time.Time { return l.shown.at },
		able:    func(word string) (bool, string) { return actable(l, word) },
		drifted: drifted,
	})...)
}

// planKeys decide about a plan.
func planKeys(d *desk, about planAbout) []Binding {
	in := func(word planDecision, states ...repair.PlanState) func() (bool, string) {
		return func() (bool, string) {
			if ok, why := about.able("grant " + string(word)); !ok {
				return false, why
			}
			p := about.plan()
			review := word == planApprove && p.BrokenGlass() != nil
			if !review && !slices.Contains(states, p.State) {
				_, word, _ := planLook(d, p)
				return false, d.tr("the plan is %s", word)
			}
			if word == planApprove && about.drifted != nil && about.drifted() != "" {
				return false, about.drifted()
			}
			return true, ""
		}
	}
	ask := func(word planDecision) func() tea.Cmd {
		return func() tea.Cmd { return askPlan(d, word, *about.plan(), about.at()) }
	}
	begun := []repair.PlanState{repair.PlanRunning, repair.PlanPaused, repair.PlanStopped}
	before := []repair.PlanState{repair.PlanReady, repair.PlanWaiting, repair.PlanApproved}
	return []Binding{
		{
			Keys: []string{"V"}, Help: "approve", Changes: true, Action: ask(planApprove),
			Enabled: in(planApprove, repair.PlanWaiting),
		},
		{
			Keys: []string{"N"}, Help: "reject", Changes: true,
			Enabled: in(planReject, slices.Concat(before, begun)...), Action: ask(planReject),
		},
		{
			Keys: []string{"B"}, Help: "apply", Changes: true, Action: ask(planApply),
			Enabled: in(planApply, slices.Concat(begun, []repair.PlanState{
				repair.PlanReady, repair.PlanApproved,
			})...),
		},
		{
			Keys: []string{"Z"}, Help: "pause the plan", Quiet: true, Changes: true,
			Enabled: in(planPause, repair.PlanRunning), Action: ask(planPause),
		},
		{
			Keys: []string{"X"}, Help: "cancel the plan", Quiet: true, Changes: true,
			Enabled: in(planCancel, slices.Concat(before, begun)...), Action: ask(planCancel),
		},
		{
			Keys: []string{"F"}, Help: "plan a file", Changes: true, Enabled: d.canPlan,
			Action: func() tea.Cmd { return d.root.goTo(ScreenFile, nil) },
		},
	}
}
