package tui

import (
	"context"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
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
	// glance reads some rows again by themselves; nil: only all of them are read.
	glance  func(ctx context.Context, ids []string) ([]R, error)
	every   time.Duration // between two reads; 0 means Options.Refresh
	servers []grant.Backend
	sortKey string
	desc    bool
	empty   string // what nothing means
	// look replaces the search through the cells, where those are slow to make; fields are the
	// fields of a filter besides the columns, and local is the part of one that is not asked of
	// the servers.
	look   func(r *R, now time.Time) filtered
	fields []string
	local  func(line string) string
	// attention says whether a row needs somebody: n and N go from one to the next.
	attention func(r *R) bool
	// mark changes the cells of a row, such as of one that is gone.
	mark   func(it *item[R], out []table.Cell, now time.Time)
	digest func(items []*item[R], now time.Time) any
	// summary draws the line above the list from the digest; nil leaves it out.
	summary func(l *list[R], w int) string
	// chart draws lines under the summary, of which h would leave nothing of the list; nil draws none.
	chart func(l *list[R], w, h int) []string
	// crumb says where the list is when it is not just its title.
	crumb  func(args Args) string
	detail func(it *item[R], w int) (a, b []string)
	keys   func(l *list[R]) []Binding
	// cli is the command that prints the same rows, without what the filter asks of them.
	cli func(args Args, filter string) []string
	// flags says a term of the filter in flags of that command; nothing when it has none for it.
	flags func(l *list[R], t term) []string
	// name is the id of a row for people; nil: the identity of the row.
	name func(r *R) string
	// proof writes the statements that show a row again; they only read.
	proof func(r *R) []inspect.Proof
	// absent stands for a row that is watched and not there. Nil: rows cannot be watched.
	absent func(id string) *R
	// also sees every message after the list has.
	also func(l *list[R], msg tea.Msg) tea.Cmd
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
	above  int      // lines above the table, when it was drawn last
	pins   []string // the rows that are watched, in the order in which they were chosen
	// lead orders rows before the sorted column does; nil leaves that to the column.
	lead func(a, b *R) int
	// extra answers instead of what is shown, when more than that is to be exported.
	extra func(format string) tea.Cmd
	// extraSays is what extra exports, in words; empty for older pages.
	extraSays string
}

func newList[R any](d *desk, spec listSpec[R]) *list[R] {
	spec.every = max(spec.every, d.opts.Refresh)
	still := spec.load == nil
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
	l.feed.digest, l.feed.still, l.feed.absent = spec.digest, still, spec.absent
	l.feed.glance = spec.glance
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
		l.take()
	case tickMsg:
		l.seen()
	case backMsg:
		l.feed.refresh() // it was read less often while nobody looked
	case jobDoneMsg:
		if got, deed := msg.result.(answerMsg); deed {
			if got.answer.Spent == l.spec.id {
				l.table.ClearMarks()
			}
			l.feed.refresh() // what was shown may be true no more
		}
	}
	if l.spec.also != nil {
		return l.spec.also(l, msg)
	}
	return nil
}

// take takes the newest snapshot, if it is about what is shown.
func (l *list[R]) take() {
	v := l.feed.out.Load()
	if v == l.shown || !v.args.equal(l.args) {
		return
	}
	if v.at != l.shown.at || (v.err != nil) != (l.shown.err != nil) ||
		len(v.missing) != len(l.shown.missing) {
		l.heard(v)
	}
	l.shown = v
	l.place()
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
		d.say(Erred, l.notRead(), d.unread(v.err))
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
