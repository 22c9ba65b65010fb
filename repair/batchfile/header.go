package batchfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// layout is what the first lines of a file say: the separator and where the columns are.
type layout struct {
	separator byte
	skip      int // records before the first data row
	width     int // cells of the header

	player, kind, amount int
	subject, event       int // -1 without the column

	json bool // JSON lines; keys are those of the first one
	keys [len(jsonCells)]bool

	sheet bool // a sheet of a workbook
	row   int  // its header row

	ignored []string // names of columns that are not used, as written
	marked  bool     // it is an export of ours: reward_event_id and an outcome or ledger id
}

// separators are what may stand between cells.
var separators = [...]byte{',', ';', '\t', '|'}

// readLayout decides the separator by what makes the header name the required columns. Counting
// separators is no guide: one header may be short, and texts contain commas.
func (n *naming) readLayout(open func() *io.SectionReader) (layout, error) {
	text, err := decode(open())
	if err != nil {
		return layout{}, err
	}
	if is, err := isJSON(text); err != nil {
		return layout{}, err
	} else if is {
		if text, err = decode(open()); err != nil {
			return layout{}, err
		}
		return n.jsonLayout(text)
	}
	declared, err := readDeclared(open)
	if err != nil {
		return layout{}, err
	}
	best, bestKnown := layout{}, -1
	var bestErr error
	for _, separator := range separators {
		if declared != 0 && separator != declared {
			continue
		}
		header, line, err := readHeader(open, separator, declared != 0)
		var l layout
		known := 0
		if err == nil {
			l, known, err = n.columns(header)
			l.separator = separator
			err = atLine(err, line)
		}
		// Among readings that are all refused the one with most cells explains best.
		if known > bestKnown || known == bestKnown && bestErr != nil && l.width > best.width {
			best, bestKnown, bestErr = l, known, err
		}
	}
	if bestErr != nil {
		return layout{}, bestErr
	}
	best.skip = 1
	if declared != 0 {
		best.skip = 2
	}
	return best, nil
}

// readDeclared reads a first line "sep=;". It answers 0 when there is none.
func readDeclared(open func() *io.SectionReader) (byte, error) {
	text, err := decode(open())
	if err != nil {
		return 0, err
	}
	s := newScanner(text, 0)
	if err := s.next(); err != nil {
		return 0, nil // the header is read again with each separator, and then tells
	}
	line := string(s.text)
	if len(line) < 4 || !strings.EqualFold(line[:4], "sep=") {
		return 0, nil
	}
	for _, separator := range separators {
		if line[4:] == string(separator) {
			return separator, nil
		}
	}
	return 0, &FileError{
		Line: s.start, Problem: fmt.Sprintf("the line %q names no known separator", line),
		WayOut: "separate the cells with commas, semicolons or tabs",
	}
}

func readHeader(
	open func() *io.SectionReader, separator byte, declared bool,
) (header []string, line int, err error) {
	text, err := decode(open())
	if err != nil {
		return nil, 0, err
	}
	s := newScanner(text, separator)
	records := 1
	if declared {
		records = 2
	}
	for range records {
		switch err := s.next(); {
		case errors.Is(err, io.EOF):
			return nil, 0, &FileError{
				Problem: "it has no header line",
				WayOut:  "give a first line player_id,kind,amount and data rows",
			}
		case err != nil:
			return nil, 0, err
		}
	}
	header = make([]string, s.cells())
	for i := range header {
		header[i] = string(s.cell(i))
	}
	return header, s.start, nil
}

func atLine(err error, line int) error {
	var fe *FileError
	if errors.As(err, &fe) {
		fe.Line = line
	}
	return err
}

// columnName brings a header cell to the form in which columns are known: lower case, words
// joined by "_", without invisible characters.
func columnName(cell string) string {
	cell = strings.Map(func(c rune) rune {
		switch {
		case c == '-' || unicode.IsSpace(c):
			return ' '
		case hiddenRune(c):
			return -1
		}
		return unicode.ToLower(c)
	}, cell)
	return strings.Join(strings.Fields(cell), "_")
}

// columns finds the known columns. known is how many there are, also with an error.
func (n *naming) columns(header []string) (l layout, known int, err error) {
	l = layout{player: -1, kind: -1, amount: -1, subject: -1, event: -1, width: len(header)}
	var has [len(jsonCells)]bool
	var twice string
	result := false
	for i, cell := range header {
		name := columnName(cell)
		at := n.place(name)
		switch {
		case at < 0:
			if name != "" {
				l.ignored = append(l.ignored, strings.TrimSpace(cell))
			}
			result = result || name == "outcome" || name == "ledger_id"
			continue
		case has[at]:
			twice = name
		default:
			known++
		}
		has[at] = true
		*l.place(at) = i
		l.marked = l.marked || name == "reward_event_id"
	}
	l.marked = l.marked && result
	if twice != "" {
		return l, known, &FileError{
			Problem: "the column " + twice + " is there twice", WayOut: "delete one",
		}
	}
	if known == 0 && !n.any() {
		return l, known, &FileError{
			Problem: "no known separator makes the first line name the columns player_id, kind, amount",
			WayOut: "begin with a line like player_id,kind,amount, separated by commas, semicolons or " +
				"tabs",
		}
	}
	err = n.check(has, header, "column")
	if l.event >= 0 && l.subject >= 0 {
		l.ignored = append(l.ignored, strings.TrimSpace(header[l.subject]))
		l.subject = -1
	}
	return l, known, err
}

// place is where the layout has the column of a target.
func (l *layout) place(at int) *int {
	return [len(jsonCells)]*int{&l.player, &l.kind, &l.amount, &l.subject, &l.event}[at]
}

// shorten cuts a long text at a character.
func shorten(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && text[max]&0xC0 == 0x80 {
		max--
	}
	return text[:max] + "..."
}
