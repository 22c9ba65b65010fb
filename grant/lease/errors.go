package lease

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

// ErrLate says that an answer came when the lease could not be trusted any more. The store has
// dropped the lease again, as far as it could.
var ErrLate = errors.New("the answer came too late to trust the lease")

// ErrNoLease says that a resource has no lock at the moment.
var ErrNoLease = errors.New("lease: nothing holds the resource")

// DamagedError says that the token counter of a resource cannot issue a token: it is not a whole
// number, or there is none left above it. Setting it to the fence of PostgreSQL repairs it.
type DamagedError struct {
	Resource string
	Counter  string // what the counter holds; its type in parentheses when it is no text
}

// Error reads `counter damaged: the token counter of "reward:p" holds "abc"`.
func (e *DamagedError) Error() string {
	return "counter damaged: the token counter of " + quoted(e.Resource) + " holds " +
		quoted(e.Counter)
}

// ServerError is an error reply that a script passed on for one item. Nothing was done for it.
type ServerError string

// Error returns the server's text, whose first word is a code such as OOM.
func (e ServerError) Error() string { return string(e) }

// RedisError marks the error as a server's reply, as the driver's own errors are.
func (ServerError) RedisError() {}

// verdict says what an error proves and what to do about it.
type verdict struct {
	doubt bool // the call may have taken effect
	again bool // another attempt may get through
}

// judge is the one place that reads driver errors. A server's error reply proves that our scripts
// did nothing: they check before they write, and the server refuses the first write or none.
// A connection that could not be opened, or a pool that gave none, proves that nothing was sent.
// Everything else is doubt.
func judge(err error) verdict {
	var reply redis.Error
	if errors.As(err, &reply) {
		return verdict{again: passing(code(reply.Error()))}
	}
	var unsent *unsentError
	var damaged *DamagedError
	if errors.As(err, &unsent) || errors.As(err, &damaged) {
		return verdict{}
	}
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return verdict{}
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted),
		errors.Is(err, redis.ErrClosed):
		return verdict{}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return verdict{doubt: true}
	}
	return verdict{doubt: true, again: true}
}

// code returns the first word of a server's error reply.
func code(reply string) string {
	word, _, _ := strings.Cut(reply, " ")
	return word
}

// passing reports whether a server that answers with this code may serve soon: it starts, fails
// over or moves slots.
func passing(code string) bool {
	switch code {
	case "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK":
		return true
	}
	return false
}

// broken wraps an error of the store for the engine.
func broken(op string, err error) error {
	return &grant.BackendError{
		Backend: grant.Redis, Op: op, Doubt: judge(err).doubt, Err: err,
	}
}

// unsentError says that the context had ended before anything was sent.
type unsentError struct{ error }

// Unwrap returns the context's cause.
func (e *unsentError) Unwrap() error { return e.error }

func quoted(s string) string { return strconv.Quote(s) }
