package tui

import (
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// menuItem is one line of a menu, with the letter that chooses it.
type menuItem struct {
	key, label string
	note       string
	off        string // why it cannot be chosen; empty when it can
	run        func() tea.Cmd
}

// menu is a dialog of a few things, each with a letter of its own: unlike in a picker a letter
// chooses at once.
type menu struct {
	noTyping
	d     *desk
	title string
	items []menuItem
	at    int
}

func openMenu(d *desk, title string, items []menuItem) tea.Cmd {
	d.root.open(&menu{d: d, title: title, items: items}, false)
	return nil
}

func (m *menu) Title() string          { return m.title }
func (m *menu) Update(tea.Msg) tea.Cmd { return nil }
func (m *menu) Width(w int) int        { return min(w-4, 100) }
func (m *menu) Close()                 {}

// Body draws the items.
func (m *menu) Body(w, _ int) []string {
	t := m.d.theme
	label := 0
	for _, it := range m.items {
		label = max(label, safetext.Width(it.label))
	}
	label = min(label, w/2)
	lines := make([]string, 0, len(m.items)+2)
	for i, it := range m.items {
		mark, role := "  ", paint.Plain
		note := it.note
		if it.off != "" {
			role, note = paint.Muted, m.d.tr("not now: %s", it.off)
		}
		if i == m.at {
			mark, role = t.Glyphs.Cursor+" ", paint.Cursor
		}
		line := mark + safetext.Fit(it.key, 3, "") + safetext.Fit(it.label, label, t.Glyphs.Ellipsis) +
			"  " + safetext.Cell(note)
		lines = append(lines, t.Text(role, safetext.Fit(line, w, t.Glyphs.Ellipsis)))
	}
	return append(lines, "", t.Text(paint.Muted, m.d.tr("a letter, or enter; esc close")))
}

// Bindings chooses by letter, or by the cursor.
func (m *menu) Bindings() []Binding {
	step := func(n int) func(int) tea.Cmd {
		return func(k int) tea.Cmd {
			m.at = max(min(m.at+n*k, len(m.items)-1), 0)
			return nil
		}
	}
	list := []Binding{
		{Keys: []string{"enter"}, Help: "choose", Action: func() tea.Cmd { return m.choose(m.at) }},
		{Keys: []string{"down", "tab"}, Show: "↓ ↑", Help: "next", Move: step(1)},
		{Keys: []string{"up", "shift+tab"}, Help: "before", Quiet: true, Move: step(-1)},
		{Keys: []string{"esc", "q"}, Help: "close", Action: func() tea.Cmd {
			m.d.root.close(m)
			return nil
		}},
	}
	for i, it := range m.items {
		list = append(list, Binding{
			Keys: []string{it.key}, Help: it.label, Quiet: true,
			Action: func() tea.Cmd { return m.choose(i) },
		})
	}
	return list
}

func (m *menu) choose(i int) tea.Cmd {
	it := m.items[i]
	if it.off != "" {
		m.d.say(Warned, m.d.tr("not now: %s", it.off))
		return nil
	}
	m.d.root.close(m)
	return it.run()
}
