package inspect

import (
	"context"
	"time"

	"rewardctl/grant"
)

const (
	// LeaseEndings is how many parts of LeaseEndingSpan LeaseCounts.Ending tells apart.
	LeaseEndings = 20
	// LeaseEndingSpan is how far ahead LeaseCounts.Ending looks.
	LeaseEndingSpan = time.Minute
)

// LeaseCounts says how many leases are in which state. It is made without making the leases, so
// that very many can be counted again and again.
type LeaseCounts struct {
	At     time.Time     // this machine's clock
	Total  int           // leases in Redis
	States map[State]int // by the state that comes first
	// Ending counts the leases that end in each part of the next LeaseEndingSpan, the nearest
	// first.
	Ending  []int
	Missing []Missing
}

// Blind says why nothing is known of the leases: that none was counted does not mean that none is
// held. It is nil when they were read.
func (c *LeaseCounts) Blind() error { return blind(c.Missing) }

// CountLeases counts the leases. It asks each server once, however many leases there are. With a
// server down it says what is missing, and counts what the other tells. The error is that of ctx.
func (r *Reader) CountLeases(ctx context.Context) (LeaseCounts, error) {
	chosen, err := newSelection(LeaseFilter{Sort: SortState})
	if err != nil {
		return LeaseCounts{}, err
	}
	out := LeaseCounts{
		At: r.opts.Now(), States: map[State]int{}, Ending: make([]int, LeaseEndings),
	}
	seen, err := r.survey(ctx, chosen)
	if err != nil {
		out.Missing = append(out.Missing, Missing{grant.Redis, lackLeases, err})
		return out, ctx.Err()
	}
	out.Total = len(seen.entries)
	seen.pick(chosen)
	list := LeaseList{At: out.At}
	r.hearPicked(ctx, seen, &list)
	if seen.fenceErr != nil {
		list.Missing = append(list.Missing, noFences(seen.fenceErr))
	}
	out.Missing = list.Missing
	seen.rank(chosen, r.opts.TTL)
	states := States()
	for _, at := range seen.picks {
		out.States[states[seen.ranks[at]]]++
		e := &seen.entries[at]
		if !e.NoExpiry && e.Left < LeaseEndingSpan {
			out.Ending[e.Left*LeaseEndings/LeaseEndingSpan]++
		}
	}
	return out, ctx.Err()
}
