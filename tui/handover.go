package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// handover writes what happened in this console as Markdown, for the ticket or the next shift, and
// copies it.
func (r *root) handover([]string) tea.Cmd {
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
	b.WriteString("\n## " + d.tr("Needs attention") + "\n\n")
	if now, ok := r.screens[0].(*nowScreen); ok {
		for _, t := range now.tiles {
			if t.count > 0 {
				line := "- " + idText(t.count) + " " + d.tr(t.label)
				if t.note != "" {
					line += ", " + t.note
				}
				b.WriteString(line + "\n")
			}
		}
	}
	r.open(newPage(r, d.tr("handover, copied"), strings.Split(b.String(), "\n")), false)
	return d.clip(d.tr("the handover"), b.String())
}
