package tui

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"rewardctl/inspect"
)

// tally counts the leases for the home screen. Very many are counted less often than everything
// else is read, and the last count is told in between.
type tally struct {
	d     *desk
	stale atomic.Bool // the last count is not good enough: somebody asked

	mu     sync.Mutex // held while they are counted
	last   inspect.LeaseCounts
	at     time.Time
	took   time.Duration
	failed bool
}

// read returns the counts and when they were made.
func (t *tally) read(ctx context.Context) (inspect.LeaseCounts, time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	begin := t.d.now()
	asked := t.stale.Swap(false)
	every := t.d.opts.Refresh
	rest := t.d.rest(every, t.took, t.last.Total, true)
	if !asked && !t.failed && !t.at.IsZero() && rest > every && begin.Sub(t.at) < rest {
		return t.last, t.at, nil
	}
	counts, err := t.d.opts.Inspector.CountLeases(ctx)
	t.failed = err != nil || len(counts.Missing) > 0
	t.at, t.last = t.d.now(), counts
	t.took = t.at.Sub(begin)
	return counts, t.at, err
}
