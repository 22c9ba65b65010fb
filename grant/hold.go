package grant

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// acquire gives every item a lease: its own, or one per resource from the store. Items that get
// none are answered here.
func (e *Engine) acquire(ctx context.Context, items []*item) []leasedItem {
	leased := make([]leasedItem, 0, len(items))
	byResource := make(map[string][]*item)
	var resources []string
	for _, it := range items {
		if held := it.req.Held; held != nil {
			lease := *held
			lease.Resource = it.resource()
			leased = append(leased, leasedItem{it, lease, false})
			continue
		}
		r := it.resource()
		if byResource[r] == nil {
			resources = append(resources, r)
		}
		byResource[r] = append(byResource[r], it)
	}
	if len(resources) == 0 {
		return leased
	}
	ctx, cancel := e.bound(ctx)
	defer cancel()
	floors, err := e.floors(ctx, resources)
	if err != nil {
		for _, r := range resources {
			failAll(byResource[r], err)
		}
		return leased
	}
	asks := make([]Ask, len(resources))
	for i, r := range resources {
		asks[i] = Ask{Resource: r, Owner: e.opt.Worker + "#" + e.opt.NewID(), Floor: floors[r]}
	}
	e.opt.OnStep(StepAcquire)
	for i, answer := range e.leases.Acquire(ctx, asks) {
		for _, it := range byResource[resources[i]] {
			switch {
			case answer.Lease != nil:
				leased = append(leased, leasedItem{it, *answer.Lease, true})
			case answer.Holder != nil:
				it.res.Outcome = LeaseHeld
				it.res.Holder = answer.Holder
			default:
				it.fail(answer.Err)
			}
		}
	}
	return leased
}

// floors reads the fences of the resources. A resource without a fence has floor 0.
func (e *Engine) floors(ctx context.Context, resources []string) (map[string]int64, error) {
	rows, err := e.pool.Query(ctx, fenceFloorSQL, resources)
	if err != nil {
		return nil, &BackendError{Backend: PostgreSQL, Op: "read the fences", Err: err}
	}
	floors := make(map[string]int64, len(resources))
	var (
		resource string
		token    int64
	)
	_, err = pgx.ForEachRow(rows, []any{&resource, &token}, func() error {
		floors[resource] = token
		return nil
	})
	if err != nil {
		return nil, &BackendError{Backend: PostgreSQL, Op: "read the fences", Err: err}
	}
	return floors, nil
}

// release ends the engine's own leases. It happens even when the caller has gone, with a bound of
// its own. A lease that cannot be released ends with its TTL; the outcome stands either way.
func (e *Engine) release(ctx context.Context, w wave) {
	var own []Lease
	for i, lease := range w.leases {
		if w.own[i] {
			own = append(own, lease)
		}
	}
	if len(own) == 0 {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), leaseCallFor,
		errors.New("releasing the leases took too long"))
	defer cancel()
	e.leases.Release(ctx, own)
}

// bound gives a call a deadline of its own when the caller set none.
func (e *Engine) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, leaseCallFor, errLeaseSlow)
}

var errLeaseSlow = errors.New("reading the fences and acquiring the leases took too long")

var errSendSlow = errors.New("the transaction took too long")

// errTrustEnded is the cause of a grant that was cut short because its lease ran out.
var errTrustEnded = errors.New("the lease can no longer be trusted")

// sendContext limits a transaction to the time its leases may be trusted. Leases that the caller
// vouches for have no such time; the bound then only keeps a dead connection from hanging it.
func (e *Engine) sendContext(
	ctx context.Context, until time.Time,
) (context.Context, context.CancelFunc) {
	if until.IsZero() {
		return context.WithTimeoutCause(ctx, vouchedFor, errSendSlow)
	}
	// The distance is computed on the engine's clock and applied as a timeout, so that an
	// injected clock works and the system's wall clock plays no part.
	return context.WithTimeoutCause(ctx, until.Sub(e.opt.Now()), errTrustEnded)
}
