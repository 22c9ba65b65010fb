package tui

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// page is a dialog that shows text and scrolls.
type page struct {
	noTyping
	r     *root
	title string
	text  []string
	top   int
	room  int // lines that were visible last
	lines int // lines that the text took last
	wide  bool
}

// newPage shows text, made safe line by line.
func newPage(r *root, title string, content []string) *page {
	var safe []string
	for _, line := range content {
		safe = append(safe, safetext.Lines(line)...)
	}
	return &page{r: r, title: title, text: safe}
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
	var lines []string
	for _, line := range p.text {
		if line == "" {
			lines = append(lines, "")
			continue
		}
		lines = append(lines, hanging(line, w)...)
	}
	p.lines, p.room = len(lines), max(h-1, 1)
	p.top = max(min(p.top, len(lines)-p.room), 0)
	shown := lines[p.top:min(p.top+p.room, len(lines))]
	foot := p.r.d.tr("esc close")
	if len(lines) > p.room {
		foot = p.r.d.tr("j k scroll") + " " + p.r.d.theme.Glyphs.Bar + " " + foot
	}
	return append(append([]string(nil), shown...), p.r.d.theme.Text(paint.Muted, foot))
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

// Bindings scrolls and closes.
func (p *page) Bindings() []Binding {
	return append(scrolling(func(n int) { p.top = max(p.top+n, 0) }, func() int { return p.room }),
		Binding{Keys: []string{"esc", "q", "enter"}, Help: "close", Action: func() tea.Cmd {
			p.r.close(p)
			return nil
		}})
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
		step([]string{"k", text.N("up")}, "k", text.N("up"), func() int { return -1 }),
		step([]string{"pgdown", "ctrl+d"}, "pgdn", text.N("page down"), room),
		step([]string{"pgup", "ctrl+u"}, "pgup", text.N("page up"), func() int { return -room() }),
		step([]string{"g", "home"}, "g", text.N("first"), func() int { return -far }),
		step([]string{"G", "end"}, "G", text.N("last"), func() int { return far }),
	}
}

// newHelp lists what the keys mean now, from the bindings that dispatch them.
func newHelp(r *root) *page {
	s, tr := r.screen(), r.d.tr
	lines := []string{tr("On this screen (%s)", tr(s.Title()))}
	lines = append(lines, helpLines(r.d, r.screenKeys())...)
	lines = append(lines, "", tr("Everywhere"))
	lines = append(lines, helpLines(r.d, r.globalKeys())...)
	lines = append(lines, "", tr("Commands after ':'"))
	for _, c := range r.prompt.commands() {
		lines = append(lines, "  "+safetext.Fit(c.usage, 34, "")+"  "+tr(c.help))
	}
	if r.d.opts.Commands != nil {
		lines = append(lines, "  "+tr("and every command of rewardctl that only reads; tab completes"))
	}
	lines = append(lines, "",
		tr("Filter: words must all occur; field:word looks in one column; !word excludes;"),
		tr("left:<5s and left:>1m compare the time left. Deeds show their command line first."))
	if r.d.opts.Endpoints != "" {
		lines = append(lines, "", tr("Connected to %s", r.d.opts.Endpoints))
	}
	return newPage(r, tr("help"), lines)
}

func helpLines(d *desk, list []Binding) []string {
	var lines []string
	for _, b := range list {
		keys := strings.ReplaceAll(strings.Join(b.Keys, "\n"), " ", "space")
		keys = strings.ReplaceAll(keys, "\n", "  ")
		if len(b.Keys) == 0 {
			keys = d.tr("(no key)")
		}
		line := "  " + safetext.Fit(keys, 18, "") + "  " + b.says(d)
		if b.Action != nil && b.Dangerous {
			line += ", " + d.tr("pressed alone")
		}
		if b.Changes {
			line += " " + d.tr("(changes something; asks first)")
		}
		if ok, reason := b.enabled(); !ok {
			line += " (" + d.tr("not now: %s", reason) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
