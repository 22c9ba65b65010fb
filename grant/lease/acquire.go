package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
)

var _ grant.Leases = (*Store)(nil)

// item is one ask, lease or value on its way through a script.
type item struct {
	pos    int    // its place in the caller's slice
	tag    string // of the resource
	member string // in the index; empty for none
	shard  int
}

// Acquire answers each ask, in order. All asks travel together: one round trip, and on Cluster
// one before it for the index. An ask whose reply was lost is asked again here, a bounded number
// of times, and by the caller with the same owner as often as it likes. Answer.Err is a
// *grant.BackendError, except for an ask that is invalid: an empty resource or owner, or a floor
// outside 0 to TokenMax.
func (s *Store) Acquire(ctx context.Context, asks []grant.Ask) []grant.Answer {
	answers := make([]grant.Answer, len(asks))
	items := make([]item, 0, len(asks))
	for i, a := range asks {
		if err := checkAsk(a); err != nil {
			answers[i].Err = err
			continue
		}
		items = append(items, s.item(i, a.Resource, a.Owner))
	}
	if s.cluster {
		items = s.enter(ctx, items, answers)
	}
	calls := s.acquireCalls(asks, items)
	s.runBound(ctx, calls)
	var doubtful, unheld []item
	for k, it := range items {
		c := calls[k/s.chunk]
		a := s.answer(asks[it.pos], c, k%s.chunk)
		switch {
		case a.Lease != nil:
		case doubts(a.Err):
			doubtful = append(doubtful, it)
		default:
			unheld = append(unheld, it)
		}
		answers[it.pos] = a
	}
	s.abandon(ctx, asks, doubtful)
	if s.cluster {
		s.leave(ctx, unheld)
	}
	return answers
}

func checkAsk(a grant.Ask) error {
	switch {
	case a.Resource == "":
		return ErrNoResource
	case a.Owner == "":
		return errors.New("lease: the owner is empty")
	case a.Floor < 0 || a.Floor > TokenMax:
		return fmt.Errorf("lease: floor %d of %q is outside 0 to %d",
			a.Floor, a.Resource, int64(TokenMax))
	}
	return nil
}

func (s *Store) item(pos int, resource, owner string) item {
	tag := encodeTag(resource)
	return item{pos: pos, tag: tag, member: member(tag, owner), shard: s.shardOf(tag)}
}

func (s *Store) acquireCalls(asks []grant.Ask, items []item) []*call {
	calls := make([]*call, 0, len(items)/s.chunk+1)
	for part := range slices.Chunk(items, s.chunk) {
		shards := s.shardSet(part)
		strs := make([]string, 0, 7*len(part)+len(shards.keys)+5)
		text := newSlab(part, s.text.lock, s.text.fence, s.text.history)
		for _, it := range part {
			strs = append(strs, text.key(s.text.lock, it.tag), text.key(s.text.fence, it.tag),
				text.key(s.text.history, it.tag))
		}
		strs = append(strs, shards.keys...)
		keys := len(strs)
		strs = append(strs, strconv.Itoa(len(part)), s.text.ttl, s.text.idle, s.text.keep,
			s.text.idle)
		for _, it := range part {
			a := asks[it.pos]
			strs = append(strs, a.Owner, strconv.FormatInt(a.Floor, 10), it.member,
				shards.place(it.shard))
		}
		calls = append(calls, newCall(s.scripts.acquire, keys, strs))
	}
	return calls
}

// answer reads what the script said to one ask.
func (s *Store) answer(a grant.Ask, c *call, k int) grant.Answer {
	if c.err != nil {
		return grant.Answer{Err: broken("acquire", c.err)}
	}
	if k >= len(c.reply) || c.reply[k] == "" {
		return grant.Answer{Err: broken("acquire", errShape)}
	}
	kind, rest := c.reply[k][0], c.reply[k][1:]
	switch kind {
	case 'a':
		return s.held(a, rest, c.start.Add(s.opts.TTL))
	case 'o':
		left, token, err := cutLeft(rest)
		if err != nil {
			return grant.Answer{Err: broken("acquire", err)}
		}
		// Taken by an earlier attempt: what is left now, and no more than that attempt gave.
		until := c.first.Add(s.opts.TTL)
		if now := c.start.Add(left); left >= 0 && now.Before(until) {
			until = now
		}
		return s.held(a, token, until)
	case 'h', 't':
		h, err := holder(a.Resource, c.reply[k])
		if err != nil {
			return grant.Answer{Err: broken("acquire", err)}
		}
		return grant.Answer{Holder: h}
	case 'd':
		return grant.Answer{Err: broken("acquire", &DamagedError{a.Resource, rest})}
	case 'e':
		return grant.Answer{Err: broken("acquire", ServerError(rest))}
	}
	return grant.Answer{Err: broken("acquire", errShape)}
}

// held makes the lease of an answer, unless it came too late to be trusted.
func (s *Store) held(a grant.Ask, digits string, expiry time.Time) grant.Answer {
	token, ok := parseToken(digits)
	if !ok {
		return grant.Answer{Err: broken("acquire", errShape)}
	}
	until := expiry.Add(-s.opts.Margin)
	if !s.opts.Now().Before(until) {
		return grant.Answer{Err: &grant.BackendError{
			Backend: grant.Redis, Op: "acquire", Doubt: true, Err: ErrLate,
		}}
	}
	return grant.Answer{Lease: &grant.Lease{
		Resource: a.Resource, Owner: a.Owner, Token: token, Until: until,
	}}
}

// holder reads 'h' and 't' answers: who is there instead of us.
func holder(resource, answer string) (*grant.Holder, error) {
	h := &grant.Holder{Resource: resource}
	if answer[0] == 't' {
		h.Foreign, h.Owner = true, "("+answer[1:]+")"
		return h, nil
	}
	left, value, err := cutLeft(answer[1:])
	if err != nil {
		return nil, err
	}
	h.Left = left
	if h.Token, h.Owner, err = ParseValue(value); err != nil {
		h.Foreign, h.Owner = true, value
	}
	return h, nil
}

// cutLeft reads "<milliseconds> <rest>". A negative time means that there is no expiry.
func cutLeft(text string) (left time.Duration, rest string, err error) {
	digits, rest, found := strings.Cut(text, " ")
	ms, err := strconv.ParseInt(digits, 10, 64)
	if !found || err != nil {
		return 0, "", errShape
	}
	if ms < 0 {
		return -1, rest, nil
	}
	return time.Duration(ms) * time.Millisecond, rest, nil
}

// abandon drops leases that may have been taken although no attempt was answered in time. It is
// tried once, under a bound of its own; what it does not reach ends with its TTL.
func (s *Store) abandon(ctx context.Context, asks []grant.Ask, items []item) {
	if len(items) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupMax)
	defer cancel()
	calls := make([]*call, 0, len(items))
	for _, it := range items {
		strs := []string{s.lockKeyOf(it.tag), s.historyKeyOf(it.tag)}
		if !s.cluster {
			strs = append(strs, s.shardKey(it.shard))
		}
		keys := len(strs)
		strs = append(strs, asks[it.pos].Owner, s.text.keep, it.member)
		calls = append(calls, newCall(s.scripts.abandon, keys, strs))
	}
	s.run(ctx, calls)
	if !s.cluster {
		return
	}
	gone := items[:0:0]
	for i, c := range calls {
		if c.err == nil {
			gone = append(gone, items[i])
		}
	}
	s.leave(ctx, gone)
}

func doubts(err error) bool {
	var b *grant.BackendError
	return errors.As(err, &b) && b.Doubt
}
