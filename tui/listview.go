package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/table"
)

// place hands the snapshot to the table, with the time that is now.
func (l *list[R]) place() {
	l.table.SetStatus(l.status())
	l.table.SetData(l.data())
	if l.ask != "" && l.shown.gen == l.gen && !l.shown.at.IsZero() {
		if !l.table.Select(l.ask) {
			l.d.say(Warned, l.d.tr("%s is not in this list", l.ask))
		}
		l.ask = ""
		l.follow()
	}
}

// listData shows a view as it stands at a moment.
type listData[R any] struct {
	*view[R]
	spec *listSpec[R]
	now  time.Time
}

// Len returns the number of rows.
func (d listData[R]) Len() int { return len(d.items) }

// ID returns the identity of a row.
func (d listData[R]) ID(i int) string { return d.items[i].id }

// Find returns the position of an identity.
func (d listData[R]) Find(id string) int { return d.find(id) }

// Snapshot tells one reading from the next.
func (d listData[R]) Snapshot() any { return d.view }

// Cells fills the cells of a row.
func (d listData[R]) Cells(i int, out []table.Cell) {
	it := d.items[i]
	for c := range d.spec.columns {
		out[c] = d.spec.columns[c].cell(it.row, d.now)
	}
	if d.spec.mark != nil {
		d.spec.mark(it, out, d.now)
	}
}

func (l *list[R]) data() listData[R] { return listData[R]{l.shown, &l.spec, l.d.now()} }

func (l *list[R]) status() table.Status {
	st := table.Status{
		State: table.Ready, Filtered: l.filter != "", Empty: l.d.tr(l.spec.empty),
	}
	switch {
	case isDenied(l.shown.err):
		st.Empty, st.Filtered = l.d.unread(l.shown.err), false
	case l.shown.err != nil:
		st.Note = l.d.tr("not current: %s", l.shown.err)
		if l.shown.at.IsZero() {
			st.State = table.Failed
		}
	case len(l.shown.missing) > 0:
		st.Note = l.d.missing(l.shown.missing[0])
	case l.shown.at.IsZero():
		st.State = table.Loading
	default:
		st.Note = l.parsed().note(l.d, len(l.shown.items) > 0, l.fields())
	}
	return st
}

// fields are the names that a filter may look in.
func (l *list[R]) fields() []string {
	keys := make([]string, len(l.spec.columns))
	for i, c := range l.spec.columns {
		keys[i] = c.Key
	}
	return append(keys, l.spec.fields...)
}

// parsed reads the part of the filter that is for the rows that were read.
func (l *list[R]) parsed() filter {
	line := l.filter
	if l.spec.local != nil {
		line = l.spec.local(line)
	}
	return parseFilter(line, l.fields()...)
}

// requery has the rows filtered and sorted anew.
func (l *list[R]) requery() {
	l.gen++
	key, desc := l.table.Sort()
	f := l.parsed()
	q := query[R]{gen: l.gen, order: l.order(key, desc), pins: slices.Clone(l.pins)}
	q.total = slices.ContainsFunc(l.spec.columns, func(c column[R]) bool {
		return c.Key == key && c.compare != nil
	})
	if !f.empty() {
		now := l.d.now
		look := l.spec.look
		if look == nil {
			look = l.lookAtCells
		}
		q.match = func(r *R) bool { return f.match(look(r, now())) }
	}
	l.feed.ask(q)
	if l.feed.still {
		l.take()
	}
}

// lookAtCells has a filter look at what the columns show.
func (l *list[R]) lookAtCells(r *R, now time.Time) filtered {
	return filtered{now: now, text: func(field string) string {
		var all []string
		for i := range l.spec.columns {
			c := &l.spec.columns[i]
			if field == "" || c.Key == field {
				all = append(all, c.cell(r, now).Text)
			}
		}
		return strings.Join(all, "\n")
	}, value: func(field string) table.Value {
		for i := range l.spec.columns {
			if c := &l.spec.columns[i]; c.Key == field {
				return c.cell(r, now).Value
			}
		}
		return table.Value{}
	}}
}

// order returns the order of a column; ties are broken by identity, so that rows never dance.
func (l *list[R]) order(key string, desc bool) func(a, b *item[R]) int {
	var by func(a, b *R) int
	for _, c := range l.spec.columns {
		if c.Key == key {
			by = c.compare
		}
	}
	lead := l.lead
	return func(a, b *item[R]) int {
		if lead != nil {
			if c := lead(a.row, b.row); c != 0 {
				return c
			}
		}
		if by != nil {
			if c := by(a.row, b.row); c != 0 {
				if desc {
					return -c
				}
				return c
			}
			return cmp.Compare(a.id, b.id)
		}
		return 0 // as it was read
	}
}

// Filter returns the filter line.
func (l *list[R]) Filter() string { return l.filter }

// SetFilter filters the rows.
func (l *list[R]) SetFilter(text string) {
	if text = strings.TrimSpace(text); text != l.filter {
		l.filter = text
		l.requery()
	}
}

// follow keeps the order while the cursor is anywhere but on the top row, so that the row under
// it never moves away.
func (l *list[R]) follow() { l.feed.hold.Store(!l.table.AtTop()) }

// seen tells the feed which rows are on the screen, where those can be read by themselves.
func (l *list[R]) seen() {
	if l.spec.glance == nil {
		return
	}
	from, to := l.table.Visible()
	var ids []string
	for _, it := range l.shown.items[min(from, len(l.shown.items)):min(to, len(l.shown.items))] {
		ids = append(ids, it.id)
	}
	l.feed.see(ids)
}

// Crumb says what is listed.
func (l *list[R]) Crumb() crumb {
	tr := l.d.tr
	c := crumb{path: tr(l.spec.title), filter: l.filter}
	if l.spec.crumb != nil {
		c.path = l.spec.crumb(l.args)
	}
	c.counts = tr("%d total", l.shown.total) + l.whole() + l.counts()
	return c
}

// whole says when all rows were read, when those on the screen were read long after.
func (l *list[R]) whole() string {
	age := l.d.now().Sub(l.shown.at)
	if l.shown.looked.IsZero() || age < staleAfter {
		return ""
	}
	return l.d.tr("  all read %s ago", seconds(age))
}

// counts says how many rows match and how many are marked.
func (l *list[R]) counts() string {
	tr, counts := l.d.tr, ""
	if l.filter != "" {
		counts += tr("  %d match", len(l.shown.items))
	}
	if all, hidden := l.table.Marks(); all > 0 {
		counts += tr("  %d marked", all)
		if hidden > 0 {
			counts += tr(" (%d not shown)", hidden)
		}
	}
	return counts
}

// Seen tells how old the list is.
func (l *list[R]) Seen() seen {
	out := seen{at: l.shown.age(), live: true, paused: l.feed.paused.Load()}
	if l.shown.err != nil {
		out.problem, out.denied = l.d.unread(l.shown.err), isDenied(l.shown.err)
	}
	return out
}

// View draws the summary, the list and the inspector.
func (l *list[R]) View(w, h int) string {
	lines := make([]string, 0, h)
	if l.spec.summary != nil {
		lines = append(lines, l.spec.summary(l, w))
	}
	l.table.SetData(l.data())
	if l.spec.chart != nil {
		lines = append(lines, l.spec.chart(l, w, h-len(lines))...)
	}
	l.above = len(lines)
	it := l.selected()
	var detail func(w int) (a, b []string)
	if l.pane && it != nil && l.spec.detail != nil {
		detail = func(w int) (a, b []string) { return l.spec.detail(it, w) }
	}
	rest := withInspector(l.d, l.table, w, h-len(lines), detail)
	return strings.Join(append(lines, rest...), "\n")
}

// Click puts the cursor on a row.
func (l *list[R]) Click(_, y int) {
	if l.table.Click(y - l.above) {
		l.follow()
	}
}

// held says that rows wait to be shown; empty when none does.
func (l *list[R]) held() string {
	if l.shown.held == 0 {
		return ""
	}
	return l.d.theme.Text(paint.Warn, l.d.tr("%d new wait: . shows them ", l.shown.held))
}

// marked returns the rows that are marked, those that the filter hides among them, and how many
// marked rows are gone.
func (l *list[R]) marked() (items []*item[R], gone int) {
	for _, it := range l.shown.all {
		if l.table.Marked(it.id) {
			items = append(items, it)
		}
	}
	return items, l.table.MarkCount() - len(items)
}

// selected returns the row under the cursor, or nil.
func (l *list[R]) selected() *item[R] {
	row, _, ok := l.table.Selected()
	if !ok || row >= len(l.shown.items) {
		return nil
	}
	return l.shown.items[row]
}
