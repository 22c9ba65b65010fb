package tui

import (
	"strings"

	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

// pickCopy asks what to put into the clipboard.
func (l *list[R]) pickCopy() tea.Cmd {
	d := l.d
	var items []menuItem
	add := func(key, what, words string) {
		items = append(items, menuItem{key: key, label: what, note: words, run: func() tea.Cmd {
			return d.clip(what, words)
		}})
	}
	if it := l.selected(); it != nil {
		name := it.id
		if l.spec.name != nil {
			name = l.spec.name(it.row)
		}
		if name != "" {
			add("i", d.tr("its id"), name)
		}
		header, rows := l.cells([]*item[R]{it})
		add("r", d.tr("the row as text"), textLine(rows[0]))
		add("j", d.tr("the row as JSON"), jsonLine(header, rows[0]))
	}
	if l.spec.cli != nil {
		argv, left := l.command()
		what := d.tr("the command that lists the same")
		if len(left) > 0 {
			what = d.tr("the command, which leaves out: %s", strings.Join(left, " "))
		}
		add("c", what, d.commandLine(argv))
	}
	if it := l.selected(); it != nil && l.spec.proof != nil {
		key := "s"
		for _, p := range l.spec.proof(it.row) {
			label := d.tr("SQL that shows it again")
			if p.Tool == inspect.ProofRedis {
				label = d.tr("redis-cli that shows it again")
			}
			add(key, label, p.Text)
			key = "f"
		}
	}
	if len(items) == 0 {
		d.say(Info, d.tr("there is nothing to copy"))
		return nil
	}
	return openMenu(d, d.tr("copy"), items)
}
