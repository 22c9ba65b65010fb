package repair

import (
	"context"
	"fmt"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// ReadOnlyError says that an Operator with Options.ReadOnly was asked to change something. Nothing
// was changed, and nothing was logged, since that is a write, too.
type ReadOnlyError struct {
	Deed string // what was asked, in words
}

// Error reads "this context is read-only: it may not burn the token".
func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("this context is read-only: it may not %s", e.Deed)
}

// writable refuses all writes of an operator who may only look. Nothing can lift it: the options
// are fixed when the Operator is made.
func (o *Operator) writable(deed string) error {
	if o.opts.ReadOnly {
		return &ReadOnlyError{deed}
	}
	return nil
}

// closedEngine stands in for the engine of an operator who may only look.
type closedEngine struct{}

func (closedEngine) Grant(_ context.Context, r grant.Request) (grant.Result, error) {
	return blank(r), &ReadOnlyError{"grant to " + r.PlayerID}
}

// closedStore shows leases and frees none.
type closedStore struct{ Store }

func (closedStore) ReleaseExact(_ context.Context, resource, _ string) (lease.Freed, error) {
	return lease.Freed{}, &ReadOnlyError{"release " + resource}
}

func (closedStore) RaiseCounters(
	_ context.Context, seen []lease.CounterSeen, _ []int64,
) ([]lease.CounterAnswer, []error) {
	errs := make([]error, len(seen))
	for i := range errs {
		errs[i] = &ReadOnlyError{"raise counters"}
	}
	return make([]lease.CounterAnswer, len(seen)), errs
}
