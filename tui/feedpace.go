package tui

import (
	"context"
	"slices"
	"time"
)

const (
	// blurredRest is the least time between two reads while the terminal is out of sight.
	blurredRest = 5 * time.Second
	// loadShare keeps a slow source from reading all the time: it rests at least so many times
	// as long as a read took, but not so long that what is shown gets too old to act upon.
	loadShare = 3
	// rowsPerSecond is how many rows are read each second at most: more of them are read less
	// often. What passes by itself, such as the time that is left, is drawn from the last read.
	rowsPerSecond = 12_500
	// idleRowsPerSecond is the same while nobody presses a key, and idleMost bounds the rest. The
	// rows on the screen are read by themselves in between.
	idleRowsPerSecond = 2_000
	idleMost          = time.Minute
	// idleAfter is how long after the last key the console is left to itself.
	idleAfter = 10 * time.Second
)

// busyRest is how long a source of so many rows rests at least: not so long that rows which were
// marked get too old to act upon, when the next read takes as long as the last one.
func busyRest(rows int, took time.Duration) time.Duration {
	return min(time.Duration(rows)*time.Second/rowsPerSecond, staleAfter*4/5-took)
}

// idleRest is how long it rests while nobody is there.
func idleRest(rows int) time.Duration {
	return min(time.Duration(rows)*time.Second/idleRowsPerSecond, idleMost)
}

// rest is how long a source of so many rows rests after a read that took some time. It is at least
// every; much longer when nobody is there and calm says that this hides nothing that matters.
func (d *desk) rest(every, took time.Duration, rows int, calm bool) time.Duration {
	rest := max(every, min(loadShare*took, staleAfter/2), busyRest(rows, took))
	switch {
	case d.blurred.Load():
		rest = max(rest, blurredRest, idleRest(rows))
	case d.idle.Load() && calm:
		rest = max(rest, idleRest(rows))
	}
	return rest
}

// rest is how long to rest after a read; not at all when another was asked for meanwhile.
func (f *feed[R]) rest(got loaded[R], asked bool) time.Duration {
	if asked {
		return 0
	}
	calm := f.glance != nil && got.err == nil
	return f.d.rest(f.every, got.took, len(got.batch.rows), calm)
}

// glancer reads the rows on the screen by themselves, while all of them rest.
type glancer[R any] struct {
	beat    *time.Ticker
	results chan glanced[R]
	busy    bool
	blind   bool // the last one failed: not again before all were read
}

// glanced is what was found of some rows.
type glanced[R any] struct {
	args Args
	ids  []string
	rows []R
	err  error
	at   time.Time
}

func (f *feed[R]) newGlancer() *glancer[R] {
	g := &glancer[R]{beat: time.NewTicker(f.every), results: make(chan glanced[R], 1)}
	if f.glance == nil {
		g.beat.Stop()
	}
	return g
}

// see says which rows are on the screen.
func (f *feed[R]) see(ids []string) { f.eyes.Store(&ids) }

// look reads the rows on the screen, where all rows are so many that they are read less often.
func (f *feed[R]) look(ctx context.Context, g *glancer[R]) {
	ids := f.eyes.Load()
	if g.busy || g.blind || ids == nil || len(*ids) == 0 || f.paused.Load() ||
		f.d.blurred.Load() || f.state.at.IsZero() || f.state.err != nil ||
		idleRest(len(f.last)) <= f.every {
		return
	}
	g.busy = true
	about := f.state.args
	f.d.spawn(func() {
		rows, err := f.glance(ctx, *ids)
		g.results <- glanced[R]{about, *ids, rows, err, f.d.now()}
	})
}

// notice puts rows that were read by themselves into what is shown, where they stand. One that was
// not found is gone. It answers false when they could not be read.
func (f *feed[R]) notice(got glanced[R]) bool {
	if got.err != nil {
		return false
	}
	if !got.args.equal(f.state.args) || got.at.Before(f.state.at) {
		return true // about something else by now, or all were read since
	}
	found := make(map[string]*R, len(got.rows))
	for i := range got.rows {
		found[f.id(&got.rows[i])] = &got.rows[i]
	}
	if f.fresh == nil {
		f.fresh = map[string]*item[R]{}
	}
	v := *f.out.Load()
	for _, id := range got.ids {
		switch at := v.find(id); {
		case found[id] != nil:
			f.fresh[id] = &item[R]{id: id, row: found[id], since: got.at}
		case at >= 0 && !v.items[at].gone:
			f.fresh[id] = gone(v.items[at], got.at)
		}
	}
	v.items = slices.Clone(v.items)
	f.state.looked = got.at
	f.freshen(&v)
	f.out.Store(&v)
	f.d.notify()
	return true
}

// freshen puts the rows that were read by themselves into their places.
func (f *feed[R]) freshen(v *view[R]) {
	v.looked = f.state.looked
	for id, it := range f.fresh {
		if at := v.find(id); at >= 0 {
			v.items[at] = it
		}
	}
}

// forget drops rows that were read by themselves before all were read.
func (f *feed[R]) forget(before time.Time) {
	for id, it := range f.fresh {
		if it.since.Before(before) {
			delete(f.fresh, id)
		}
	}
	if f.state.looked.Before(before) {
		f.state.looked = time.Time{}
	}
}

// readAt is when a row was read.
func (v *view[R]) readAt(it *item[R]) time.Time {
	if !it.gone && it.since.After(v.at) {
		return it.since
	}
	return v.at
}

// age is when the rows on the screen were read.
func (v *view[R]) age() time.Time {
	if v.looked.After(v.at) {
		return v.looked
	}
	return v.at
}
