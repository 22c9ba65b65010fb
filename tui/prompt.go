package tui

import (
	"context"
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

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

	seq     int // counts changes of the line
	asked   *job
	offered []Completion // what the grammar offers for the line
	usage   string       // of the command that the line begins
}

const promptHistoryMax = 100

// offeredMsg brings what the grammar offers for a line.
type offeredMsg struct {
	seq     int
	offered []Completion
	usage   string
}

func newPrompt(r *root) prompt { return prompt{r: r, field: newField("")} }

func (p *prompt) start(mode promptMode, line string) {
	p.open, p.mode, p.before, p.at = true, mode, line, len(p.history)
	p.offered, p.usage = nil, ""
	p.field = newField(line)
}

// cancel closes the prompt and brings the filter of before back.
func (p *prompt) cancel() {
	if p.mode == promptFilter {
		p.filter(p.before)
	}
	p.open = false
	p.asked.stop()
}

func (p *prompt) filter(line string) {
	if f, ok := p.r.screen().(filterer); ok {
		f.SetFilter(line)
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
	if changed, _ := p.field.update(msg, false); changed {
		return p.changed()
	}
	return nil
}

// Paste inserts the first line of pasted text. It never submits.
func (p *prompt) Paste(pasted string) (tea.Cmd, string) {
	if changed, _ := p.field.paste(pasted); changed {
		return p.changed(), ""
	}
	return nil, ""
}

// changed filters by the line, or asks the grammar how it may go on.
func (p *prompt) changed() tea.Cmd {
	if p.mode == promptFilter {
		p.filter(p.field.value())
		return nil
	}
	p.seq++
	p.offered, p.usage = nil, ""
	p.asked.stop()
	words, err := unfinished(p.field.value())
	commands := p.r.d.opts.Commands
	if commands == nil || err != nil {
		return nil
	}
	seq := p.seq
	j, cmd := p.r.d.start(p.r.d.ctx, "complete", false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			usage, _ := commands.Describe(words)
			return offeredMsg{seq, commands.Complete(ctx, words), usage}
		})
	p.asked = j
	return cmd
}

// take takes what the grammar offers, if the line is still the same.
func (p *prompt) take(msg offeredMsg) {
	if msg.seq == p.seq && p.open {
		p.offered, p.usage = msg.offered, msg.usage
	}
}

// unfinished breaks a line that is being typed into words; the last one may be empty.
func unfinished(line string) ([]string, error) {
	words, err := split(line)
	if err != nil {
		return nil, err
	}
	if line == "" || strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	return words, nil
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
		list[0].Help = text.N("keep the filter")
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
	p.asked.stop()
	line := strings.TrimSpace(p.field.value())
	if p.mode == promptFilter || line == "" {
		return nil
	}
	if n := len(p.history); n == 0 || p.history[n-1] != line {
		p.history = append(p.history, line)
		if len(p.history) > promptHistoryMax {
			p.history = p.history[1:]
		}
	}
	return p.r.run(line)
}

func (p *prompt) recall(n int) tea.Cmd {
	if len(p.history) == 0 {
		return nil
	}
	p.at = min(max(p.at+n, 0), len(p.history))
	line := ""
	if p.at < len(p.history) {
		line = p.history[p.at]
	}
	p.field.set(line)
	return p.changed()
}

// complete takes the suggestion over.
func (p *prompt) complete() tea.Cmd {
	if rest := p.suggestion(); rest != "" {
		p.field.set(p.field.value() + rest)
		return p.changed()
	}
	return nil
}

// suggestion returns what is missing to the first way to go on.
func (p *prompt) suggestion() string {
	line := p.field.value()
	if p.mode != promptCommand || line == "" {
		return ""
	}
	for _, c := range p.commands() {
		if words := commandWords(c.words); strings.HasPrefix(words, line) && words != line {
			return words[len(line):]
		}
	}
	words, err := unfinished(line)
	if err != nil {
		return ""
	}
	last := words[len(words)-1]
	for _, c := range p.offered {
		if rest, ok := strings.CutPrefix(c.Text, last); ok && rest != "" {
			return rest + " "
		}
	}
	return ""
}

// commandWords writes the words of a command as they are typed before its arguments.
func commandWords(words []string) string { return strings.Join(words, " ") + " " }

// hint says how the line may go on.
func (p *prompt) hint() string {
	tr := p.r.d.tr
	if p.mode == promptFilter {
		return tr("words, field:word, !word, left:<5s")
	}
	hint := ""
	if rest := p.suggestion(); rest != "" {
		hint = tr("tab: %s", p.field.value()+rest)
	}
	if n := len(p.offered); n > 1 {
		hint += tr("  %d ways to go on", n)
	}
	if p.usage != "" {
		hint += "  " + p.usage
	}
	return strings.TrimSpace(hint)
}

// view draws the prompt at exactly w columns.
func (p *prompt) view(w int) string {
	t := p.r.d.theme
	sign := map[promptMode]string{promptCommand: ":", promptFilter: "/"}[p.mode]
	hint := safetext.Cut(safetext.Cell(p.hint()), w/2, t.Glyphs.Ellipsis)
	width := max(w-safetext.Width(sign)-safetext.Width(hint)-4, 8)
	line := " " + t.Text(paint.Accent, sign) + p.field.view(t, width, true) + "  " +
		t.Text(paint.Muted, hint)
	return safetext.Fit(line, w, "")
}
