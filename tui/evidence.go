package tui

import (
	"slices"
	"strconv"
	"strings"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// evidenceText writes a finding in full: the rule, the rows side by side in what differs, what is
// the same in all of them, the proof and the remedy. w is the width that it has.
func evidenceText(d *desk, f *inspect.Finding, w int) []string {
	lines := []string{f.What, "", d.tr("rule") + "  " + f.Rule, "", d.tr("Rows of %s", f.Table)}
	width := 0
	for _, c := range f.Columns {
		width = max(width, safetext.Width(safetext.Cell(c)))
	}
	const cellWidth, rowsMax = 30, 6
	fit := max((w-width-6)/(cellWidth+2), 1)
	shown := f.Rows[:min(len(f.Rows), rowsMax, fit)]
	value := func(row []*string, i int) string {
		if i < len(row) && row[i] != nil {
			return safetext.Cell(*row[i])
		}
		return d.theme.Glyphs.Dash
	}
	var same []string
	for i, c := range f.Columns {
		name := safetext.Fit(safetext.Cell(c), width, "")
		if !slices.Contains(f.Differs, c) && len(f.Rows) > 0 {
			same = append(same, "  "+d.theme.Glyphs.Equal+" "+name+"  "+value(f.Rows[0], i))
			continue
		}
		line := "  " + d.theme.Glyphs.NotEqual + " " + name
		for _, row := range shown {
			line += "  " + safetext.Fit(value(row, i), cellWidth, d.theme.Glyphs.Ellipsis)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if int64(len(shown)) < f.Count {
		lines = append(lines, "  "+d.tr("%d of %d rows", len(shown), f.Count))
	}
	if len(same) > 0 {
		lines = append(append(lines, "", d.tr("The same in all rows")), same...)
	}
	lines = append(lines, "", d.tr("What to do; Z looks at it"))
	for _, line := range strings.Split(f.Remedy, "\n") {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, "", d.tr("A read-only statement that shows it again; s copies it"))
	return append(lines, strings.Split(f.Proof, "\n")...)
}

// evidencePage shows a finding in full.
type evidencePage struct {
	page
	d *desk
	f *inspect.Finding
}

// openEvidence shows a finding in full.
func openEvidence(d *desk, f *inspect.Finding) tea.Cmd {
	const frame = 8 // the sides of the page and of the screen
	p := &evidencePage{d: d, f: f}
	p.page = *newPage(d.root, f.Word, nil)
	p.wide = len(f.Rows) > 2
	w := p.Width(d.root.w) - frame/2
	p.page = *newPage(d.root, f.Word, evidenceText(d, f, w))
	p.wide = len(f.Rows) > 2
	d.root.open(p, false)
	return nil
}

// Bindings copies the proof and the remedy, looks at the remedy, and scrolls.
func (p *evidencePage) Bindings() []Binding {
	list := []Binding{
		{Keys: []string{"s"}, Help: "copy proof", Action: func() tea.Cmd {
			return p.d.clip(p.d.tr("the proof"), p.f.Proof)
		}},
		{Keys: []string{"Y"}, Help: "copy remedy", Quiet: true, Action: func() tea.Cmd {
			return p.d.clip(p.d.tr("the remedy"), p.d.reaching(p.f.Remedy))
		}},
		{Keys: []string{"Z"}, Help: "remedy, dry", Action: func() tea.Cmd {
			return lookAtRemedy(p.d, p.f)
		}},
	}
	pages := p.page.Bindings()
	for i, b := range pages {
		if slices.Contains(b.Keys, "esc") {
			pages[i].Action = func() tea.Cmd {
				p.d.root.close(p)
				return nil
			}
		}
	}
	return append(list, pages...)
}

// lookAtRemedy opens what a finding asks for: the deed that takes a posting back, as a look that
// changes nothing before it is confirmed, or the screen of a command that looks.
func lookAtRemedy(d *desk, f *inspect.Finding) tea.Cmd {
	choices := remedies(d, f)
	switch len(choices) {
	case 0:
		d.say(Info, d.tr("nothing of this remedy can be looked at from here; Y copies it"))
		return nil
	case 1:
		return choices[0].run()
	}
	return openPicker(d, d.tr("look at a remedy; nothing is changed by looking"), choices)
}

// remedies are the deeds and the commands of a finding's remedy.
func remedies(d *desk, f *inspect.Finding) []choice {
	var choices []choice
	reverse := func(id int64, e *inspect.PlayerEntry) choice {
		c := choice{
			label: d.tr("take back ledger row %d", id), note: d.tr("asks first"),
			run: func() tea.Cmd { return askTakeBack(d, e) },
		}
		if d.opts.Reverser == nil {
			c.off = d.tr("this console cannot reverse")
		}
		return c
	}
	for _, line := range strings.Split(f.Remedy, "\n") {
		words, err := split(line)
		if err != nil || len(words) < 2 || words[0] != "rewardctl" {
			continue
		}
		if len(words) > 3 && words[1] == "ledger" && words[2] == "reverse" {
			if id, err := strconv.ParseInt(words[3], 10, 64); err == nil {
				choices = append(choices, reverse(id, postingOf(f, id)))
			}
			continue
		}
		choices = append(choices, choice{label: line, run: func() tea.Cmd {
			return d.root.run(line)
		}})
	}
	// A remedy that leaves the decision which posting is too many to people names none.
	if f.Table == "reward_ledger" && strings.Contains(f.Remedy, repair.WordReverse+" ID") {
		for _, id := range ledgerIDs(f) {
			choices = append(choices, reverse(id, postingOf(f, id)))
		}
	}
	return choices
}

// askTakeBack asks whether to take a posting back. Evidence need not have its amount: the first
// look then tells it.
func askTakeBack(d *desk, e *inspect.PlayerEntry) tea.Cmd {
	if e.Amount != 0 {
		return askReverse(d, e)
	}
	req := repair.ReverseRequest{ReverseSelection: repair.ReverseSelection{LedgerID: e.ID}}
	return openDeed(d, reverseDeed(d, req), Observed{At: d.now()})
}

// ledgerIDs are the rows of the ledger in a finding's evidence.
func ledgerIDs(f *inspect.Finding) []int64 {
	at := slices.Index(f.Columns, "id")
	var ids []int64
	for _, row := range f.Rows {
		if at < 0 || at >= len(row) || row[at] == nil {
			continue
		}
		if id, err := strconv.ParseInt(*row[at], 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// postingOf is a row of the ledger as far as the evidence shows it.
func postingOf(f *inspect.Finding, id int64) *inspect.PlayerEntry {
	e := &inspect.PlayerEntry{Type: inspect.EntryPosting, ID: id, EventID: f.EventID}
	get := func(row []*string, name string) string {
		at := slices.Index(f.Columns, name)
		if at < 0 || at >= len(row) || row[at] == nil {
			return ""
		}
		return *row[at]
	}
	for _, row := range f.Rows {
		if get(row, "id") != strconv.FormatInt(id, 10) {
			continue
		}
		if event := get(row, "reward_event_id"); event != "" {
			e.EventID = event
		}
		e.Kind = get(row, "kind")
		e.Amount, _ = strconv.ParseInt(get(row, "amount"), 10, 64) // 0: the look tells
	}
	return e
}
