package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// column is one column of a list, with what stands in it.
type column[R any] struct {
	table.Column
	cell func(r *R, now time.Time) table.Cell
	// compare orders rows by this column; nil means that it cannot.
	compare func(a, b *R) int
}

// listSpec says what a list shows. Only id, title, columns, rowID and load are required.
type listSpec[R any] struct {
	id, parent ScreenID
	title      string // English; translated when it is drawn
	columns    []column[R]
	rowID      func(*R) string
	load       func(ctx context.Context, args Args) (batch[R], error)
	every      time.Duration // between two reads; 0 means Options.Refresh
	servers    []grant.Backend
	sortKey    string
	desc       bool
	empty      string // what nothing means
	// match replaces the search through the cells, where those are slow to make.
	match func(f filter, r *R, now time.Time) bool
	// mark changes the cells of a row, such as of one that is gone.
	mark   func(it *item[R], out []table.Cell)
	digest func(items []*item[R], now time.Time) any
	// summary draws the line above the list from the digest; nil leaves it out.
	summary func(l *list[R], w int) string
	// crumb says where the list is when it is not just its title.
	crumb  func(args Args) string
	detail func(it *item[R], w int) (a, b []string)
	keys   func(l *list[R]) []Binding
	// cli is the command that prints the same rows.
	cli func(args Args, filter string) []string
}

// list is a screen of rows that are read again and again. It has what all lists have in common:
// filter, sort, columns, marks, an inspector, export, and the age of what is shown.
type list[R any] struct {
	noTyping
	d      *desk
	spec   listSpec[R]
	args   Args
	table  *table.Table
	feed   *feed[R]
	shown  *view[R]
	filter string
	gen    uint64
	ask    string // a row to put the cursor on when it is there
	pane   bool
}

func newList[R any](d *desk, spec listSpec[R]) *list[R] {
	spec.every = max(spec.every, d.opts.Refresh)
	l := &list[R]{d: d, spec: spec, pane: true}
	cols := make([]table.Column, len(spec.columns))
	for i, c := range spec.columns {
		cols[i] = c.Column
		cols[i].Title = d.tr(c.Title)
		cols[i].NoSort = c.compare == nil
	}
	l.table = table.New(d.theme, cols)
	l.table.SetWords(d.tableWords())
	l.table.SetSort(spec.sortKey, spec.desc)
	l.feed = newFeed(d, spec.every, spec.rowID, spec.load)
	l.feed.digest = spec.digest
	l.shown = l.feed.out.Load()
	l.restore(d.saved.screen(spec.id))
	l.requery()
	return l
}

// ID names the screen.
func (l *list[R]) ID() ScreenID { return l.spec.id }

// Parent names the screen that it belongs to.
func (l *list[R]) Parent() ScreenID { return l.spec.parent }

// Title is what the tab says.
func (l *list[R]) Title() string { return l.spec.title }

// Open starts reading. Rows of something else than before are forgotten.
func (l *list[R]) Open(ctx context.Context, args Args) tea.Cmd {
	if text, ok := args["filter"]; ok {
		l.SetFilter(text)
	}
	if row := args["row"]; row != "" {
		l.ask, l.pane = row, true
		l.SetFilter("")
	}
	about := args.without("filter", "row")
	if args != nil && l.spec.parent != "" && !about.equal(l.args) {
		l.args = about
		l.feed.turn(about)
		l.shown = &view[R]{args: about}
		l.table.ClearMarks()
		l.place()
	}
	l.d.spawn(func() { l.feed.run(ctx) })
	return nil
}

// Update takes the newest snapshot.
func (l *list[R]) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case dataMsg:
		v := l.feed.out.Load()
		if v == l.shown || !v.args.equal(l.args) {
			return nil
		}
		if v.at != l.shown.at || (v.err != nil) != (l.shown.err != nil) ||
			len(v.missing) != len(l.shown.missing) {
			l.heard(v)
		}
		l.shown = v
		l.place()
	case tea.FocusMsg:
		l.feed.refresh() // it was read less often while nobody looked
	case jobDoneMsg:
		if got, deed := msg.result.(answerMsg); deed {
			if got.answer.Spent == l.spec.id {
				l.table.ClearMarks()
			}
			l.feed.refresh() // what was shown may be true no more
		}
	}
	return nil
}

func (l *list[R]) notRead() string { return l.d.tr("not read: %s", l.d.tr(l.spec.title)) }

// heard tells the banner and the operator how the last read went, when that changed.
func (l *list[R]) heard(v *view[R]) {
	d := l.d
	switch {
	case isDenied(v.err):
		if l.shown.err == nil {
			d.say(Warned, d.unread(v.err))
		}
	case v.err != nil && l.shown.err == nil:
		d.health.failed(v.err)
		d.say(Erred, l.notRead(), v.err.Error())
	case v.err != nil:
		d.health.failed(v.err)
	default:
		d.health.read(v.missing, v.took, l.spec.servers)
		if len(v.missing) > 0 && len(l.shown.missing) == 0 {
			level := Erred
			if isDenied(v.missing[0].Err) {
				level = Warned
			}
			d.say(level, d.missing(v.missing[0]))
		}
		if l.shown.err != nil || len(v.missing) == 0 && len(l.shown.missing) > 0 {
			d.messages.over(l.notRead())
			for _, m := range l.shown.missing {
				d.messages.over(safetext.Cell(d.missing(m)))
			}
			d.say(Info, d.tr("everything answers again"))
		}
	}
}

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
		d.spec.mark(it, out)
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
	}
	return st
}

// requery has the rows filtered and sorted anew.
func (l *list[R]) requery() {
	l.gen++
	key, desc := l.table.Sort()
	keys := make([]string, len(l.spec.columns))
	for i, c := range l.spec.columns {
		keys[i] = c.Key
	}
	f := parseFilter(l.filter, keys...)
	q := query[R]{gen: l.gen, order: l.order(key, desc)}
	if !f.empty() {
		now := l.d.now
		match := l.spec.match
		if match == nil {
			match = l.matchCells
		}
		q.match = func(r *R) bool { return match(f, r, now()) }
	}
	l.feed.ask(q)
}

// matchCells looks for the filter's words in what the columns show.
func (l *list[R]) matchCells(f filter, r *R, now time.Time) bool {
	return f.match(func(field string) string {
		var all []string
		for i := range l.spec.columns {
			c := &l.spec.columns[i]
			if field == "" || c.Key == field {
				all = append(all, c.cell(r, now).Text)
			}
		}
		return strings.Join(all, "\n")
	}, 0)
}

// order returns the order of a column; ties are broken by identity, so that rows never dance.
func (l *list[R]) order(key string, desc bool) func(a, b *item[R]) int {
	var by func(a, b *R) int
	for _, c := range l.spec.columns {
		if c.Key == key {
			by = c.compare
		}
	}
	return func(a, b *item[R]) int {
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

// Crumb says what is listed.
func (l *list[R]) Crumb() crumb {
	tr := l.d.tr
	c := crumb{path: tr(l.spec.title), filter: l.filter}
	if l.spec.crumb != nil {
		c.path = l.spec.crumb(l.args)
	}
	counts := tr("%d total", l.shown.total)
	if l.filter != "" {
		counts += tr("  %d match", len(l.shown.items))
	}
	if all, hidden := l.table.Marks(); all > 0 {
		counts += tr("  %d marked", all)
		if hidden > 0 {
			counts += tr(" (%d not shown)", hidden)
		}
	}
	c.counts = counts
	return c
}

// Seen tells how old the list is.
func (l *list[R]) Seen() seen {
	out := seen{at: l.shown.at, live: true}
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
	if l.spec.summary != nil {
		y--
	}
	if l.table.Click(y) {
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
