package tui

import (
	"strings"
	"time"

	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
)

const (
	deedWidth = 100
	nameWidth = 10
)

// Width returns the width of the dialog.
func (m *deedDialog) Width(w int) int { return min(w-2, deedWidth) }

// Body draws the dialog in its phase.
func (m *deedDialog) Body(w, h int) []string {
	var lines []string
	target := safetext.Cell(m.action.Target())
	if safetext.Dirty(m.action.Target()) {
		target += "  (the name contains characters that cannot be seen)"
	}
	lines = append(lines, pair(m.d.theme, "target", target, paint.Strong), "")
	switch m.phase {
	case phaseAsk:
		lines = append(lines, m.askBody(w)...)
	case phaseRunning:
		lines = append(lines, m.d.theme.Text(paint.Strong, "running"+m.d.theme.Glyphs.Ellipsis+" "+
			brief(m.d.now().Sub(m.run.started).Truncate(100*time.Millisecond))), "")
		lines = append(lines, m.commandLines(w)...)
	case phaseAnswer:
		lines = append(lines, m.answerBody(w)...)
	}
	return lines[:min(len(lines), h)]
}

func (m *deedDialog) askBody(w int) []string {
	t := m.d.theme
	lines := m.factLines(w)
	lines = append(lines, "")
	if len(m.drifted) > 0 {
		lines = append(lines,
			t.Text(paint.Bad, t.Glyphs.NotEqual+" CHANGED while you looked: "+
				strings.Join(m.drifted, ", ")+". Refused; what was typed is cleared."),
			t.Text(paint.Strong, "f takes a fresh look, esc closes"), "")
		return append(lines, m.commandLines(w)...)
	}
	for i, effect := range m.saw.Effects {
		label := "effect"
		if i > 0 {
			label = ""
		}
		lines = append(lines, wrapped(t, label, effect, paint.Plain, w)...)
	}
	lines = append(lines, m.commandLines(w)...)
	lines = append(lines, "")
	if m.action.NeedsReason() {
		lines = append(lines, t.Text(paint.Muted, safetext.Fit("reason", nameWidth, ""))+
			m.reason.view(t, min(w-nameWidth, 60), m.focus == reasonIndex))
	}
	ask := "type " + confirmText(m.action) + "  "
	lines = append(lines, t.Text(paint.Muted, ask)+
		m.confirm.view(t, min(w-safetext.Width(ask), 24), m.focus == confirmIndex), "")
	return append(lines, m.buttons(w))
}

// factLines draws "you saw" beside "now".
func (m *deedDialog) factLines(w int) []string {
	t, now := m.d.theme, m.d.now()
	col := (w - nameWidth - 4) / 2
	age := "now, live"
	switch {
	case m.problem != "":
		age = "not seen now: " + safetext.Cell(m.problem)
	case !m.looked:
		age = "looking" + t.Glyphs.Ellipsis
	}
	head := safetext.Spaces(nameWidth) +
		t.Text(paint.Head, safetext.Fit("you saw "+m.saw.At.Format("15:04:05"), col, "")) + "  " +
		t.Text(paint.Head, safetext.Fit(age, col, t.Glyphs.Ellipsis))
	lines := []string{head}
	for _, f := range m.saw.Facts {
		n, found := factNamed(m.cur, f.Name)
		if !found {
			n = Fact{Value: t.Glyphs.Dash}
		}
		mark, role := t.Text(paint.Muted, t.Glyphs.Equal), f.Role
		nowRole := n.Role
		switch {
		case n.Value == f.Value:
		case f.Guard:
			mark, nowRole = t.Text(paint.Bad, t.Glyphs.NotEqual), paint.Bad
		default:
			mark = t.Text(paint.Warn, t.Glyphs.NotEqual)
		}
		left := safetext.Fit(safetext.Cell(f.text(m.saw.At)), col, t.Glyphs.Ellipsis)
		right := safetext.Fit(safetext.Cell(n.text(now)), col, t.Glyphs.Ellipsis)
		lines = append(lines, t.Text(paint.Muted, safetext.Fit(f.Name, nameWidth, ""))+
			t.Text(role, left)+"  "+t.Text(nowRole, right)+" "+mark)
	}
	return lines
}

func factNamed(o Observed, name string) (Fact, bool) {
	for _, f := range o.Facts {
		if f.Name == name {
			return f, true
		}
	}
	return Fact{}, false
}

// commandLines draws the same deed as a command, continued as a shell would.
func (m *deedDialog) commandLines(w int) []string {
	t := m.d.theme
	const max = 3
	parts := safetext.Wrap("$ "+safetext.Cell(repair.CommandLine(m.final().CLI())), w-2)
	if len(parts) > max {
		parts = append(parts[:max-1], safetext.Cut(parts[max-1], w-4, "")+t.Glyphs.Ellipsis)
	}
	lines := make([]string, len(parts))
	for i, part := range parts {
		if i < len(parts)-1 {
			part += " \\"
		}
		lines[i] = t.Text(paint.Accent, part)
	}
	return lines
}

func (m *deedDialog) buttons(w int) string {
	t := m.d.theme
	role := func(index int) paint.Role {
		if m.focus == index {
			return paint.ButtonFocus
		}
		return paint.Button
	}
	bracket := func(index int, text string) string {
		if m.focus == index {
			return t.Text(role(index), "["+t.Glyphs.Cursor+text+"]")
		}
		return t.Text(role(index), "[ "+text+"]")
	}
	line := bracket(cancelIndex, "Cancel ") + "  "
	if why := m.obstacle(); why != "" {
		return line + t.Text(paint.Muted, "( "+m.action.Verb()+" )  "+
			safetext.Cut(safetext.Cell(why), max(w-24-len(m.action.Verb()), 8), t.Glyphs.Ellipsis))
	}
	return line + bracket(goIndex, m.action.Verb()+" ") + "  " +
		t.Text(paint.Good, "ready: tab to the button, then enter")
}

func (m *deedDialog) answerBody(w int) []string {
	t := m.d.theme
	sign := map[AnswerKind]string{
		AnswerDone: t.Glyphs.OK, AnswerRefused: t.Glyphs.Warning, AnswerFailed: t.Glyphs.Wrong,
		AnswerUnknown: "?",
	}[m.answer.Kind]
	title := safetext.Cut(sign+" "+safetext.Cell(m.answer.Title), w, t.Glyphs.Ellipsis)
	lines := []string{t.Text(kindRole(m.answer.Kind), title), ""}
	for _, text := range m.answer.Lines {
		lines = append(lines, safetext.Wrap(safetext.Cell(text), w)...)
	}
	lines = append(lines, "")
	lines = append(lines, m.commandLines(w)...)
	foot := "esc close"
	if m.answer.Kind == AnswerUnknown {
		foot = "r do exactly the same again, which tells " + t.Glyphs.Bar + " esc close"
	}
	return append(lines, "", t.Text(paint.Muted, foot))
}
