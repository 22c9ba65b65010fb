package workbook

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	sheetPartMax = 2 << 30 // XML of a sheet; one of a million rows and ten columns has 0.5 GiB
	rowMax       = 1 << 20 // bytes of the cells of one row
	rowsMax      = 1 << 20 // rows and columns that a sheet can have
	columnsMax   = 1 << 14
	rangesMax    = 1 << 16 // merged cells
)

// Kind says what a cell holds.
type Kind uint8

const (
	// Text is text, and an empty cell.
	Text Kind = iota
	// Number is a number: its digits as the file has them.
	Number
	// Formula has a value that was computed when the workbook was last saved, or never.
	Formula
	// Truth is TRUE or FALSE.
	Truth
	// Fault is an error such as #N/A.
	Fault
	// Damaged is a cell that names a text or style that is not there, or that has two values.
	Damaged
)

// Cell is one cell. Its Text is good until the next call of Rows.Next.
type Cell struct {
	Text   []byte
	Kind   Kind
	Shown  Shown  // how much of it a person sees
	Format string // of a cell that is not shown exactly: the format's code
}

// Range is a block of cells, all numbers from 1 and included.
type Range struct{ FromRow, ToRow, FromColumn, ToColumn int }

// Name is the range as a spreadsheet writes it, such as "A2:B3".
func (r Range) Name() string {
	return fmt.Sprintf("%s%d:%s%d", Column(r.FromColumn), r.FromRow, Column(r.ToColumn), r.ToRow)
}

// Rows reads the rows of a sheet that hold anything, in order.
type Rows struct {
	Number int    // the row, as the sheet counts: from 1
	Hidden bool   // the row is hidden, by hand or by a filter
	Cells  []Cell // from column 1 to the last one that holds anything

	// HiddenColumns are known once Next has answered for the first time; Merged only when it has
	// answered io.EOF.
	HiddenColumns []Range
	Merged        []Range

	book    *Book
	part    *part
	text    []byte
	column  int
	rowsOff bool // rows are hidden unless they say otherwise
	begun   bool // the sheet's rows have begun
	size    int64
}

// Rows begins to read a sheet. Close ends it. Book.Shared must have passed.
func (s *Sheet) Rows(ctx context.Context) (*Rows, error) { return s.rows(ctx, sheetPartMax) }

func (s *Sheet) rows(ctx context.Context, max int64) (*Rows, error) {
	p, err := openPart(s.file, max, ctx.Err)
	if err != nil {
		return nil, err
	}
	size := min(s.file.UncompressedSize64, sheetPartMax)
	return &Rows{book: s.book, part: p, size: int64(size)}, nil
}

// Close ends the reading.
func (r *Rows) Close() { r.part.close() }

// Taken is how many bytes of the unpacked sheet were read; Size how many it has, as it says.
func (r *Rows) Taken() int64 { return r.part.src.taken }

// Size is the unpacked size of the sheet, as the archive tells it.
func (r *Rows) Size() int64 { return r.size }

// Next reads the next row that holds anything. After the last one, when the sheet is known to be
// whole, it answers io.EOF. Other errors are an *Error, the context's, or the system's.
func (r *Rows) Next() error {
	for {
		token, err := r.part.next()
		if errors.Is(err, io.EOF) && !r.begun {
			return r.part.damage(errors.New("it has no rows"))
		}
		if err != nil {
			return err
		}
		tag, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch p := r.part; {
		case p.at("worksheet", "sheetData", "row"):
			if err := r.row(tag); err != nil || len(r.Cells) > 0 {
				return err
			}
		case p.at("worksheet", "sheetData"):
			if r.begun {
				return p.damage(errors.New("its rows are there twice"))
			}
			r.begun = true
		case p.at("worksheet", "sheetFormatPr"):
			r.rowsOff = truth(attr(tag, "zeroHeight"))
		case p.at("worksheet", "cols", "col"):
			err = r.columns(tag)
		case p.at("worksheet", "mergeCells", "mergeCell"):
			err = r.merge(tag)
		}
		if err != nil {
			return err
		}
	}
}

// row reads one row into Cells; those at its end that hold nothing are dropped.
func (r *Rows) row(tag xml.StartElement) error {
	number := r.Number + 1
	if text := attr(tag, "r"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < number {
			return r.fault(fmt.Sprintf("row %q follows row %d", clip(text), r.Number))
		}
		number = n
	}
	if number > rowsMax {
		return r.fault("it has more rows than a sheet can have")
	}
	r.Number, r.column, r.text, r.Cells = number, 0, r.text[:0], r.Cells[:0]
	r.Hidden = hiddenRow(tag, r.rowsOff)
	for {
		token, err := r.part.next()
		if err != nil {
			return r.located(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if r.part.at("worksheet", "sheetData", "row", "c") {
				if err := r.cell(token); err != nil {
					return r.located(err)
				}
			}
		case xml.EndElement:
			if r.part.at("worksheet", "sheetData") {
				r.shorten()
				return nil
			}
		}
	}
}

// shorten drops the cells at the end of the row that hold nothing.
func (r *Rows) shorten() {
	n := len(r.Cells)
	for n > 0 && r.Cells[n-1].Kind == Text && len(r.Cells[n-1].Text) == 0 {
		n--
	}
	r.Cells = r.Cells[:n]
}

func hiddenRow(tag xml.StartElement, unless bool) bool {
	if text := attr(tag, "hidden"); text != "" {
		return truth(text)
	}
	height, err := strconv.ParseFloat(attr(tag, "ht"), 64)
	return unless || err == nil && height == 0
}

// columns remembers columns that nobody sees.
func (r *Rows) columns(tag xml.StartElement) error {
	width, err := strconv.ParseFloat(attr(tag, "width"), 64)
	if !truth(attr(tag, "hidden")) && !(err == nil && width == 0) {
		return nil
	}
	from, err1 := strconv.Atoi(attr(tag, "min"))
	to, err2 := strconv.Atoi(attr(tag, "max"))
	if err1 != nil || err2 != nil || from < 1 || to < from || len(r.HiddenColumns) >= columnsMax {
		return r.part.damage(errors.New("its hidden columns make no sense"))
	}
	r.HiddenColumns = append(r.HiddenColumns, Range{1, rowsMax, from, to})
	return nil
}

func (r *Rows) merge(tag xml.StartElement) error {
	block, ok := parseRange(attr(tag, "ref"))
	if !ok || len(r.Merged) >= rangesMax {
		return r.part.damage(errors.New("its merged cells make no sense"))
	}
	r.Merged = append(r.Merged, block)
	return nil
}

func (r *Rows) fault(problem string) error {
	return &Error{Row: r.Number, Problem: "the sheet is damaged: " + problem, WayOut: saveAgain}
}

// located names the row in an error that has none.
func (r *Rows) located(err error) error {
	var own *Error
	if errors.As(err, &own) && own.Row == 0 {
		own.Row = r.Number
	}
	return err
}
