package lease

import (
	"context"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// Release ends each lease whose exact value is still there, and answers in order: nil for
// released, already gone or held by somebody else by now; a *grant.BackendError when the store
// could not be reached, and the lease then ends with its TTL. A release whose reply was lost is
// repeated, which can only find the lease gone.
func (s *Store) Release(ctx context.Context, leases []grant.Lease) []error {
	errs := make([]error, len(leases))
	items := make([]item, 0, len(leases))
	values := make([]string, len(leases))
	for i, l := range leases {
		if l.Resource == "" {
			errs[i] = ErrNoResource
			continue
		}
		values[i] = FormatValue(l.Token, l.Owner)
		items = append(items, s.item(i, l.Resource, l.Owner))
	}
	for i, f := range s.free(ctx, items, values, "released") {
		errs[items[i].pos] = f.err
	}
	return errs
}

// Freedom is what a release found.
type Freedom uint8

// The three answers to a release.
const (
	Released Freedom = iota + 1 // the value was there and is gone now
	Gone                        // nothing was there any more
	Changed                     // something else is there, untouched
)

var freedomNames = [...]string{Released: "released", Gone: "gone", Changed: "changed"}

// String returns the word used in JSON and messages.
func (f Freedom) String() string {
	if f >= Released && int(f) < len(freedomNames) {
		return freedomNames[f]
	}
	return "freedom(" + strconv.Itoa(int(f)) + ")"
}

// Freed is the answer to ReleaseExact.
type Freed struct {
	Answer Freedom
	// Now is the value that is there instead; set when Answer is Changed. Data of another type
	// shows as its type in parentheses.
	Now string
}

// ReleaseExact ends the lease of a resource if the lock holds exactly value, which may be any
// text: an operator names what the screen showed. It never touches another value. The error is
// ErrNoResource, or a *grant.BackendError whose Doubt says whether the lock may be gone.
func (s *Store) ReleaseExact(ctx context.Context, resource, value string) (Freed, error) {
	if resource == "" {
		return Freed{}, ErrNoResource
	}
	tag := encodeTag(resource)
	it := item{tag: tag, shard: s.shardOf(tag)}
	if _, owner, err := ParseValue(value); err == nil {
		it.member = member(tag, owner)
	}
	f := s.free(ctx, []item{it}, []string{value}, "freed")[0]
	return f.Freed, f.err
}

type freed struct {
	Freed
	err error
}

// holds reports whether the lock is held by the very acquisition of the item: only the token that
// was named is wrong, and the index entry must stay.
func (f freed) holds(it item) bool {
	if f.Answer != Changed {
		return false
	}
	_, owner, err := ParseValue(f.Now)
	return err == nil && it.member == member(it.tag, owner)
}

// free runs the release script for items and answers in their order. word goes to the history.
func (s *Store) free(ctx context.Context, items []item, values []string, word string) []freed {
	calls := s.releaseCalls(items, values, word)
	s.runBound(ctx, calls)
	out := make([]freed, len(items))
	var ended []item
	for k, it := range items {
		out[k] = readFreed(calls[k/s.chunk], k%s.chunk)
		if out[k].err == nil && !out[k].holds(it) {
			ended = append(ended, it)
		}
	}
	if s.cluster {
		s.leave(ctx, ended)
	}
	return out
}

func (s *Store) releaseCalls(items []item, values []string, word string) []*call {
	calls := make([]*call, 0, len(items)/s.chunk+1)
	for part := range slices.Chunk(items, s.chunk) {
		shards := s.shardSet(part)
		strs := make([]string, 0, 5*len(part)+len(shards.keys)+3)
		text := newSlab(part, s.text.lock, s.text.history)
		for _, it := range part {
			strs = append(strs, text.key(s.text.lock, it.tag), text.key(s.text.history, it.tag))
		}
		strs = append(strs, shards.keys...)
		keys := len(strs)
		strs = append(strs, strconv.Itoa(len(part)), s.text.keep, word)
		for _, it := range part {
			place := "0"
			if it.member != "" {
				place = shards.place(it.shard)
			}
			strs = append(strs, values[it.pos], it.member, place)
		}
		calls = append(calls, newCall(s.scripts.release, keys, strs))
	}
	return calls
}

func readFreed(c *call, k int) freed {
	if c.err != nil {
		return freed{err: broken("release", c.err)}
	}
	if k >= len(c.reply) || c.reply[k] == "" {
		return freed{err: broken("release", errShape)}
	}
	rest := c.reply[k][1:]
	switch c.reply[k][0] {
	case 'r':
		return freed{Freed: Freed{Answer: Released}}
	case 'g':
		return freed{Freed: Freed{Answer: Gone}}
	case 'c':
		return freed{Freed: Freed{Answer: Changed, Now: rest}}
	case 't':
		return freed{Freed: Freed{Answer: Changed, Now: "(" + rest + ")"}}
	case 'e':
		return freed{err: broken("release", ServerError(rest))}
	}
	return freed{err: broken("release", errShape)}
}
