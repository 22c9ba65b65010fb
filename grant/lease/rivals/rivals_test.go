// Package rivals compares the lease store with two libraries that people use for the same job. It
// is a module of its own, so that neither becomes a dependency of the project. Run it with
//
//	cd grant/lease/rivals && go test -bench .
//
// One operation is acquire and release of one lease by one caller. The rivals set a key with a
// random value and delete it if the value is still there; the lease store also issues a fencing
// token, keeps a history and an index, and gives a caller whose reply was lost its lease back.
package rivals

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const ttl = 10 * time.Second

// dial connects to the server that the environment names, or to a private one.
func dial(b *testing.B) *redis.Client {
	b.Helper()
	addr := os.Getenv("REWARDCTL_TEST_REDIS")
	if addr == "" {
		server, err := embedded.StartRedis(context.Background(), embedded.RedisOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = server.Stop() })
		addr = server.Addr()
	}
	c := redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	b.Cleanup(func() { _ = c.Close() })
	return c
}

func BenchmarkPair(b *testing.B) {
	client := dial(b)
	prefix := fmt.Sprintf("rivals%d:", os.Getpid())
	ctx := context.Background()
	name := func(i int) string { return fmt.Sprintf("%splayer-%d", prefix, i%1000) }

	b.Run("redislock", func(b *testing.B) {
		locker := redislock.New(client)
		for i := range b.N {
			l, err := locker.Obtain(ctx, name(i), ttl, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Release(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("redsync", func(b *testing.B) {
		rs := redsync.New(goredis.NewPool(client))
		for i := range b.N {
			m := rs.NewMutex(name(i), redsync.WithExpiry(ttl), redsync.WithTries(1))
			if err := m.LockContext(ctx); err != nil {
				b.Fatal(err)
			}
			if ok, err := m.UnlockContext(ctx); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("lease", func(b *testing.B) {
		store, err := lease.New(client, lease.Options{Prefix: prefix + "lease:", TTL: ttl})
		if err != nil {
			b.Fatal(err)
		}
		asks, held := make([]grant.Ask, 1), make([]grant.Lease, 1)
		for i := range b.N {
			asks[0] = grant.Ask{
				Resource: fmt.Sprintf("player-%d", i%1000), Owner: fmt.Sprintf("w@h/1#%032d", i),
			}
			a := store.Acquire(ctx, asks)[0]
			if a.Lease == nil {
				b.Fatal(a)
			}
			held[0] = *a.Lease
			if err := store.Release(ctx, held)[0]; err != nil {
				b.Fatal(err)
			}
		}
	})
}
