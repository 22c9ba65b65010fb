package lease

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

// CounterSeen is the token counter of a resource, and its lock, as they stood in one moment.
type CounterSeen struct {
	Resource string
	// Text is the exact text of the counter, its type in parentheses for data of another type,
	// and empty when there is none.
	Text string
	// Token is the token that was issued last; 0 when there is no counter, or a damaged one.
	Token int64
	// Damaged says that no token can be issued: the counter holds no whole number, or none is left
	// above it.
	Damaged bool
	// Lock is the exact value of the lock; empty when there is none, or data of another type.
	Lock string

	seen string // as the script that raises it compares it
}

// Counters reads the token counters of resources, in their order. The error is ErrNoResource or a
// *grant.BackendError.
func (s *Store) Counters(ctx context.Context, resources []string) ([]CounterSeen, error) {
	if slices.Contains(resources, "") {
		return nil, ErrNoResource
	}
	var calls []*call
	for part := range slices.Chunk(resources, s.chunk) {
		keys := make([]string, 0, 2*len(part))
		for _, r := range part {
			keys = append(keys, s.FenceKey(r), s.LockKey(r))
		}
		calls = append(calls, newCall(s.scripts.counterRead, len(keys), keys))
	}
	s.runBound(ctx, calls)
	out := make([]CounterSeen, 0, len(resources))
	for i, c := range calls {
		part := resources[i*s.chunk : min((i+1)*s.chunk, len(resources))]
		if c.err != nil {
			return nil, broken("read the counters", c.err)
		}
		if len(c.reply) != 2*len(part) {
			return nil, broken("read the counters", errShape)
		}
		for k, r := range part {
			counter, err := readCounter(r, c.reply[2*k], c.reply[2*k+1])
			if err != nil {
				return nil, broken("read the counters", err)
			}
			out = append(out, counter)
		}
	}
	return out, nil
}

func readCounter(resource, counter, lock string) (CounterSeen, error) {
	if counter == "" || lock == "" {
		return CounterSeen{}, errShape
	}
	c := CounterSeen{Resource: resource, seen: counter}
	if lock[0] == 'v' {
		c.Lock = lock[1:]
	}
	switch counter[0] {
	case 'g':
		return c, nil
	case 't':
		c.Text, c.Damaged = "("+counter[1:]+")", true
		return c, nil
	case 'v':
	default:
		return c, errShape
	}
	c.Text = counter[1:]
	token, counts := parseToken(c.Text)
	if c.Text == "0" {
		counts = true
	}
	if c.Damaged = !counts || token >= TokenMax; !c.Damaged {
		c.Token = token
	}
	return c, nil
}

// CounterAnswer says what became of a counter that was to be raised.
type CounterAnswer uint8

// The answers.
const (
	CounterRaised  CounterAnswer = iota + 1 // it stands at the fence now
	CounterKept                             // it stood at the fence or above already
	CounterChanged                          // it is not as it was seen, and was left
)

// RaiseCounters raises each counter to its fence and repairs damaged ones, each only if it is as it
// was seen. It never lowers one that counts. fences are in the order of seen. The answers come in
// order; an error is a *grant.BackendError whose Doubt says whether it may have been raised.
func (s *Store) RaiseCounters(
	ctx context.Context, seen []CounterSeen, fences []int64,
) ([]CounterAnswer, []error) {
	answers, errs := make([]CounterAnswer, len(seen)), make([]error, len(seen))
	var calls []*call
	for i := 0; i < len(seen); i += s.chunk {
		part := seen[i:min(i+s.chunk, len(seen))]
		strs := make([]string, 0, 3*len(part)+1)
		for _, c := range part {
			strs = append(strs, s.FenceKey(c.Resource))
		}
		strs = append(strs, s.text.idle)
		for k, c := range part {
			strs = append(strs, c.seen, strconv.FormatInt(fences[i+k], 10))
		}
		calls = append(calls, newCall(s.scripts.counterRaise, len(part), strs))
	}
	s.runBound(ctx, calls)
	for i := range seen {
		c, k := calls[i/s.chunk], i%s.chunk
		switch {
		case c.err != nil:
			errs[i] = broken("raise the counter", c.err)
		case k >= len(c.reply) || c.reply[k] == "":
			errs[i] = broken("raise the counter", errShape)
		case c.reply[k][0] == 'r':
			answers[i] = CounterRaised
		case c.reply[k][0] == 'k':
			answers[i] = CounterKept
		case c.reply[k][0] == 'c':
			answers[i] = CounterChanged
		default:
			errs[i] = broken("raise the counter", ServerError(c.reply[k][1:]))
		}
	}
	return answers, errs
}

// ScanCounters walks the keys of all primaries and calls take with the resources that have a token
// counter, page by page, possibly one more than once. It finds what PostgreSQL has forgotten. The
// error is take's, the context's, or a *grant.BackendError.
func (s *Store) ScanCounters(ctx context.Context, take func([]string) error) error {
	pattern := globEscapes.Replace(s.text.fence) + "*}"
	var taken error
	pages := make(chan []string)
	walked := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(pages)
		walked <- s.eachPrimary(ctx, func(
			ctx context.Context, c redis.UniversalClient, _ string,
		) error {
			return s.scanCounters(ctx, c, pattern, pages)
		})
	}()
	for page := range pages {
		if taken == nil {
			if taken = take(page); taken != nil {
				cancel()
			}
		}
	}
	err := <-walked
	switch {
	case taken != nil:
		return taken
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &grant.BackendError{Backend: grant.Redis, Op: "scan the counters", Err: err}
}

func (s *Store) scanCounters(
	ctx context.Context, c redis.UniversalClient, pattern string, pages chan<- []string,
) error {
	for cursor := uint64(0); ; {
		keys, next, err := c.Scan(ctx, cursor, pattern, scanPage).Result()
		if err != nil {
			return err
		}
		var page []string
		for _, key := range keys {
			tag := strings.TrimSuffix(strings.TrimPrefix(key, s.text.fence), "}")
			if resource, ours := decodeTag(tag); ours {
				page = append(page, resource)
			}
		}
		if len(page) > 0 {
			select {
			case pages <- page:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

// globEscapes makes a text match itself in the server's patterns. It never changes.
var globEscapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
