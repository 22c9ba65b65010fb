package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	lookEvery = 500 * time.Millisecond // between two looks while a dialog is open
	lookGood  = 60 * time.Second       // a look older than this is not acted upon
	deedLimit = 30 * time.Second       // how long a deed may take before it counts as unknown
)

// What can have the focus in a deed dialog, in order.
const (
	reasonIndex = iota
	confirmIndex
	cancelIndex
	goIndex
)

// phase is where a deed stands.
type phase uint8

const (
	phaseAsk phase = iota
	phaseRunning
	phaseAnswer
)

// deedDialog asks before an action is carried out, and shows what became of it.
type deedDialog struct {
	d      *desk
	action Action
	ctx    context.Context
	cancel context.CancelFunc

	saw, cur Observed
	looked   bool // the first look has arrived
	drifted  []string
	problem  string // why the last look failed
	look     *job
	waiting  bool // a look is planned

	reason, confirm field
	focus           int
	top, room       int // of the rows: the first that is drawn, and how many are
	phase           phase
	run             *job
	answer          Answer
}

// lookMsg brings a look of a deed dialog; lookNowMsg asks for the next one.
type (
	lookMsg struct {
		seen Observed
		err  error
	}
	lookNowMsg struct{ dialog *deedDialog }
	answerMsg  struct {
		word   string
		answer Answer
	}
)

// openDeed opens the dialog of an action and starts looking. saw is what the operator saw when
// the key was pressed.
func openDeed(d *desk, a Action, saw Observed) tea.Cmd {
	m := &deedDialog{
		d: d, action: a, saw: saw, cur: saw, reason: newField(""), confirm: newField(""),
	}
	m.confirm.strict = true
	m.ctx, m.cancel = context.WithCancel(d.ctx)
	if !a.NeedsReason() {
		m.focus = confirmIndex
	}
	d.root.open(m, false)
	return m.lookAgain()
}

// Title names the deed.
func (m *deedDialog) Title() string { return m.action.Word() }

// Close stops looking. A deed that runs goes on: its answer is still shown as a message.
func (m *deedDialog) Close() { m.cancel() }

func (m *deedDialog) lookAgain() tea.Cmd {
	action, limit := m.action, readLimit
	if s, ok := action.(slowLook); ok && s.lookLimit() > 0 {
		limit = s.lookLimit()
	}
	j, cmd := m.d.start(m.ctx, m.d.tr("looking at %s", action.Target()), false, limit,
		func(ctx context.Context, _ *job) tea.Msg {
			seen, err := action.Observe(ctx)
			return lookMsg{seen, err}
		})
	m.look = j
	return cmd
}

// Update takes looks and the answer.
func (m *deedDialog) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case lookNowMsg:
		if msg.dialog == m && m.phase == phaseAsk && m.ctx.Err() == nil {
			m.waiting = false
			return m.lookAgain()
		}
	case jobDoneMsg:
		switch got := msg.result.(type) {
		case lookMsg:
			if msg.job == m.look {
				return m.seen(got)
			}
		case answerMsg:
			if msg.job == m.run {
				m.done(got.answer)
			}
		}
	}
	return nil
}

// seen compares a look with the first one.
func (m *deedDialog) seen(got lookMsg) tea.Cmd {
	m.problem = ""
	switch {
	case got.err != nil:
		m.d.health.failed(got.err)
		m.problem = m.d.unread(got.err)
	default:
		first := !m.looked
		m.cur, m.looked = got.seen, true
		if first {
			m.adopt()
		}
		if changed := drift(m.saw, m.cur); len(changed) > 0 && len(m.drifted) == 0 {
			m.drifted = changed
			m.confirm.set("")
			m.focus = cancelIndex
			m.d.root.changed(m)
		}
	}
	if m.phase != phaseAsk || m.waiting {
		return nil
	}
	m.waiting = true
	// A look that takes long is not repeated at once.
	rest := max(lookEvery, loadShare*m.d.now().Sub(m.look.started))
	return tea.Tick(rest, func(time.Time) tea.Msg { return lookNowMsg{m} })
}

// adopt takes over what only the first look could tell: the operator sees it with the rest,
// before anything can be confirmed.
func (m *deedDialog) adopt() {
	if len(drift(m.saw, m.cur)) > 0 {
		return
	}
	for _, f := range m.cur.Facts {
		if _, known := factNamed(m.saw, f.Name); !known {
			m.saw.Facts = append(m.saw.Facts, f)
		}
	}
	if len(m.saw.Rows) == 0 {
		m.saw.Rows = m.cur.Rows
	}
	if len(m.saw.Effects) == 0 {
		m.saw.Effects = m.cur.Effects
	}
	if m.saw.Block == "" {
		m.saw.Block = m.cur.Block
	}
	if m.cur.next != nil {
		m.action = m.cur.next
	}
}

// fresh takes what is there now as what the operator has seen. Everything typed is gone.
func (m *deedDialog) fresh() tea.Cmd {
	if m.problem != "" || !m.looked {
		m.d.say(Warned, m.d.tr("it cannot be seen now: %s", m.problem))
		return nil
	}
	if m.cur.next != nil {
		m.action = m.cur.next
	}
	m.saw, m.drifted, m.top = m.cur, nil, 0
	m.confirm.set("")
	m.focus = confirmIndex
	if m.action.NeedsReason() && m.reason.value() == "" {
		m.focus = reasonIndex
	}
	return nil
}

// obstacle says why the deed cannot be started now; empty when it can.
func (m *deedDialog) obstacle() string {
	switch {
	case m.d.cannot(m.action.Word()) != "":
		return m.d.cannot(m.action.Word())
	case !m.looked && m.problem != "":
		return m.d.tr("it cannot be seen: %s", m.problem)
	case !m.looked:
		return m.d.tr("looking") + m.d.theme.Glyphs.Ellipsis
	case len(m.drifted) > 0:
		return m.d.tr("it changed while you looked")
	case m.saw.Block != "":
		return m.saw.Block
	case m.problem != "":
		return m.d.tr("it cannot be seen now: %s", m.problem)
	case m.d.now().Sub(m.saw.At) > lookGood:
		return m.d.tr("your look is more than a minute old; ctrl+r takes a fresh one")
	case m.action.NeedsReason() && m.reason.value() == "":
		return m.d.tr("a reason is needed")
	case m.confirm.value() != confirmText(m.action):
		return m.d.tr("type %s to confirm", confirmText(m.action))
	}
	return ""
}

// execute carries the action out, in a job that outlives the dialog.
func (m *deedDialog) execute() tea.Cmd {
	if why := m.obstacle(); why != "" {
		m.d.say(Warned, why)
		return nil
	}
	m.action = m.final()
	return m.again()
}

// final returns the action with the reason from the dialog.
func (m *deedDialog) final() Action {
	if m.action.NeedsReason() {
		return m.action.WithReason(m.reason.value())
	}
	return m.action
}

// again carries the same action out, the first time or after an unknown answer.
func (m *deedDialog) again() tea.Cmd {
	action, d := m.action, m.d
	m.phase = phaseRunning
	limit, do := deedLimit, func(ctx context.Context, _ *job) Answer { return action.Execute(ctx) }
	long := false
	if s, ok := action.(slowDeed); ok {
		limit = s.deedLimit()
	}
	slow := limit > deedLimit
	if l, ok := action.(longDeed); ok && l.long() != nil {
		run := l.long()
		limit, long = longLimit, true
		do = func(ctx context.Context, j *job) Answer {
			return run(ctx, func(words string) {
				j.tell(words)
				d.notify()
			})
		}
	}
	j, cmd := d.start(d.ctx, action.Word()+" "+action.Target(), true, limit,
		func(ctx context.Context, j *job) tea.Msg {
			if slow && !long {
				j.tell(d.tr("the more it is about the longer it takes: %s at most", brief(limit)))
			}
			return answerMsg{action.Word(), do(ctx, j)}
		})
	m.run, j.long = j, long
	if a, ok := action.(asideDeed); ok && a.besides() != nil {
		d.root.close(m)
		return tea.Batch(cmd, a.besides()())
	}
	return cmd
}

// done shows the answer. Keys in flight were not meant for it.
func (m *deedDialog) done(a Answer) {
	m.phase, m.answer, m.top = phaseAnswer, a, 0
	m.d.root.changed(m)
}

// report tells the answer of a deed in the message line, also when its dialog was closed.
func (d *desk) report(got answerMsg) {
	level := Info
	switch got.answer.Kind {
	case AnswerRefused:
		level = Warned
	case AnswerFailed, AnswerUnknown:
		level = Erred
	case AnswerDone:
	}
	d.sayDeed(level, got.word+": "+got.answer.Title, got.answer.Lines...)
}
