package table

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	"pgregory.net/rapid"
)

type rows []string

func (r rows) Len() int        { return len(r) }
func (r rows) ID(i int) string { return r[i] }
func (r rows) Find(id string) int {
	for i, have := range r {
		if have == id {
			return i
		}
	}
	return -1
}

func (r rows) Cells(i int, out []Cell) {
	out[0] = Cell{Text: r[i], Role: paint.Warn}
	out[1] = Cell{Text: strconv.Itoa(i)}
	out[2] = Cell{Text: "note " + r[i], Role: paint.Muted}
	out[3] = Cell{Text: "low"}
}

func columns() []Column {
	return []Column{
		{Key: "name", Title: "NAME", Min: 10, Flex: 2},
		{Key: "n", Title: "N", Min: 5, Right: true},
		{Key: "note", Title: "NOTE", Min: 12, Flex: 1, Max: 30, Priority: 1},
		{Key: "low", Title: "LOW", Min: 6, Priority: 2, NoSort: true},
	}
}

func build(w, h int, data ...string) *Table {
	t := New(paint.New(paint.Mono, false), columns())
	t.SetStatus(Status{State: Ready})
	t.SetSize(w, h)
	t.SetData(rows(data))
	return t
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("r%06d", i)
	}
	return out
}

// exact fails the test when the table is not exactly w by h cells.
func exact(t interface{ Fatalf(string, ...any) }, view string, w, h int) {
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), h, view)
	}
	for i, line := range lines {
		if got := safetext.Width(line); got != w {
			t.Fatalf("line %d is %d wide, want %d: %q", i, got, w, line)
		}
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	tab := build(44, 4, "alpha", "미라 日本", "c\x1b[2J")
	tab.SetSort("name", true)
	tab.Move(1)
	tab.ToggleMark()
	want := strings.TrimPrefix(`
  NAME▼            N  NOTE          LOW
  alpha            0  note alpha    low
▶◆미라 日本        1  note 미라 …   low
  c␛[2J            2  note c␛[2J    low`, "\n")
	if got := tab.Snapshot(); got != want {
		t.Errorf("snapshot:\n%s\nwant:\n%s", got, want)
	}
}

func TestLowPriorityColumnsGoFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w    int
		want string
	}{{60, "NAME N NOTE LOW"}, {37, "NAME N NOTE ▶"}, {24, "NAME N ▶"}} {
		head, _, _ := strings.Cut(build(c.w, 3, "a").Snapshot(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != c.want {
			t.Errorf("at %d columns: %q, want %q", c.w, got, c.want)
		}
	}
}

func TestScrollKeepsTheFirstColumn(t *testing.T) {
	t.Parallel()
	tab := build(24, 3, "a")
	tab.Scroll(1)
	head, _, _ := strings.Cut(tab.Snapshot(), "\n")
	if got := strings.Join(strings.Fields(head), " "); got != "NAME NOTE ◀▶" {
		t.Errorf("after one scroll: %q", got)
	}
	tab.Scroll(100)
	head, _, _ = strings.Cut(tab.Snapshot(), "\n")
	if got := strings.Join(strings.Fields(head), " "); got != "NAME LOW ◀" && got != "NAME LOW◀" {
		t.Errorf("scrolled to the end: %q", got)
	}
	tab.Scroll(-100)
	head, _, _ = strings.Cut(tab.Snapshot(), "\n")
	if !strings.Contains(head, " N") {
		t.Errorf("scrolled back: %q", head)
	}
}

func TestCursorStaysOnItsIdentity(t *testing.T) {
	t.Parallel()
	tab := build(60, 6, "a", "b", "c", "d")
	tab.Select("c")
	tab.SetData(rows{"x", "y", "a", "b", "c"})
	if _, id, _ := tab.Selected(); id != "c" {
		t.Errorf("cursor on %q, want c", id)
	}
	tab.SetData(rows{"x", "y"})
	if _, id, ok := tab.Selected(); !ok || id != "y" {
		t.Errorf("cursor on %q, want the last row y", id)
	}
}

func TestCursorSurvivesAnEmptyRefresh(t *testing.T) {
	t.Parallel()
	tab := build(60, 8, numbered(5)...)
	tab.Bottom()
	for _, n := range []int{1, 0, 5} {
		tab.SetData(rows(numbered(n)))
		row, id, ok := tab.Selected()
		if ok != (n > 0) {
			t.Fatalf("%d rows: selected %v", n, ok)
		}
		if ok && (row < 0 || row >= n || id != numbered(n)[row]) {
			t.Fatalf("%d rows: cursor at %d on %q", n, row, id)
		}
		exact(t, tab.View(), 60, 8)
		if n > 0 && !strings.Contains(tab.Snapshot(), "▶") {
			t.Fatalf("%d rows: no cursor is shown:\n%s", n, tab.Snapshot())
		}
	}
}

func TestHiddenMarksAreCounted(t *testing.T) {
	t.Parallel()
	tab := build(60, 6, "a", "b", "c")
	tab.ToggleMark()
	tab.Move(1)
	tab.ToggleMark()
	tab.SetData(rows{"b", "c"})
	if all, hidden := tab.Marks(); all != 2 || hidden != 1 {
		t.Errorf("marks %d, hidden %d, want 2 and 1", all, hidden)
	}
	tab.ClearMarks()
	if all, _ := tab.Marks(); all != 0 {
		t.Errorf("%d marks after clearing", all)
	}
}

func TestEmptyTablesSayWhy(t *testing.T) {
	t.Parallel()
	tab := New(paint.New(paint.Mono, false), columns())
	tab.SetSize(60, 4)
	for _, c := range []struct {
		status Status
		want   string
	}{
		{Status{State: Loading}, "loading"},
		{Status{State: Ready, Empty: "nobody holds a lease"}, "nobody holds a lease"},
		{Status{State: Ready, Filtered: true}, "esc clears"},
		{Status{State: Failed, Note: "redis is down"}, "redis is down"},
	} {
		tab.SetStatus(c.status)
		if !strings.Contains(tab.Snapshot(), c.want) {
			t.Errorf("%+v shows\n%s", c.status, tab.Snapshot())
		}
		exact(t, tab.View(), 60, 4)
	}
}

func TestFailedTableKeepsItsRows(t *testing.T) {
	t.Parallel()
	tab := build(60, 5, "a", "b")
	tab.SetStatus(Status{State: Failed, Note: "redis is down, seen 12 s ago"})
	for _, want := range []string{"redis is down", "▶", "a", "b"} {
		if !strings.Contains(tab.Snapshot(), want) {
			t.Errorf("%q is missing:\n%s", want, tab.Snapshot())
		}
	}
}

func TestSortNextSkipsColumnsWithoutOrder(t *testing.T) {
	t.Parallel()
	tab := build(60, 5, "a")
	tab.SetSort("note", false)
	tab.SortNext(1)
	if key, _ := tab.Sort(); key != "name" {
		t.Errorf("after note comes %q, want name", key)
	}
	tab.SortNext(-1)
	if key, _ := tab.Sort(); key != "note" {
		t.Errorf("before name comes %q, want note", key)
	}
}

func TestAnyTextAndSizeIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.String(), 0, 12).Draw(t, "rows")
		w := rapid.IntRange(1, 120).Draw(t, "w")
		h := rapid.IntRange(1, 20).Draw(t, "h")
		tab := build(w, h, data...)
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				tab.Move(rapid.IntRange(-5, 5).Draw(t, "move"))
			case 1:
				tab.Bottom()
			case 2:
				tab.Scroll(rapid.IntRange(-2, 3).Draw(t, "scroll"))
			case 3:
				tab.SetData(rows(data[:len(data)/2]))
			case 4:
				tab.SetSize(w, max(h/2, 1))
				tab.SetSize(w, h)
			case 5:
				tab.ToggleMark()
			}
			exact(t, tab.View(), w, h)
		}
	})
}

func BenchmarkView100k(b *testing.B) {
	tab := build(200, 60, numbered(100_000)...)
	tab.Move(50_000)
	b.ReportAllocs()
	for b.Loop() {
		tab.Move(1)
		_ = tab.View()
	}
}

func BenchmarkViewWide100k(b *testing.B) {
	data := numbered(100_000)
	for i := range data {
		data[i] = "플레이어 " + data[i]
	}
	tab := build(200, 60, data...)
	b.ReportAllocs()
	for b.Loop() {
		tab.Move(1)
		_ = tab.View()
	}
}

func BenchmarkSetData100k(b *testing.B) {
	data := rows(numbered(100_000))
	moved := append(rows{"new"}, data...)
	tab := build(200, 60, data...)
	tab.Move(99_000)
	for b.Loop() {
		tab.SetData(moved)
		tab.SetData(data)
	}
}
