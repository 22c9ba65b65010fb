package tui

import (
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// Bindings returns what the keys mean on the list: its own first.
func (l *list[R]) Bindings() []Binding {
	var own []Binding
	if l.spec.keys != nil {
		own = l.spec.keys(l)
	}
	own = append(own, l.viewKeys()...)
	own = append(own, l.readKeys()...)
	own = append(own, l.takeKeys()...)
	own = append(own, l.seeking()...)
	own = append(own, marking(l)...)
	return append(own, moving(l.table, l.follow)...)
}

// viewKeys change how the list is shown.
func (l *list[R]) viewKeys() []Binding {
	return []Binding{
		{Keys: []string{"i"}, Help: "inspector", Quiet: l.spec.detail == nil, Action: func() tea.Cmd {
			l.pane = !l.pane
			return nil
		}},
		{Keys: []string{"o"}, Help: "sort", Action: l.pickSort},
		{
			Keys: []string{">"}, Show: "< >", Help: "sort by the next column", Quiet: true,
			Action: l.sort(1),
		},
		{Keys: []string{"<"}, Help: "sort by the column before", Quiet: true, Action: l.sort(-1)},
		{Keys: []string{"~"}, Help: "reverse", Quiet: true, Action: l.reverse},
		{Keys: []string{"c"}, Help: "choose columns", Quiet: true, Action: l.pickColumns},
		{
			Keys: []string{"w"}, Help: "all columns, scrolled with h l", Quiet: true,
			Action: func() tea.Cmd {
				l.table.SetWide(!l.table.Wide())
				return nil
			},
		},
	}
}

// readKeys decide when the list is read again.
func (l *list[R]) readKeys() []Binding {
	if l.feed.still {
		return nil
	}
	return []Binding{
		{Keys: []string{"."}, Help: "show new order", Quiet: true, Action: func() tea.Cmd {
			l.requery()
			return nil
		}},
		{Keys: []string{"r", "f5"}, Help: "read now", Quiet: true, Action: func() tea.Cmd {
			l.feed.refresh()
			return nil
		}},
		{Keys: []string{"p"}, Help: "pause, and go on", Quiet: true, Action: l.pause},
	}
}

// takeKeys take something out of the list.
func (l *list[R]) takeKeys() []Binding {
	return []Binding{
		{Keys: []string{"y"}, Help: "copy" + l.d.theme.Glyphs.Ellipsis, Quiet: true, Action: l.pickCopy},
		{
			Keys: []string{"e"}, Help: "export" + l.d.theme.Glyphs.Ellipsis, Quiet: true,
			Action: l.pickExport,
		},
	}
}

// moving is the set of keys that moves a table's cursor and columns.
func moving(t *table.Table, moved func()) []Binding {
	list := scrolling(func(n int) {
		t.Move(n)
		moved()
	}, func() int { return t.PageLen() })
	return append(list,
		Binding{
			Keys: []string{"l", "right"}, Show: "h l", Help: "columns", Quiet: true,
			Move: func(n int) tea.Cmd {
				t.Scroll(n)
				return nil
			},
		},
		Binding{
			Keys: []string{"h", "left"}, Help: "columns back", Quiet: true,
			Move: func(n int) tea.Cmd {
				t.Scroll(-n)
				return nil
			},
		},
	)
}

func marking[R any](l *list[R]) []Binding {
	return []Binding{
		{Keys: []string{" "}, Show: "space", Help: "mark", Quiet: true, Action: func() tea.Cmd {
			l.table.ToggleMark()
			return nil
		}},
		{Keys: []string{"*"}, Help: "mark all that match", Quiet: true, Action: func() tea.Cmd {
			ids := make([]string, len(l.shown.items))
			for i, it := range l.shown.items {
				ids[i] = it.id
			}
			l.table.Mark(ids...)
			return nil
		}},
		{
			Keys: []string{"v", "ctrl+@"}, Show: "v ctrl+space", Help: "mark from the last mark to here",
			Quiet: true, Action: l.markRange,
		},
		{Keys: []string{"\\"}, Help: "clear marks", Quiet: true, Action: func() tea.Cmd {
			l.table.ClearMarks()
			return nil
		}},
	}
}

// markRange marks what stands between the row that was marked last and the cursor.
func (l *list[R]) markRange() tea.Cmd {
	if len(l.shown.items) == 0 {
		return nil
	}
	if n := l.table.MarkRange(); n > 0 {
		l.d.say(Info, l.d.tr("%d rows from the last mark to here are marked", n))
		return nil
	}
	l.d.say(Info, l.d.tr("the range begins here: go to its end and press the same key"))
	return nil
}

// seeking goes from one row that needs somebody to the next.
func (l *list[R]) seeking() []Binding {
	if l.spec.attention == nil {
		return nil
	}
	return []Binding{
		{
			Keys: []string{"n"}, Show: "n N", Help: "next that needs attention", Quiet: true,
			Action: func() tea.Cmd { return l.seek(1) },
		},
		{
			Keys: []string{"N"}, Help: "one before that needs attention", Quiet: true,
			Action: func() tea.Cmd { return l.seek(-1) },
		},
	}
}

// seek moves the cursor to the next row that needs somebody, or to the one before.
func (l *list[R]) seek(step int) tea.Cmd {
	at, _, ok := l.table.Selected()
	for i := at + step; ok && i >= 0 && i < len(l.shown.items); i += step {
		if it := l.shown.items[i]; !it.gone && l.spec.attention(it.row) {
			l.table.Move(i - at)
			l.follow()
			return nil
		}
	}
	if step < 0 {
		l.d.say(Info, l.d.tr("no row above needs attention"))
		return nil
	}
	l.d.say(Info, l.d.tr("no row below needs attention"))
	return nil
}

// markNote says how many rows a deed on marks is about; empty when none is marked.
func (l *list[R]) markNote() string {
	if marks := l.table.MarkCount(); marks > 0 {
		return l.d.tr("%d marked", marks)
	}
	return ""
}

func (l *list[R]) sort(n int) func() tea.Cmd {
	return func() tea.Cmd {
		l.table.SortNext(n)
		l.requery()
		return nil
	}
}

func (l *list[R]) reverse() tea.Cmd {
	key, desc := l.table.Sort()
	l.table.SetSort(key, !desc)
	l.requery()
	return nil
}

func (l *list[R]) pause() tea.Cmd {
	paused := !l.feed.paused.Load()
	l.feed.paused.Store(paused)
	if paused {
		l.d.say(Info, l.d.tr("paused: what is shown grows old; p goes on"))
		return nil
	}
	l.feed.refresh()
	l.d.say(Info, l.d.tr("reading again"))
	return nil
}

// pickSort asks for the column to sort by.
func (l *list[R]) pickSort() tea.Cmd {
	key, desc := l.table.Sort()
	var choices []choice
	for _, c := range l.spec.columns {
		if c.compare == nil {
			continue
		}
		note := ""
		if c.Key == key {
			note = l.d.theme.Glyphs.SortUp
			if desc {
				note = l.d.theme.Glyphs.SortDown
			}
		}
		choices = append(choices, choice{
			label: l.d.tr(c.Title), note: note, run: func() tea.Cmd {
				l.table.SetSort(c.Key, c.Key == key && !desc)
				l.requery()
				return nil
			},
		})
	}
	return openPicker(l.d, l.d.tr("sort by; the same again reverses"), choices)
}

// pickColumns asks which columns to show.
func (l *list[R]) pickColumns() tea.Cmd {
	var choices []choice
	for i, c := range l.spec.columns {
		note := l.d.tr("shown")
		if l.table.IsHidden(c.Key) {
			note = l.d.tr("hidden")
		}
		if i == 0 {
			continue // the first column names the row
		}
		choices = append(choices, choice{
			label: l.d.tr(c.Title), note: note, run: func() tea.Cmd {
				l.table.Hide(c.Key, !l.table.IsHidden(c.Key))
				return nil
			},
		})
	}
	return openPicker(l.d, l.d.tr("show or hide a column"), choices)
}
