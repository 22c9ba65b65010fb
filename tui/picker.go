package tui

import (
	"strings"
	"unicode/utf8"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// choice is one line of a picker.
type choice struct {
	label string
	note  string // shown at the right, such as a key
	off   string // why it cannot be chosen; empty when it can
	run   func() tea.Cmd
}

// picker is a dialog to choose one of several things. What is typed narrows the list.
type picker struct {
	d       *desk
	title   string
	field   field
	all     []choice
	shown   []choice
	at, top int
	room    int
}

// openPicker opens a picker over the screen.
func openPicker(d *desk, title string, choices []choice) tea.Cmd {
	p := &picker{d: d, title: title, field: newField(""), all: choices}
	p.narrow()
	d.root.open(p, false)
	return nil
}

func (p *picker) Title() string          { return p.title }
func (p *picker) Update(tea.Msg) tea.Cmd { return nil }
func (p *picker) Width(w int) int        { return min(w-4, 84) }
func (p *picker) Close()                 {}

// Typing is always true: what is typed narrows the list.
func (p *picker) Typing() bool { return true }

// Type narrows the list.
func (p *picker) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	if changed, _ := p.field.update(msg, fast); changed {
		p.narrow()
	}
	return nil
}

// Paste narrows the list by pasted text.
func (p *picker) Paste(text string) (tea.Cmd, string) {
	if changed, _ := p.field.paste(text); changed {
		p.narrow()
	}
	return nil, ""
}

// narrow keeps the choices in which the letters that were typed occur in this order, those that
// hold them as one word first.
func (p *picker) narrow() {
	want := strings.ToLower(strings.TrimSpace(p.field.value()))
	var whole, loose []choice
	for _, c := range p.all {
		switch have := strings.ToLower(c.label); {
		case strings.Contains(have, want):
			whole = append(whole, c)
		case inOrder(have, want):
			loose = append(loose, c)
		}
	}
	p.shown, p.at, p.top = append(whole, loose...), 0, 0
}

func inOrder(have, want string) bool {
	for _, c := range want {
		i := strings.IndexRune(have, c)
		if i < 0 {
			return false
		}
		have = have[i+utf8.RuneLen(c):]
	}
	return true
}

// Body draws the field and the choices.
func (p *picker) Body(w, h int) []string {
	t := p.d.theme
	lines := []string{t.Text(paint.Accent, "> ") + p.field.view(t, max(w-2, 8), true), ""}
	p.room = max(min(h-len(lines)-2, 14), 1)
	p.at = max(min(p.at, len(p.shown)-1), 0)
	p.top = min(p.top, p.at)
	p.top = max(p.top, p.at-p.room+1)
	for i := p.top; i < min(p.top+p.room, len(p.shown)); i++ {
		lines = append(lines, p.line(i, w))
	}
	if len(p.shown) == 0 {
		lines = append(lines, t.Text(paint.Muted, p.d.tr("nothing matches")))
	}
	for len(lines) < min(2+p.room, 2+len(p.all)) {
		lines = append(lines, "")
	}
	foot := p.d.tr("enter choose   esc close")
	if len(p.shown) > p.room {
		foot = p.d.tr("%d of %d   ", p.at+1, len(p.shown)) + foot
	}
	return append(lines, "", t.Text(paint.Muted, foot))
}

func (p *picker) line(i, w int) string {
	t, c := p.d.theme, p.shown[i]
	note := c.note
	if c.off != "" {
		note = p.d.tr("not now: %s", c.off)
	}
	note = safetext.Cut(safetext.Cell(note), w/2, t.Glyphs.Ellipsis)
	mark, role := "  ", paint.Plain
	switch {
	case i == p.at:
		mark, role = t.Glyphs.Cursor+" ", paint.Cursor
	case c.off != "":
		role = paint.Muted
	}
	return t.Text(role, spread(mark+safetext.Cell(c.label), note+" ", w, t.Glyphs.Ellipsis))
}

// Bindings moves and chooses.
func (p *picker) Bindings() []Binding {
	move := func(n int) func(int) tea.Cmd {
		return func(k int) tea.Cmd {
			p.at = max(min(p.at+n*k, len(p.shown)-1), 0)
			return nil
		}
	}
	return []Binding{
		{Keys: []string{"enter"}, Help: "choose", Action: p.choose},
		{Keys: []string{"down", "ctrl+n", "tab"}, Show: "↓ ↑", Help: "next", Move: move(1)},
		{Keys: []string{"up", "ctrl+p", "shift+tab"}, Help: "before", Quiet: true, Move: move(-1)},
		{Keys: []string{"pgdown"}, Help: "page down", Quiet: true, Move: move(10)},
		{Keys: []string{"pgup"}, Help: "page up", Quiet: true, Move: move(-10)},
		{Keys: []string{"esc"}, Help: "close", Action: func() tea.Cmd {
			p.d.root.close(p)
			return nil
		}},
	}
}

// choose runs the choice under the cursor. Keys that came together, as a paste does, choose
// nothing.
func (p *picker) choose() tea.Cmd {
	if p.at >= len(p.shown) {
		return nil
	}
	c := p.shown[p.at]
	if c.off != "" {
		p.d.say(Warned, p.d.tr("not now: %s", c.off))
		return nil
	}
	if p.d.root.keys.fast {
		p.d.say(Warned, p.d.tr("keys arrived together: nothing was chosen"))
		return nil
	}
	p.d.root.close(p)
	return c.run()
}
