package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// bulkRest lets a name be typed before the file is looked at.
const bulkRest = 200 * time.Millisecond

// Typing reports whether a field has the keys.
func (s *bulkScreen) Typing() bool { return s.zone == zoneForm }

// Type edits the field.
func (s *bulkScreen) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	if changed, _ := s.fields[s.focus].update(msg, fast); changed {
		return s.edited()
	}
	return nil
}

// Paste goes into the field: a path is often dropped or pasted, in quotes or as an address.
func (s *bulkScreen) Paste(pasted string) (tea.Cmd, string) {
	pasted = strings.TrimSpace(pasted)
	if s.focus == bulkFile {
		pasted = strings.TrimPrefix(strings.Trim(pasted, "'\""), "file://")
	}
	changed, refusal := s.fields[s.focus].paste(pasted)
	if changed {
		return s.edited(), s.d.refusal(refusal)
	}
	return nil, s.d.refusal(refusal)
}

// Unfocus takes the keys away from the form.
func (s *bulkScreen) Unfocus() bool {
	was := s.zone == zoneForm
	if was {
		s.zone = s.pane
	}
	return was
}

// edited follows a change of the focused field: another file has other columns, and what was
// refused before may be well now.
func (s *bulkScreen) edited() tea.Cmd {
	s.problem, s.paths = nil, nil
	switch s.focus {
	case bulkFile:
		s.forget()
		s.fields[bulkSheet].set("")
		s.pane = zoneColumns
		return s.due(bulkRest)
	case bulkSheet:
		s.pane = zoneColumns
		return s.due(bulkRest)
	}
	return nil
}

// shownFields are the fields that make sense: a sheet is chosen only where there are several.
func (s *bulkScreen) shownFields() []int {
	all := []int{bulkFile, bulkSheet, bulkCampaign, bulkVersion, bulkReason}
	return slices.DeleteFunc(all, func(i int) bool {
		return i == bulkSheet && len(s.look.Sheets) < 2 && s.value(bulkSheet) == ""
	})
}

// step moves through the fields, and from the last one on to the table.
func (s *bulkScreen) step(n int) func() tea.Cmd {
	return func() tea.Cmd {
		if s.zone != zoneForm {
			s.zone = zoneForm
			return nil
		}
		shown := s.shownFields()
		at := slices.Index(shown, s.focus) + n
		switch {
		case at >= len(shown):
			s.focus, s.zone = shown[0], s.pane
		case at < 0:
			s.focus = shown[len(shown)-1]
		default:
			s.focus = shown[at]
		}
		return nil
	}
}

// tab completes the name of the file, chooses a sheet, or goes on to the next field.
func (s *bulkScreen) tab() tea.Cmd {
	d := s.d
	switch {
	case s.zone != zoneForm:
		s.nextZone()
		return nil
	case s.focus == bulkSheet && len(s.look.Sheets) > 1:
		return s.pickSheet()
	case s.focus != bulkFile || s.value(bulkFile) == "" || d.opts.Plans == nil:
		return s.step(1)()
	}
	begun := s.fields[bulkFile].value()
	_, cmd := d.start(s.ctx, "complete", false, readLimit, func(ctx context.Context, _ *job) tea.Msg {
		return bulkPathsMsg{begun, d.opts.Plans.Paths(ctx, begun)}
	})
	return cmd
}

// nextZone moves the keys from the columns to the check, to the form, and round again.
func (s *bulkScreen) nextZone() {
	switch s.zone {
	case zoneColumns:
		if s.zone = zoneForm; s.checked != nil || s.checking() {
			s.zone, s.pane = zoneCheck, zoneCheck
		}
	case zoneCheck:
		s.zone, s.pane = zoneForm, zoneColumns
	case zoneForm:
	}
}

// takePaths completes the name as far as all that begin so agree. A name that is whole leads on.
func (s *bulkScreen) takePaths(got bulkPathsMsg) tea.Cmd {
	f := &s.fields[bulkFile]
	if f.value() != got.begun {
		return nil
	}
	s.paths = got.paths
	switch common := commonPrefix(got.paths); {
	case len(got.paths) == 0:
		s.d.say(Warned, s.d.tr("nothing begins with %s", got.begun))
		return nil
	case common != got.begun:
		f.set(common)
		paths := s.paths
		cmd := s.edited()
		if len(paths) > 1 {
			s.paths = paths
		}
		return cmd
	case len(got.paths) == 1 && !strings.HasSuffix(common, "/"):
		s.paths = nil
		return s.step(1)()
	}
	return nil
}

// commonPrefix is the text with which all of some begin, cut at a character.
func commonPrefix(all []string) string {
	if len(all) == 0 {
		return ""
	}
	common := []rune(all[0])
	for _, one := range all[1:] {
		n := 0
		for _, c := range one {
			if n >= len(common) || common[n] != c {
				break
			}
			n++
		}
		common = common[:n]
	}
	return string(common)
}

func (s *bulkScreen) pickSheet() tea.Cmd {
	choices := make([]choice, len(s.look.Sheets))
	for i, name := range s.look.Sheets {
		choices[i] = choice{label: name, run: func() tea.Cmd {
			s.focus = bulkSheet
			s.fields[bulkSheet].set(name)
			cmd := s.edited()
			s.focus = bulkCampaign
			return cmd
		}}
	}
	return openPicker(s.d, s.d.tr("read which sheet?"), choices)
}

// Bindings returns what the keys mean: in the form, on the columns, on the bad rows.
func (s *bulkScreen) Bindings() []Binding {
	own := append(s.stepKeys(), s.formKeys()...)
	if s.zone == zoneColumns {
		own = append(own, moving(s.columns, func() {})...)
	}
	if s.zone != zoneCheck {
		return own
	}
	for _, b := range s.bad.Bindings() {
		taken := slices.ContainsFunc(b.Keys, func(key string) bool { return find(own, key) != nil })
		if !taken && find([]Binding{b}, "p") == nil && find([]Binding{b}, "r") == nil {
			own = append(own, b)
		}
	}
	return own
}

// stepKeys lead to the plan.
func (s *bulkScreen) stepKeys() []Binding {
	next := Binding{Keys: []string{"ctrl+s"}, Help: "check", Enabled: s.readable, Action: s.runCheck}
	if s.fresh() {
		next = Binding{
			Keys: []string{"ctrl+s"}, Help: "plan", Enabled: s.plannable, Action: s.plan,
			Dangerous: true, Changes: true,
		}
	}
	enter := Binding{Keys: []string{"enter", "down"}, Show: "enter", Help: "next field", Quiet: true}
	enter.Action = s.step(1)
	switch {
	case s.zone == zoneColumns:
		enter = Binding{
			Keys: []string{"enter"}, Help: "read as" + s.d.theme.Glyphs.Ellipsis, Action: s.pickMeaning,
			Enabled: func() (bool, string) {
				return len(s.look.Columns) > 0, s.d.tr("there are no columns yet")
			},
		}
	case s.zone == zoneCheck:
		enter = Binding{Keys: []string{"enter"}, Help: "whole row", Quiet: true, Action: s.whole}
	}
	if s.zone != zoneCheck {
		return []Binding{next, enter}
	}
	return []Binding{next, enter, {
		Keys: []string{"e"}, Help: "export bad rows" + s.d.theme.Glyphs.Ellipsis,
		Enabled: s.hasBad, Action: s.pickBad,
	}, {Keys: []string{"n"}, Help: "notes", Action: s.notes, Enabled: s.hasNotes}}
}

// formKeys work everywhere on the screen.
func (s *bulkScreen) formKeys() []Binding {
	tab := Binding{Keys: []string{"tab"}, Help: "next part", Action: s.tab}
	if s.zone == zoneForm {
		tab.Help = text.N("next field")
		switch {
		case s.focus == bulkFile && s.value(bulkFile) != "":
			tab.Help = text.N("complete the name")
		case s.focus == bulkSheet && len(s.look.Sheets) > 1:
			tab.Help = text.N("choose")
		}
	}
	skip := Binding{Keys: []string{"ctrl+g"}, Help: "skip bad rows", Action: func() tea.Cmd {
		s.skip = !s.skip
		return nil
	}}
	if s.skip {
		skip.Help = text.N("refuse bad rows")
	}
	list := []Binding{tab, skip}
	if s.zone == zoneForm {
		list = append(list, Binding{
			Keys: []string{"shift+tab", "up"}, Help: "field before", Quiet: true, Action: s.step(-1),
		})
	} else {
		list = append(list, Binding{
			Keys: []string{"shift+tab"}, Help: "back to the form", Quiet: true, Action: s.step(-1),
		})
	}
	return append(list,
		Binding{Keys: []string{"ctrl+r"}, Help: "check again", Quiet: true, Action: s.again},
		Binding{Keys: []string{"ctrl+n"}, Help: "clear", Quiet: true, Action: func() tea.Cmd {
			s.clear()
			return nil
		}},
		Binding{Keys: []string{"ctrl+y"}, Help: "copy command", Quiet: true, Action: func() tea.Cmd {
			return s.d.clip(s.d.tr("the command"), s.d.commandLine(s.ask().CLI()))
		}},
		Binding{Keys: []string{"ctrl+t", "P"}, Help: "plans", Quiet: true, Action: func() tea.Cmd {
			return s.d.root.goTo(ScreenPlans, nil)
		}},
	)
}

// again looks at the file and checks it anew, as it is now.
func (s *bulkScreen) again() tea.Cmd {
	if s.value(bulkFile) == "" {
		s.d.say(Warned, s.d.tr("name a file"))
		return nil
	}
	if ok, _ := s.readable(); ok {
		return s.runCheck()
	}
	s.uncheck()
	s.problem = nil
	return s.due(0)
}

// whole shows the problem under the cursor without cutting anything.
func (s *bulkScreen) whole() tea.Cmd {
	it := s.bad.selected()
	if it == nil {
		return nil
	}
	d, p := s.d, it.row
	s.d.root.open(newPage(d.root, d.tr("line %d", p.Line), []string{
		fitLabel(d.tr("field")) + p.Field, fitLabel(d.tr("value")) + strconv.Quote(p.Value),
		fitLabel(d.tr("problem")) + p.Problem, fitLabel(d.tr("way out")) + p.WayOut,
	}), false)
	return nil
}

// hasNotes says whether the check has remarks.
func (s *bulkScreen) hasNotes() (bool, string) {
	if s.checked == nil || s.checked.Check().WarningCount == 0 {
		return false, s.d.tr("there are no remarks about the file")
	}
	return true, ""
}

// notes shows the remarks that stop no row.
func (s *bulkScreen) notes() tea.Cmd {
	check := s.checked.Check()
	lines := make([]string, len(check.Warnings))
	for i, w := range check.Warnings {
		lines[i] = w.String()
	}
	if more := check.WarningCount - len(lines); more > 0 {
		lines = append(lines, s.d.tr("and %d more", more))
	}
	s.d.root.open(newPage(s.d.root, s.d.tr("remarks about the file"), lines), false)
	return nil
}
