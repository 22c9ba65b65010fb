package tui

import (
	"context"
	"strings"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// Bindings returns what the keys mean on the player screen.
func (s *playerScreen) Bindings() []Binding {
	if s.typing {
		list := []Binding{{Keys: []string{"enter"}, Help: "search", Action: func() tea.Cmd {
			return s.lookUp(s.search.value())
		}}}
		return append(list, Binding{
			Keys: []string{"tab", "down"}, Show: "tab", Help: "to the list", Enabled: s.hasPlayer,
			Action: func() tea.Cmd {
				s.typing = false
				return nil
			},
		})
	}
	list := []Binding{
		{Keys: []string{"s", "tab"}, Show: "s", Help: "search", Action: func() tea.Cmd {
			s.typing = true
			return nil
		}},
		{
			Keys: []string{"enter", "e"}, Show: "enter", Help: "explain", Enabled: s.hasEvent,
			Action: func() tea.Cmd { return openExplain(s.d, s.player, s.selected().EventID) },
		},
		{Keys: []string{"G"}, Help: "grant", Enabled: s.canGrant, Action: func() tea.Cmd {
			return s.d.root.goTo(ScreenGrant, Args{"player": s.player})
		}},
		{
			Keys: []string{"X"}, Help: "reverse", Changes: true, Enabled: s.canReverse,
			Action: func() tea.Cmd { return askReverse(s.d, s.selected()) },
		},
		{Keys: []string{"n"}, Help: "older", Enabled: s.hasOlder, Action: func() tea.Cmd {
			return s.read(true)
		}},
		{Keys: []string{"t"}, Help: "to a date", Enabled: s.hasPlayer, Action: s.jump},
		{
			Keys: []string{"f"}, Help: "type" + s.d.theme.Glyphs.Ellipsis, Enabled: s.hasPlayer,
			Action: s.pickType,
		},
		{Keys: []string{"i"}, Help: "inspector", Quiet: true, Action: func() tea.Cmd {
			s.pane = !s.pane
			return nil
		}},
		{
			Keys: []string{"r", "f5"}, Help: "read now", Quiet: true, Enabled: s.hasPlayer,
			Action: func() tea.Cmd { return s.read(false) },
		},
		{
			Keys: []string{"y"}, Help: "copy event id", Quiet: true, Enabled: s.hasEvent,
			Action: func() tea.Cmd { return s.d.clip(s.d.tr("the event id"), s.selected().EventID) },
		},
	}
	moves := moving(s.table, func() {})
	for i := range moves {
		// G grants here, as on every screen about a player; end goes to the last row.
		if moves[i].Keys[0] == "G" {
			moves[i].Keys, moves[i].Show = []string{"end"}, "end"
		}
	}
	return append(list, moves...)
}

func (s *playerScreen) hasPlayer() (bool, string) {
	if s.player == "" {
		return false, s.d.tr("no player is shown yet")
	}
	return true, ""
}

func (s *playerScreen) hasEvent() (bool, string) {
	if e := s.selected(); e == nil || e.EventID == "" {
		return false, s.d.tr("there is no event under the cursor")
	}
	return true, ""
}

func (s *playerScreen) hasOlder() (bool, string) {
	if s.next == "" {
		return false, s.d.tr("there is nothing older")
	}
	if s.reading != nil {
		return false, s.d.tr("still reading")
	}
	return true, ""
}

func (s *playerScreen) canReverse() (bool, string) {
	if why := s.d.cannot(repair.WordReverse); why != "" {
		return false, why
	}
	e := s.selected()
	switch {
	case s.d.opts.Reverser == nil:
		return false, s.d.tr("this console cannot reverse")
	case e == nil || e.Type != inspect.EntryPosting:
		return false, s.d.tr("there is no posting under the cursor")
	case e.Reverses != 0:
		return false, s.d.tr("it is a reversal itself")
	}
	return true, ""
}

func (s *playerScreen) canGrant() (bool, string) {
	if why := s.d.cannot(repair.WordGrant); why != "" {
		return false, why
	}
	return s.hasPlayer()
}

// openExplain tells whether one reward was granted, and why or why not.
func openExplain(d *desk, player, event string) tea.Cmd {
	title := d.tr("explain %s", event)
	return openReading(d, title, func(ctx context.Context) ([]string, error) {
		answer, err := d.opts.Inspector.Explain(ctx, player, event)
		return explainText(d, answer), err
	})
}

func explainText(d *desk, e inspect.Explanation) []string {
	text := []string{e.Summary, ""}
	for _, ev := range e.Evidence {
		text = append(text, safetext.Fit(safetext.Cell(ev.Name), 14, "")+"  "+ev.Finding)
	}
	text = append(text, "", safetext.Fit(d.tr("granting now"), 14, "")+"  "+
		d.tr("would answer %s: %s", e.IfGranted.Outcome, e.IfGranted.Why))
	for _, part := range []struct {
		title   string
		entries []inspect.PlayerEntry
	}{
		{d.tr("Refusals, newest first"), e.Refusals},
		{d.tr("What operators did, newest first"), e.Actions},
	} {
		if len(part.entries) > 0 {
			text = append(text, "", part.title)
		}
		for _, r := range part.entries {
			text = append(text, "  "+stamp(r.At)+"  "+strings.ReplaceAll(r.Outcome, "_", " ")+"  "+
				r.Actor+"  "+r.Detail)
		}
	}
	for _, m := range e.Missing {
		text = append(text, "", d.missing(m))
	}
	return text
}
