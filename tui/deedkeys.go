package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// focused returns the text field that has the keys, or nil.
func (m *deedDialog) focused() *field {
	if m.phase != phaseAsk || len(m.drifted) > 0 {
		return nil
	}
	switch m.focus {
	case reasonIndex:
		return &m.reason
	case confirmIndex:
		return &m.confirm
	}
	return nil
}

// Typing reports whether a text field has the keys.
func (m *deedDialog) Typing() bool { return m.focused() != nil }

// Type edits the field. The confirmation takes only keys that are pressed one by one.
func (m *deedDialog) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	if _, refusal := m.focused().update(msg, fast); refusal != "" {
		m.d.say(Warned, m.d.refusal(refusal))
	}
	return nil
}

// Paste goes into the reason, never into the confirmation.
func (m *deedDialog) Paste(text string) (tea.Cmd, string) {
	_, refusal := m.focused().paste(text)
	return nil, m.d.refusal(refusal)
}

// Bindings returns what the keys mean in the dialog's phase.
func (m *deedDialog) Bindings() []Binding {
	shut := Binding{Keys: []string{"esc"}, Help: "close", Action: m.shut}
	copyLine := Binding{Keys: []string{"ctrl+y"}, Help: "copy command", Action: m.copyCLI}
	switch m.phase {
	case phaseRunning:
		return []Binding{{Keys: []string{"esc"}, Help: "close; it goes on", Action: m.shut}}
	case phaseAnswer:
		list := append([]Binding{
			{Keys: []string{"esc", "enter", "q"}, Help: "close", Action: m.shut}, copyLine,
		}, m.scrolls()...)
		if m.answer.Kind == AnswerUnknown {
			list = append(list, Binding{
				Keys: []string{"r"}, Help: "do the same again: tells", Dangerous: true, Action: m.again,
			})
		}
		return list
	}
	if len(m.drifted) > 0 {
		return append([]Binding{
			{Keys: []string{"f", "ctrl+r"}, Help: "take a fresh look", Action: m.fresh}, shut, copyLine,
		}, m.scrolls()...)
	}
	shut.Help = "cancel"
	return append(append([]Binding{
		{Keys: []string{"tab", "down"}, Show: "tab", Help: "next", Action: m.step(1)},
		{Keys: []string{"shift+tab", "up"}, Help: "before", Quiet: true, Action: m.step(-1)},
		m.enterBinding(), shut, copyLine,
		{Keys: []string{"ctrl+r"}, Help: "fresh look", Quiet: true, Action: m.fresh},
	}, m.waits()...), m.scrolls()...)
}

// waits is the key that waits instead of acting, where that can be enough.
func (m *deedDialog) waits() []Binding {
	w, ok := m.action.(waitable)
	if !ok {
		return nil
	}
	start, why := w.wait()
	return []Binding{{
		Keys: []string{"ctrl+t"}, Help: "wait for its end instead",
		Enabled: func() (bool, string) { return start != nil, why },
		Action: func() tea.Cmd {
			m.d.root.close(m)
			return start()
		},
	}}
}

// scrolls moves through the rows, whatever field has the keys.
func (m *deedDialog) scrolls() []Binding {
	by := func(n int) func(int) tea.Cmd {
		return func(k int) tea.Cmd {
			m.top = max(m.top+n*k*max(m.room, 1), 0)
			return nil
		}
	}
	return []Binding{
		{Keys: []string{"pgdown"}, Show: "pgdn", Help: "page down", Quiet: true, Move: by(1)},
		{Keys: []string{"pgup"}, Help: "page up", Quiet: true, Move: by(-1)},
	}
}

// enterBinding is what enter does: only on the last button, and only when everything is in
// place, does it act.
func (m *deedDialog) enterBinding() Binding {
	b := Binding{Keys: []string{"enter"}, Help: "next", Action: m.step(1)}
	switch m.focus {
	case cancelIndex:
		b.Help, b.Action = "cancel", m.shut
	case goIndex:
		b.Help, b.Action, b.Dangerous = m.action.Verb(), m.execute, true
	case confirmIndex:
		b.Action = func() tea.Cmd {
			if why := m.obstacle(); why != "" {
				m.d.say(Warned, why)
				return nil
			}
			m.focus = goIndex
			return nil
		}
	}
	return b
}

// step moves the focus. The last button is only reached when the deed could start.
func (m *deedDialog) step(n int) func() tea.Cmd {
	return func() tea.Cmd {
		for range goIndex + 1 {
			m.focus = (m.focus + n + goIndex + 1) % (goIndex + 1)
			if m.focus == reasonIndex && !m.action.NeedsReason() {
				continue
			}
			if m.focus == goIndex && m.obstacle() != "" {
				continue
			}
			break
		}
		return nil
	}
}

func (m *deedDialog) shut() tea.Cmd {
	m.d.root.close(m)
	return nil
}

func (m *deedDialog) copyCLI() tea.Cmd {
	return m.d.clip(m.d.tr("the command"), m.d.commandLine(m.final().CLI()))
}
