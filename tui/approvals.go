package tui

import (
	"cmp"
	"context"
	"sync"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// newApprovalsScreen is the queue of what waits for a second person: plans over a limit, and runs
// under broken glass that nobody else has signed for. It is kept by who asked, since when, and
// how far the deed would reach.
func newApprovalsScreen(d *desk) *planList {
	a := &approvals{d: d, fresh: map[int64]freshPlan{}}
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
			a.look(ctx)
			return batch[repair.Plan]{rows: plans}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "waits", desc: true,
		empty: "nothing waits for approval",
		detail: func(it *item[repair.Plan], w int) (left, right []string) {
			return a.detail(it.row, w)
		},
		keys: func(l *planList) []Binding {
			return append(listedPlanKeysKnowing(l, func() string { return a.drifted(l) }), Binding{
				Keys: []string{"P"}, Help: "all plans", Quiet: true, Action: func() tea.Cmd {
					return d.root.goTo(ScreenPlans, nil)
				},
			})
		},
		proof: provePlan,
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
		planStateColumn(d),
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

// approvals looks at the plan under the cursor as it would run now, beside how it was when it was
// asked for. Only that one: a large plan takes long.
type approvals struct {
	d *desk

	mu     sync.Mutex
	wanted int64 // the plan under the cursor
	busy   bool
	fresh  map[int64]freshPlan
}

// freshPlan is what a plan would do at a moment.
type freshPlan struct {
	version int64
	preview repair.PlanPreview
	at      time.Time
	took    time.Duration
	err     error
}

// freshRest is the least time between two looks at one plan.
const freshRest = 5 * time.Second

// look looks at the wanted plan, when its last look is old enough for what it took.
func (a *approvals) look(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, now := a.wanted, a.d.now()
	last, seen := a.fresh[id]
	due := !seen || now.Sub(last.at) >= max(freshRest, countShare*last.took)
	if a.busy || id == 0 || !due {
		return
	}
	a.busy = true
	a.d.spawn(func() {
		p, preview, err := a.d.opts.Plans.PreviewPlan(ctx, id)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.busy = false
		if ctx.Err() == nil {
			end := a.d.now()
			a.fresh[id] = freshPlan{p.Version, preview, end, end.Sub(now), err}
			a.d.notify()
		}
	})
}

// of returns the newest look at a plan as it stands, and has the next ones look at this plan.
func (a *approvals) of(p *repair.Plan) (freshPlan, bool) {
	a.mu.Lock()
	f, seen := a.fresh[p.ID]
	ask := a.wanted != p.ID
	a.wanted = p.ID
	a.mu.Unlock()
	if ask {
		a.look(a.d.ctx)
	}
	return f, seen && f.version == p.Version
}

// follow has the next looks be at this plan, and looks when the last one is old enough.
func (a *approvals) follow(ctx context.Context, id int64) {
	a.mu.Lock()
	a.wanted = id
	a.mu.Unlock()
	a.look(ctx)
}

// seen returns the newest look at a plan as it stands.
func (a *approvals) seen(p *repair.Plan) (freshPlan, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, seen := a.fresh[p.ID]
	return f, seen && f.version == p.Version
}

// drifted says what keeps the plan under the cursor from being approved, as far as it is known.
func (a *approvals) drifted(l *planList) string {
	it := l.selected()
	if it == nil {
		return ""
	}
	if f, seen := a.of(it.row); seen && f.err == nil {
		return planObstacle(a.d, it.row, &f.preview)
	}
	return ""
}

// detail is a plan that waits: who asked for what, and what it does, then and now.
func (a *approvals) detail(p *repair.Plan, w int) (left, right []string) {
	d, tr := a.d, a.d.tr
	f, seen := a.of(p)
	right = append(right, a.thenNow(p, f, seen, w)...)
	if seen && f.err == nil {
		if why := planObstacle(d, p, &f.preview); why != "" {
			right = append(right, wrapped(d.theme, d.theme.Glyphs.NotEqual, why, paint.Bad, w)...)
		}
	}
	b := facts{d: d, w: w}
	word, role := planWord(d, p)
	b.title(p.Name()+"  "+word, role)
	b.add(tr("hash"), p.Hash)
	b.add(tr("by"), p.RequestedBy+" ("+p.DBUser+"), "+stamp(p.CreatedAt))
	b.add(tr("reason"), p.Reason)
	for _, o := range p.Over {
		b.in(tr("limit"), o.String(), paint.Warn)
	}
	b.add(tr("campaign"), p.Campaign)
	b.add(tr("file"), p.Source)
	return b.lines, right
}

// thenNow draws the preview as it was when it was asked for beside the one of now.
func (a *approvals) thenNow(p *repair.Plan, f freshPlan, seen bool, w int) []string {
	d, t, tr := a.d, a.d.theme, a.d.tr
	col := max((w-nameWidth-2)/2, 8)
	head := tr("now %s", f.at.Format("15:04:05"))
	switch {
	case !seen:
		head = tr("looking") + t.Glyphs.Ellipsis
	case f.err != nil:
		head = tr("not seen now: %s", d.unread(f.err))
	}
	lines := []string{safetext.Spaces(nameWidth) + t.Text(paint.Head, safetext.Fit(tr("then"), col,
		"")) + "  " + t.Text(paint.Head, safetext.Cut(head, col, t.Glyphs.Ellipsis))}
	row := func(label string, then, now string) {
		role, mark := paint.Plain, t.Glyphs.Equal
		switch {
		case !seen || f.err != nil:
			now, mark = "", " "
		case then != now:
			role, mark = paint.Bad, t.Glyphs.NotEqual
		}
		lines = append(lines, t.Text(paint.Muted, safetext.Fit(label, nameWidth, ""))+
			safetext.Fit(then, col, t.Glyphs.Ellipsis)+" "+t.Text(role, mark+
			safetext.Cut(now, col, t.Glyphs.Ellipsis)))
	}
	then, now := &p.Preview, &f.preview
	row(tr("new"), idText(then.Fresh), idText(now.Fresh))
	row(tr("granted"), idText(then.Granted), idText(now.Granted))
	row(tr("mismatch"), idText(then.Mismatches), idText(now.Mismatches))
	balances := func(v *repair.PlanPreview, kind string) string {
		for _, k := range v.Kinds {
			if k.Kind == kind {
				return idText(k.BalanceBefore) + " " + t.Glyphs.Arrow + " " + idText(k.BalanceAfter)
			}
		}
		return t.Glyphs.Dash
	}
	for _, k := range then.Kinds {
		kind := safetext.Cut(safetext.Cell(k.Kind), nameWidth-1, t.Glyphs.Ellipsis)
		row(kind, balances(then, k.Kind), balances(now, k.Kind))
	}
	return lines
}
