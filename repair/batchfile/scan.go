package batchfile

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	scanBuffer = 64 << 10
	// recordMax bounds one row: a quote that is never closed must not pull in the whole file.
	recordMax = 1 << 20
)

// scanner cuts UTF-8 text into records of cells. Unlike encoding/csv it knows lines that end with
// CR alone and keeps physical line numbers through quoted line ends; it allocates nothing per row.
type scanner struct {
	src       io.Reader
	separator byte // 0: the whole line is one cell

	buf    []byte
	at     int // next byte of buf
	filled int
	ended  error // what the source answered last
	taken  int64 // bytes the source has given

	line   int  // the physical line of the next byte
	cr     bool // the last byte was CR: an LF now belongs to it
	start  int  // the physical line on which the record begins
	quote  int  // the physical line on which the open quote stands
	text   []byte
	ends   []int // per cell: where it ends in text
	quoted bool  // the record has a quoted cell, so it is not a blank line

	json  *jsonLine // nil for others than JSON lines
	sheet *sheetRow // nil for others than workbooks
}

func newScanner(src io.Reader, separator byte) *scanner {
	return &scanner{src: src, separator: separator, line: 1, buf: make([]byte, scanBuffer)}
}

// cells returns how many cells the record has.
func (s *scanner) cells() int { return len(s.ends) }

// cell returns one cell; it is good until the next call of next.
func (s *scanner) cell(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.text[from:s.ends[i]]
}

// next reads one record; blank lines are passed over. The error is io.EOF after the last record,
// a *FileError for text that is neither CSV nor JSON lines, or what the source answered.
func (s *scanner) next() error {
	switch {
	case s.json != nil:
		return s.nextObject()
	case s.sheet != nil:
		return s.nextRow()
	}
	for {
		s.text, s.ends, s.quoted = s.text[:0], s.ends[:0], false
		if err := s.record(); err != nil {
			return err
		}
		if len(s.ends) == 1 && len(s.text) == 0 && !s.quoted {
			continue
		}
		return s.checkText()
	}
}

// state is where in a cell the scanner stands.
type state uint8

const (
	cellStart state = iota
	plain           // inside an unquoted cell
	inQuotes
	afterQuote // behind a quote inside a quoted cell: its end, or half of an escaped quote
)

func (s *scanner) record() error {
	st, begun := cellStart, false
	for {
		c, err := s.read()
		if err == io.EOF {
			return s.finish(st, begun)
		}
		if err != nil {
			return err
		}
		if c == '\n' && s.cr && st != inQuotes && !begun {
			s.cr = false // the second half of a line end
			continue
		}
		if !begun {
			begun, s.start = true, s.line
		}
		done, err := s.step(&st, c)
		s.count(c)
		if err != nil || done {
			return err
		}
		if len(s.text) > recordMax {
			return s.tooLong(st)
		}
	}
}

// step takes one byte. It reports whether the record is complete.
func (s *scanner) step(st *state, c byte) (done bool, err error) {
	if c == 0 {
		return false, &FileError{
			Line: s.line, Problem: "it contains a NUL byte",
			WayOut: "save it as CSV UTF-8",
		}
	}
	lineEnd := c == '\n' || c == '\r'
	separator := c == s.separator && s.separator != 0
	switch {
	case *st == inQuotes && c == '"':
		*st = afterQuote
	case *st == inQuotes:
		s.text = append(s.text, c)
	case *st == afterQuote && c == '"':
		s.text = append(s.text, c)
		*st = inQuotes
	case separator:
		s.ends = append(s.ends, len(s.text))
		*st = cellStart
	case lineEnd:
		s.ends = append(s.ends, len(s.text))
		return true, nil
	case *st == afterQuote:
		return false, &FileError{
			Line: s.line, Problem: "text follows a closing quote",
			WayOut: `write a quote inside a quoted cell twice: ""`,
		}
	case *st == cellStart && c == '"':
		*st, s.quote, s.quoted = inQuotes, s.line, true
	case c == '"':
		return false, &FileError{
			Line: s.line, Problem: "a quote stands inside a cell that is not quoted",
			WayOut: `quote the whole cell and write the inner quote twice: ""`,
		}
	default:
		s.text = append(s.text, c)
		*st = plain
	}
	return false, nil
}

// count keeps the physical line number: CR, LF and CRLF each end one line.
func (s *scanner) count(c byte) {
	if c == '\r' || (c == '\n' && !s.cr) {
		s.line++
	}
	s.cr = c == '\r'
}

// finish ends the record at the end of the file, with or without a final line end.
func (s *scanner) finish(st state, begun bool) error {
	if !begun {
		return io.EOF
	}
	if st == inQuotes {
		return s.unclosed()
	}
	s.ends = append(s.ends, len(s.text))
	return nil
}

func (s *scanner) unclosed() error {
	return &FileError{
		Line: s.quote, Problem: "a quote that opens here is never closed",
		WayOut: "close it or take it out",
	}
}

func (s *scanner) tooLong(st state) error {
	if st == inQuotes {
		return s.unclosed()
	}
	return &FileError{
		Line: s.start, Problem: fmt.Sprintf("a row is longer than %d bytes", recordMax),
		WayOut: "check that the file is CSV",
	}
}

// checkText refuses text that is not UTF-8: a guess would change names.
func (s *scanner) checkText() error {
	for i := range s.ends {
		if cell := s.cell(i); !utf8.Valid(cell) {
			return &FileError{
				Line:    s.start,
				Problem: fmt.Sprintf("it is not UTF-8 (cell %d)", i+1),
				WayOut:  "save it as CSV UTF-8",
			}
		}
	}
	return nil
}

// blankFrom reports whether the cells from i on hold nothing but white space.
func (s *scanner) blankFrom(i int) bool {
	for ; i < len(s.ends); i++ {
		if len(bytes.TrimSpace(s.cell(i))) > 0 {
			return false
		}
	}
	return true
}

func (s *scanner) read() (byte, error) {
	for s.at == s.filled {
		if s.ended != nil {
			return 0, s.ended
		}
		s.at = 0
		s.filled, s.ended = s.src.Read(s.buf)
		s.taken += int64(s.filled)
	}
	c := s.buf[s.at]
	s.at++
	return c, nil
}
