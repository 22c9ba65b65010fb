package tui

import (
	"context"
	"slices"
	"time"

	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	widthMin, heightMin = 80, 24
	tickEvery           = 250 * time.Millisecond
	tickIdle            = 500 * time.Millisecond
	tickBlurred         = time.Second
	quitWindow          = 2 * time.Second
)

// place is an entry of the history: a screen and what it was opened with.
type place struct {
	screen int
	args   Args
}

// root is the one model that Bubble Tea runs.
type root struct {
	d       *desk
	w, h    int
	sized   bool
	blurred time.Time // since when the terminal is out of sight; zero when it is seen
	touched time.Time // when somebody pressed a key, or the start
	mouse   bool
	screens []screen
	cur     int
	args    Args               // what the screen was opened with
	leave   context.CancelFunc // ends the context of the screen that is shown
	back    []place
	ahead   []place // what "back" came from
	recent  []place // what was looked at by name, newest first
	modals  []*layer
	prompt  prompt
	badges  badges
	keys    keyState
	quitAt  time.Time // when ctrl+c was pressed first
	failed  bool      // Update or View panicked
}

func newRoot(d *desk) *root {
	r := &root{d: d, leave: func() {}, mouse: d.opts.Mouse, touched: d.now()}
	d.root = r
	r.screens = []screen{
		newNowScreen(d), newLeasesScreen(d), newTokensScreen(d), newRefusedScreen(d),
		newPlayerScreen(d), newGrantScreen(d), newPlansScreen(d), newPlanRowsScreen(d),
		newBulkScreen(d), newPlanScreen(d), newAuditsScreen(d),
		newFindingsScreen(d), newApprovalsScreen(d), newOutboxScreen(d), newLogScreen(d),
		newDoctorScreen(d), newDrillsScreen(d),
	}
	r.prompt, r.badges = newPrompt(r), newBadges(d)
	r.prompt.history = d.saved.History
	r.cur = r.index(homeScreen(d.opts.Home))
	return r
}

func (r *root) screen() screen { return r.screens[r.cur] }

// tab is a screen that a digit opens.
type tab struct {
	digit string
	screen
}

// tabs are the screens that stand for themselves, in order.
func (r *root) tabs() []tab {
	var list []tab
	for _, s := range r.screens {
		if c, ok := s.(child); ok && c.Parent() != "" {
			continue
		}
		list = append(list, tab{string(rune('0' + len(list))), s})
	}
	return list
}

// index returns where the screen of a name is; the first one when there is none.
func (r *root) index(id ScreenID) int {
	return max(slices.IndexFunc(r.screens, func(s screen) bool { return s.ID() == id }), 0)
}

// has reports whether there is a screen of this name.
func (r *root) has(id ScreenID) bool { return r.screens[r.index(id)].ID() == id }

// standing returns the tab that the screen belongs to.
func (r *root) standing() ScreenID { return r.tabOf(r.screen().ID()) }

// Init opens the first screen.
func (r *root) Init() tea.Cmd {
	r.badges.begin()
	cmds := []tea.Cmd{r.show(r.cur, nil), r.tick(), r.d.askRights()}
	if r.mouse {
		cmds = append(cmds, tea.EnableMouseCellMotion)
	}
	return tea.Batch(cmds...)
}

func (r *root) tick() tea.Cmd {
	every := tickEvery
	switch {
	case !r.blurred.IsZero():
		every = tickBlurred
	case r.d.idle.Load():
		every = tickIdle
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

// show opens a screen and ends what the one before did in the background.
func (r *root) show(index int, args Args) tea.Cmd {
	r.leave()
	ctx, cancel := context.WithCancel(r.d.ctx)
	r.leave, r.cur, r.args = cancel, index, args
	return r.screen().Open(ctx, args)
}

// goTo opens a screen by name and remembers where we were.
func (r *root) goTo(id ScreenID, args Args) tea.Cmd {
	for i, s := range r.screens {
		if s.ID() != id {
			continue
		}
		r.recall(i, args)
		if c, ok := s.(child); i != r.cur || ok && c.Parent() != "" && !args.equal(r.args) {
			r.back, r.ahead = remember(r.back, r.here()), nil
		}
		return r.show(i, args)
	}
	return nil
}

// recall keeps what was looked at by name, for the palette.
func (r *root) recall(index int, args Args) {
	const kept = 12
	p := place{index, args.without("filter")}
	if len(p.args) == 0 || index == r.index(ScreenGrant) {
		return // a screen as such is listed anyway; a filled form is a deed, not a place
	}
	r.recent = slices.DeleteFunc(r.recent, func(have place) bool {
		return have.screen == p.screen && have.args.equal(p.args)
	})
	r.recent = append([]place{p}, r.recent[:min(len(r.recent), kept-1)]...)
}

// here is the place that is shown. Screens that stand for themselves keep what they show; only
// the others must be told again what they are about.
func (r *root) here() place {
	if c, ok := r.screen().(child); ok && c.Parent() != "" {
		return place{r.cur, r.args}
	}
	return place{screen: r.cur}
}

func remember(list []place, p place) []place {
	const historyMax = 50
	if list = append(list, p); len(list) > historyMax {
		list = list[1:]
	}
	return list
}

// goBack shows the screen before.
func (r *root) goBack() tea.Cmd {
	if len(r.back) == 0 {
		r.d.say(Info, r.d.tr("there is no screen before this one"))
		return nil
	}
	last := r.back[len(r.back)-1]
	r.back, r.ahead = r.back[:len(r.back)-1], remember(r.ahead, r.here())
	return r.show(last.screen, last.args)
}

// goAhead shows the screen that goBack came from.
func (r *root) goAhead() tea.Cmd {
	if len(r.ahead) == 0 {
		r.d.say(Info, r.d.tr("there is no screen after this one"))
		return nil
	}
	next := r.ahead[len(r.ahead)-1]
	r.ahead, r.back = r.ahead[:len(r.ahead)-1], remember(r.back, r.here())
	return r.show(next.screen, next.args)
}

// goLast changes between the last two screens.
func (r *root) goLast() tea.Cmd {
	if len(r.back) == 0 {
		return r.goBack()
	}
	last := r.back[len(r.back)-1]
	r.back = remember(r.back[:len(r.back)-1], r.here())
	return r.show(last.screen, last.args)
}

// Update takes one message. A panic ends the console with the terminal restored.
func (r *root) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			r.d.crashed(v)
			r.failed = true
			model, cmd = r, tea.Quit
		}
	}()
	if r.failed {
		return r, tea.Quit
	}
	defer r.timed("update")()
	cmd = r.update(msg)
	if r.d.opts.Handled != nil {
		r.d.opts.Handled(msg)
	}
	return r, cmd
}

// timed tells how long a part of the loop took, from here to the call of what it returns.
func (r *root) timed(part string) func() {
	if r.d.opts.Timed == nil {
		return func() {}
	}
	start := r.d.now()
	return func() { r.d.opts.Timed(part, r.d.now().Sub(start)) }
}

func (r *root) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h, r.sized = msg.Width, msg.Height, true
		return nil
	case tea.KeyMsg:
		return tea.Batch(r.attended(), r.key(msg))
	case heldMsg:
		return r.held(msg)
	case tickMsg:
		return tea.Batch(r.tick(), r.passed(), r.forward(msg))
	case dataMsg:
		return r.forward(msg)
	case tea.MouseMsg:
		return tea.Batch(r.attended(), r.point(tea.MouseEvent(msg)))
	case tea.FocusMsg:
		r.blurred = time.Time{}
		r.d.blurred.Store(false)
		return r.forward(backMsg{})
	case tea.BlurMsg:
		r.blurred = r.d.now()
		r.d.blurred.Store(true)
		return nil
	case tea.ResumeMsg:
		r.d.disarm(text.N("the console was suspended"))
		r.d.say(Info, r.d.tr("back: everything is read again"))
		return r.show(r.cur, r.args)
	case jobDoneMsg:
		msg.job.done = true
		r.d.jobs.remove(msg.job)
		switch got := msg.result.(type) {
		case answerMsg:
			r.d.report(got)
		case disarmedMsg:
			r.d.loggedEnds(got)
			return nil
		case rightsMsg:
			return r.d.heardRights(got)
		case waitedMsg:
			r.d.waited(got)
			return nil
		case exportMsg:
			r.d.exported(got)
			return nil
		case auditDoneMsg:
			r.d.audited(got)
		case plannedMsg:
			return tea.Batch(r.d.planned(got), r.broadcast(msg))
		case switchMsg:
			return r.switched(got)
		case printedMsg:
			r.printed(got)
			return nil
		case handoverMsg:
			return r.handed(got)
		case offeredMsg:
			r.prompt.take(got)
			return nil
		}
		return r.broadcast(msg)
	case clippedMsg:
		return r.d.clipped(msg)
	case quitMsg:
		return tea.Quit
	}
	return r.broadcast(msg)
}

// attended notes that somebody is there, and has the screen read again when nobody was.
func (r *root) attended() tea.Cmd {
	r.touched = r.d.now()
	if r.d.idle.Swap(false) {
		return r.forward(backMsg{})
	}
	return nil
}

// passed closes a write window whose time is over, or whose reasons to be open are gone.
func (r *root) passed() tea.Cmd {
	d := r.d
	d.idle.Store(d.now().Sub(r.touched) > idleAfter)
	d.expire()
	d.watch.tell()
	switch {
	case !r.blurred.IsZero() && d.now().Sub(r.blurred) > blurMax:
		d.disarm(text.N("out of sight for five minutes"))
	case d.health.redis.down, d.health.postgres.down:
		d.disarm(text.N("a server does not answer"))
	}
	return tea.Batch(d.askRights(), d.logEnds())
}

// point handles the mouse: the wheel moves, a click puts the cursor on a row.
func (r *root) point(e tea.MouseEvent) tea.Cmd {
	const step = 3
	if e.Action != tea.MouseActionPress || r.w < widthMin || r.h < heightMin {
		return nil
	}
	key := map[tea.MouseButton]string{
		tea.MouseButtonWheelUp: "up", tea.MouseButtonWheelDown: "down",
	}[e.Button]
	if b := find(r.bindings(), key); key != "" && b != nil && b.Move != nil {
		return b.Move(step)
	}
	if c, ok := r.screen().(clicker); ok && e.Button == tea.MouseButtonLeft && r.top() == nil {
		c.Click(e.X, e.Y-bodyAt)
	}
	return nil
}

// forward gives a message to what is on the screen.
func (r *root) forward(msg tea.Msg) tea.Cmd {
	cmds := []tea.Cmd{r.screen().Update(msg)}
	for _, l := range append([]*layer(nil), r.modals...) {
		cmds = append(cmds, l.modal.Update(msg))
	}
	return tea.Batch(cmds...)
}

// broadcast gives a message to all screens and dialogs: results must arrive.
func (r *root) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(r.screens)+len(r.modals))
	for _, l := range append([]*layer(nil), r.modals...) {
		cmds = append(cmds, l.modal.Update(msg))
	}
	for _, s := range r.screens {
		cmds = append(cmds, s.Update(msg))
	}
	return tea.Batch(cmds...)
}

// quitMsg ends the console from outside: a signal, or the terminal went away.
type quitMsg struct{}

// askQuit ends the console, after a question when a deed is running.
func (r *root) askQuit() tea.Cmd {
	if j := r.d.jobs.changing(); j != nil {
		now := r.d.now()
		if now.Sub(r.quitAt) > quitWindow {
			r.quitAt = now
			r.d.say(Warned, r.d.tr("%s is running: its answer would be lost; press q again to quit",
				j.name))
			return nil
		}
	}
	return tea.Quit
}

// interrupt is ctrl+c: it ends the top dialog or the prompt; else twice within two seconds it
// ends the console.
func (r *root) interrupt() tea.Cmd {
	now := r.d.now()
	if now.Sub(r.quitAt) <= quitWindow {
		return tea.Quit
	}
	r.quitAt = now
	switch top := r.top(); {
	case top != nil && r.d.jobs.changing() == nil:
		r.close(top.modal)
	case r.prompt.open:
		r.prompt.cancel()
	}
	r.d.say(Warned, r.d.tr("press ctrl+c again to quit"))
	return nil
}
