package tui

import (
	"rewardctl/inspect"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// Bindings returns what the keys mean on the lease list.
func (s *leasesScreen) Bindings() []Binding {
	list := []Binding{
		{Keys: []string{"R"}, Help: "release", Enabled: s.canRelease, Action: s.release},
		{Keys: []string{"enter"}, Help: "history", Enabled: s.hasRow, Action: s.openHistory},
		{Keys: []string{"i"}, Help: "inspector", Action: func() tea.Cmd {
			s.pane = !s.pane
			return nil
		}},
		{Keys: []string{"o"}, Help: "sort", Action: s.sort},
		{Keys: []string{"~"}, Help: "reverse", Quiet: true, Action: s.reverse},
		{Keys: []string{"."}, Help: "show new order", Quiet: true, Action: func() tea.Cmd {
			s.requery()
			return nil
		}},
		{Keys: []string{"r", "f5"}, Help: "read now", Quiet: true, Action: func() tea.Cmd {
			s.feed.refresh()
			return nil
		}},
		{Keys: []string{"y"}, Help: "copy name", Quiet: true, Enabled: s.hasRow, Action: s.copy},
		{Keys: []string{"p"}, Help: "player", Quiet: true, Enabled: s.hasRow, Action: s.toPlayer},
	}
	list = append(list, marking(s.table)...)
	return append(list, moving(s.table, s.follow)...)
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

func marking(t *table.Table) []Binding {
	return []Binding{
		{Keys: []string{" "}, Show: "space", Help: "mark", Quiet: true, Action: func() tea.Cmd {
			t.ToggleMark()
			return nil
		}},
		{Keys: []string{"\\"}, Help: "clear marks", Quiet: true, Action: func() tea.Cmd {
			t.ClearMarks()
			return nil
		}},
	}
}

func (s *leasesScreen) sort() tea.Cmd {
	s.table.SortNext(1)
	s.requery()
	return nil
}

func (s *leasesScreen) reverse() tea.Cmd {
	key, desc := s.table.Sort()
	s.table.SetSort(key, !desc)
	s.requery()
	return nil
}

func (s *leasesScreen) hasRow() (bool, string) {
	if s.selected() == nil {
		return false, "there is no lease under the cursor"
	}
	return true, ""
}

func (s *leasesScreen) canRelease() (bool, string) {
	if why := s.d.readOnly(); why != "" {
		return false, why
	}
	it := s.selected()
	switch {
	case it == nil:
		return false, "there is no lease under the cursor"
	case it.gone:
		return false, "this lease is gone already"
	case s.d.now().Sub(s.shown.at) > staleAfter:
		return false, "what is shown is too old to act upon; r reads it again"
	case it.row.Foreign != "" && it.row.Value == "":
		return false, "other data is under the key; it has no value that could be compared"
	}
	return true, ""
}

func (s *leasesScreen) release() tea.Cmd {
	l := *s.selected().row
	action := newRelease(s.d, l)
	return openDeed(s.d, action, action.listed(l))
}

func (s *leasesScreen) copy() tea.Cmd {
	return s.d.clip("the resource's name", s.selected().row.Resource)
}

// toPlayer opens the player whose rewards the lease protects, if its name says so.
func (s *leasesScreen) toPlayer() tea.Cmd {
	player, ok := playerOf(*s.selected().row)
	if !ok {
		s.d.say(Info, "this resource is not a player's own: the player is not known")
		return nil
	}
	return s.d.root.goTo(ScreenPlayer, Args{"player": player})
}

func playerOf(l inspect.Lease) (string, bool) {
	const own = "reward:"
	if len(l.Resource) > len(own) && l.Resource[:len(own)] == own {
		return l.Resource[len(own):], true
	}
	return "", false
}
