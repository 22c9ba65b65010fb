package grant

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options configure an Engine. The zero value of a field means its default.
type Options struct {
	// Worker names this process in the owners of its leases: worker@host/pid. Its heartbeat is
	// kept under the same name. Required.
	Worker string
	Limits Limits
	// BatchMax is how many items go into one transaction: 1 to 5000, 1000 by default.
	BatchMax int
	// Lanes is how many batches of concurrent Grant calls may be in flight at once, 2 by
	// default. A resource always uses the same lane.
	Lanes int
	// HeldWait is how long a lease that another owner holds is waited for before the answer is
	// LeaseHeld; 0 asks once.
	HeldWait time.Duration

	Now   func() time.Time // the clock of trust windows; time.Now by default
	NewID func() string    // a fresh random nonce of at least 128 bits; required
	// Wait pauses between attempts, and returns early with the context's error. A timer by
	// default.
	Wait func(context.Context, time.Duration) error
	// OnStep is called as a batch passes each step of the protocol. Drills and tests use it to
	// stop a worker at a chosen point; nil does nothing.
	OnStep func(Step)
}

// Step is a point of the protocol between an acquire and a release.
type Step string

// The steps of one batch, in order.
const (
	StepFloors   Step = "floors"   // before the fences are read
	StepAcquire  Step = "acquire"  // before the leases are asked for
	StepSend     Step = "send"     // leases held, before the transaction is sent
	StepResolve  Step = "resolve"  // the answer was lost, before the batch is sent again
	StepAnswered Step = "answered" // the outcome is known, before the leases are released
	StepReleased Step = "released" // after the leases were released
)

// Engine grants rewards. It is safe for concurrent use. Concurrent Grant calls are gathered into
// batches: while a batch is in flight, new calls gather for the next one; an idle engine adds no
// wait.
type Engine struct {
	pool   *pgxpool.Pool
	leases Leases
	opt    Options
	lanes  []*lane
	gate   atomic.Pointer[time.Time] // when the schema last passed the check
	told   answered
}

// NewEngine wires an engine. It talks to no server; the schema is checked before the first grant.
func NewEngine(pool *pgxpool.Pool, leases Leases, opt Options) (*Engine, error) {
	if pool == nil || leases == nil || opt.NewID == nil {
		return nil, errors.New("grant: an engine needs a pool, a lease store and Options.NewID")
	}
	if problem := textProblem(opt.Worker, textMax); problem != "" {
		return nil, fmt.Errorf("grant: Options.Worker %q %s", opt.Worker, problem)
	}
	if opt.BatchMax == 0 {
		opt.BatchMax = batchMaxDefault
	}
	if opt.BatchMax < 1 || opt.BatchMax > batchMaxLimit {
		return nil, fmt.Errorf("grant: Options.BatchMax %d is not from 1 to %d", opt.BatchMax,
			batchMaxLimit)
	}
	if opt.Lanes == 0 {
		opt.Lanes = 2
	}
	if opt.Lanes < 1 || opt.HeldWait < 0 {
		return nil, errors.New("grant: Options.Lanes and HeldWait cannot be negative")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Wait == nil {
		opt.Wait = waitTimer
	}
	if opt.OnStep == nil {
		opt.OnStep = func(Step) {}
	}
	e := &Engine{pool: pool, leases: leases, opt: opt}
	for range opt.Lanes {
		e.lanes = append(e.lanes, &lane{engine: e})
	}
	return e, nil
}

// Grant posts one reward. Concurrent calls share transactions. An error proves that nothing was
// written: a *GateError, a *BackendError, or the context's error. When the context ends after the
// request was sent, Grant first learns the outcome (see Unknown) and answers it.
func (e *Engine) Grant(ctx context.Context, r Request) (Result, error) {
	it := newItem(r)
	if it.res.Rejected = Validate(r, e.opt.Limits); it.res.Rejected != nil {
		it.res.Outcome = Rejected
		return it.res, nil
	}
	deadline := e.opt.Now().Add(e.opt.HeldWait)
	for pause := heldPause; ; pause = min(2*pause, heldPauseMax) {
		if err := e.lanes[e.laneOf(it.resource())].do(ctx, it); err != nil {
			return it.res, err
		}
		if it.res.Outcome != LeaseHeld || !e.opt.Now().Add(pause).Before(deadline) {
			return it.res, it.res.Err
		}
		if err := e.opt.Wait(ctx, pause); err != nil {
			return it.res, nil // the last true answer: the lease is held
		}
		it.reset()
	}
}

// GrantMany posts rewards and answers each request, in order. A key that requests name twice is
// settled first: the same content runs once and its repeats answer Replayed with DuplicateOf;
// differing content rejects all requests of that key. An item with the outcome Failed was not
// decided: nothing of it was written, and its Err says why. GrantMany returns an error only when
// every item failed for the same reason, such as a schema that does not protect the ledger.
func (e *Engine) GrantMany(ctx context.Context, requests []Request) ([]Result, error) {
	items := make([]*item, len(requests))
	for i, r := range requests {
		items[i] = newItem(r)
		if items[i].res.Rejected = Validate(r, e.opt.Limits); items[i].res.Rejected != nil {
			items[i].res.Outcome = Rejected
		}
	}
	open, repeats := settle(items)
	deadline := e.opt.Now().Add(e.opt.HeldWait)
	for pause := heldPause; len(open) > 0; pause = min(2*pause, heldPauseMax) {
		e.runChunks(ctx, open)
		open = heldOnly(open)
		if len(open) == 0 || !e.opt.Now().Add(pause).Before(deadline) {
			break
		}
		if e.opt.Wait(ctx, pause) != nil {
			break
		}
		for _, it := range open {
			it.reset()
		}
	}
	for _, r := range repeats {
		r.echo()
	}
	results := make([]Result, len(items))
	for i, it := range items {
		results[i] = it.res
	}
	return results, commonFailure(results)
}

// runChunks decides the items, each lane's part of them concurrently.
func (e *Engine) runChunks(ctx context.Context, items []*item) {
	parts := make([][]*item, len(e.lanes))
	for _, it := range items {
		n := e.laneOf(it.resource())
		parts[n] = append(parts[n], it)
	}
	var wg sync.WaitGroup
	for n, part := range parts {
		if len(part) > 0 {
			wg.Go(func() { e.lanes[n].runMany(ctx, part) })
		}
	}
	wg.Wait()
}

func heldOnly(items []*item) []*item {
	var held []*item
	for _, it := range items {
		if it.res.Outcome == LeaseHeld {
			held = append(held, it)
		}
	}
	return held
}

// commonFailure returns the error of a batch in which nothing was decided at all.
func commonFailure(results []Result) error {
	for _, r := range results {
		if r.Outcome != Failed {
			return nil
		}
	}
	if len(results) == 0 {
		return nil
	}
	return results[0].Err
}

func waitTimer(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
