package inspect

import (
	"context"
	"time"

	"rewardctl/grant/lease"
)

// HeldSince says when the tokens of some leases were issued, by resource, as far as the index of
// leases knows: foreign locks and leases that ended meanwhile are missing. The moments are those of
// this machine's clock: as long ago as the server says that it was. The error wraps a
// *grant.BackendError.
func (r *Reader) HeldSince(ctx context.Context, leases []Lease) (map[string]time.Time, error) {
	held := make([]lease.Held, 0, len(leases))
	for _, l := range leases {
		if l.Foreign == "" && l.Owner != "" {
			held = append(held, lease.Held{Resource: l.Resource, Owner: l.Owner})
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	out := make(map[string]time.Time, len(held))
	err := r.redis(ctx, "ask since when leases are held", func(ctx context.Context) error {
		ages, err := r.store.Ages(ctx, held)
		now := r.opts.Now()
		for i, age := range ages {
			if age >= 0 {
				out[held[i].Resource] = now.Add(-age)
			}
		}
		return err
	})
	return out, err
}
