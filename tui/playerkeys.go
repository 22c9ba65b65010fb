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
		return []Binding{
			{Keys: []string{"enter"}, Help: "search", Action: s.enter},
			{Keys: []string{"down"}, Show: "↓ ↑", Help: "looked at lately", Move: s.choose(1)},
			{Keys: []string{"up"}, Help: "before", Quiet: true, Move: s.choose(-1)},
			{
				Keys: []string{"tab"}, Help: "to the list", Enabled: s.hasPlayer,
				Action: func() tea.Cmd {
					s.Unfocus()
					return nil
				},
			},
		}
	}
	list := append(s.askKeys(), s.actKeys()...)
	list = append(list, s.viewKeys()...)
	list = append(list, s.takeKeys()...)
	list = append(list, s.seeking()...)
	list = append(list, marking(s.entryList)...)
	moves := moving(s.table, func() {})
	for i := range moves {
		// G grants here, as on every screen about a player; end goes to the last row.
		if moves[i].Keys[0] == "G" {
			moves[i].Keys, moves[i].Show = []string{"end"}, "end"
		}
	}
	return append(list, moves...)
}

// actKeys are what can be done for a player, and with an entry.
func (s *playerScreen) actKeys() []Binding {
	return []Binding{
		{Keys: []string{"G"}, Help: "grant", Enabled: s.canGrant, Action: func() tea.Cmd {
			return s.d.root.goTo(ScreenGrant, Args{"player": s.player})
		}},
		{
			Keys: []string{"X"}, Help: "reverse", Changes: true, Enabled: s.canReverse,
			Action: func() tea.Cmd { return askReverse(s.d, &s.selected().row.PlayerEntry) },
		},
	}
}

// askKeys are what can be asked about a player.
func (s *playerScreen) askKeys() []Binding {
	return []Binding{
		{Keys: []string{"s", "tab"}, Show: "s", Help: "search", Action: s.begin},
		{
			Keys: []string{"enter", "E"}, Show: "enter", Help: "explain", Enabled: s.hasEvent,
			Action: func() tea.Cmd { return openExplain(s.d, s.player, s.selected().row.EventID) },
		},
		{
			Keys: []string{"b"}, Help: "older", Enabled: s.hasOlder, Quiet: s.next == "",
			Action: func() tea.Cmd { return s.read(true) },
		},
		{
			Keys: []string{"="}, Help: "group what looks paid twice", Enabled: s.hasTwice, Quiet: true,
			Action: s.groupTwice,
		},
		{
			Keys: []string{"F"}, Help: "what audits found", Enabled: s.hasAbout, Quiet: true,
			Action: s.openAbout,
		},
		{Keys: []string{"t"}, Help: "to a date", Enabled: s.hasPlayer, Action: s.jump},
		{
			Keys: []string{"f"}, Help: "type" + s.d.theme.Glyphs.Ellipsis, Enabled: s.hasPlayer,
			Action: s.pickType,
		},
		{
			Keys: []string{"r", "f5"}, Help: "read now", Quiet: true, Enabled: s.hasPlayer,
			Action: func() tea.Cmd { return s.read(false) },
		},
	}
}

func (s *playerScreen) hasPlayer() (bool, string) {
	if s.player == "" {
		return false, s.d.tr("no player is shown yet")
	}
	return true, ""
}

func (s *playerScreen) hasEvent() (bool, string) {
	if it := s.selected(); it == nil || it.row.EventID == "" {
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
	it := s.selected()
	switch {
	case s.d.opts.Reverser == nil:
		return false, s.d.tr("this console cannot reverse")
	case it == nil || it.row.Type != inspect.EntryPosting:
		return false, s.d.tr("there is no posting under the cursor")
	case it.row.Reverses != 0:
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
