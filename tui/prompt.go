package tui

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// promptMode is what the prompt asks for.
type promptMode uint8

const (
	promptCommand promptMode = iota // ":" a command of the command line's grammar
	promptFilter                    // "/" a filter of the rows on the screen
)

// prompt is the input line at the bottom. It has the keys while it is open.
type prompt struct {
	r       *root
	open    bool
	mode    promptMode
	field   field
	before  string // the filter before the prompt was opened
	history []string
	at      int // position in the history
}

const promptHistoryMax = 100

func newPrompt(r *root) prompt { return prompt{r: r, field: newField("")} }

func (p *prompt) start(mode promptMode, text string) {
	p.open, p.mode, p.before, p.at = true, mode, text, len(p.history)
	p.field = newField(text)
}

// cancel closes the prompt and brings the filter of before back.
func (p *prompt) cancel() {
	if p.mode == promptFilter {
		p.filter(p.before)
	}
	p.open = false
}

func (p *prompt) filter(text string) {
	if f, ok := p.r.screen().(filterer); ok {
		f.SetFilter(text)
	}
}

// Typing reports whether the prompt is open.
func (p *prompt) Typing() bool { return p.open }

// Type edits the line. A filter is applied as it is typed.
func (p *prompt) Type(msg tea.KeyMsg, _ bool) tea.Cmd {
	if msg.Type == tea.KeyBackspace && p.field.value() == "" {
		p.cancel()
		return nil
	}
	if changed, _ := p.field.update(msg, false); changed && p.mode == promptFilter {
		p.filter(p.field.value())
	}
	return nil
}

// Paste inserts the first line of pasted text. It never submits.
func (p *prompt) Paste(text string) (tea.Cmd, string) {
	if changed, _ := p.field.paste(text); changed && p.mode == promptFilter {
		p.filter(p.field.value())
	}
	return nil, ""
}

// Bindings returns what the keys mean while the prompt is open.
func (p *prompt) Bindings() []Binding {
	list := []Binding{
		{Keys: []string{"enter"}, Help: "go", Action: p.submit},
		{Keys: []string{"esc"}, Help: "cancel", Action: func() tea.Cmd {
			p.cancel()
			return nil
		}},
	}
	if p.mode == promptFilter {
		list[0].Help = "keep the filter"
		return list
	}
	return append(list,
		Binding{Keys: []string{"tab"}, Help: "complete", Action: p.complete},
		Binding{Keys: []string{"up"}, Help: "before", Move: func(n int) tea.Cmd {
			return p.recall(-n)
		}},
		Binding{Keys: []string{"down"}, Help: "after", Quiet: true, Move: p.recall},
	)
}

func (p *prompt) submit() tea.Cmd {
	p.open = false
	text := strings.TrimSpace(p.field.value())
	if p.mode == promptFilter || text == "" {
		return nil
	}
	if n := len(p.history); n == 0 || p.history[n-1] != text {
		p.history = append(p.history, text)
		if len(p.history) > promptHistoryMax {
			p.history = p.history[1:]
		}
	}
	return p.r.run(text)
}

func (p *prompt) recall(n int) tea.Cmd {
	if len(p.history) == 0 {
		return nil
	}
	p.at = min(max(p.at+n, 0), len(p.history))
	text := ""
	if p.at < len(p.history) {
		text = p.history[p.at]
	}
	p.field.set(text)
	return nil
}

// complete takes the suggestion over.
func (p *prompt) complete() tea.Cmd {
	if rest := p.suggestion(); rest != "" {
		p.field.set(p.field.value() + rest)
	}
	return nil
}

// suggestion returns what is missing to the first command that begins with the text.
func (p *prompt) suggestion() string {
	text := p.field.value()
	if p.mode != promptCommand || text == "" {
		return ""
	}
	for _, c := range p.commands() {
		words := strings.TrimSpace(strings.SplitN(c.usage, "[", 2)[0])
		words = strings.TrimRight(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
		if strings.HasPrefix(words, text) && words != text {
			return words[len(text):] + " "
		}
	}
	return ""
}

// view draws the prompt at exactly w columns.
func (p *prompt) view(w int) string {
	t := p.r.d.theme
	sign := ":"
	hint := ""
	if p.mode == promptFilter {
		sign = "/"
		hint = "words, field:word, !word, left:<5s"
	} else if rest := p.suggestion(); rest != "" {
		hint = "tab: " + p.field.value() + rest
	}
	hint = safetext.Cut(hint, w/2, t.Glyphs.Ellipsis)
	width := max(w-safetext.Width(sign)-safetext.Width(hint)-4, 8)
	line := " " + t.Text(paint.Accent, sign) + p.field.view(t, width, true) + "  " +
		t.Text(paint.Muted, hint)
	return safetext.Fit(line, w, "")
}
