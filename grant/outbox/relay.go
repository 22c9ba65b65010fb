package outbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

// Relay brings outbox rows to a sink. Run it once; for more, make more of them.
type Relay struct {
	pool *pgxpool.Pool
	sink Sink
	opts Options

	rest    rest
	meters  meters
	trouble trouble

	after string // the player after whom the next claim begins
	turn  bool   // whether a claim of one row prefers a retry

	held   atomic.Int64  // rows claimed and not yet marked
	marked atomic.Bool   // something was marked since the last claim
	kick   chan struct{} // wakes the dispatcher: a row was marked, or one was queued
}

// New returns a relay. It returns a *grant.Rejection when the options cannot work.
func New(pool *pgxpool.Pool, sink Sink, opts Options) (*Relay, error) {
	if pool == nil || sink == nil {
		return nil, errors.New("outbox: a relay needs a database pool and a sink")
	}
	if err := opts.complete(); err != nil {
		return nil, err
	}
	r := &Relay{
		pool: pool, sink: sink, opts: opts, kick: make(chan struct{}, 1),
		rest: rest{now: opts.Now, most: opts.PauseMax},
	}
	r.meters.start()
	return r, nil
}

// Run relays until ctx ends, whatever the servers do meanwhile. Then it claims no more, waits up
// to Options.Grace for what is on its way, gives back what it has not sent, and returns nil.
func (r *Relay) Run(ctx context.Context) error { return r.run(ctx, false) }

// Drain relays until nothing can be sent now: what is left waits for a retry, for an operator or
// for another relay. It ends early when the receiver is down, and returns a *grant.BackendError
// when PostgreSQL cannot be asked. The tally tells what was done.
func (r *Relay) Drain(ctx context.Context) (Tally, error) {
	err := r.run(ctx, true)
	return r.Tally(), err
}

func (r *Relay) run(ctx context.Context, drain bool) error {
	// What is on its way when ctx ends may finish, but not for ever.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	unhook := context.AfterFunc(ctx, func() { time.AfterFunc(r.opts.Grace, stop) })
	defer unhook()
	jobs := make(chan row, 2*r.opts.Concurrency)
	results := make(chan result, 2*r.opts.Concurrency)
	var workers, writer sync.WaitGroup
	for range r.opts.Concurrency {
		workers.Go(func() {
			for one := range jobs {
				results <- r.handle(ctx, work, one)
			}
		})
	}
	writer.Go(func() { r.marks(work, results) })
	err := r.dispatch(ctx, jobs, drain)
	close(jobs)
	workers.Wait()
	close(results)
	writer.Wait()
	return err
}

// dispatch claims rows and hands them to the workers, until ctx ends or there is nothing to drain.
func (r *Relay) dispatch(ctx context.Context, jobs chan<- row, drain bool) error {
	ear := r.newEar(drain)
	defer ear.close(ctx)
	idle, failures := 0, 0
	whole := false // the look began at the first player, and nothing was claimed since
	for ctx.Err() == nil {
		n := r.room()
		if pause := r.rest.left(); pause > 0 && drain {
			return nil
		} else if pause > 0 {
			r.wait(ctx, pause, false)
			continue
		} else if n == 0 {
			r.wait(ctx, r.opts.PollMax, true)
			continue
		}
		r.marked.Store(false)
		whole = whole || r.after == ""
		got, err := r.claim(ctx, n)
		r.troubled(ctx, "claim rows", err)
		if err != nil && drain {
			return backend("claim rows", err)
		} else if err != nil {
			failures++
			r.wait(ctx, backoff(backoffFirst, r.opts.PauseMax, 0, failures), false)
			continue
		}
		failures = 0
		if len(got.rows) > 0 {
			idle, whole = 0, false
			ear.awake(ctx)
			r.send(jobs, got.rows)
			continue
		}
		if !got.ended || !whole {
			continue // there are players that were not looked at
		}
		whole = false
		if drain && r.held.Load() == 0 && !r.marked.Load() {
			return nil
		}
		if ear.asleep || !ear.fallAsleep(ctx) {
			idle++
			r.doze(ctx, ear, idle, got.due)
		} // else look once more: a row may have been queued before we were known to be asleep
	}
	return nil
}

// room is how many rows may be claimed now. While a receiver is down it is tried with one row.
func (r *Relay) room() int {
	held := int(r.held.Load())
	if _, careful := r.rest.careful(); careful {
		return max(0, 1-held)
	}
	return min(r.opts.Batch, 2*r.opts.Concurrency-held)
}

// send hands claimed rows to the workers; the channel holds as many as may be claimed.
func (r *Relay) send(jobs chan<- row, rows []row) {
	r.held.Add(int64(len(rows)))
	ids := make([]int64, len(rows))
	for i, one := range rows {
		ids[i] = one.id
	}
	r.opts.OnStep(StepClaimed, ids)
	for _, one := range rows {
		jobs <- one
	}
}

// free tells the dispatcher that rows are done.
func (r *Relay) free(n int) {
	r.held.Add(-int64(n))
	r.marked.Store(true)
	r.wake()
}

// wake ends a wait of the dispatcher.
func (r *Relay) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// doze waits for something to do: longer each time, but not beyond the next retry that is due. A
// row that was marked ends it, since the player's next row can follow.
func (r *Relay) doze(ctx context.Context, ear *ear, idle int, due time.Duration) {
	nap := r.opts.PollMax
	if short := pollMin << min(idle-1, 10); short < nap && !ear.asleep {
		nap = short
	}
	if due > 0 {
		nap = min(nap, due)
	}
	if !ear.asleep {
		r.wait(ctx, nap, true)
		return
	}
	ear.wait(ctx, nap, r.kick)
	ear.awake(ctx)
}

// wait waits for a time, and no longer than until a kick when one may end it.
func (r *Relay) wait(ctx context.Context, d time.Duration, kicked bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	kick := r.kick
	if !kicked {
		kick = nil
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-kick:
	}
}

// sleep waits, and reports whether there was no reason to stop.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

func backend(op string, err error) error {
	return &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: err}
}
