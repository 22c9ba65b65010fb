package tui

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// planScreen is one plan: what it would do, how far it is while it runs, and what came of it.
type planScreen struct {
	noTyping
	d    *desk
	id   int64
	top  int
	room int
	out  *atomic.Pointer[planSeenNow] // of this plan; another one gets another
	// looks are at what a plan that was not begun would do now, as the approvals look at it.
	looks *approvals
}

// planSeenNow is a plan as it was read last.
type planSeenNow struct {
	plan   repair.Plan
	counts repair.ApplyCounts
	rate   float64 // rows per second, between the last two reads; 0 while unknown
	at     time.Time
	err    error
}

// countShare keeps the counting of a large plan from taking all the time: it rests so many times
// as long as it took.
const countShare = 10

func newPlanScreen(d *desk) *planScreen {
	return &planScreen{
		d: d, out: new(atomic.Pointer[planSeenNow]),
		looks: &approvals{d: d, fresh: map[int64]freshPlan{}},
	}
}

func (s *planScreen) ID() ScreenID           { return ScreenPlan }
func (s *planScreen) Parent() ScreenID       { return ScreenPlans }
func (s *planScreen) Title() string          { return "Plan" }
func (s *planScreen) State() json.RawMessage { return json.RawMessage("{}") }
func (s *planScreen) Update(tea.Msg) tea.Cmd { return nil }

// Open reads the plan again and again.
func (s *planScreen) Open(ctx context.Context, args Args) tea.Cmd {
	id, err := strconv.ParseInt(args["plan"], 10, 64)
	if err == nil && id != s.id {
		s.id, s.top, s.out = id, 0, new(atomic.Pointer[planSeenNow])
	}
	if s.id == 0 || s.d.opts.Plans == nil {
		return nil
	}
	id, out := s.id, s.out
	s.d.spawn(func() { s.watch(ctx, id, out) })
	return nil
}

// watch reads until ctx ends.
func (s *planScreen) watch(ctx context.Context, id int64, out *atomic.Pointer[planSeenNow]) {
	d := s.d
	next := time.NewTimer(0)
	defer next.Stop()
	var counted time.Time
	var rest time.Duration
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		was := out.Load()
		now := &planSeenNow{}
		if was != nil {
			*now = *was
		}
		var p repair.Plan
		if p, now.err = d.opts.Plans.Plan(ctx, id); now.err == nil {
			now.plan, now.at = p, d.now()
			if p.StartedAt.IsZero() && !p.State.Final() {
				s.looks.follow(ctx, id)
			}
			stale := was == nil || was.at.IsZero() || p.Decided != was.plan.Decided ||
				p.Version != was.plan.Version || p.State != was.plan.State || counted.IsZero()
			if stale && now.at.Sub(counted) >= rest {
				now.counts, now.err = d.opts.Plans.PlanOutcomes(ctx, id)
				counted = d.now()
				rest = countShare * counted.Sub(now.at)
			}
			now.rate = planRate(was, now)
		}
		if ctx.Err() != nil {
			return
		}
		out.Store(now)
		d.notify()
		next.Reset(max(d.opts.Refresh, loadShare*d.now().Sub(now.at)))
	}
}

// planRate is how many rows a second were decided between two reads.
func planRate(was, now *planSeenNow) float64 {
	if was == nil || was.at.IsZero() || now.plan.State != repair.PlanRunning {
		return 0
	}
	took := now.plan.ReadAt.Sub(was.plan.ReadAt).Seconds()
	if took <= 0 {
		return was.rate
	}
	rate := float64(now.plan.Decided-was.plan.Decided) / took
	if was.rate > 0 {
		rate = (rate + 2*was.rate) / 3 // batches come in jumps
	}
	return rate
}

// Crumb says which plan it is.
func (s *planScreen) Crumb() crumb {
	tr := s.d.tr
	return crumb{path: tr("Grants") + " › " + tr("Plans") + " › " + tr("plan %s", idText(s.id))}
}

// Seen tells how old it is.
func (s *planScreen) Seen() seen {
	now := s.out.Load()
	if now == nil {
		return seen{live: true}
	}
	out := seen{at: now.at, live: true}
	if now.err != nil {
		out.problem, out.denied = s.d.unread(now.err), isDenied(now.err)
	}
	return out
}

// View draws the plan in one column, or its sums beside its preview.
func (s *planScreen) View(w, h int) string {
	t := s.d.theme
	now := s.out.Load()
	var lines []string
	switch {
	case now == nil && s.id == 0:
		lines = []string{s.d.tr("there is no plan %s", "")}
	case now == nil:
		lines = []string{s.d.tr("loading") + t.Glyphs.Ellipsis}
	case now.at.IsZero():
		lines = []string{t.Text(paint.Bad, t.Glyphs.Wrong+" "+s.d.unread(now.err))}
	case w >= formBesideFrom:
		half := w/2 - 2
		left, right := s.runLines(now, half-1), s.previewLines(now, w-half-4)
		for i := range max(len(left), len(right)) {
			lines = append(lines, safetext.Fit(at(left, i), half, t.Glyphs.Ellipsis)+
				t.Text(paint.Muted, t.Glyphs.Bar)+" "+at(right, i))
		}
	default:
		lines = append(s.runLines(now, w-2), append([]string{""}, s.previewLines(now, w-2)...)...)
	}
	s.room = h
	s.top = max(min(s.top, len(lines)-h), 0)
	lines = lines[s.top:]
	for len(lines) < h {
		lines = append(lines, "")
	}
	for i := range lines[:h] {
		lines[i] = safetext.Fit(" "+lines[i], w, t.Glyphs.Ellipsis)
	}
	return strings.Join(lines[:h], "\n")
}

// runLines say what the plan is, how far it is, and what came of it.
func (s *planScreen) runLines(now *planSeenNow, w int) []string {
	d, p := s.d, &now.plan
	tr := d.tr
	f := facts{d: d, w: w}
	word, role := planWord(d, p)
	f.title(p.Name()+"  "+word, role)
	if now.err != nil {
		f.in(tr("not seen"), d.unread(now.err), paint.Bad)
	}
	f.lines = append(f.lines, s.barLine(now, w))
	f.add(tr("answers"), s.answerWords(now))
	if words := s.nextWords(p); words != "" {
		f.in(tr("next"), words, paint.Strong)
	}
	f.add(tr("file"), p.Source)
	f.add(tr("campaign"), p.Campaign)
	f.add(tr("reason"), p.Reason)
	f.add(tr("by"), p.RequestedBy+" ("+p.DBUser+"), "+stamp(p.CreatedAt))
	f.add(tr("hash"), p.Hash)
	for _, one := range p.Decisions {
		words := tr("rejected by %s", one.Operator)
		switch {
		case one.Approve:
			words = tr("approved by %s", one.Operator)
		case one.Review:
			words = tr("reviewed by %s", one.Operator)
		}
		f.add(tr("decided"), words+", "+stamp(one.At)+": "+one.Reason)
	}
	return f.lines
}

// barLine is how far the plan is: bar, rows, rate, time left.
func (s *planScreen) barLine(now *planSeenNow, w int) string {
	t, tr, p := s.d.theme, s.d.tr, &now.plan
	width := min(max(w-50, 10), 30)
	share := planShare(p)
	words := tr("%d%%  %d of %d rows", int(share*100), p.Decided, p.Due)
	if now.rate > 0 && p.Left() > 0 {
		left := time.Duration(float64(p.Left()) / now.rate * float64(time.Second))
		words += tr(", %.0f a second", now.rate) + tr(", %s left", brief(left.Truncate(time.Second)))
	}
	role := paint.Accent
	if p.State == repair.PlanDone {
		role = paint.Good
		if took := p.EndedAt.Sub(p.StartedAt); !p.EndedAt.IsZero() && took > 0 {
			words += tr(", in %s", brief(took))
		}
	}
	return t.Text(role, t.Glyphs.Heat(share, width)) + " " + words
}

// answerWords count the rows by what became of them.
func (s *planScreen) answerWords(now *planSeenNow) string {
	tr, c := s.d.tr, &now.counts
	words := tr("%d applied, %d granted before, %d refused", c.Of(grant.Applied),
		c.Of(grant.Replayed), c.Refused())
	if n := c.Of(grant.Failed); n > 0 {
		words += tr(", %d failed", n)
	}
	if n := c.Of(grant.Unknown); n > 0 {
		words += tr(", %d UNKNOWN", n)
	}
	if c.NotRun > 0 {
		words += tr(", %d not run", c.NotRun)
	}
	return words
}

// nextWords say what somebody does next.
func (s *planScreen) nextWords(p *repair.Plan) string {
	tr := s.d.tr
	switch p.State {
	case repair.PlanWaiting:
		return tr("somebody else approves it: screen 5, or grant approve %d", p.ID)
	case repair.PlanReady, repair.PlanApproved:
		return tr("B applies it")
	case repair.PlanRunning:
		return tr("Z pauses it between two batches; x stops this console's part in it")
	case repair.PlanPaused, repair.PlanStopped:
		return tr("B goes on: what is granted is not granted twice")
	case repair.PlanDone:
		if p.Errors > 0 || p.Invalid > 0 {
			return tr("enter shows the rows; e there exports all with their answers")
		}
	case repair.PlanRejected, repair.PlanCancelled:
	}
	return ""
}

// previewLines say what it would do, as it was seen when it was made.
func (s *planScreen) previewLines(now *planSeenNow, w int) []string {
	d, p, v := s.d, &now.plan, &now.plan.Preview
	tr := d.tr
	f := facts{d: d, w: w}
	f.title(tr("What it does, as seen when it was made"), paint.Strong)
	f.add(tr("rows"), tr("%d: %d due, %d duplicates, %d invalid", p.Rows, p.Due, p.Duplicates,
		p.Invalid))
	f.add(tr("players"), tr("%d, %d of them named more than once", v.Players, v.PlayersTwice))
	f.add(tr("granted"), tr("%d already, %d new", v.Granted, v.Fresh))
	if v.Mismatches > 0 {
		f.in(tr("mismatch"), tr("%d rows have an id that is taken by other content", v.Mismatches),
			paint.Bad)
	}
	if p.StartedAt.IsZero() {
		for _, drift := range s.drift(p) {
			f.in(tr("now"), tr("since it was made: %s", drift), paint.Bad)
		}
	}
	for _, k := range v.Kinds {
		f.in(k.Kind, tr("%d to %d players; the largest %d on line %d; balances %d, then %d", k.Total,
			k.Players, k.Largest, k.LargestLine, k.BalanceBefore, k.BalanceAfter), paint.Strong)
	}
	for _, o := range p.Over {
		f.in(tr("limit"), o.String(), paint.Warn)
	}
	approval := tr("not needed")
	if p.NeedsApproval {
		approval = tr("needed, by somebody else")
	}
	f.add(tr("approval"), approval)
	for i, one := range v.Top {
		label := ""
		if i == 0 {
			label = tr("top")
		}
		f.add(label, tr("%s  +%d %s, then %d", one.PlayerID, one.Plus, one.Kind, one.After))
	}
	return f.lines
}

// drift says what is not as it was when the plan was made, as far as it was looked at.
func (s *planScreen) drift(p *repair.Plan) []repair.Drift {
	f, seen := s.looks.seen(p)
	if !seen || f.err != nil {
		return nil
	}
	return f.preview.DriftFrom(&p.Preview)
}

// obstacle says what keeps the plan from being approved, as far as it is known.
func (s *planScreen) obstacle() string {
	p := &s.out.Load().plan
	if f, seen := s.looks.seen(p); seen && f.err == nil {
		return planObstacle(s.d, p, &f.preview)
	}
	return ""
}

// Bindings decide about the plan, and show its rows.
func (s *planScreen) Bindings() []Binding {
	d := s.d
	list := []Binding{{
		Keys: []string{"enter"}, Help: "rows", Action: func() tea.Cmd {
			return d.root.goTo(ScreenPlanRows, Args{"plan": idText(s.id)})
		},
	}}
	list = append(list, planKeys(d, planAbout{
		plan: func() *repair.Plan { return &s.out.Load().plan },
		at:   func() time.Time { return s.out.Load().at },
		able: s.able, drifted: s.obstacle,
	})...)
	list = append(list, Binding{Keys: []string{"e"}, Help: "export rows", Action: func() tea.Cmd {
		return exportPlan(d, idText(s.id), "csv")
	}, Enabled: func() (bool, string) {
		return d.opts.Export != nil, d.tr("this console cannot write files")
	}})
	return append(list, scrolling(func(n int) { s.top = max(s.top+n, 0) },
		func() int { return max(s.room, 1) })...)
}

// able says whether the plan can be acted upon as it is shown.
func (s *planScreen) able(word string) (bool, string) {
	d, now := s.d, s.out.Load()
	if why := d.cannot(word); why != "" {
		return false, why
	}
	switch {
	case now == nil || now.at.IsZero():
		return false, d.tr("it was not read yet")
	case d.now().Sub(now.at) > staleAfter:
		return false, d.tr("what is shown is too old to act upon; r reads it again")
	}
	return true, ""
}
