package tui

import (
	"strings"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// blurMax is how long the console may be out of sight before the write window closes.
const blurMax = 5 * time.Minute

// armed is the write window of a protected context: changes are possible while it is open, for a
// reason, and it closes by itself.
type armed struct {
	until  time.Time
	reason string
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

// disarm closes the write window and says why.
func (d *desk) disarm(why string) {
	if d.armed.open(d.now()) {
		d.armed = armed{}
		d.say(Warned, d.tr("disarmed: %s", why))
	}
}

// expire notices that the write window has closed.
func (d *desk) expire() {
	if !d.armed.until.IsZero() && !d.armed.open(d.now()) {
		d.armed = armed{}
		d.say(Warned, d.tr("disarmed: the time is over"))
	}
}

// armDialog asks why and for how long the write window is to be open.
type armDialog struct {
	d       *desk
	reason  field
	minutes int
}

// canArm says whether the write window can be opened, and why not.
func (d *desk) canArm() (bool, string) {
	switch {
	case d.opts.ReadOnly:
		return false, d.tr("the context %s is read-only", d.opts.Context)
	case d.opts.Operator == nil:
		return false, d.tr("no operator is connected")
	case !d.opts.Protected:
		return false, d.tr("this context is not protected: nothing has to be armed")
	}
	return true, ""
}

// arm opens the write window's dialog, or closes the window.
func (d *desk) arm() tea.Cmd {
	if d.armed.open(d.now()) {
		d.disarm(d.tr("by hand"))
		return nil
	}
	const first = 5
	d.root.open(&armDialog{d: d, reason: newField(""), minutes: first}, false)
	return nil
}

func (a *armDialog) Title() string          { return a.d.tr("open a write window") }
func (a *armDialog) Update(tea.Msg) tea.Cmd { return nil }
func (a *armDialog) Width(w int) int        { return min(w-4, 76) }
func (a *armDialog) Close()                 {}

// Typing is always true: the reason has the keys.
func (a *armDialog) Typing() bool { return true }

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
			t.Text(paint.Muted, tr("tab changes it: 5, 15, 30")), "",
		t.Text(paint.Muted, tr("It closes by itself when the time is over, when the console is "+
			"suspended,")), t.Text(paint.Muted, tr("out of sight for five minutes, or loses a "+
			"server.")))
	return lines
}

// Bindings arms and closes.
func (a *armDialog) Bindings() []Binding {
	return []Binding{
		{
			Keys: []string{"ctrl+s"}, Help: "arm", Dangerous: true, Action: a.arm,
			Enabled: func() (bool, string) {
				if strings.TrimSpace(a.reason.value()) == "" {
					return false, a.d.tr("a reason is needed")
				}
				return true, ""
			},
		},
		{Keys: []string{"tab"}, Help: "how long", Action: func() tea.Cmd {
			a.minutes = map[int]int{5: 15, 15: 30, 30: 5}[a.minutes]
			return nil
		}},
		{Keys: []string{"esc"}, Help: "close", Action: func() tea.Cmd {
			a.d.root.close(a)
			return nil
		}},
	}
}

func (a *armDialog) arm() tea.Cmd {
	d := a.d
	d.armed = armed{d.now().Add(time.Duration(a.minutes) * time.Minute), a.reason.value()}
	d.root.close(a)
	d.say(Info, d.tr("armed for %d minutes", a.minutes))
	return nil
}
