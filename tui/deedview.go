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
	target := safetext.Cell(m.action.Target())
	if safetext.Dirty(m.action.Target()) {
		target += "  " + m.d.tr("(the name contains characters that cannot be seen)")
	}
	head := []string{pair(m.d.theme, m.d.tr("target"), target, paint.Strong), ""}
	var middle, tail []string
	switch m.phase {
	case phaseAsk:
		head = append(head, m.factLines(w)...)
		middle, tail = m.askBody(w)
		if room := h - len(dense(head)) - len(dense(middle)) - len(dense(tail)); len(m.saw.Rows) > 0 {
			middle = append(m.window(m.rowLines(w), room), middle...)
		}
	case phaseRunning:
		middle = append(middle, m.d.theme.Text(paint.Strong, m.d.tr("running")+m.d.theme.Glyphs.Ellipsis+
			" "+brief(m.d.now().Sub(m.run.started).Truncate(100*time.Millisecond))))
		if told := m.run.progress(); told != "" {
			middle = append(middle, safetext.Cell(told))
		}
		middle = append(middle, "")
		tail = m.commandLines(w)
	case phaseAnswer:
		middle, tail = m.answerBody(w)
		room := h - len(dense(head)) - len(dense(middle)) - len(dense(tail))
		if rows := m.answerRows(w); len(rows) > 0 {
			middle = append(middle, m.window(rows, room)...)
		}
	}
	return squeeze(head, middle, tail, h)
}

// squeeze puts three parts into h lines. When they do not fit, blank lines go first, then the end
// of the middle: what the operator must answer is always visible.
func squeeze(head, middle, tail []string, h int) []string {
	if len(head)+len(middle)+len(tail)+2 <= h {
		lines := append(append(append([]string(nil), head...), ""), middle...)
		return append(append(lines, ""), tail...)
	}
	head, middle, tail = dense(head), dense(middle), dense(tail)
	middle = middle[:max(min(len(middle), h-len(head)-len(tail)), 0)]
	lines := append(append(head, middle...), tail...)
	return lines[max(len(lines)-h, 0):]
}

func dense(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// askBody returns what would happen and what the operator is asked.
func (m *deedDialog) askBody(w int) (middle, tail []string) {
	t := m.d.theme
	if len(m.drifted) > 0 {
		return []string{
			t.Text(paint.Bad, t.Glyphs.NotEqual+" "+m.d.tr("CHANGED while you looked: %s. Refused; "+
				"what was typed is cleared.", m.named(m.drifted))),
			t.Text(paint.Strong, m.d.tr("f takes a fresh look, esc closes")),
		}, m.commandLines(w)
	}
	for i, effect := range m.saw.Effects {
		label := m.d.tr("effect")
		if i > 0 {
			label = ""
		}
		middle = append(middle, wrapped(t, label, effect, paint.Plain, w)...)
	}
	middle = append(middle, m.commandLines(w)...)
	if m.action.NeedsReason() {
		tail = append(tail, t.Text(paint.Muted, safetext.Fit(m.d.tr("reason"), nameWidth, ""))+
			m.reason.view(t, min(w-nameWidth, 60), m.focus == reasonIndex))
	}
	ask := m.d.tr("type %s  ", confirmText(m.action))
	tail = append(tail, t.Text(paint.Muted, ask)+
		m.confirm.view(t, min(w-safetext.Width(ask), 24), m.focus == confirmIndex), "")
	return middle, append(tail, m.buttons(w))
}

// factLines draws "you saw" beside "now".
func (m *deedDialog) factLines(w int) []string {
	t, now := m.d.theme, m.d.now()
	col := (w - nameWidth - 4) / 2
	age := m.d.tr("now, live")
	switch {
	case m.problem != "":
		age = m.d.tr("not seen now: %s", safetext.Cell(m.problem))
	case !m.looked:
		age = m.d.tr("looking") + t.Glyphs.Ellipsis
	}
	head := safetext.Spaces(nameWidth) +
		t.Text(paint.Head, safetext.Fit(m.d.tr("you saw %s", m.saw.At.Format("15:04:05")), col,
			"")) + "  " +
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
		lines = append(lines, t.Text(paint.Muted, safetext.Fit(m.d.tr(f.Name), nameWidth, ""))+
			t.Text(role, left)+"  "+t.Text(nowRole, right)+" "+mark)
	}
	return lines
}

// window returns as many of the rows as there is room for, and says where in them it is.
func (m *deedDialog) window(rows []string, room int) []string {
	const least = 2
	if room = max(room, least); len(rows) <= room {
		m.top, m.room = 0, len(rows)
		return rows
	}
	m.room = room - 1
	m.top = max(min(m.top, len(rows)-m.room), 0)
	t := m.d.theme
	where := m.d.tr("%d to %d of %d; pgdn and pgup scroll", m.top+1, m.top+m.room, len(rows))
	return append(append([]string(nil), rows[m.top:m.top+m.room]...), t.Text(paint.Muted, where))
}

// rowLines draws what is changed one by one: as it was seen, or as it is now where that differs.
func (m *deedDialog) rowLines(w int) []string {
	t, now := m.d.theme, m.d.now()
	have := make(map[string]Fact, len(m.cur.Rows))
	for _, f := range m.cur.Rows {
		have[f.Name] = f
	}
	name := (w - 2) * 2 / 5
	lines := make([]string, len(m.saw.Rows))
	for i, f := range m.saw.Rows {
		mark, role := t.Text(paint.Muted, t.Glyphs.Equal), f.Role
		if n := have[f.Name]; f.Guard && n.Value != f.Value {
			if f = n; f.Name == "" {
				f = Fact{Name: m.saw.Rows[i].Name, Value: m.d.tr("gone")}
			}
			mark, role = t.Text(paint.Bad, t.Glyphs.NotEqual), paint.Bad
		}
		lines[i] = mark + " " + safetext.Fit(safetext.Cell(f.Name), name, t.Glyphs.Ellipsis) + " " +
			t.Text(role, safetext.Cut(safetext.Cell(f.text(now)), w-name-3, t.Glyphs.Ellipsis))
	}
	return lines
}

// answerRows draws what became of each.
func (m *deedDialog) answerRows(w int) []string {
	lines := make([]string, len(m.answer.Rows))
	for i, row := range m.answer.Rows {
		lines[i] = safetext.Cut(safetext.Cell(row), w, m.d.theme.Glyphs.Ellipsis)
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

// named writes the names of facts in the operator's language, and of rows as they are; of very
// many the first.
func (m *deedDialog) named(names []string) string {
	const most = 3
	words := make([]string, min(len(names), most))
	for i := range words {
		words[i] = safetext.Cell(m.d.tr(names[i]))
	}
	all := strings.Join(words, ", ")
	if more := len(names) - most; more > 0 {
		all += m.d.tr(" and %d more", more)
	}
	return all
}

// commandLines draws the same deed as a command.
func (m *deedDialog) commandLines(w int) []string {
	const max = 3
	return m.d.commandText(m.final().CLI(), w, max)
}

// commandText draws a command on lines of at most w columns, broken between arguments and
// continued as a shell would. What is beyond max lines, and one for what leads the command here, is
// cut; copying gives the whole.
func (d *desk) commandText(argv []string, w, max int) []string {
	t := d.theme
	if len(d.opts.Flags) > 0 {
		max++
	}
	argv = d.argv(argv)
	var lines []string
	line := "$"
	for _, arg := range argv {
		word := safetext.Cell(repair.CommandLine([]string{arg}))
		if safetext.Width(line)+1+safetext.Width(word) > w-2 && line != "$" {
			lines = append(lines, line+" \\")
			line = "   "
		}
		line += " " + word
	}
	lines = append(lines, line)
	if len(lines) > max {
		lines = append(lines[:max-1], safetext.Cut(lines[max-1], w-1, "")+t.Glyphs.Ellipsis)
	}
	for i := range lines {
		lines[i] = t.Text(paint.Accent, safetext.Cut(lines[i], w, t.Glyphs.Ellipsis))
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
	line := bracket(cancelIndex, m.d.tr("Cancel")+" ") + "  "
	if why := m.obstacle(); why != "" {
		return line + t.Text(paint.Muted, "( "+m.action.Verb()+" )  "+
			safetext.Cut(safetext.Cell(why), max(w-24-len(m.action.Verb()), 8), t.Glyphs.Ellipsis))
	}
	return line + bracket(goIndex, m.action.Verb()+" ") + "  " +
		t.Text(paint.Good, m.d.tr("ready: tab to the button, then enter"))
}

// answerBody returns what became of the deed, and the way on.
func (m *deedDialog) answerBody(w int) (middle, tail []string) {
	t := m.d.theme
	title := signOf(t.Glyphs, m.answer.Kind) + " " + safetext.Cell(m.answer.Title)
	title = safetext.Cut(title, w, t.Glyphs.Ellipsis)
	middle = []string{t.Text(kindRole(m.answer.Kind), title), ""}
	for _, text := range m.answer.Lines {
		middle = append(middle, safetext.Wrap(safetext.Cell(text), w)...)
	}
	foot := m.d.tr("esc close")
	if m.answer.Kind == AnswerUnknown {
		foot = m.d.tr("r do exactly the same again, which tells") + " " + t.Glyphs.Bar + " " + foot
	}
	return middle, append(m.commandLines(w), "", t.Text(paint.Muted, foot))
}
