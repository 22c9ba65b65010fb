package tui

import (
	"cmp"
	"context"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// newApprovalsScreen is the queue of what waits for a second person: plans over a limit, and runs
// under broken glass that nobody else has signed for. It is kept by who asked, since when, and
// how far the deed would reach.
func newApprovalsScreen(d *desk) *planList {
	return newList(d, listSpec[repair.Plan]{
		id: ScreenApprovals, title: "Approvals", columns: approvalColumns(d),
		rowID: func(p *repair.Plan) string { return idText(p.ID) },
		load: func(ctx context.Context, _ Args) (batch[repair.Plan], error) {
			if d.opts.Plans == nil {
				return batch[repair.Plan]{}, nil
			}
			plans, err := d.opts.Plans.Plans(ctx, repair.PlanFilter{
				States: []repair.PlanState{repair.PlanWaiting}, Unreviewed: true, Limit: plansShown,
			})
			return batch[repair.Plan]{rows: plans}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "waits", desc: true,
		empty: "nothing waits for approval",
		detail: func(it *item[repair.Plan], w int) (a, b []string) {
			return planDetail(d, it.row, w)
		},
		keys: func(l *planList) []Binding {
			return append(planKeys(l), Binding{
				Keys: []string{"P"}, Help: "all plans", Quiet: true, Action: func() tea.Cmd {
					return d.root.goTo(ScreenPlans, nil)
				},
			})
		},
		cli: func(Args, string) []string {
			return []string{
				"rewardctl", "grant", "list", "--state", string(repair.PlanWaiting), "--unreviewed",
			}
		},
	})
}

func approvalColumns(d *desk) []column[repair.Plan] {
	type row = repair.Plan
	return []column[row]{
		numberColumn(table.Column{Key: "plan", Title: "PLAN", Min: 6},
			func(p *row) int64 { return p.ID }),
		{
			table.Column{Key: "state", Title: "STATE", Min: 15},
			func(p *row, _ time.Time) table.Cell {
				words, role := planWord(d, p)
				return table.Cell{Text: words, Role: role}
			},
			func(a, b *row) int { return cmp.Compare(planRank(a), planRank(b)) },
		},
		plainColumn(table.Column{Key: "by", Title: "ASKED BY", Min: 10, Flex: 1, Max: 20},
			func(p *row) string { return p.RequestedBy }),
		{
			table.Column{Key: "waits", Title: "FOR", Min: 7, Right: true},
			func(p *row, _ time.Time) table.Cell { return table.Cell{Text: brief(planWaits(p))} },
			func(a, b *row) int { return cmp.Compare(planWaits(a), planWaits(b)) },
		},
		numberColumn(table.Column{Key: "rows", Title: "ROWS", Min: 9},
			func(p *row) int64 { return p.Due }),
		numberColumn(table.Column{Key: "players", Title: "PLAYERS", Min: 9, Priority: 2},
			func(p *row) int64 { return p.Preview.Players }),
		{
			table.Column{Key: "effect", Title: "GRANTS", Min: 14, Flex: 1, Max: 30},
			func(p *row, _ time.Time) table.Cell { return table.Cell{Text: planEffect(d, p)} },
			nil,
		},
		{
			table.Column{Key: "limit", Title: "OVER", Min: 10, Flex: 1, Max: 40, Priority: 3},
			func(p *row, _ time.Time) table.Cell {
				if len(p.Over) == 0 {
					return table.Cell{}
				}
				return table.Cell{Text: p.Over[0].String(), Role: paint.Warn}
			},
			nil,
		},
		plainColumn(table.Column{
			Key: "campaign", Title: "CAMPAIGN", Min: 12, Flex: 1, Max: 40, Priority: 4,
		}, func(p *row) string { return p.Campaign }),
	}
}

// planWaits is how long ago a plan was made, by the database's clock.
func planWaits(p *repair.Plan) time.Duration { return max(p.ReadAt.Sub(p.CreatedAt), 0) }

// planEffect says what a plan grants in all, such as "1200000 gems, 1 more".
func planEffect(d *desk, p *repair.Plan) string {
	kinds := p.Preview.Kinds
	if len(kinds) == 0 {
		return ""
	}
	words := idText(kinds[0].Total) + " " + kinds[0].Kind
	if more := len(kinds) - 1; more > 0 {
		words += d.tr(", %d more", more)
	}
	return words
}
