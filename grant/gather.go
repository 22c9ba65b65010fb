package grant

import (
	"context"
	"hash/fnv"
	"sync"
)

// laneOf spreads resources over the lanes, each resource always to the same one.
func (e *Engine) laneOf(resource string) int {
	h := fnv.New32a()
	h.Write([]byte(resource))
	return int(h.Sum32() % uint32(len(e.lanes)))
}

// lane runs batches one after the other, so that one process never finds its own lease held.
// It gathers concurrent Grant calls: while one batch is in flight, new calls wait and become the
// next batch. The first call of an idle lane starts at once.
type lane struct {
	engine *Engine
	work   sync.Mutex // held while a batch is in flight

	mu      sync.Mutex
	waiting []*call
	running bool
}

// call is one Grant call waiting for its batch.
type call struct {
	ctx  context.Context
	it   *item
	done chan struct{} // closed when it.res holds the answer
}

// do runs the item in the lane's next batch. It returns an error only for a call whose context
// ended before its batch began. Once begun, the answer is waited for: it is bounded by the lease
// and by the time a lost answer may take to resolve.
func (l *lane) do(ctx context.Context, it *item) error {
	c := &call{ctx: ctx, it: it, done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, c)
	if !l.running {
		l.running = true
		go l.run()
	}
	l.mu.Unlock()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	if l.withdraw(c) {
		return ctx.Err()
	}
	<-c.done
	return nil
}

// withdraw takes a call out that has not begun.
func (l *lane) withdraw(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w == c {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// run works batch after batch until nobody waits, then ends.
func (l *lane) run() {
	for {
		batch := l.take()
		if batch == nil {
			return
		}
		items := make([]*item, len(batch))
		for i, c := range batch {
			items[i] = c.it
		}
		// The batch belongs to all its callers: one of them leaving must not stop the others.
		l.work.Lock()
		l.engine.runBatch(context.WithoutCancel(batch[0].ctx), items)
		l.work.Unlock()
		for _, c := range batch {
			close(c.done)
		}
	}
}

// runMany decides a caller's own items in chunks, each in its turn with the gathered calls.
func (l *lane) runMany(ctx context.Context, items []*item) {
	for len(items) > 0 {
		n := min(len(items), l.engine.opt.BatchMax)
		if err := ctx.Err(); err != nil {
			failAll(items, err)
			return
		}
		l.work.Lock()
		l.engine.runBatch(ctx, items[:n])
		l.work.Unlock()
		items = items[n:]
	}
}

// take removes the next batch. Calls that name the key of an earlier call with other content
// stay for the following batch: each of these callers is right by itself, and the ledger decides.
func (l *lane) take() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running = false
		return nil
	}
	seen := make(map[key]*item, len(l.waiting))
	var batch, rest []*call
	for _, c := range l.waiting {
		first, twice := seen[c.it.key()]
		if len(batch) == l.engine.opt.BatchMax || (twice && !c.it.sharesRun(first)) {
			rest = append(rest, c)
			continue
		}
		seen[c.it.key()] = c.it
		batch = append(batch, c)
	}
	l.waiting = rest
	return batch
}
