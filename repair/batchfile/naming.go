package batchfile

import (
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"
)

// Column says which column of a file is read as which column of grants, such as Spieler as
// player_id. Names of a file's columns are compared without letter case, blanks and invisible
// characters, as the names of the known columns are.
type Column struct {
	Target string // player_id, kind, amount, subject or event
	Source string // the name of the file's column
}

// String writes the column as ParseColumns reads it.
func (c Column) String() string { return c.Target + "=" + c.Source }

// Targets are the columns of grants, in their order.
func Targets() []string { return slices.Clone(jsonCells[:]) }

const columnField = "column"

// ParseColumns reads columns written TARGET=SOURCE. It returns a *grant.Rejection for an unknown
// target, a source without a name, and anything named twice.
func ParseColumns(texts []string) ([]Column, error) {
	var columns []Column
	for _, text := range texts {
		target, source, found := strings.Cut(text, "=")
		if !found {
			return nil, &grant.Rejection{
				Field: columnField, Value: text, Problem: "names no column of the file",
				WayOut: "write it as --column player_id=NAME",
			}
		}
		columns = append(columns, Column{strings.TrimSpace(target), strings.TrimSpace(source)})
	}
	_, err := newNaming(columns)
	return columns, err
}

// naming says which columns mean what.
type naming struct {
	sources [len(jsonCells)]string // by target: the name of its column as columnName has it; or ""
	written [len(jsonCells)]string // the same as the operator wrote it
}

func newNaming(columns []Column) (naming, error) {
	var n naming
	refuse := func(c Column, problem, wayOut string) (naming, error) {
		return naming{}, &grant.Rejection{
			Field: columnField, Value: c.String(), Problem: problem, WayOut: wayOut,
		}
	}
	for _, c := range columns {
		at := target(columnName(c.Target))
		source := columnName(c.Source)
		switch {
		case at < 0:
			return refuse(c, "names no column of grants",
				"name one of "+strings.Join(jsonCells[:], ", ")+" before the =")
		case source == "":
			return refuse(c, "names no column of the file",
				"name one as its header has it, after the =")
		case n.sources[at] != "":
			return refuse(c, "gives "+jsonCells[at]+" a second column, beside "+
				strconv.Quote(n.written[at]), "keep one of them")
		case slices.Contains(n.sources[:], source):
			other := slices.Index(n.sources[:], source)
			return refuse(c, "reads a column that is read as "+jsonCells[other]+" already",
				"read each column of the file once")
		}
		n.sources[at], n.written[at] = source, c.Source
	}
	return n, nil
}

// target numbers the columns of grants by their names; -1 for others.
func target(name string) int {
	if name == "event_id" || name == "reward_event_id" {
		name = "event"
	}
	return slices.Index(jsonCells[:], name)
}

// place numbers what a column of the file is read as; -1 when it is not used. A target for which
// a column was named is read from that one only.
func (n *naming) place(name string) int {
	if name == "" {
		return -1
	}
	if at := slices.Index(n.sources[:], name); at >= 0 {
		return at
	}
	at := target(name)
	if at >= 0 && n.sources[at] != "" {
		return -1
	}
	return at
}

// any reports whether a column was named.
func (n *naming) any() bool { return n.sources != [len(jsonCells)]string{} }

// called is how a column is named in a refusal: as the operator named it, else by itself.
func (n *naming) called(at int) string {
	if n.written[at] == "" {
		return jsonCells[at]
	}
	return strconv.Quote(n.written[at]) + " (for " + jsonCells[at] + ")"
}

// check refuses a file that lacks a column which has to be there: a required one, or one that was
// named. has says which are; found are the file's own names.
func (n *naming) check(has [len(jsonCells)]bool, found []string, word string) error {
	if n.written[jsonSubject] != "" && has[jsonSubject] && has[jsonEvent] {
		return &FileError{
			Problem: "it has the " + word + " " + n.called(jsonEvent) +
				", so " + n.called(jsonSubject) + " would not be used",
			WayOut: "leave out --column subject=..., or delete the " + word + " of events",
		}
	}
	var missing []string
	named := false
	for i := range jsonCells {
		if has[i] || i >= jsonSubject && n.written[i] == "" {
			continue
		}
		missing = append(missing, n.called(i))
		named = named || n.written[i] != ""
	}
	if missing == nil {
		return nil
	}
	e := &FileError{
		Problem: "the " + word + " " + strings.Join(missing, " and the "+word+" ") + " is missing",
	}
	quoted := make([]string, len(found))
	for i, name := range found {
		quoted[i] = strconv.Quote(strings.TrimSpace(name))
	}
	if word == "column" || named {
		e.Problem += "; found " + shorten(strings.Join(quoted, ", "), foundMax)
	}
	switch {
	case named:
		e.WayOut = "name one that is there: --column TARGET=NAME"
	case word == "key":
		e.WayOut = "give every line the keys player_id, kind and amount, or say which are meant: " +
			"--column player_id=NAME"
	default:
		e.WayOut = "name the columns player_id, kind, amount in the first line, or say which are " +
			"meant: --column player_id=NAME"
	}
	return e
}

const foundMax = 200 // bytes of the names that a refusal lists

// Columns are the columns that were named when the file was opened, in the order of Targets, for
// the command that reads it in the same way.
func (f *File) Columns() []Column {
	var columns []Column
	for i, source := range f.naming.written {
		if source != "" {
			columns = append(columns, Column{jsonCells[i], source})
		}
	}
	return columns
}

// SameColumn reports whether two names are one column: they differ in letter case, blanks, hyphens
// and invisible characters at most.
func SameColumn(a, b string) bool { return columnName(a) == columnName(b) }
