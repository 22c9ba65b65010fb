package tui

import (
	"context"
	"strings"
	"time"

	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// blurMax is how long the console may be out of sight before the write window closes.
const blurMax = 5 * time.Minute

// armed is the write window of a protected context: changes are possible while it is open, for a
// reason, and it closes by itself.
type armed struct {
	until  time.Time
	reason string
	id     int64 // the row of the operator log that says so
	// ended are windows that have closed and are not in the log yet: the server may be away.
	ended  []repair.Window
	asking bool      // the log is being written
	tried  time.Time // when it was tried last
}

// open reports whether changes are possible.
func (a armed) open(now time.Time) bool { return now.Before(a.until) }

// readOnly says why nothing can be changed; empty when it can.
func (d *desk) readOnly() string {
	switch {
	case d.opts.ReadOnly:
		return d.tr("the context %s is read-only", d.opts.Context)
	case d.opts.Operator == nil:
		return d.tr("no operator is connected")
	case d.opts.Protected && !d.armed.open(d.now()):
		return d.tr("not armed: A opens a write window")
	default:
		return ""
	}
}

// writeWord says in the banner whether changes are possible.
func (d *desk) writeWord() string {
	now := d.now()
	switch {
	case d.opts.ReadOnly || d.opts.Operator == nil:
		return d.tr("READ-ONLY")
	case !d.opts.Protected:
		return d.tr("writes ask first")
	case d.armed.open(now):
		left := d.armed.until.Sub(now).Truncate(time.Second)
		return d.tr("ARMED %s %s", countdown(left), safetext.Cut(d.armed.reason, 16,
			d.theme.Glyphs.Ellipsis))
	default:
		return d.tr("PROTECTED, A to arm")
	}
}

func countdown(left time.Duration) string {
	minutes, seconds := int(left.Minutes()), int(left.Seconds())%60
	digits := []byte{
		byte('0' + minutes/10%10), byte('0' + minutes%10), ':',
		byte('0' + seconds/10), byte('0' + seconds%10),
	}
	return string(digits)
}

// disarm closes the write window and says why, in a sentence of the catalogue. Its end goes into
// the log, too.
func (d *desk) disarm(why string) {
	if d.armed.open(d.now()) {
		d.shut(why)
	}
}

// expire notices that the write window has closed.
func (d *desk) expire() {
	if !d.armed.until.IsZero() && !d.armed.open(d.now()) {
		d.shut(text.N("the time is over"))
	}
}

func (d *desk) shut(why string) {
	a := &d.armed
	a.ended = append(a.ended, repair.Window{
		ArmRequest: repair.ArmRequest{Context: d.opts.Context, Reason: a.reason}, Armed: a.id,
		Ended: d.now(), Why: why,
	})
	a.until, a.reason, a.id, a.tried = time.Time{}, "", 0, time.Time{}
	d.say(Warned, d.tr("disarmed: %s", d.tr(why)))
}

// disarmedMsg says how many ends of windows are in the log now, and why not more.
type disarmedMsg struct {
	written int
	err     error
}

// logEnds writes the ends of windows into the log, again and again until it is done.
func (d *desk) logEnds() tea.Cmd {
	a, now := &d.armed, d.now()
	if len(a.ended) == 0 || a.asking || !a.tried.IsZero() && now.Sub(a.tried) < rightsAgain {
		return nil
	}
	windows := a.ended
	a.asking, a.tried = true, now
	_, cmd := d.start(d.ctx, d.tr("log"), false, readLimit, func(ctx context.Context, _ *job) tea.Msg {
		n, err := d.writeEnds(ctx, windows)
		return disarmedMsg{n, err}
	})
	return cmd
}

// writeEnds writes ends of windows, each once: the end of the console does not wait for the answer
// of a job that is at it.
func (d *desk) writeEnds(ctx context.Context, windows []repair.Window) (written int, err error) {
	select {
	case d.ends <- struct{}{}:
		defer func() { <-d.ends }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for i, w := range windows {
		if _, done := d.logged.Load(w.Armed); done {
			continue
		}
		if _, err := d.opts.Operator.Disarm(ctx, w); err != nil {
			return i, err
		}
		d.logged.Store(w.Armed, true)
	}
	return len(windows), nil
}

// loggedEnds takes the answer.
func (d *desk) loggedEnds(msg disarmedMsg) {
	d.armed.asking = false
	d.armed.ended = d.armed.ended[msg.written:]
	if msg.err != nil {
		d.say(Warned, d.tr("the end of the write window is not in the log yet"), d.unread(msg.err))
	}
}

// leaveLog writes what must be in the log when the console ends. ctx is not the console's, which
// has ended.
func (d *desk) leaveLog(ctx context.Context) {
	if d.opts.Operator == nil {
		return
	}
	if d.armed.open(d.now()) {
		d.shut(text.N("the console was left"))
	}
	_, _ = d.writeEnds(ctx, d.armed.ended) // there is nobody to tell any more
}

// armDialog asks why and for how long the write window is to be open.
type armDialog struct {
	d       *desk
	reason  field
	minutes int
	job     *job // the log is being written: the window opens when that is done
	until   time.Time
}

// armedMsg says that the log has the opening of a window, or why not.
type armedMsg struct {
	id  int64
	err error
}

// canArm says whether the write window can be opened, and why not.
func (d *desk) canArm() (bool, string) {
	switch {
	case d.opts.ReadOnly:
		return false, d.tr("the context %s is read-only", d.opts.Context)
	case d.opts.Operator == nil:
		return false, d.tr("no operator is connected")
	case d.lacks(repair.WordArm) != "":
		return false, d.lacks(repair.WordArm)
	case !d.opts.Protected:
		return false, d.tr("this context is not protected: nothing has to be armed")
	}
	return true, ""
}

// arm opens the write window's dialog, or closes the window.
func (d *desk) arm() tea.Cmd {
	if d.armed.open(d.now()) {
		d.disarm(text.N("by hand"))
		return d.logEnds()
	}
	const first = 5
	d.root.open(&armDialog{d: d, reason: newField(""), minutes: first}, false)
	return nil
}

func (a *armDialog) Title() string   { return a.d.tr("open a write window") }
func (a *armDialog) Width(w int) int { return min(w-4, 76) }
func (a *armDialog) Close()          {}

// Typing is true until the window is to open: the reason has the keys.
func (a *armDialog) Typing() bool { return a.job == nil }

// Update opens the window when its opening is in the log.
func (a *armDialog) Update(msg tea.Msg) tea.Cmd {
	done, ok := msg.(jobDoneMsg)
	got, armed := done.result.(armedMsg)
	if !ok || !armed || done.job != a.job {
		return nil
	}
	d := a.d
	if a.job = nil; got.err != nil {
		d.health.failed(got.err)
		d.say(Erred, d.tr("not armed: the log could not be written"), d.unread(got.err))
		return nil
	}
	d.armed.until, d.armed.reason, d.armed.id = a.until, a.reason.value(), got.id
	d.root.close(a)
	d.say(Info, d.tr("armed for %d minutes", a.minutes))
	return nil
}

// Type edits the reason.
func (a *armDialog) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	a.reason.update(msg, fast)
	return nil
}

// Paste goes into the reason: a ticket's number is often pasted.
func (a *armDialog) Paste(pasted string) (tea.Cmd, string) {
	_, refusal := a.reason.paste(pasted)
	return nil, a.d.refusal(refusal)
}

// Body draws the question.
func (a *armDialog) Body(w, _ int) []string {
	t, tr := a.d.theme, a.d.tr
	lines := safetext.Wrap(tr("Context %s is protected. Until the window closes, dialogs of this "+
		"console may change it; each still asks.", safetext.Cell(a.d.opts.Context)), w)
	label := func(s string) string { return t.Text(paint.Muted, safetext.Fit(s, nameWidth, "")) }
	minutes := tr("%d minutes", a.minutes)
	lines = append(lines, "", label(tr("reason"))+a.reason.view(t, min(w-nameWidth, 56), true),
		label(tr("open for"))+t.Text(paint.Strong, minutes)+"   "+
			t.Text(paint.Muted, tr("tab changes it: 5, 15, 30")), "")
	for _, line := range safetext.Wrap(tr("It closes by itself when the time is over, when the "+
		"console is suspended, out of sight for five minutes, or loses a server."), w) {
		lines = append(lines, t.Text(paint.Muted, line))
	}
	return lines
}

// Bindings arms and closes.
func (a *armDialog) Bindings() []Binding {
	return []Binding{
		{
			Keys: []string{"ctrl+s"}, Help: "arm", Dangerous: true, Action: a.arm,
			Enabled: func() (bool, string) {
				switch {
				case a.job != nil:
					return false, a.d.tr("the log is being written")
				case strings.TrimSpace(a.reason.value()) == "":
					return false, a.d.tr("a reason is needed")
				}
				return true, ""
			},
		},
		{Keys: []string{"tab"}, Help: "how long", Action: func() tea.Cmd {
			a.minutes = map[int]int{5: 15, 15: 30, 30: 5}[a.minutes]
			return nil
		}},
		{
			Keys: []string{"esc"}, Help: "close", Enabled: func() (bool, string) {
				return a.job == nil, a.d.tr("the log is being written")
			},
			Action: func() tea.Cmd {
				a.d.root.close(a)
				return nil
			},
		},
	}
}

// arm writes into the log that the window opens. Without that it stays shut.
func (a *armDialog) arm() tea.Cmd {
	d := a.d
	long := time.Duration(a.minutes) * time.Minute
	a.until = d.now().Add(long)
	req := repair.ArmRequest{Context: d.opts.Context, Reason: a.reason.value(), For: long}
	j, cmd := d.start(d.ctx, a.Title(), true, readLimit, func(ctx context.Context, _ *job) tea.Msg {
		id, err := d.opts.Operator.Arm(ctx, req)
		return armedMsg{id, err}
	})
	a.job = j
	return cmd
}
