package workbook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Choose returns the sheet of that name, in any letter case; with an empty name the only sheet
// that is not empty. A hidden sheet is refused: nobody has seen what it holds. The error is an
// *Error, the context's, or the system's.
func (b *Book) Choose(ctx context.Context, name string) (*Sheet, error) {
	if name != "" {
		for i := range b.sheets {
			if strings.EqualFold(b.sheets[i].Name, name) {
				return b.sheets[i].shown()
			}
		}
		return nil, &Error{
			Problem: fmt.Sprintf("it has no sheet %q", clip(name)),
			WayOut:  "its sheets are " + names(b.sheets, len(b.sheets)),
		}
	}
	if len(b.sheets) == 1 {
		return b.sheets[0].shown()
	}
	var filled []Sheet
	at, left := 0, int64(peekMax)
	for i := range b.sheets {
		empty, read, err := b.sheets[i].empty(ctx, left)
		if err != nil {
			return nil, err
		}
		if left -= read; !empty {
			filled, at = append(filled, b.sheets[i]), i
		}
	}
	switch len(filled) {
	case 0:
		return nil, &Error{
			Problem: "all of its sheets are empty",
			WayOut:  "give a sheet with a header line and data rows",
		}
	case 1:
		return b.sheets[at].shown()
	}
	return nil, &Error{
		Problem: "it has several sheets with content: " + names(filled, 10),
		WayOut:  "name the one to read with --sheet NAME",
	}
}

// Names are the names of the sheets that are not hidden, in their order.
func (b *Book) Names() []string {
	var list []string
	for i := range b.sheets {
		if !b.sheets[i].Hidden {
			list = append(list, b.sheets[i].Name)
		}
	}
	return list
}

// Others is how many other sheets the workbook has.
func (s *Sheet) Others() int { return len(s.book.sheets) - 1 }

func (s *Sheet) shown() (*Sheet, error) {
	if s.Hidden {
		return nil, &Error{
			Problem: fmt.Sprintf("the sheet %q is hidden", clip(s.Name)),
			WayOut:  "unhide it and look at what it holds",
		}
	}
	return s, nil
}

func names(sheets []Sheet, most int) string {
	var list []string
	for i := range sheets {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(sheets)-most))
			break
		}
		name := strconv.Quote(clip(sheets[i].Name))
		if sheets[i].Hidden {
			name += " (hidden)"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// empty reports whether a sheet has no cell with anything in it. One that is larger than left
// bytes, and empty so far, counts as filled: whoever reads the workbook names a sheet then.
func (s *Sheet) empty(ctx context.Context, left int64) (empty bool, read int64, err error) {
	rows, err := s.rows(ctx, max(left, 1))
	if err != nil {
		return false, 0, err
	}
	defer rows.Close()
	err = rows.Next()
	switch {
	case errors.Is(err, rows.part.src.tooLarge), err == nil:
		return false, rows.Taken(), nil
	case errors.Is(err, io.EOF):
		return true, rows.Taken(), nil
	}
	return false, rows.Taken(), err
}
