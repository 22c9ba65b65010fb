package tui

import (
	"cmp"
	"slices"
	"strconv"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// entry is a line of a timeline, with what is known about it besides.
type entry struct {
	inspect.PlayerEntry
	seq int // its place: 0 is the newest
	// group tells the postings of one reward that seems to be paid more than once from others; 0
	// is none. again is set on all but the oldest of them, and first is that one.
	group int
	again bool
	first *inspect.PlayerEntry
	found *inspect.PlayerFinding // what an audit found about it; nil when nothing
}

// entryID is the identity of an entry.
func entryID(e *entry) string { return string(e.Type) + strconv.FormatInt(e.ID, 10) }

// attention says whether somebody should look at an entry: it was refused, it looks paid twice, an
// audit found something, or it is not delivered.
func (e *entry) attention() bool {
	switch {
	case e.Type == inspect.EntryRefusal, e.group > 0, e.open():
		return true
	case e.Type != inspect.EntryPosting:
		return false
	}
	return e.Delivery == nil || e.Delivery.State == "dead" || e.Delivery.State == "parked"
}

// open reports whether an audit found something that nobody has looked at.
func (e *entry) open() bool { return e.found != nil && !e.found.Acknowledged() }

// twice reports whether an entry is marked.
func (e *entry) twice() bool { return e.group > 0 || e.open() }

// entriesOf puts the entries of a timeline, which are newest first, together with what looks like
// a reward paid twice and with what audits found.
func entriesOf(
	player string, all []inspect.PlayerEntry, about []inspect.PlayerFinding,
) []entry {
	out := make([]entry, len(all))
	byLedger := map[int64]*entry{}
	for i := range all {
		out[i] = entry{PlayerEntry: all[i], seq: i}
		if all[i].Type == inspect.EntryPosting {
			byLedger[all[i].ID] = &out[i]
		}
	}
	for n, ids := range inspect.PaidTwice(player, all) {
		first := byLedger[ids[0]]
		for i, id := range ids {
			e := byLedger[id]
			e.group, e.again, e.first = n+1, i > 0, &first.PlayerEntry
		}
	}
	for i := range about {
		f := &about[i]
		for j := range out {
			if e := &out[j]; e.found == nil && concerns(f, &e.PlayerEntry) {
				e.found = f
			}
		}
	}
	return out
}

// concerns reports whether a finding is about an entry: it is in the evidence, or it is of the
// event that is named.
func concerns(f *inspect.PlayerFinding, e *inspect.PlayerEntry) bool {
	if e.EventID == "" || e.Type == inspect.EntryAction {
		return false
	}
	if at := slices.Index(f.Columns, "reward_event_id"); at >= 0 {
		for _, row := range f.Rows {
			if at < len(row) && row[at] != nil && *row[at] == e.EventID {
				return true
			}
		}
	}
	return f.EventID == e.EventID
}

// twiceMark is the sign of an entry that is paid twice, with the number of the finding.
func twiceMark(g paint.Glyphs, e *entry) string {
	if e.open() {
		return g.Warning + strconv.FormatInt(e.found.ID, 10)
	}
	return g.Warning
}

// twiceWords explain why an entry is marked.
func twiceWords(d *desk, e *entry) []string {
	var lines []string
	switch {
	case e.again:
		after := e.At.Sub(e.first.At)
		lines = append(lines, d.tr("The same reward was posted before: ledger row %d, %s earlier, as "+
			"%s. The ids differ only in what a retry changes.", e.first.ID, brief(max(after, 0)),
			e.first.EventID))
	case e.group > 0:
		lines = append(lines, d.tr("The same reward was posted again later under an id that differs "+
			"only in what a retry changes."))
	}
	if e.found != nil {
		state := d.tr("open")
		if e.found.Acknowledged() {
			state = d.tr("acknowledged by %s", e.found.Ack.Operator)
		}
		lines = append(lines, d.tr("Finding %d of audit %d, %s: %s", e.found.ID, e.found.Run, state,
			e.found.What))
	}
	return lines
}

// groupTwice puts the entries of one reward together, the marked ones first, or in order of time
// again.
func (s *playerScreen) groupTwice() tea.Cmd {
	if s.lead != nil {
		s.lead = nil
		s.requery()
		return nil
	}
	s.lead = func(a, b *entry) int {
		if a.twice() != b.twice() {
			return map[bool]int{true: -1, false: 1}[a.twice()]
		}
		return cmp.Compare(a.group, b.group)
	}
	s.requery()
	s.table.Top()
	s.d.say(Info, s.d.tr("what looks paid twice stands together; = again goes back"))
	return nil
}

func (s *playerScreen) hasTwice() (bool, string) {
	if s.lead != nil || slices.ContainsFunc(s.shown.items, func(it *item[entry]) bool {
		return it.row.twice()
	}) {
		return true, ""
	}
	return false, s.d.tr("nothing that was read looks paid twice")
}

// aboutLine says what audits found about the player; empty when nothing is open.
func (s *playerScreen) aboutLine() string {
	t := s.d.theme
	open, first := 0, (*inspect.PlayerFinding)(nil)
	for i := range s.about {
		if f := &s.about[i]; !f.Acknowledged() {
			if open++; first == nil {
				first = f
			}
		}
	}
	if open == 0 {
		return ""
	}
	words := s.d.tr("finding %d: %s", first.ID, first.What)
	if open > 1 {
		words = s.d.tr("%d findings of audits; the first: %s", open, first.What)
	}
	return t.Text(paint.Bad, t.Glyphs.Warning+" "+safetext.Cell(words)) +
		t.Text(paint.Muted, "  "+s.d.tr("F shows"))
}

// openAbout shows what audits found about the player.
func (s *playerScreen) openAbout() tea.Cmd {
	if len(s.about) == 1 {
		return s.openFinding(&s.about[0])
	}
	choices := make([]choice, len(s.about))
	for i := range s.about {
		f := &s.about[i]
		word, _ := severityWord(s.d, f.Severity)
		choices[i] = choice{
			label: strconv.FormatInt(f.ID, 10) + "  " + f.What, note: word,
			run: func() tea.Cmd { return s.openFinding(f) },
		}
	}
	return openPicker(s.d, s.d.tr("what audits found about %s", s.player), choices)
}

func (s *playerScreen) openFinding(f *inspect.PlayerFinding) tea.Cmd {
	return openEvidence(s.d, &f.Finding)
}

func (s *playerScreen) hasAbout() (bool, string) {
	if len(s.about) == 0 {
		return false, s.d.tr("no audit found anything about this player")
	}
	return true, ""
}
