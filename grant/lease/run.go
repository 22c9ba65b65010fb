package lease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	attemptsMax = 4                      // the first and three more
	chunkMax    = 100                    // items per script call: about a millisecond
	cleanupMax  = 500 * time.Millisecond // for what is done after the caller's time is up
)

// errShape says that a script's answer is not of the documented form. Its effect is unknown.
var errShape = errors.New("the script's answer has an unknown form")

// backoff returns the pause before an attempt: 20, 80, 320 ms. A failover takes seconds and is
// the caller's to wait for; this only bridges a cut connection.
func backoff(attempt int) time.Duration {
	return 5 * time.Millisecond << (2 * attempt)
}

// once is a script call that the driver sends at most once. The driver repeats commands after a
// lost reply without telling; a script would then run twice. A command whose NoRetry answers true
// is left alone, on Cluster too, where MaxRetries does not bind.
type once struct{ *redis.StringSliceCmd }

// NoRetry answers true.
func (once) NoRetry() bool { return true }

// Clone keeps NoRetry, which the embedded method would lose.
func (o once) Clone() redis.Cmder {
	inner, ok := o.StringSliceCmd.Clone().(*redis.StringSliceCmd)
	if !ok {
		panic("lease: the driver clones a command into another type")
	}
	return once{inner}
}

// call is one script call with its answer.
type call struct {
	script *script
	args   []any     // from the third on: number of keys, keys, arguments
	first  time.Time // start of the first attempt
	start  time.Time // start of the attempt that was answered
	reply  []string
	err    error
}

// newCall prepares a call. strs holds keys and arguments one after the other. They are passed on
// by pointer, since the driver writes *string as well and boxing a pointer costs nothing.
func newCall(sc *script, keys int, strs []string) *call {
	args := make([]any, 3, 3+len(strs))
	args[2] = strconv.Itoa(keys)
	for i := range strs {
		args = append(args, &strs[i])
	}
	return &call{script: sc, args: args}
}

// run sends the calls in one round trip and fills in their answers. Calls whose script the server
// does not have are sent again with the source.
func (s *Store) run(ctx context.Context, calls []*call) {
	s.send(ctx, calls, false)
	var unknown []*call
	for _, c := range calls {
		if missing(c.err) {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) > 0 {
		s.send(ctx, unknown, true)
	}
}

// missing reports whether a server answered that it does not know the script.
func missing(err error) bool {
	if err == nil {
		return false
	}
	var reply redis.Error
	return errors.As(err, &reply) && code(reply.Error()) == "NOSCRIPT"
}

func (s *Store) send(ctx context.Context, calls []*call, source bool) {
	start := s.opts.Now()
	cmds := make([]redis.Cmder, len(calls))
	for i, c := range calls {
		c.start = start
		if c.first.IsZero() {
			c.first = start
		}
		c.args[0], c.args[1] = "evalsha", c.script.sha
		if source {
			c.args[0], c.args[1] = "eval", c.script.source
		}
		cmds[i] = once{redis.NewStringSliceCmd(ctx, c.args...)}
	}
	if len(cmds) == 1 {
		_ = s.client.Process(ctx, cmds[0]) // the command keeps its error
	} else {
		p := s.client.Pipeline()
		_ = p.BatchProcess(ctx, cmds...)
		_, _ = p.Exec(ctx) // the commands keep their errors
	}
	for i, c := range calls {
		c.reply, c.err = cmds[i].(once).Result()
	}
}

// runBound is run with a bounded number of attempts for the calls that got no answer and those
// that a server could not serve just now. Every script may be repeated. again is told which calls
// are about to be repeated; nil means nobody cares.
func (s *Store) runBound(ctx context.Context, calls []*call) {
	left := calls
	for attempt := 1; len(left) > 0 && ctx.Err() == nil; attempt++ {
		s.run(ctx, left)
		var retry []*call
		for _, c := range left {
			if c.err != nil && judge(c.err).again {
				retry = append(retry, c)
			}
		}
		left = retry
		if len(left) == 0 || attempt == attemptsMax || !pause(ctx, s.wait(attempt)) {
			break
		}
	}
	if ctx.Err() != nil {
		ended(calls, context.Cause(ctx))
	}
}

// ended gives the context's cause to calls that were never sent, and names it beside the error of
// those whose answer was still awaited.
func ended(calls []*call, cause error) {
	for _, c := range calls {
		switch {
		case c.first.IsZero():
			c.err = &unsentError{cause}
		case c.err != nil && judge(c.err).doubt && !errors.Is(c.err, cause):
			c.err = fmt.Errorf("%w: %w", cause, c.err)
		}
	}
}

// pause waits, and answers false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
