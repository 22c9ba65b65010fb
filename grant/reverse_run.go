package grant

import (
	"context"
	"slices"
)

// reversing is one reversal on its way through the engine. Its item carries it through what
// reversals and grants share: leases and waves.
type reversing struct {
	in  Reversal
	it  *item
	out Reversed
}

func newReversing(in Reversal) *reversing {
	if in.Policy == "" {
		in.Policy = PolicyRefuse
	}
	it := newItem(Request{
		PlayerID: in.PlayerID, EventID: ReversalID(in.Posting, in.Part), Held: in.Held,
	})
	r := &reversing{in: in, it: it, out: Reversed{
		Reversal: in, Resource: it.resource(), EventID: it.req.EventID,
	}}
	it.rev = r
	return r
}

func (r *reversing) fail(err error) {
	r.out.Outcome, r.out.Err, r.out.Holder = ReverseFailed, err, nil
}

func failReversals(all []*reversing, err error) {
	for _, r := range all {
		r.fail(err)
	}
}

// reverseMany decides a lane's part of the reversals in chunks, in turn with its grants.
func (l *lane) reverseMany(ctx context.Context, all []*reversing, deed DeedFunc) {
	for part := range slices.Chunk(all, l.engine.opt.BatchMax) {
		if err := ctx.Err(); err != nil {
			failReversals(part, err)
			continue
		}
		l.work.Lock()
		l.engine.reverseBatch(ctx, part, deed)
		l.work.Unlock()
	}
}

// reverseBatch decides every reversal of a chunk. A refused token is tried once more under a lease
// with a fresh floor, as for grants.
func (e *Engine) reverseBatch(ctx context.Context, all []*reversing, deed DeedFunc) {
	if err := e.checkGate(ctx); err != nil {
		failReversals(all, err)
		return
	}
	e.reverseWaves(ctx, all, deed)
	var again []*reversing
	for _, r := range all {
		refused := r.out.Outcome == ReverseStale || r.out.Outcome == ReverseCollision
		if refused && r.in.Held == nil {
			again = append(again, r)
		}
	}
	if len(again) > 0 {
		e.reverseWaves(ctx, again, deed)
	}
}

func (e *Engine) reverseWaves(ctx context.Context, all []*reversing, deed DeedFunc) {
	items := make([]*item, len(all))
	for i, r := range all {
		r.it.reset()
		items[i] = r.it
	}
	e.runWaves(ctx, items, func(w wave) (transmission, error) { return e.layOutReversals(w, deed) })
	for _, r := range all {
		r.takeLease()
	}
}

// takeLease takes over what the item met when it got no lease. What was sent left no trace in the
// item's own result.
func (r *reversing) takeLease() {
	switch {
	case r.it.res.Outcome == LeaseHeld:
		r.out.Outcome, r.out.Holder = ReverseHeld, r.it.res.Holder
	case r.it.res.Err != nil:
		r.fail(r.it.res.Err)
	}
}
