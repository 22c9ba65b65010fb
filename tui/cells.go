package tui

import (
	"cmp"
	"strconv"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"
)

// plainColumn is a column of text that sorts by it.
func plainColumn[R any](c table.Column, get func(r *R) string) column[R] {
	return column[R]{
		c, func(r *R, _ time.Time) table.Cell { return table.Cell{Text: get(r)} },
		func(a, b *R) int { return cmp.Compare(get(a), get(b)) },
	}
}

// roleColumn is a column of text in a role of its own.
func roleColumn[R any](c table.Column, get func(r *R) (string, paint.Role)) column[R] {
	return column[R]{
		c, func(r *R, _ time.Time) table.Cell {
			words, role := get(r)
			return table.Cell{Text: words, Role: role}
		},
		func(a, b *R) int {
			left, _ := get(a)
			right, _ := get(b)
			return cmp.Compare(left, right)
		},
	}
}

// numberColumn is a column of numbers; zero is shown as nothing.
func numberColumn[R any](c table.Column, get func(r *R) int64) column[R] {
	c.Right = true
	return column[R]{
		c, func(r *R, _ time.Time) table.Cell {
			if n := get(r); n != 0 {
				return table.Cell{
					Text: strconv.FormatInt(n, 10), Value: table.Value{Kind: table.Number, N: n},
				}
			}
			return table.Cell{Value: table.Value{Kind: table.Number}}
		},
		func(a, b *R) int { return cmp.Compare(get(a), get(b)) },
	}
}

// timeColumn is a column of moments, to the second.
func timeColumn[R any](c table.Column, get func(r *R) time.Time) column[R] {
	return column[R]{
		c, func(r *R, _ time.Time) table.Cell {
			at := get(r)
			if at.IsZero() {
				return table.Cell{}
			}
			return table.Cell{
				Text: at.Local().Format("01-02 15:04:05"), Role: paint.Muted,
				Value: table.Value{Kind: table.Instant, N: at.UnixNano()},
			}
		},
		func(a, b *R) int { return get(a).Compare(get(b)) },
	}
}

// textWidth is the number of columns of safe text.
func textWidth(s string) int { return safetext.Width(s) }

// fitLabel fits the label of a page's line.
func fitLabel(label string) string { return safetext.Fit(label, 16, "") }

// facts collects labelled lines of an inspector.
type facts struct {
	d     *desk
	w     int
	lines []string
}

// title adds a line that names what the rest is about.
func (f *facts) title(words string, role paint.Role) {
	t := f.d.theme
	f.lines = append(f.lines, t.Text(role, safetext.Cut(safetext.Cell(words), f.w,
		t.Glyphs.Ellipsis)))
}

// add adds a labelled text, wrapped; an empty one is left out.
func (f *facts) add(label, words string) { f.in(label, words, paint.Plain) }

// in is add in another role.
func (f *facts) in(label, words string, role paint.Role) {
	if words != "" {
		f.lines = append(f.lines, wrapped(f.d.theme, label, words, role, f.w)...)
	}
}
