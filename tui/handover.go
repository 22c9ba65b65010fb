package tui

import (
	"context"
	"strings"
	"time"

	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

const handoverUsage = "handover [4h [all]]"

// ExportMarkdown is the format of a report: each row is one line of it.
const ExportMarkdown = "md"

// handover writes a report as Markdown, for the ticket or the next shift, and copies it: of what
// was done in this console, or, with a time, of what this operator or everybody did in it.
func (r *root) handover(words []string) tea.Cmd {
	d := r.d
	if len(words) == 0 {
		return r.handOver(r.consoleDeeds())
	}
	span, err := time.ParseDuration(words[0])
	all := len(words) == 2 && words[1] == "all"
	if err != nil || span <= 0 || len(words) > 1 && !all {
		return r.usage(handoverUsage)
	}
	argv := []string{"oplog", "handover", "--since", span.String()}
	if !all {
		argv = append(argv, "--actor", d.opts.User)
	}
	title := strings.Join(argv, " ")
	if d.opts.Commands == nil {
		d.say(Warned, d.tr("no such command here: %s; ? lists them", title))
		return nil
	}
	_, cmd := d.start(d.ctx, title, false, deedLimit, func(ctx context.Context, _ *job) tea.Msg {
		output, err := d.opts.Commands.Read(ctx, argv)
		return handoverMsg{title, output, err}
	})
	return cmd
}

// handoverMsg brings the report of the operator log.
type handoverMsg struct {
	title  string
	report string
	err    error
}

// handed shows the report of the operator log.
func (r *root) handed(got handoverMsg) tea.Cmd {
	if got.err != nil {
		r.d.say(Warned, got.title+": "+got.err.Error(), safetext.Lines(got.report)...)
		return nil
	}
	return r.handOver(strings.TrimSpace(got.report) + "\n")
}

// handOver shows a report with what needs attention now, and copies it.
func (r *root) handOver(report string) tea.Cmd {
	d := r.d
	report += r.needed()
	text := newPage(r, d.tr("handover, copied"), strings.Split(report, "\n"))
	r.open(&handoverPage{page: *text, report: report}, false)
	return d.clip(d.tr("the handover"), report)
}

// handoverPage is a report that can be written to a file, too.
type handoverPage struct {
	page
	report string
}

// Bindings returns the page's keys, and one that writes the file.
func (p *handoverPage) Bindings() []Binding {
	if p.typing {
		return p.page.Bindings()
	}
	d := p.r.d
	return append([]Binding{{
		Keys: []string{"e"}, Help: "export", Enabled: func() (bool, string) {
			return d.opts.Export != nil, d.tr("this console writes no files")
		},
		Action: func() tea.Cmd {
			_, cmd := d.start(d.ctx, d.tr("export"), false, readLimit,
				func(ctx context.Context, _ *job) tea.Msg {
					file := Export{Name: "handover", Format: ExportMarkdown}
					for line := range strings.Lines(p.report) {
						file.Rows = append(file.Rows, []string{strings.TrimSuffix(line, "\n")})
					}
					path, err := d.opts.Export(ctx, file)
					return exportMsg{path, len(file.Rows), err}
				})
			return cmd
		},
	}}, p.page.Bindings()...)
}

// consoleDeeds writes what was done in this console.
func (r *root) consoleDeeds() string {
	d := r.d
	var b strings.Builder
	b.WriteString("# " + d.tr("Handover") + " " + d.opts.Context + ", " +
		d.now().Local().Format("2006-01-02 15:04") + ", " + d.opts.User + "\n\n")
	deeds := 0
	for _, m := range d.messages.log {
		if !m.deed {
			continue
		}
		deeds++
		b.WriteString("- " + m.at.Local().Format("15:04:05") + " " + m.text + "\n")
		for _, line := range m.detail {
			b.WriteString("  - " + line + "\n")
		}
	}
	if deeds == 0 {
		b.WriteString(d.tr("Nothing was changed from this console.") + "\n")
	}
	return b.String()
}

// needed lists what needs attention, as the home screen counted it last.
func (r *root) needed() string {
	d := r.d
	var b strings.Builder
	b.WriteString("\n## " + d.tr("Needs attention") + "\n\n")
	now, ok := r.screens[0].(*nowScreen)
	if !ok || now.shown.at.IsZero() {
		b.WriteString(d.tr("The home screen was not looked at.") + "\n")
		return b.String()
	}
	for _, t := range now.tiles {
		if t.count > 0 {
			line := "- " + idText(t.count) + " " + d.tr(t.label)
			if t.note != "" {
				line += ", " + t.note
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
