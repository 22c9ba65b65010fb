package grant

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// sharesRun reports whether two calls of one key may run as one: same content, and both leave
// the lease to the engine.
func (it *item) sharesRun(first *item) bool {
	return it.sameContent(first) && it.req.Held == nil && first.req.Held == nil &&
		it.resource() == first.resource()
}

// runBatch decides every item and leaves the answer in it.res.
func (e *Engine) runBatch(ctx context.Context, items []*item) {
	if err := e.checkGate(ctx); err != nil {
		failAll(items, err)
		return
	}
	distinct, repeats := dedupe(items)
	e.runWaves(ctx, distinct, e.layOutGrants)
	// A token below or beside the fence means that Redis lost its counter between our read of
	// the floor and the acquire, or that a holder before us wrote late. A new lease with a
	// fresh floor settles it; once, so that a real conflict stays visible.
	if again := reseedable(distinct); len(again) > 0 {
		e.runWaves(ctx, again, e.layOutGrants)
	}
	for _, r := range repeats {
		r.echo()
		r.again.res.DuplicateOf = 0
	}
}

// dedupe takes out the calls that share another call's run.
func dedupe(items []*item) (distinct []*item, repeats []repeat) {
	first := make(map[key]*item, len(items))
	for _, it := range items {
		if earlier, seen := first[it.key()]; seen {
			repeats = append(repeats, repeat{earlier, it})
			continue
		}
		first[it.key()] = it
		distinct = append(distinct, it)
	}
	return distinct, repeats
}

func reseedable(items []*item) []*item {
	var again []*item
	for _, it := range items {
		refused := it.res.Outcome == StaleToken || it.res.Outcome == TokenCollision
		if refused && it.req.Held == nil && !it.retried {
			it.retried = true
			again = append(again, it)
		}
	}
	return again
}

// wave is a part of a batch in which each resource has one lease.
type wave struct {
	leases []Lease   // by resource, in byte order
	own    []bool    // per lease: acquired by the engine, to be released by it
	items  [][]*item // per lease
}

// runWaves acquires what is needed and sends the items, one lease per resource at a time.
func (e *Engine) runWaves(ctx context.Context, items []*item, layOut layOutFunc) {
	e.opt.OnStep(StepFloors)
	leased := e.acquire(ctx, items)
	for len(leased) > 0 {
		var w wave
		w, leased = nextWave(leased)
		e.runWave(ctx, w, layOut)
	}
}

// leasedItem is an item with the lease under which it will be sent.
type leasedItem struct {
	it    *item
	lease Lease
	own   bool
}

// nextWave takes, of each resource, the items of its highest token. Lower tokens go later, and
// then meet the fence.
func nextWave(all []leasedItem) (w wave, rest []leasedItem) {
	slices.SortStableFunc(all, func(a, b leasedItem) int {
		return cmp.Or(
			strings.Compare(a.lease.Resource, b.lease.Resource),
			cmp.Compare(b.lease.Token, a.lease.Token),
			strings.Compare(a.lease.Owner, b.lease.Owner),
		)
	})
	for _, li := range all {
		last := len(w.leases) - 1
		switch {
		case last < 0 || w.leases[last].Resource != li.lease.Resource:
			w.leases = append(w.leases, li.lease)
			w.own = append(w.own, li.own)
			w.items = append(w.items, []*item{li.it})
		case w.leases[last].Token == li.lease.Token && w.leases[last].Owner == li.lease.Owner:
			w.items[last] = append(w.items[last], li.it)
		default:
			rest = append(rest, li)
		}
	}
	return w, rest
}

func (e *Engine) runWave(ctx context.Context, w wave, layOut layOutFunc) {
	e.opt.OnStep(StepSend)
	e.send(ctx, w, layOut)
	e.opt.OnStep(StepAnswered)
	e.release(ctx, w)
	e.opt.OnStep(StepReleased)
}

// size is the number of items.
func (w wave) size() int {
	n := 0
	for _, items := range w.items {
		n += len(items)
	}
	return n
}

// split halves a wave, so that one item that the database refuses cannot hold up the others.
// The leases stay whole: the caller releases them.
func (w wave) split() (first, second wave) {
	half := w.size() / 2
	for i, items := range w.items {
		n := min(half, len(items))
		half -= n
		first.add(w.leases[i], items[:n])
		second.add(w.leases[i], items[n:])
	}
	return first, second
}

func (w *wave) add(lease Lease, items []*item) {
	if len(items) > 0 {
		w.leases = append(w.leases, lease)
		w.items = append(w.items, items)
	}
}

// trustedUntil is the earliest deadline of the wave's leases, zero when none has one.
func (w wave) trustedUntil() time.Time {
	var until time.Time
	for _, l := range w.leases {
		if !l.Until.IsZero() && (until.IsZero() || l.Until.Before(until)) {
			until = l.Until
		}
	}
	return until
}
