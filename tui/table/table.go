// Package table is a virtual table: it draws only the visible rows of data of any length.
//
// The cursor and the marks belong to identities, not to positions: when the data changes, the
// cursor stays on the same row. Every cell is made safe before it is drawn, and every line is
// exactly as wide as the table, whatever script the text is in.
package table

import "rewardctl/tui/paint"

// Column describes one column.
type Column struct {
	Key   string // names the column in sort settings
	Title string
	Min   int // width in columns of the terminal; fixed unless Flex is set
	Max   int // upper bound of a flexible column; 0 means none
	Flex  int // share of the width that is left over; 0 means none
	// Priority 0 columns are always shown. Others are left out when space is short, the highest
	// number first.
	Priority int
	Right    bool // numbers
	NoSort   bool
}

// Cell is the content of one cell. Text may be anything; the table makes it safe.
type Cell struct {
	Text  string
	Role  paint.Role
	Value Value // what the text says as a number, where it does
}

// Data is what a table shows: an immutable snapshot with an order.
type Data interface {
	Len() int
	ID(i int) string         // the identity of row i
	Find(id string) int      // the row with this identity; -1 when there is none
	Cells(i int, out []Cell) // fills one cell per column
}

// Snapped is Data that says of which snapshot it is: as long as that is the same value, the same
// rows are there.
type Snapped interface{ Snapshot() any }

// State says what an empty table means.
type State uint8

// The states.
const (
	Loading State = iota
	Ready
	Failed
)

// Status is what the table says besides its rows.
type Status struct {
	State    State
	Filtered bool   // a filter is set: an empty table says so
	Empty    string // what to say when there is nothing, such as "nobody holds a lease"
	Note     string // shown above the rows, such as why the data is old; empty for none
}

// Table is a cursor, marks and a layout over Data. It is not safe for concurrent use.
type Table struct {
	theme  *paint.Theme
	cols   []Column
	data   Data
	status Status

	w, h     int
	cursor   int
	cursorID string
	top      int
	skip     int // scrollable columns that are scrolled out on the left
	marks    map[string]struct{}
	anchor   string // the row that was marked last: a range begins there
	shot     any    // what Data.Snapshot said last
	behind   int    // marks on rows that are not in the data; -1 when they must be counted
	sortKey  string
	desc     bool
	hidden   map[string]bool // columns that the operator does not want
	wide     bool            // show all columns at their full width and scroll
	words    Words

	layout []placed // nil when it must be computed
	cells  []Cell
	buf    []byte
}

// New returns a table that shows "loading" until it is given data.
func New(theme *paint.Theme, cols []Column) *Table {
	return &Table{
		theme: theme, cols: cols, data: none{}, marks: map[string]struct{}{},
		cells: make([]Cell, len(cols)), hidden: map[string]bool{}, words: english(),
	}
}

// Words are what a table says by itself.
type Words struct{ Loading, Failed, Filtered, Nothing string }

func english() Words {
	return Words{
		"loading", "nothing was read yet", "nothing matches the filter; esc clears it",
		"nothing here",
	}
}

// SetWords has the table speak another language.
func (t *Table) SetWords(w Words) { t.words = w }

type none struct{}

func (none) Len() int          { return 0 }
func (none) ID(int) string     { return "" }
func (none) Find(string) int   { return -1 }
func (none) Cells(int, []Cell) {}

// SetSize sets the size in terminal cells. Anything below one is drawn as nothing.
func (t *Table) SetSize(w, h int) {
	if w == t.w && h == t.h {
		return
	}
	t.w, t.h, t.layout = max(w, 0), max(h, 0), nil
	t.keepVisible()
}

// SetData replaces the snapshot. The cursor stays on its identity, on the same line of the
// screen where possible. When that row is gone it stays at its position, within the data.
func (t *Table) SetData(d Data) {
	if d == nil {
		d = none{}
	}
	t.data = d
	if s, ok := d.(Snapped); !ok || s.Snapshot() != t.shot {
		if t.behind = -1; ok {
			t.shot = s.Snapshot()
		}
	}
	n := d.Len()
	if n == 0 { // the row may come back: its identity is kept
		t.cursor, t.top = 0, 0
		return
	}
	if t.cursorID != "" {
		if t.cursor >= n || d.ID(t.cursor) != t.cursorID {
			if at := d.Find(t.cursorID); at >= 0 {
				t.top += at - t.cursor
				t.cursor = at
			}
		}
	}
	t.place(t.cursor)
}

// SetStatus says how the data stands.
func (t *Table) SetStatus(s Status) { t.status = s; t.keepVisible() }

// Len returns the number of rows.
func (t *Table) Len() int { return t.data.Len() }

// Selected returns the row under the cursor and its identity. ok is false when there is no row.
func (t *Table) Selected() (row int, id string, ok bool) {
	if t.data.Len() == 0 {
		return 0, "", false
	}
	return t.cursor, t.cursorID, true
}

// AtTop reports whether the cursor is on the first row, or there is none.
func (t *Table) AtTop() bool { return t.cursor == 0 }

// Select puts the cursor on a row by identity. It reports whether the row is there.
func (t *Table) Select(id string) bool {
	at := t.data.Find(id)
	if at < 0 {
		return false
	}
	t.place(at)
	return true
}

// Move moves the cursor n rows down, or up when n is negative.
func (t *Table) Move(n int) { t.place(t.cursor + n) }

// Click puts the cursor on the row that is drawn on line y, and reports whether there is one.
func (t *Table) Click(y int) bool {
	y-- // the headings
	if t.status.Note != "" {
		y--
	}
	if y < 0 || y >= t.rows() || t.top+y >= t.data.Len() {
		return false
	}
	t.place(t.top + y)
	return true
}

// Page moves the cursor n pages down, or up when n is negative.
func (t *Table) Page(n int) { t.place(t.cursor + n*max(t.rows(), 1)) }

// Top moves the cursor to the first row.
func (t *Table) Top() { t.place(0) }

// Bottom moves the cursor to the last row.
func (t *Table) Bottom() { t.place(t.data.Len() - 1) }

func (t *Table) place(row int) {
	n := t.data.Len()
	if n == 0 {
		t.cursor, t.top = 0, 0
		return
	}
	t.cursor = min(max(row, 0), n-1)
	t.cursorID = t.data.ID(t.cursor)
	t.keepVisible()
}

func (t *Table) keepVisible() {
	n, rows := t.data.Len(), t.rows()
	if rows <= 0 {
		t.top = t.cursor
		return
	}
	if t.cursor < t.top {
		t.top = t.cursor
	}
	if t.cursor >= t.top+rows {
		t.top = t.cursor - rows + 1
	}
	t.top = max(min(t.top, n-rows), 0)
}

// rows returns the number of lines that rows are drawn on.
func (t *Table) rows() int {
	n := t.h - 1 // the headings
	if t.status.Note != "" {
		n--
	}
	return max(n, 0)
}

// Scroll moves the columns after the first n columns to the left, or right when n is negative.
func (t *Table) Scroll(n int) {
	for ; n > 0 && t.moreRight(); n-- {
		t.skip++
		t.layout = nil
	}
	if n < 0 {
		t.skip, t.layout = max(t.skip+n, 0), nil
	}
}

func (t *Table) moreRight() bool {
	shown := t.columns()
	if len(shown) == 0 {
		return true
	}
	last := len(t.cols) - 1
	for last > 0 && t.hidden[t.cols[last].Key] {
		last--
	}
	return shown[len(shown)-1].index != last && len(shown) > 1
}

// more reports whether columns are left out for lack of space.
func (t *Table) more() bool { return len(t.columns())+t.skip < len(t.cols)-len(t.hidden) }

// Sort returns the column that the data is sorted by and whether it runs downwards.
func (t *Table) Sort() (key string, desc bool) { return t.sortKey, t.desc }

// SetSort records the order of the data for the arrow in the headings. Sorting is the caller's.
func (t *Table) SetSort(key string, desc bool) { t.sortKey, t.desc = key, desc }

// SortNext moves the sort to the next sortable column, or the one before when n is negative.
func (t *Table) SortNext(n int) {
	at := 0
	for i, c := range t.cols {
		if c.Key == t.sortKey {
			at = i
		}
	}
	for range t.cols {
		at = (at + n + len(t.cols)) % len(t.cols)
		if !t.cols[at].NoSort {
			break
		}
	}
	t.sortKey = t.cols[at].Key
}

// Hide leaves a column out, or shows it again. The first column always stays.
func (t *Table) Hide(key string, hide bool) {
	t.layout = nil
	if hide && key != t.cols[0].Key {
		t.hidden[key] = true
	} else {
		delete(t.hidden, key)
	}
}

// SetHidden leaves out exactly the columns with these keys.
func (t *Table) SetHidden(keys []string) {
	clear(t.hidden)
	for _, key := range keys {
		t.Hide(key, true)
	}
}

// Hidden returns the keys of the columns that are left out, in their order.
func (t *Table) Hidden() []string {
	var keys []string
	for _, c := range t.cols {
		if t.hidden[c.Key] {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// IsHidden reports whether a column is left out.
func (t *Table) IsHidden(key string) bool { return t.hidden[key] }

// SetWide shows all columns at their full width, to be scrolled; else what does not fit is left
// out by priority.
func (t *Table) SetWide(wide bool) { t.wide, t.layout, t.skip = wide, nil, 0 }

// Wide reports whether all columns are shown.
func (t *Table) Wide() bool { return t.wide }

// Visible returns the rows that are drawn: from the first up to but not including the second.
func (t *Table) Visible() (from, to int) {
	return t.top, min(t.top+t.rows(), t.data.Len())
}

// PageLen returns the number of rows that are visible at once, at least 1.
func (t *Table) PageLen() int { return max(t.rows(), 1) }
