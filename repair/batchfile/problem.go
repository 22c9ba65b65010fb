package batchfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Problem says what is wrong with one cell of one row. Value is the text as it stands in the
// file: whoever prints it makes it harmless first.
type Problem struct {
	Line    int    // the physical line on which the row begins, from 1
	Field   string // the column, such as "player_id"
	Value   string
	Problem string // such as "is empty"
	WayOut  string // such as "fill it in or delete the row"
}

// Error reads `line 3, amount "1,5": has a separator; write plain digits`.
func (p Problem) Error() string {
	return fmt.Sprintf("line %d, %s %q: %s; %s", p.Line, p.Field, p.Value, p.Problem, p.WayOut)
}

// Warning is a remark that does not stop a row.
type Warning struct {
	Line  int // 0 when it is about the whole file
	Other int // the other line that it is about; 0 when none
	Field string
	Value string // raw, like Problem.Value
	Text  string
}

// String reads `line 5: player_id "Abc" differs from line 2 only in letter case`.
func (w Warning) String() string {
	var b strings.Builder
	if w.Line > 0 {
		b.WriteString("line " + strconv.Itoa(w.Line) + ": ")
	}
	if w.Field != "" {
		b.WriteString(w.Field + " ")
	}
	if w.Value != "" {
		b.WriteString(strconv.Quote(w.Value) + " ")
	}
	return b.String() + w.Text
}

// FileError says why a file is refused as a whole, also when invalid rows may be skipped.
type FileError struct {
	Name    string
	Line    int // 0 when no single line is to blame
	Problem string
	WayOut  string
}

// Error reads "players.csv, line 3: a quote is never closed; ...".
func (e *FileError) Error() string {
	where := e.Name
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d", e.Name, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", where, e.Problem, e.WayOut)
}

// ErrChanged says that the file is no longer what Validate saw. Rows given before are as they
// were validated; the changed row and everything after it is not given.
var ErrChanged = errors.New("the file changed after it was validated")

// ErrNotValidated says that Rows was called before Validate passed.
var ErrNotValidated = errors.New("the file has not been validated")
