package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rewardctl/grant"
)

// Causes of the end of a Keeper's context.
var (
	// ErrLost says that the lease's value is not there any more: it expired, was released by an
	// operator, or was evicted.
	ErrLost = errors.New("lease lost")
	// ErrExpired says that the lease could not be renewed in time and must not be trusted.
	ErrExpired = errors.New("lease not renewed in time")
	// ErrStopped says that the work was done and the keeper stopped.
	ErrStopped = errors.New("lease keeper stopped")
)

const renewShare = 3 // a lease is renewed every TTL/renewShare

// Renewer is what a keeper needs of a store.
type Renewer interface {
	Renew(ctx context.Context, leases []grant.Lease) []RenewAnswer
}

// KeepOptions configures a Keeper. The zero value is useful.
type KeepOptions struct {
	// Warn is told once per outage that renewing failed and goes on being tried.
	Warn func(error)
	// Lost is told once that the lease is over, with the cause. It is not told about Stop. Both
	// functions are called by the keeper's own goroutine, so neither may call Stop.
	Lost func(error)
}

// Keeper renews one lease until Stop or until the lease is lost.
type Keeper struct {
	renewer Renewer
	every   time.Duration
	now     func() time.Time
	opts    KeepOptions

	work    context.Context
	end     context.CancelCauseFunc
	stopped chan struct{}
	done    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	lease grant.Lease
}

// Keep starts a keeper for a lease of this store. Work runs under Context. The caller calls Stop
// in any case, and releases the lease after it.
func (s *Store) Keep(ctx context.Context, l grant.Lease, o KeepOptions) *Keeper {
	return keep(ctx, s, s.opts.TTL, s.opts.Now, l, o)
}

func keep(
	ctx context.Context, r Renewer, ttl time.Duration, now func() time.Time, l grant.Lease,
	o KeepOptions,
) *Keeper {
	k := &Keeper{
		renewer: r, every: ttl / renewShare, now: now, opts: o, lease: l,
		stopped: make(chan struct{}), done: make(chan struct{}),
	}
	k.work, k.end = context.WithCancelCause(ctx)
	go k.run()
	return k
}

// Context is what the work under the lease runs in. It ends with the parent, with Stop, and, at
// the latest at the moment up to which the lease can be trusted, with its loss; context.Cause
// tells which: ErrLost, ErrExpired or ErrStopped.
func (k *Keeper) Context() context.Context { return k.work }

// Lease returns the lease as it stands, with the Until of the last renewal.
func (k *Keeper) Lease() grant.Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lease
}

// Stop ends the renewing and waits for it, so that no renewal can follow the release that comes
// next. It may be called more than once.
func (k *Keeper) Stop() {
	k.once.Do(func() { close(k.stopped) })
	<-k.done
	k.end(ErrStopped)
}

// run renews at every tick. Each renewal runs in its own goroutine while this one watches the
// deadline: a store that does not answer must not keep the work from being cancelled in time.
func (k *Keeper) run() {
	defer close(k.done)
	renewals, cancel := context.WithCancel(context.WithoutCancel(k.work))
	answers := make(chan RenewAnswer, 1)
	running := false
	defer func() {
		cancel()
		if running {
			<-answers
		}
	}()
	deadline := time.NewTimer(k.Lease().Until.Sub(k.now()))
	defer deadline.Stop()
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	warned := false
	for {
		select {
		case <-k.stopped:
			return
		case <-k.work.Done():
			return
		case <-deadline.C:
			k.lose(ErrExpired)
			return
		case <-tick.C:
			if running {
				continue
			}
			running = true
			l := k.Lease()
			go func() { answers <- k.renewer.Renew(renewals, []grant.Lease{l})[0] }()
		case a := <-answers:
			running = false
			switch {
			case a.Err != nil:
				k.warn(a.Err, &warned)
			case a.Lost:
				k.lose(lostTo(a.Holder))
				return
			default:
				warned = false
				k.extend(a.Lease)
				deadline.Reset(a.Lease.Until.Sub(k.now()))
			}
		}
	}
}

func (k *Keeper) extend(l grant.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lease = l
}

func (k *Keeper) warn(err error, warned *bool) {
	if !*warned && k.opts.Warn != nil {
		k.opts.Warn(err)
	}
	*warned = true
}

func (k *Keeper) lose(cause error) {
	k.end(cause)
	if k.opts.Lost != nil {
		k.opts.Lost(cause)
	}
}

func lostTo(h *grant.Holder) error {
	if h == nil {
		return ErrLost
	}
	return fmt.Errorf("%w: %s holds it under token %d", ErrLost, h.Owner, h.Token)
}
