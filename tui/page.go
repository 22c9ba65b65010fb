package tui

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// page is a dialog that shows text, scrolls, and is searched with "/".
type page struct {
	r     *root
	title string
	text  []string
	top   int
	room  int      // lines that were visible last
	lines []string // what the text took last, wrapped
	wide  bool

	find   field
	typing bool
	hit    int // the line that was found last
}

// newPage shows text, made safe line by line.
func newPage(r *root, title string, content []string) *page {
	var safe []string
	for _, line := range content {
		safe = append(safe, safetext.Lines(line)...)
	}
	return &page{r: r, title: title, text: safe, find: newField("")}
}

func (p *page) Title() string          { return p.title }
func (p *page) Update(tea.Msg) tea.Cmd { return nil }
func (p *page) Close()                 {}

// Width returns the width of the page: no wider than reads well, unless it is a table.
func (p *page) Width(w int) int {
	const readable = 100
	if p.wide {
		return w - 4
	}
	return min(w-4, readable)
}

// Body draws the part that is scrolled to.
func (p *page) Body(w, h int) []string {
	p.lines = p.lines[:0]
	for _, line := range p.text {
		if line == "" {
			p.lines = append(p.lines, "")
			continue
		}
		p.lines = append(p.lines, hanging(line, w)...)
	}
	p.room = max(h-1, 1)
	p.top = max(min(p.top, len(p.lines)-p.room), 0)
	var shown []string
	for i := p.top; i < min(p.top+p.room, len(p.lines)); i++ {
		shown = append(shown, p.line(i))
	}
	return append(shown, p.foot(w))
}

// line draws a line; one in which the word occurs that is looked for stands out.
func (p *page) line(i int) string {
	switch t := p.r.d.theme; {
	case !p.finds(i):
		return p.lines[i]
	case i == p.hit:
		return t.Text(paint.Cursor, p.lines[i])
	default:
		return t.Text(paint.Accent, p.lines[i])
	}
}

// foot is the line below the text: the search, or what can be done.
func (p *page) foot(w int) string {
	d, t := p.r.d, p.r.d.theme
	if p.typing {
		return t.Text(paint.Accent, "/ ") + p.find.view(t, max(w-2, 1), true)
	}
	foot := d.tr("esc close")
	if len(p.lines) > p.room {
		foot = d.tr("j k scroll") + " " + t.Glyphs.Bar + " " + d.tr("/ search") + " " +
			t.Glyphs.Bar + " " + foot
	}
	if p.find.value() != "" {
		foot = d.tr("%d lines with %s, n N", p.hits(), p.find.value()) + " " + t.Glyphs.Bar + " " +
			foot
	}
	return t.Text(paint.Muted, foot)
}

// Typing reports whether the search field has the keys.
func (p *page) Typing() bool { return p.typing }

// Type edits the search.
func (p *page) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	if changed, _ := p.find.update(msg, fast); changed {
		p.seek(p.top-1, 1)
	}
	return nil
}

// Paste puts the first line into the search field.
func (p *page) Paste(pasted string) (tea.Cmd, string) {
	_, refusal := p.find.paste(pasted)
	p.seek(p.top-1, 1)
	return nil, refusal
}

// finds reports whether the word that is looked for occurs in a line.
func (p *page) finds(i int) bool {
	want := strings.ToLower(strings.TrimSpace(p.find.value()))
	return want != "" && strings.Contains(strings.ToLower(p.lines[i]), want)
}

func (p *page) hits() int {
	n := 0
	for i := range p.lines {
		if p.finds(i) {
			n++
		}
	}
	return n
}

// seek goes to the next line with the word, in steps of 1 or -1, around the end.
func (p *page) seek(from, step int) {
	for n := range len(p.lines) {
		i := (from + step*(n+1)) % len(p.lines)
		if i < 0 {
			i += len(p.lines)
		}
		if !p.finds(i) {
			continue
		}
		if p.hit = i; i < p.top || i >= p.top+p.room {
			p.top = max(i-p.room/2, 0)
		}
		return
	}
}

// hanging wraps a line; when it is a label, two blanks and a text, what is wrapped stands under
// the text.
func hanging(line string, w int) []string {
	indent := 0
	if at := strings.LastIndex(line[:min(len(line), w/3)], "  "); at >= 0 {
		indent = safetext.Width(line[:at+2])
	}
	parts := safetext.Wrap(line, w)
	if indent == 0 || len(parts) < 2 {
		return parts
	}
	lines := parts[:1:1]
	rest := strings.TrimPrefix(line[min(len(parts[0]), len(line)):], " ")
	for _, part := range safetext.Wrap(rest, w-indent) {
		lines = append(lines, safetext.Spaces(indent)+part)
	}
	return lines
}

// Bindings scrolls, searches, copies and closes.
func (p *page) Bindings() []Binding {
	leave := func(keep bool) func() tea.Cmd {
		return func() tea.Cmd {
			if p.typing = false; !keep {
				p.find.set("")
			}
			return nil
		}
	}
	if p.typing {
		return []Binding{
			{Keys: []string{"enter"}, Help: "search", Action: leave(true)},
			{Keys: []string{"esc"}, Help: "leave the field", Action: leave(false)},
		}
	}
	seek := func(step int) func() tea.Cmd {
		return func() tea.Cmd {
			p.seek(p.hit, step)
			return nil
		}
	}
	list := scrolling(func(n int) { p.top = max(p.top+n, 0) }, func() int { return p.room })
	return append(list,
		Binding{Keys: []string{"esc", "q", "enter"}, Help: "close", Action: func() tea.Cmd {
			p.r.closeTop()
			return nil
		}},
		Binding{Keys: []string{"/"}, Help: "search", Action: func() tea.Cmd {
			p.typing = true
			return nil
		}},
		Binding{Keys: []string{"n"}, Help: "next hit", Quiet: true, Action: seek(1)},
		Binding{Keys: []string{"N"}, Help: "hit before", Quiet: true, Action: seek(-1)},
		Binding{Keys: []string{"y"}, Help: "copy all", Action: func() tea.Cmd {
			return p.r.d.clip(p.r.d.tr("the text"), strings.Join(p.text, "\n"))
		}},
	)
}

// scrolling is the set of keys that moves something by lines and pages.
func scrolling(by func(n int), room func() int) []Binding {
	step := func(keys []string, show, help string, n func() int) Binding {
		return Binding{Keys: keys, Show: show, Help: help, Quiet: true, Move: func(k int) tea.Cmd {
			by(k * n())
			return nil
		}}
	}
	const far = 1 << 30
	return []Binding{
		step([]string{"j", "down"}, "j k", text.N("down"), func() int { return 1 }),
		step([]string{"k", "up"}, "k", text.N("up"), func() int { return -1 }),
		step([]string{"pgdown", "ctrl+d"}, "pgdn", text.N("page down"), room),
		step([]string{"pgup", "ctrl+u"}, "pgup", text.N("page up"), func() int { return -room() }),
		step([]string{"g", "home"}, "g", text.N("first"), func() int { return -far }),
		step([]string{"G", "end"}, "G", text.N("last"), func() int { return far }),
	}
}
