package tui

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rewardctl/inspect"
)

// filterWait lets a word be typed before it is searched for.
const filterWait = 60 * time.Millisecond

// batch is what one read of a source gave.
type batch[R any] struct {
	rows    []R
	missing []inspect.Missing
	about   any // what was read besides the rows, such as sums of all of them
}

// item is one row with its identity. A row that is gone is kept while the order is held.
type item[R any] struct {
	id   string
	row  *R
	gone bool
	// since is when it was first missed, for one that is gone; else when it was read by itself,
	// after all others. It is zero for one that was never seen, and for one read with the others.
	since time.Time
}

// view is an immutable, filtered and sorted snapshot.
type view[R any] struct {
	gen     uint64 // of the query it answers
	items   []*item[R]
	all     []*item[R] // before the filter, as they were read
	total   int        // rows before the filter
	held    int        // rows that are not shown because the order is held
	at      time.Time  // when it was read; zero before the first read
	looked  time.Time  // when the rows on the screen were read by themselves; zero: not after that
	took    time.Duration
	missing []inspect.Missing
	err     error // why the last read failed; the rows are then the last good ones
	args    Args  // what the rows are about
	about   any   // what was read besides them
	index   map[string]int
	digest  any // what the feed's digest made of the rows
}

// find returns the position of an identity; -1 when it is not there.
func (v *view[R]) find(id string) int {
	if i, ok := v.index[id]; ok {
		return i
	}
	return -1
}

// query says which rows, in which order.
type query[R any] struct {
	gen   uint64
	match func(*R) bool // nil matches everything
	order func(a, b *item[R]) int
	total bool     // the order tells any two rows apart: how they were read does not matter
	pins  []string // rows that come first, in this order, and stay when they are gone
}

// feed reads a source again and again, and arranges what it read.
type feed[R any] struct {
	d     *desk
	load  func(ctx context.Context, about Args) (batch[R], error)
	id    func(*R) string
	every time.Duration
	// digest sums the rows up for what is drawn beside them; nil makes none.
	digest func(items []*item[R], now time.Time) any
	// still is set when nothing is read by the feed itself: it arranges what it is made to take.
	still  bool
	absent func(id string) *R // stands for a pinned row that was never seen; nil: none is pinned
	// glance reads some rows by their identities, those that are there; nil: it cannot.
	glance func(ctx context.Context, ids []string) ([]R, error)

	query  atomic.Pointer[query[R]]
	about  atomic.Pointer[Args] // what to read; nil until it was said
	hold   atomic.Bool          // keep the order of the rows that are shown
	paused atomic.Bool          // read only when asked to
	out    atomic.Pointer[view[R]]
	poke   chan bool                // true: read now; false: arrange anew
	eyes   atomic.Pointer[[]string] // the identities of the rows on the screen

	running sync.Mutex // held by run: a screen may be shown again before its old run has ended
	last    []*item[R] // what was read last; only touched by run
	state   view[R]    // its age and problems; only touched by run
	// kept holds what was last seen of pinned rows; only touched by run.
	kept map[string]*item[R]
	// fresh holds the rows that were read by themselves since all were; only touched by run.
	fresh map[string]*item[R]
}

func newFeed[R any](d *desk, every time.Duration, id func(*R) string,
	load func(ctx context.Context, about Args) (batch[R], error),
) *feed[R] {
	f := &feed[R]{d: d, load: load, id: id, every: every, poke: make(chan bool, 4)}
	f.out.Store(&view[R]{})
	return f
}

// ask sets the query and has the rows arranged anew.
func (f *feed[R]) ask(q query[R]) {
	f.query.Store(&q)
	if f.still {
		f.publish()
		return
	}
	f.wake(false)
}

// turn makes the feed read something else.
func (f *feed[R]) turn(about Args) { f.about.Store(&about) }

// refresh reads now.
func (f *feed[R]) refresh() { f.wake(true) }

func (f *feed[R]) wake(read bool) {
	if f.still {
		return
	}
	select {
	case f.poke <- read:
	default: // it is about to look anyway
	}
}

type loaded[R any] struct {
	batch batch[R]
	args  Args
	err   error
	at    time.Time
	took  time.Duration
}

// run reads until ctx ends: one read at a time, the query answered in between.
func (f *feed[R]) run(ctx context.Context) {
	f.running.Lock()
	defer f.running.Unlock()
	results := make(chan loaded[R], 1)
	next := time.NewTimer(0)
	settle := time.NewTimer(filterWait)
	defer next.Stop()
	defer settle.Stop()
	look := f.newGlancer()
	defer look.beat.Stop()
	busy, asked := false, true
	f.look(ctx, look) // what was seen when the screen was left
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			if !busy && (asked || !f.paused.Load()) {
				busy, asked = true, false
				f.d.spawn(func() { results <- f.read(ctx) })
			}
		case got := <-results:
			busy = false
			if ctx.Err() != nil {
				return
			}
			f.take(got)
			f.publish()
			look.blind = false
			next.Reset(f.rest(got, asked))
		case <-look.beat.C:
			f.look(ctx, look) // also while all are read, which may take long
		case got := <-look.results:
			look.busy = false
			if !f.notice(got) && ctx.Err() == nil && !look.blind {
				look.blind = true // reading all of them will tell why
				next.Reset(staleAfter / 2)
			}
		case read := <-f.poke:
			if read {
				asked = true
				next.Reset(0)
			} else {
				settle.Reset(filterWait)
			}
		case <-settle.C:
			f.publish()
		}
	}
}

func (f *feed[R]) read(ctx context.Context) loaded[R] {
	var about Args
	if p := f.about.Load(); p != nil {
		about = *p
	}
	start := f.d.now()
	b, err := f.load(ctx, about)
	at := f.d.now()
	return loaded[R]{b, about, err, at, at.Sub(start)}
}

func (f *feed[R]) take(got loaded[R]) {
	if !got.args.equal(f.state.args) { // nothing of what was read before is about this
		f.last, f.state, f.fresh = nil, view[R]{args: got.args}, nil
	}
	f.state.err, f.state.missing = got.err, got.batch.missing
	if got.err != nil {
		return
	}
	f.state.at, f.state.took, f.state.about = got.at, got.took, got.batch.about
	items := make([]item[R], len(got.batch.rows))
	f.last = make([]*item[R], len(items))
	for i := range got.batch.rows {
		row := &got.batch.rows[i]
		items[i] = item[R]{id: f.id(row), row: row}
		f.last[i] = &items[i]
	}
	f.forget(got.at.Add(-got.took))
}

func (f *feed[R]) publish() {
	q := f.query.Load()
	if q == nil {
		return
	}
	v := f.state
	v.gen, v.total, v.all = q.gen, len(f.last), f.last
	if f.absent != nil {
		f.keep(q.pins)
	}
	prev := f.out.Load()
	if f.hold.Load() && prev.gen == q.gen && len(prev.items) > 0 &&
		prev.args.equal(v.args) {
		v.items, v.held = f.keepOrder(prev.items, q)
	} else {
		v.items = f.arrange(q)
	}
	v.index = make(map[string]int, len(v.items))
	for i, it := range v.items {
		v.index[it.id] = i
	}
	f.freshen(&v)
	if f.digest != nil {
		v.digest = f.digest(v.items, f.d.now())
	}
	f.out.Store(&v)
	f.d.notify()
}

func (f *feed[R]) arrange(q *query[R]) []*item[R] {
	items := make([]*item[R], 0, len(f.last))
	for _, it := range f.last {
		if q.match == nil || q.match(it.row) {
			items = append(items, it)
		}
	}
	if q.order != nil {
		if q.total {
			items = f.asBefore(items)
		}
		slices.SortStableFunc(items, q.order)
	}
	return f.pinned(q, items)
}

// asBefore lays the items out as they were shown last, what is new at the end. Most of them are
// still in order then, so that sorting very many costs little more than looking at them.
func (f *feed[R]) asBefore(items []*item[R]) []*item[R] {
	prev := f.out.Load()
	if len(prev.items) == 0 || len(items) < len(prev.items)/2 {
		return items
	}
	places := make([]*item[R], len(prev.items), len(prev.items)+len(items))
	for _, it := range items {
		if i, ok := prev.index[it.id]; ok && places[i] == nil {
			places[i] = it
		} else {
			places = append(places, it)
		}
	}
	return slices.DeleteFunc(places, func(it *item[R]) bool { return it == nil })
}

// pinned puts the pinned rows first. One that is gone stays, as it was seen last.
func (f *feed[R]) pinned(q *query[R], items []*item[R]) []*item[R] {
	if len(q.pins) == 0 || f.absent == nil {
		return items
	}
	have := make(map[string]*item[R], len(q.pins))
	rest := make([]*item[R], 0, len(items)+len(q.pins))
	for _, it := range items {
		if slices.Contains(q.pins, it.id) {
			have[it.id] = it
		} else {
			rest = append(rest, it)
		}
	}
	first := make([]*item[R], 0, len(q.pins))
	for _, id := range q.pins {
		it := have[id]
		if it == nil {
			it = f.kept[id]
			if !it.gone || q.match != nil && !q.match(it.row) {
				continue // the filter hides it
			}
		}
		first = append(first, it)
	}
	return append(first, rest...)
}

// keep remembers the pinned rows as they are now, and those that are gone as they were.
func (f *feed[R]) keep(pins []string) {
	if f.kept == nil {
		f.kept = map[string]*item[R]{}
	}
	there := make(map[string]*item[R], len(pins))
	for _, it := range f.last {
		if slices.Contains(pins, it.id) {
			there[it.id] = it
		}
	}
	for _, id := range pins {
		switch was := f.kept[id]; {
		case there[id] != nil:
			f.kept[id] = there[id]
		case was == nil:
			f.kept[id] = &item[R]{id: id, row: f.absent(id), gone: true}
		case !was.gone:
			f.kept[id] = f.missed(was)
		}
	}
}

// missed is an item that is not there any more. It has a copy of its row: the row itself stands
// among all the rows of one read, which would stay in memory as long as this one is shown.
func (f *feed[R]) missed(it *item[R]) *item[R] {
	if it.gone {
		return it
	}
	return gone(it, f.state.at)
}

func gone[R any](it *item[R], since time.Time) *item[R] {
	row := *it.row
	return &item[R]{id: it.id, row: &row, gone: true, since: since}
}

// keepOrder keeps the rows that are shown where they are, with fresh content. Rows that are gone
// stay, marked; new ones wait until the order is applied.
func (f *feed[R]) keepOrder(shown []*item[R], q *query[R]) (items []*item[R], waiting int) {
	now := make(map[string]*item[R], len(f.last))
	for _, it := range f.last {
		now[it.id] = it
	}
	items = make([]*item[R], len(shown))
	for i, it := range shown {
		if fresh, ok := now[it.id]; ok {
			items[i] = fresh
			delete(now, it.id)
			continue
		}
		items[i] = f.missed(it)
	}
	for _, it := range now {
		if q.match == nil || q.match(it.row) {
			waiting++
		}
	}
	return items, waiting
}
