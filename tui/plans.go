package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// plansShown is how many plans are listed: the newest.
const plansShown = 200

// planList is the screen of plans: frozen sets of grants, and who has to approve them.
type planList = list[repair.Plan]

func newPlansScreen(d *desk) *planList {
	d.tilers = append(d.tilers, d.planTiles)
	return newList(d, listSpec[repair.Plan]{
		id: ScreenPlans, parent: ScreenGrant, title: "Plans", columns: planColumns(d),
		rowID: func(p *repair.Plan) string { return idText(p.ID) },
		load: func(ctx context.Context, _ Args) (batch[repair.Plan], error) {
			if d.opts.Plans == nil {
				return batch[repair.Plan]{}, nil
			}
			plans, err := d.opts.Plans.Plans(ctx, repair.PlanFilter{Limit: plansShown})
			return batch[repair.Plan]{rows: plans}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "plan", desc: true,
		empty: "nothing was planned yet; F plans a file",
		detail: func(it *item[repair.Plan], w int) (a, b []string) {
			return planDetail(d, it.row, w)
		},
		crumb: func(Args) string { return d.tr("Grants") + " › " + d.tr("Plans") },
		keys: func(l *planList) []Binding {
			return append(listedPlanKeys(l), Binding{
				Keys: []string{"C"}, Help: "grant by hand", Quiet: true, Action: func() tea.Cmd {
					return d.root.goTo(ScreenGrant, nil)
				},
			})
		},
		proof: provePlan,
		cli: func(Args, string) []string {
			return []string{"rewardctl", "grant", "list", "--limit", strconv.Itoa(plansShown)}
		},
		flags: planFlags,
	})
}

// provePlan shows a plan again.
func provePlan(p *repair.Plan) []inspect.Proof { return inspect.ProvePlan(p.ID) }

// planTiles tells which plans wait for somebody.
func (d *desk) planTiles(ctx context.Context) ([]tile, error) {
	if d.opts.Plans == nil {
		return nil, nil
	}
	waiting, err := d.opts.Plans.Plans(ctx, repair.PlanFilter{
		States: []repair.PlanState{repair.PlanWaiting, repair.PlanStopped}, Unreviewed: true,
	})
	if err != nil {
		return nil, err
	}
	approve := tile{
		key: "plans", label: text.N("plans that wait for approval"), to: ScreenApprovals,
	}
	stopped := tile{
		key: "stopped", label: text.N("plans with rows left"), to: ScreenPlans,
		args: Args{"filter": "state:stopped"},
	}
	glass := tile{
		key: "glass", label: text.N("plans under broken glass to review"),
		to: ScreenApprovals, bad: true,
	}
	for i := range waiting {
		p := &waiting[i]
		switch p.State {
		case repair.PlanWaiting:
			approve.count++
		case repair.PlanStopped:
			stopped.count++
		}
		if p.BrokenGlass() != nil {
			glass.count++
		}
	}
	approve.bad, stopped.bad = approve.count > 0, stopped.count > 0
	approve.waits = true
	if glass.count == 0 { // an emergency is no part of most days
		return []tile{approve, stopped}, nil
	}
	return []tile{glass, approve, stopped}, nil
}

func planColumns(d *desk) []column[repair.Plan] {
	type row = repair.Plan
	g := d.theme.Glyphs
	return []column[row]{
		numberColumn(table.Column{Key: "plan", Title: "PLAN", Min: 6},
			func(p *row) int64 { return p.ID }),
		planStateColumn(d),
		numberColumn(table.Column{Key: "rows", Title: "ROWS", Min: 9},
			func(p *row) int64 { return p.Due }),
		{
			table.Column{Key: "done", Title: "DONE", Min: 16, Priority: 2},
			func(p *row, _ time.Time) table.Cell {
				const width = 10
				share := planShare(p)
				return table.Cell{Text: fmt.Sprintf("%s %3d%%", g.Heat(share, width), int(share*100))}
			},
			func(a, b *row) int { return cmp.Compare(planShare(a), planShare(b)) },
		},
		numberColumn(table.Column{Key: "errors", Title: "REFUSED", Min: 8, Priority: 3},
			func(p *row) int64 { return p.Errors }),
		plainColumn(table.Column{Key: "campaign", Title: "CAMPAIGN", Min: 16, Flex: 2, Max: 40},
			func(p *row) string { return p.Campaign }),
		plainColumn(table.Column{Key: "by", Title: "BY", Min: 10, Flex: 1, Max: 18, Priority: 1},
			func(p *row) string { return p.RequestedBy }),
		timeColumn(table.Column{Key: "made", Title: "MADE", Min: 14, Priority: 4},
			func(p *row) time.Time { return p.CreatedAt }),
		plainColumn(table.Column{Key: "source", Title: "FILE", Min: 12, Flex: 1, Max: 30, Priority: 5},
			func(p *row) string { return p.Source }),
	}
}

// planStateColumn is the state of a plan; what needs somebody sorts first.
func planStateColumn(d *desk) column[repair.Plan] {
	return column[repair.Plan]{
		table.Column{Key: "state", Title: "STATE", Min: 16},
		func(p *repair.Plan, _ time.Time) table.Cell {
			words, role := planWord(d, p)
			return table.Cell{Text: words, Role: role}
		},
		func(a, b *repair.Plan) int { return cmp.Compare(planRank(a), planRank(b)) },
	}
}

func planShare(p *repair.Plan) float64 {
	if p.Due == 0 {
		return 1
	}
	return float64(p.Decided) / float64(p.Due)
}

// planRank puts what needs somebody first.
func planRank(p *repair.Plan) int {
	if unreviewed(p) {
		return -1
	}
	return slices.Index([]repair.PlanState{
		repair.PlanWaiting, repair.PlanStopped, repair.PlanRunning, repair.PlanPaused,
		repair.PlanApproved, repair.PlanReady, repair.PlanRejected, repair.PlanCancelled,
		repair.PlanDone,
	}, p.State)
}

// unreviewed reports whether nothing happens to a plan any more but the review of its broken glass.
func unreviewed(p *repair.Plan) bool { return p.State.Final() && p.BrokenGlass() != nil }

func planWord(d *desk, p *repair.Plan) (string, paint.Role) {
	glyph, words, role := planLook(d, p)
	return glyph + " " + words, role
}

// planLook is a state's glyph, its word and its role.
func planLook(d *desk, p *repair.Plan) (glyph, words string, role paint.Role) {
	g := d.theme.Glyphs
	if unreviewed(p) {
		return g.Warning, d.tr("not reviewed"), paint.Bad
	}
	switch p.State {
	case repair.PlanReady:
		return g.Dot, d.tr("ready"), paint.Good
	case repair.PlanWaiting:
		return g.Warning, d.tr("waiting"), paint.Warn
	case repair.PlanApproved:
		return g.OK, d.tr("approved"), paint.Good
	case repair.PlanRejected:
		return g.Wrong, d.tr("rejected"), paint.Bad
	case repair.PlanRunning:
		return g.Arrow, d.tr("running"), paint.Accent
	case repair.PlanPaused:
		return g.Hollow, d.tr("paused"), paint.Warn
	case repair.PlanStopped:
		return g.Warning, d.tr("stopped"), paint.Warn
	case repair.PlanCancelled:
		return g.Wrong, d.tr("cancelled"), paint.Muted
	case repair.PlanDone:
		return g.OK, d.tr("done"), paint.Good
	}
	return g.Dot, string(p.State), paint.Plain
}

func planDetail(d *desk, p *repair.Plan, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	word, role := planWord(d, p)
	a.title(p.Name()+"  "+word, role)
	a.add(d.tr("campaign"), p.Campaign)
	a.add(d.tr("reason"), p.Reason)
	a.add(d.tr("rows"), d.tr("%d: %d due, %d duplicates, %d invalid", p.Rows, p.Due, p.Duplicates,
		p.Invalid))
	a.add(d.tr("done"), d.tr("%d of %d, %d refused", p.Decided, p.Due, p.Errors))
	for _, k := range p.Preview.Kinds {
		a.add(k.Kind, d.tr("%d to %d players, %d at most", k.Total, k.Players, k.Largest))
	}
	for _, o := range p.Over {
		a.in(d.tr("limit"), o.String(), paint.Warn)
	}
	b.add(d.tr("by"), p.RequestedBy+" ("+p.DBUser+")")
	b.add(d.tr("made"), stamp(p.CreatedAt))
	b.add(d.tr("hash"), p.Hash)
	for _, one := range p.Decisions {
		words := d.tr("rejected by %s", one.Operator)
		switch {
		case one.Approve:
			words = d.tr("approved by %s", one.Operator)
		case one.Review:
			words = d.tr("reviewed by %s", one.Operator)
		}
		if one.BreakGlass {
			words += " " + d.tr("(break glass)")
		}
		if one.AwaitsReview {
			ran := p.ReadAt.Sub(one.Used)
			b.in(d.tr("review"), d.tr("by nobody else yet, for %s", brief(ran)), paint.Bad)
		}
		b.add(d.tr("decided"), words+", "+stamp(one.At)+": "+one.Reason)
	}
	return a.lines, b.lines
}
