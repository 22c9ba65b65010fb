package table

import (
	"maps"
	"slices"
)

// Mark marks rows by identity.
func (t *Table) Mark(ids ...string) {
	t.behind = -1
	for _, id := range ids {
		t.marks[id] = struct{}{}
	}
}

// Marked reports whether a row is marked.
func (t *Table) Marked(id string) bool {
	_, marked := t.marks[id]
	return marked
}

// MarkedIDs returns the identities of all marked rows, in order.
func (t *Table) MarkedIDs() []string { return slices.Sorted(maps.Keys(t.marks)) }

// ToggleMark marks the row under the cursor, or takes its mark away.
func (t *Table) ToggleMark() {
	t.behind = -1
	if _, id, ok := t.Selected(); ok {
		t.anchor = id
		if _, marked := t.marks[id]; marked {
			delete(t.marks, id)
		} else {
			t.marks[id] = struct{}{}
		}
	}
}

// MarkRange marks the rows from the one that was marked last to the one under the cursor, both
// included, and returns how many these are. It returns 0 when the first is not shown; the row
// under the cursor is then marked, and the next range begins there.
func (t *Table) MarkRange() int {
	_, id, ok := t.Selected()
	if !ok {
		return 0
	}
	from := -1
	if t.anchor != "" {
		from = t.data.Find(t.anchor)
	}
	t.anchor = id
	if from < 0 {
		t.Mark(id)
		return 0
	}
	first, last := min(from, t.cursor), max(from, t.cursor)
	for i := first; i <= last; i++ {
		t.Mark(t.data.ID(i))
	}
	return last - first + 1
}

// ClearMarks takes all marks away.
func (t *Table) ClearMarks() {
	t.behind, t.anchor = -1, ""
	clear(t.marks)
}

// MarkCount returns the number of marks.
func (t *Table) MarkCount() int { return len(t.marks) }

// Marks returns the number of marks, and how many of them are on rows that are not shown now.
func (t *Table) Marks() (all, hidden int) {
	if t.behind < 0 {
		t.behind = 0
		for id := range t.marks {
			if t.data.Find(id) < 0 {
				t.behind++
			}
		}
	}
	return len(t.marks), t.behind
}
