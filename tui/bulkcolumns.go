package tui

import (
	"slices"
	"strconv"
	"strings"

	"rewardctl/repair/batchfile"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// meaning is what a column of the file is read as, and who says so.
type meaning struct {
	target string // empty: it is not used
	by     meansBy
}

// meansBy says where a meaning comes from.
type meansBy uint8

const (
	byNobody meansBy = iota
	byName
	byGuess
	byChoice
)

// meanings are what the columns are read as now: as chosen, else by their names, else as guessed.
// What is chosen for one column is taken from the others.
func (s *bulkScreen) meanings() []meaning {
	all := make([]meaning, len(s.look.Columns))
	taken := map[string]bool{}
	for i, c := range s.look.Columns {
		if target, chosen := s.choice(c.Name); chosen {
			all[i] = meaning{target, byChoice}
			taken[target] = true
		}
	}
	for i, c := range s.look.Columns {
		if all[i].by == byNobody && c.Target != "" && !taken[c.Target] {
			all[i] = meaning{c.Target, byName}
			taken[c.Target] = true
		}
	}
	if taken["event"] {
		taken["subject"] = true // it is not used beside an event
	}
	for i, c := range s.look.Columns {
		if all[i].by == byNobody && c.Guess != "" && !taken[c.Guess] {
			all[i] = meaning{c.Guess, byGuess}
			taken[c.Guess] = true
		}
	}
	return all
}

// choice is what the operator chose a column to mean.
func (s *bulkScreen) choice(name string) (target string, chosen bool) {
	for have, target := range s.choices {
		if batchfile.SameColumn(have, name) {
			return target, true
		}
	}
	return "", false
}

// named are the columns that have to be named for the file to be read so, in the order of their
// targets. Before the file was looked at they are those that were asked for.
func (s *bulkScreen) named() []batchfile.Column {
	var columns []batchfile.Column
	if len(s.look.Columns) == 0 {
		for source, target := range s.choices {
			if target != "" {
				columns = append(columns, batchfile.Column{Target: target, Source: source})
			}
		}
	}
	for i, m := range s.meanings() {
		if c := s.look.Columns[i]; m.target != "" && m.target != c.Target {
			columns = append(columns, batchfile.Column{Target: m.target, Source: c.Name})
		}
	}
	targets := batchfile.Targets()
	slices.SortFunc(columns, func(a, b batchfile.Column) int {
		return slices.Index(targets, a.Target) - slices.Index(targets, b.Target)
	})
	return columns
}

// lacking are the columns that every file needs and that none is read as.
func (s *bulkScreen) lacking() []string {
	need := []string{"player_id", "kind", "amount"}
	all := s.meanings()
	return slices.DeleteFunc(need, func(target string) bool {
		return slices.ContainsFunc(all, func(m meaning) bool { return m.target == target })
	})
}

// hasEvent reports whether the file brings its own event ids.
func (s *bulkScreen) hasEvent() bool {
	return slices.ContainsFunc(s.meanings(), func(m meaning) bool { return m.target == "event" })
}

func newBulkColumns(d *desk) *table.Table {
	columns := []table.Column{
		{Key: "column", Title: text.N("COLUMN OF THE FILE"), Min: 20, Flex: 1, Max: 40},
		{Key: "target", Title: text.N("READ AS"), Min: 12},
		{Key: "by", Title: text.N("BECAUSE"), Min: 16},
		{Key: "sample", Title: text.N("FIRST VALUE"), Min: 16, Flex: 2, Max: 60, Priority: 1},
	}
	for i := range columns {
		columns[i].Title, columns[i].NoSort = d.tr(columns[i].Title), true
	}
	t := table.New(d.theme, columns)
	t.SetWords(d.tableWords())
	return t
}

// bulkColumns is the table of a file's columns.
type bulkColumns struct {
	s    *bulkScreen
	all  []meaning
	rows []batchfile.FoundColumn
}

func (c bulkColumns) Len() int          { return len(c.rows) }
func (c bulkColumns) ID(i int) string   { return strconv.Itoa(i) }
func (c bulkColumns) Find(s string) int { return atoi(s) }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Cells fills the cells of a column of the file.
func (c bulkColumns) Cells(i int, out []table.Cell) {
	tr, m := c.s.d.tr, c.all[i]
	why, role := tr("not used"), paint.Muted
	switch {
	case m.by == byChoice && m.target == "":
		why = tr("you chose: unused")
	case m.by == byChoice:
		why, role = tr("you chose it"), paint.Strong
	case m.by == byName:
		why, role = tr("its name"), paint.Good
	case m.by == byGuess:
		why, role = tr("GUESSED"), paint.Warn
	}
	out[0] = table.Cell{Text: c.rows[i].Name}
	out[1] = table.Cell{Text: m.target, Role: role}
	out[2] = table.Cell{Text: why, Role: role}
	out[3] = table.Cell{Text: c.rows[i].Sample, Role: paint.Muted}
}

// columnsView draws the columns of the file, and what is missing among them.
func (s *bulkScreen) columnsView(w, h int) []string {
	d := s.d
	st := table.Status{State: table.Ready, Empty: d.tr("name a file: its columns are shown here")}
	var lines []string
	switch {
	case s.value(bulkFile) != "" && !s.looked:
		st.State = table.Loading
	case s.looked && s.look.Format == "":
		st.Empty = d.tr("the file cannot be read")
	case len(s.look.Sheets) > 1 && len(s.look.Columns) == 0:
		st.Empty = d.tr("it has several sheets: choose one in the field above")
	}
	if lacks := s.lacking(); len(s.look.Columns) > 0 && len(lacks) > 0 {
		words := d.tr("no column is read as %s: put the cursor on it and press enter",
			strings.Join(lacks, ", "))
		lines = append(lines, " "+d.theme.Text(paint.Warn, d.theme.Glyphs.Warning+" "+words))
	}
	s.columns.SetStatus(st)
	s.columns.SetData(bulkColumns{s, s.meanings(), s.look.Columns})
	s.columns.SetSize(w, max(h-len(lines), 0))
	s.tableAt += len(lines)
	return append(lines, strings.Split(s.columns.View(), "\n")...)
}

// pickMeaning asks what the column under the cursor means.
func (s *bulkScreen) pickMeaning() tea.Cmd {
	row, _, ok := s.columns.Selected()
	if !ok || row >= len(s.look.Columns) {
		return nil
	}
	d, column, all := s.d, s.look.Columns[row], s.meanings()
	var choices []choice
	for _, target := range append(batchfile.Targets(), "") {
		c := choice{label: target, note: targetHint(d, target), run: func() tea.Cmd {
			s.choose(column.Name, target)
			return nil
		}}
		switch {
		case target == "" && column.Target != "":
			c.label = d.tr("not used")
			c.off = d.tr("its name says what it is; read another column as %s instead", column.Target)
		case target == "":
			c.label = d.tr("not used")
		case all[row].target == target:
			c.note = d.tr("as it is now")
		default:
			for i, m := range all {
				if m.target == target {
					c.note = d.tr("now read from %s", s.look.Columns[i].Name)
				}
			}
		}
		choices = append(choices, c)
	}
	return openPicker(d, d.tr("read the column %s as", column.Name), choices)
}

func targetHint(d *desk, target string) string {
	return map[string]string{
		"player_id": d.tr("who receives it"), "kind": d.tr("such as gems"),
		"amount":  d.tr("a whole number from 1"),
		"subject": d.tr("what within the campaign it is for"),
		"event":   d.tr("the whole event id"), "": "",
	}[target]
}

// choose has a column mean something; another one that was chosen for it means nothing more.
func (s *bulkScreen) choose(name, target string) {
	for other, have := range s.choices {
		if target != "" && have == target {
			delete(s.choices, other)
		}
	}
	s.choices[name] = target
}
