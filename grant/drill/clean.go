package drill

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const (
	cleanFor    = 5 * time.Second // removing a run's keys may take so long after the drill ended
	indexShards = 1               // a drill holds a handful of leases
)

// storeFor makes the lease store of a run. All its processes make it in the same way.
func storeFor(
	client redis.UniversalClient, prefix string, ttl time.Duration, now func() time.Time,
) (*lease.Store, error) {
	return lease.New(client, lease.Options{
		Prefix: prefix, TTL: ttl, Now: now, Shards: indexShards,
	})
}

// closeAll ends the processes of the run and whatever else is registered, last first.
func (st *stage) closeAll() {
	st.mu.Lock()
	children, closers := st.children, st.closers
	st.children, st.closers = nil, nil
	st.mu.Unlock()
	for _, p := range children {
		p.end()
	}
	for i := len(closers) - 1; i >= 0; i-- {
		closers[i]()
	}
}

// clean removes the run's keys from Redis, also when the drill was stopped.
func (st *stage) clean(ctx context.Context) error {
	st.closeAll()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanFor,
		errors.New("removing the drill's keys took too long"))
	defer cancel()
	keys := append([]string{st.prefix + "index:0"}, st.keys...)
	for _, resource := range st.resources {
		keys = append(keys, st.store.LockKey(resource), st.store.FenceKey(resource),
			st.store.HistoryKey(resource))
	}
	var problems []error
	for _, key := range keys {
		if err := st.opt.Redis.Unlink(ctx, key).Err(); err != nil {
			problems = append(problems, &grant.BackendError{
				Backend: grant.Redis, Op: "remove the drill's keys", Err: err,
			})
		}
	}
	return errors.Join(problems...)
}
