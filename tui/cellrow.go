package tui

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
)

// cellRow is a line of cells, each with a role.
type cellRow struct {
	text  []string
	roles []paint.Role
}

func newRow(w int) cellRow {
	r := cellRow{text: make([]string, w), roles: make([]paint.Role, w)}
	for i := range r.text {
		r.text[i] = " "
	}
	return r
}

func (r cellRow) put(at int, glyph string, role paint.Role) {
	if at >= 0 && at < len(r.text) {
		r.text[at], r.roles[at] = glyph, role
	}
}

// draw paints runs of one role at once. A wide letter takes the cell behind it, too.
func (r cellRow) draw(theme *paint.Theme) string {
	var b strings.Builder
	for i := 0; i < len(r.text); {
		j := i
		for j < len(r.text) && r.roles[j] == r.roles[i] {
			j++
		}
		b.WriteString(theme.Text(r.roles[i], strings.Join(r.text[i:j], "")))
		i = j
	}
	return " " + b.String() + " "
}

// write puts words into cells from a column on, as many as fit before another.
func (r cellRow) write(at, end int, words string, role paint.Role) {
	for _, c := range words {
		w := safetext.Width(string(c))
		if w == 0 || at+w > end {
			return
		}
		r.put(at, string(c), role)
		for i := 1; i < w; i++ {
			r.put(at+i, "", role)
		}
		at += w
	}
}
