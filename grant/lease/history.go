package lease

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Event is one entry of a resource's history.
type Event struct {
	At    time.Time // the Redis server's time
	What  string    // acquired, released, freed (by an operator) or abandoned (reply lost)
	Value string    // the lock's value then
	Token int64     // 0 when the value is not ours
	Owner string
}

// History returns what happened to the lock of a resource, newest first: the last
// Options.HistoryMax events. A lease that ended by expiry leaves no event. The error is
// ErrNoResource or a *grant.BackendError.
func (s *Store) History(ctx context.Context, resource string) ([]Event, error) {
	if resource == "" {
		return nil, ErrNoResource
	}
	messages, err := s.client.XRevRangeN(
		ctx, s.HistoryKey(resource), "+", "-", int64(max(s.opts.HistoryMax, 1)),
	).Result()
	if err != nil {
		return nil, broken("history", err)
	}
	events := make([]Event, 0, len(messages))
	for _, m := range messages {
		events = append(events, readEvent(m))
	}
	return events, nil
}

func readEvent(m redis.XMessage) Event {
	var e Event
	ms, _, _ := strings.Cut(m.ID, "-")
	if n, err := strconv.ParseInt(ms, 10, 64); err == nil {
		e.At = time.UnixMilli(n)
	}
	for what, value := range m.Values { // one pair: what happened, and to which value
		e.What = what
		e.Value, _ = value.(string)
	}
	if token, owner, err := ParseValue(e.Value); err == nil {
		e.Token, e.Owner = token, owner
	}
	return e
}

// Counter returns the highest token that Redis remembers having issued for a resource, and false
// when it remembers none. The error is ErrNoResource, a *DamagedError, or a *grant.BackendError.
func (s *Store) Counter(ctx context.Context, resource string) (token int64, ok bool, err error) {
	if resource == "" {
		return 0, false, ErrNoResource
	}
	text, err := s.client.Get(ctx, s.FenceKey(resource)).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, false, nil
	case wrongType(err):
		return 0, false, &DamagedError{resource, "(another type)"}
	case err != nil:
		return 0, false, broken("counter", err)
	}
	if token, ok = parseToken(text); !ok {
		return 0, false, &DamagedError{resource, text}
	}
	return token, true, nil
}

func wrongType(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && code(reply.Error()) == "WRONGTYPE"
}
