package table

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	"github.com/charmbracelet/x/ansi"
)

const (
	gutter   = 2  // the cursor glyph and the mark
	gap      = 2  // between columns
	widthMin = 12 // a narrower table is drawn empty
)

// placed is a column with its width on the screen.
type placed struct {
	index int
	width int
}

// columns returns the visible columns, computed once per size.
func (t *Table) columns() []placed {
	if t.layout == nil {
		t.layout = t.arrange()
	}
	return t.layout
}

// arrange leaves out columns until the rest fits, lowest priority first, and gives what is left
// over to the flexible ones.
func (t *Table) arrange() []placed {
	avail := t.w - gutter - 2 // the last columns are the scrollbar's and the arrows'
	shown := make([]placed, 0, len(t.cols))
	used, skipped, first := 0, 0, false
	for i, c := range t.cols {
		if t.hidden[c.Key] {
			continue
		}
		if first && skipped < t.skip {
			skipped++
			continue
		}
		first = true
		width := c.Min
		if t.wide && c.Flex > 0 {
			width = max(c.Min, min(c.Max, avail-gap))
		}
		shown = append(shown, placed{i, width})
		used += width + gap
	}
	used -= gap
	for used > avail {
		worst := t.dispensable(shown)
		if worst < 0 {
			break
		}
		used -= shown[worst].width + gap
		shown = append(shown[:worst], shown[worst+1:]...)
	}
	t.stretch(shown, avail-used)
	return shrink(shown, avail)
}

// dispensable returns which column to leave out next; -1 when the rest must stay. Once the
// columns are scrolled it is the rightmost, so that scrolling reaches every column.
func (t *Table) dispensable(shown []placed) int {
	if t.skip > 0 || t.wide {
		if len(shown) > 2 {
			return len(shown) - 1
		}
		return -1
	}
	worst := -1
	for i, p := range shown {
		if pr := t.cols[p.index].Priority; pr > 0 &&
			(worst < 0 || pr >= t.cols[shown[worst].index].Priority) {
			worst = i
		}
	}
	return worst
}

// stretch shares left columns among the flexible ones, within their bounds.
func (t *Table) stretch(shown []placed, left int) {
	for left > 0 {
		weight := 0
		for _, p := range shown {
			if t.grows(p) {
				weight += t.cols[p.index].Flex
			}
		}
		if weight == 0 {
			return
		}
		given := 0
		for i := range shown {
			p := &shown[i]
			if !t.grows(*p) {
				continue
			}
			c := t.cols[p.index]
			more := min(max(left*c.Flex/weight, 1), left-given)
			if c.Max > 0 {
				more = min(more, c.Max-p.width)
			}
			p.width += more
			given += more
		}
		left -= given
		if given == 0 {
			return
		}
	}
}

func (t *Table) grows(p placed) bool {
	c := t.cols[p.index]
	return c.Flex > 0 && (c.Max == 0 || p.width < c.Max)
}

// shrink cuts the columns that must be shown when even they do not fit.
func shrink(shown []placed, avail int) []placed {
	used := 0
	for i := range shown {
		if used+shown[i].width > avail {
			shown[i].width = max(avail-used, 0)
		}
		used += shown[i].width + gap
	}
	for len(shown) > 0 && shown[len(shown)-1].width == 0 {
		shown = shown[:len(shown)-1]
	}
	return shown
}

// View draws the table: exactly as many lines as its height, each exactly as wide as its width.
func (t *Table) View() string {
	if t.w <= 0 || t.h <= 0 {
		return ""
	}
	if t.w < widthMin {
		blank := safetext.Spaces(t.w)
		return blank + strings.Repeat("\n"+blank, t.h-1)
	}
	b := t.headings(t.buf[:0])
	lines := 1
	if t.status.Note != "" && lines < t.h {
		b = append(b, '\n')
		b = t.line(b, t.status.Note, paint.Warn)
		lines++
	}
	if t.data.Len() == 0 && lines < t.h {
		b = append(b, '\n')
		b = t.line(b, t.emptyText(), paint.Muted)
		lines++
	}
	thumbAt, thumbLen := t.thumb()
	for i := 0; lines < t.h; i++ {
		b = append(b, '\n')
		if row := t.top + i; row < t.data.Len() {
			b = t.row(b, row)
			b = t.scrollbar(b, i, thumbAt, thumbLen)
		} else {
			b = append(b, safetext.Spaces(t.w)...)
		}
		lines++
	}
	t.buf = b
	return string(b)
}

func (t *Table) emptyText() string {
	switch {
	case t.status.State == Loading:
		return t.words.Loading + t.theme.Glyphs.Ellipsis
	case t.status.State == Failed:
		return t.words.Failed
	case t.status.Filtered:
		return t.words.Filtered
	case t.status.Empty != "":
		return t.status.Empty
	default:
		return t.words.Nothing
	}
}

func (t *Table) line(b []byte, text string, role paint.Role) []byte {
	text = safetext.Spaces(gutter) + safetext.Cell(text)
	return append(b, t.theme.Text(role, safetext.Fit(text, t.w, t.theme.Glyphs.Ellipsis))...)
}

func (t *Table) headings(b []byte) []byte {
	col := 0
	b, col = pad(b, col, gutter)
	for i, p := range t.columns() {
		if i > 0 {
			b, col = pad(b, col, gap)
		}
		c := t.cols[p.index]
		title := c.Title
		if c.Key == t.sortKey && !c.NoSort {
			arrow := t.theme.Glyphs.SortUp
			if t.desc {
				arrow = t.theme.Glyphs.SortDown
			}
			title += arrow
		}
		b = append(b, t.theme.Open(paint.Head)...)
		b = safetext.AppendFit(b, title, p.width, c.Right, t.theme.Glyphs.Ellipsis)
		b = append(b, t.close(paint.Head)...)
		col += p.width
	}
	tail := ""
	if t.skip > 0 {
		tail += t.theme.Glyphs.Left
	}
	if t.more() {
		tail += t.theme.Glyphs.Right
	}
	room := t.w - col
	return append(b, safetext.FitRight(tail, max(room, 0), "")...)
}

func (t *Table) close(role paint.Role) string {
	if t.theme.Open(role) == "" {
		return ""
	}
	return paint.Reset
}

func (t *Table) row(b []byte, row int) []byte {
	clear(t.cells)
	t.data.Cells(row, t.cells)
	current := row == t.cursor
	base := paint.Plain
	_, marked := t.marks[t.data.ID(row)]
	switch {
	case current:
		base = paint.Cursor
	case marked:
		base = paint.Marked
	}
	b = append(b, t.theme.Open(base)...)
	b = append(b, pick(current, t.theme.Glyphs.Cursor, " ")...)
	b = append(b, pick(marked, t.theme.Glyphs.Mark, " ")...)
	col := gutter
	for i, p := range t.columns() {
		if i > 0 {
			b, col = pad(b, col, gap)
		}
		cell := t.cells[p.index]
		text, right := safetext.Cell(cell.Text), t.cols[p.index].Right
		col += p.width
		if current || cell.Role == paint.Plain || t.theme.Open(cell.Role) == "" {
			b = safetext.AppendFit(b, text, p.width, right, t.theme.Glyphs.Ellipsis)
			continue
		}
		b = append(b, t.theme.Open(cell.Role)...)
		b = safetext.AppendFit(b, text, p.width, right, t.theme.Glyphs.Ellipsis)
		b = append(b, paint.Reset...)
		b = append(b, t.theme.Open(base)...)
	}
	b, _ = pad(b, col, t.w-1-col)
	return append(b, t.close(base)...)
}

// thumb returns where the scrollbar's thumb starts, in rows, and how long it is; 0 long when
// everything is visible.
func (t *Table) thumb() (at, length int) {
	n, rows := t.data.Len(), t.rows()
	if rows <= 0 || n <= rows {
		return 0, 0
	}
	length = max(rows*rows/n, 1)
	at = t.top * (rows - length) / max(n-rows, 1)
	return at, length
}

func (t *Table) scrollbar(b []byte, line, at, length int) []byte {
	switch {
	case length == 0:
		return append(b, ' ')
	case line >= at && line < at+length:
		return append(b, t.theme.Glyphs.Thumb...)
	default:
		return append(b, t.theme.Text(paint.Muted, t.theme.Glyphs.Track)...)
	}
}

// Snapshot returns what View shows, without attributes and trailing spaces, for tests and copies.
func (t *Table) Snapshot() string {
	lines := strings.Split(ansi.Strip(t.View()), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func pad(b []byte, col, n int) ([]byte, int) {
	return append(b, safetext.Spaces(n)...), col + max(n, 0)
}
