package inspect

import (
	"context"
	"time"

	"rewardctl/grant/lease"
)

// Ages says how long ago the tokens of some leases were issued, by resource, as far as the index
// of leases knows: foreign locks and leases that ended meanwhile are missing. The error wraps a
// *grant.BackendError.
func (r *Reader) Ages(ctx context.Context, leases []Lease) (map[string]time.Duration, error) {
	held := make([]lease.Held, 0, len(leases))
	for _, l := range leases {
		if l.Foreign == "" && l.Owner != "" {
			held = append(held, lease.Held{Resource: l.Resource, Owner: l.Owner})
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	out := make(map[string]time.Duration, len(held))
	err := r.redis(ctx, "ask since when leases are held", func(ctx context.Context) error {
		ages, err := r.store.Ages(ctx, held)
		for i, age := range ages {
			if age >= 0 {
				out[held[i].Resource] = age
			}
		}
		return err
	})
	return out, err
}
