package batchfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"rewardctl/repair/batchfile/workbook"
)

// sheetRow is what a scanner of a sheet knows beside its cells.
type sheetRow struct {
	rows  *workbook.Rows
	width int // cells that each row has at least: those of the header
	seen  []byte
}

// openSheet opens the workbook and its sheet, and finds the columns.
func (f *File) openSheet(ctx context.Context) (layout, error) {
	book, err := workbook.Open(ctx, f.src, f.size)
	if err != nil {
		return layout{}, asFileError(err)
	}
	if f.sheet, err = book.Choose(ctx, f.opt.Sheet); err != nil {
		return layout{}, asFileError(err)
	}
	if err := book.Shared(ctx); err != nil {
		return layout{}, asFileError(err)
	}
	s, err := f.sheetScanner(ctx)
	if err != nil {
		return layout{}, err
	}
	defer s.sheet.rows.Close()
	l, err := f.naming.sheetLayout(s)
	return l, f.ofSheet(err)
}

func (f *File) sheetScanner(ctx context.Context) (*scanner, error) {
	rows, err := f.sheet.Rows(ctx)
	if err != nil {
		return nil, asFileError(err)
	}
	return &scanner{sheet: &sheetRow{rows: rows, width: f.layout.width}}, nil
}

// sheetRecords returns a scanner behind the header.
func (f *File) sheetRecords(ctx context.Context) (*scanner, error) {
	s, err := f.sheetScanner(ctx)
	if err == nil {
		err = s.next()
	}
	return s, f.named(err)
}

// sheetLayout finds the columns by the first row that holds anything.
func (n *naming) sheetLayout(s *scanner) (layout, error) {
	switch err := s.next(); {
	case errors.Is(err, io.EOF):
		return layout{}, &FileError{
			Problem: "it is empty", WayOut: "give a sheet with a header and data rows",
		}
	case err != nil:
		return layout{}, err
	}
	header := make([]string, s.cells())
	for i := range header {
		header[i] = string(s.cell(i))
	}
	l, known, err := n.columns(header)
	l.sheet, l.row = true, s.start
	switch {
	case err != nil && known == 0 && !n.any():
		return l, &FileError{
			Line: s.start, Problem: "its first row does not name the columns player_id, kind, amount",
			WayOut: "begin with a row player_id, kind, amount",
		}
	case err != nil:
		return l, atLine(err, s.start)
	case s.sheet.rows.Hidden:
		return l, &FileError{Line: s.start, Problem: "the header is hidden", WayOut: "unhide it"}
	}
	for _, column := range l.used() {
		if f := s.sheet.fault(column, false); f.found() {
			return l, &FileError{
				Line: s.start, WayOut: f.wayOut,
				Problem: fmt.Sprintf("the name of column %s %s", workbook.Column(column+1), f.problem),
			}
		}
		for _, hidden := range s.sheet.rows.HiddenColumns {
			if hidden.FromColumn <= column+1 && column+1 <= hidden.ToColumn {
				return l, &FileError{
					Line: s.start, WayOut: "unhide it and look at what it holds",
					Problem: fmt.Sprintf("the column %s (%s) is hidden", workbook.Column(column+1),
						columnName(header[column])),
				}
			}
		}
	}
	return l, nil
}

// used are the columns that are read.
func (l layout) used() []int {
	all := []int{l.player, l.kind, l.amount, l.subject, l.event}
	return slices.DeleteFunc(all, func(column int) bool { return column < 0 })
}

// checkSheet judges what is known of a sheet only when all of it was read.
func (f *File) checkSheet(s *scanner) error {
	if s.sheet == nil {
		return nil
	}
	defer s.sheet.rows.Close()
	for _, block := range s.sheet.rows.Merged {
		for _, column := range f.layout.used() {
			if block.FromColumn <= column+1 && column+1 <= block.ToColumn &&
				block.ToRow >= f.layout.row {
				return f.ofSheet(&FileError{
					Line: block.FromRow, Problem: "the cells " + block.Name() + " are merged",
					WayOut: "split them and fill in each cell",
				})
			}
		}
	}
	return nil
}

// nextRow reads one row of the sheet.
func (s *scanner) nextRow() error {
	if err := s.sheet.rows.Next(); err != nil {
		return asFileError(err)
	}
	s.start = s.sheet.rows.Number
	s.text, s.ends = s.text[:0], s.ends[:0]
	for _, cell := range s.sheet.rows.Cells {
		s.text = append(s.text, cell.Text...)
		s.ends = append(s.ends, len(s.text))
	}
	for len(s.ends) < s.sheet.width {
		s.ends = append(s.ends, len(s.text))
	}
	return nil
}

// looks is what two readings of a row must agree on beside its texts.
func (r *sheetRow) looks() []byte {
	r.seen = r.seen[:0]
	if r.rows.Hidden {
		r.seen = append(r.seen, 1)
	}
	for _, cell := range r.rows.Cells {
		r.seen = append(r.seen, byte(cell.Kind), byte(cell.Shown))
	}
	return r.seen
}

// fault judges what a cell is, apart from its text. A number's text is judged like any other.
func (r *sheetRow) fault(column int, amount bool) fault {
	if column >= len(r.rows.Cells) {
		return fault{}
	}
	switch cell := r.rows.Cells[column]; cell.Kind {
	case workbook.Text:
		if cell.Shown == workbook.ShownAsOther {
			return fault{
				"is hidden by the format " + strconv.Quote(cell.Format),
				"format the column as text and look at it",
			}
		}
		return fault{}
	case workbook.Number:
		return numberFault(cell, amount)
	case workbook.Formula:
		return fault{
			"is a formula, whose value may be old or change", "copy the column and paste its values",
		}
	case workbook.Truth:
		return fault{"is a truth value", "format the column as text and fill it again"}
	case workbook.Fault:
		return fault{"is an error value", "repair the cell or delete the row"}
	}
	return fault{"is damaged", "fill it in again and save the workbook"}
}

// numberFault refuses a number that is not what a person sees, and digits of which the program
// that saved the workbook keeps only the first 15.
func numberFault(cell workbook.Cell, amount bool) fault {
	refill := "format the column as text and fill it again"
	switch {
	case cell.Shown == workbook.ShownAsDate:
		return fault{"is a date", refill}
	case cell.Shown == workbook.ShownAsOther:
		return fault{
			fmt.Sprintf("has the format %q, which shows another value than the cell has", cell.Format),
			refill,
		}
	case amount:
		if len(cell.Text) > numberDigits && digits(cell.Text) == len(cell.Text) {
			return fault{"is a number of more digits than a spreadsheet keeps", refill}
		}
		return fault{}
	case scientific(cell.Text), decimalZeros(cell.Text):
		return fault{} // the id is refused in the words for text
	case digits(cell.Text) != len(cell.Text):
		return fault{"is a number that is no id", refill}
	case len(cell.Text) > numberDigits:
		return fault{"is a number of more digits than a spreadsheet keeps", asText}
	case cell.Shown == workbook.ShownInFull:
		return fault{
			fmt.Sprintf("has the format %q, which shows other text than its digits", cell.Format),
			refill,
		}
	}
	return fault{}
}

// asFileError turns what a workbook is refused for into the refusal of a file.
func asFileError(err error) error {
	var refused *workbook.Error
	if !errors.As(err, &refused) {
		return err
	}
	return &FileError{Line: refused.Row, Problem: refused.Problem, WayOut: refused.WayOut}
}

// ofSheet names the sheet in a refusal, when there are several to look for the line in.
func (f *File) ofSheet(err error) error {
	var fe *FileError
	if f.sheet != nil && f.sheet.Others() > 0 && errors.As(err, &fe) && fe.Line > 0 &&
		!strings.HasPrefix(fe.Problem, "sheet ") {
		fe.Problem = fmt.Sprintf("sheet %q: %s", f.sheet.Name, fe.Problem)
	}
	return err
}
