package lease

import (
	"context"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// RenewAnswer says what became of one lease.
type RenewAnswer struct {
	// Lease is the lease as it stands: with a later Until when it was extended, as it was
	// otherwise.
	Lease grant.Lease
	// Lost is true when the lease is over: its exact value is not there any more. Renewing never
	// creates it again.
	Lost bool
	// Holder is what is there instead of a lost lease; nil when nothing is.
	Holder *grant.Holder
	// Err is a *grant.BackendError when the store could not say. The lease counts as not
	// extended; until Lease.Until it may be tried again.
	Err error
}

// Renew extends each lease whose exact value is still there to a full TTL from the start of the
// attempt, and answers in order. A renewal whose reply was lost is repeated.
func (s *Store) Renew(ctx context.Context, leases []grant.Lease) []RenewAnswer {
	out := make([]RenewAnswer, len(leases))
	items := make([]item, 0, len(leases))
	for i, l := range leases {
		out[i].Lease = l
		if l.Resource == "" {
			out[i].Err = ErrNoResource
			continue
		}
		items = append(items, s.item(i, l.Resource, l.Owner))
	}
	calls := s.renewCalls(leases, items)
	s.runBound(ctx, calls)
	extended := make([]item, 0, len(items))
	for k, it := range items {
		a := s.renewed(leases[it.pos], calls[k/s.chunk], k%s.chunk)
		if a.Err == nil && !a.Lost {
			extended = append(extended, it)
		}
		out[it.pos] = a
	}
	if s.cluster && len(extended) > 0 {
		// Heals entries that were lost with their server. Failing is no harm: they are most
		// likely there, and the next renewal tries again.
		again, _ := s.memberCalls(s.scripts.indexEnter, extended)
		s.run(ctx, again)
	}
	return out
}

func (s *Store) renewCalls(leases []grant.Lease, items []item) []*call {
	calls := make([]*call, 0, len(items)/s.chunk+1)
	for part := range slices.Chunk(items, s.chunk) {
		shards := s.shardSet(part)
		strs := make([]string, 0, 4*len(part)+len(shards.keys)+2)
		text := newSlab(part, s.text.lock)
		for _, it := range part {
			strs = append(strs, text.key(s.text.lock, it.tag))
		}
		strs = append(strs, shards.keys...)
		keys := len(strs)
		strs = append(strs, strconv.Itoa(len(part)), s.text.ttl)
		for _, it := range part {
			l := leases[it.pos]
			strs = append(strs, FormatValue(l.Token, l.Owner), it.member, shards.place(it.shard))
		}
		calls = append(calls, newCall(s.scripts.renew, keys, strs))
	}
	return calls
}

func (s *Store) renewed(l grant.Lease, c *call, k int) RenewAnswer {
	a := RenewAnswer{Lease: l}
	if c.err != nil {
		a.Err = broken("renew", c.err)
		return a
	}
	if k >= len(c.reply) || c.reply[k] == "" {
		a.Err = broken("renew", errShape)
		return a
	}
	switch c.reply[k][0] {
	case 'x':
		a.Lease.Until = c.start.Add(s.opts.TTL - s.opts.Margin)
	case 'g':
		a.Lost = true
	case 'h', 't':
		a.Lost = true
		h, err := holder(l.Resource, c.reply[k])
		if err != nil {
			a.Err = broken("renew", err)
		}
		a.Holder = h
	case 'e':
		a.Err = broken("renew", ServerError(c.reply[k][1:]))
	default:
		a.Err = broken("renew", errShape)
	}
	return a
}
