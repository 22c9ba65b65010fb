package lease_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.uber.org/goleak"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// suite starts a Redis for the tests, unless the environment names one.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if os.Getenv(granttest.RedisVariable) == "" {
		server, err := embedded.StartRedis(ctx, embedded.RedisOptions{})
		if err == nil {
			err = os.Setenv(granttest.RedisVariable, server.Addr())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "lease tests:", err)
			return 1
		}
		defer func() {
			if err := server.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "lease tests:", err)
			}
		}()
	}
	return s.m.Run()
}

func TestMain(m *testing.M) {
	logging.Disable() // tests take servers down on purpose
	goleak.VerifyTestMain(suite{m})
}

// options are how every client of the tests connects: as the product does.
func options(addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, DisableIdentity: true,
		DialerRetries: 1,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

func dial(tb testing.TB, addr string) *redis.Client {
	tb.Helper()
	c := redis.NewClient(options(addr))
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// bench is what one test has: a client of the shared server, a store and a prefix of its own.
type bench struct {
	*lease.Store
	client redis.UniversalClient
	prefix string
}

func open(tb testing.TB, o lease.Options) *bench {
	tb.Helper()
	return openAt(tb, dial(tb, os.Getenv(granttest.RedisVariable)), o)
}

func openAt(tb testing.TB, c redis.UniversalClient, o lease.Options) *bench {
	tb.Helper()
	o.Prefix = "t" + rand.Text() + ":"
	if o.TTL == 0 {
		o.TTL = 10 * time.Second
	}
	s, err := lease.New(c, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { clean(tb, c, o.Prefix) })
	return &bench{s, c, o.Prefix}
}

// clean deletes the keys of one test, on every primary.
func clean(tb testing.TB, c redis.UniversalClient, prefix string) {
	ctx := context.Background() // the test's own has ended
	one := func(ctx context.Context, node redis.UniversalClient) error {
		keys := node.Scan(ctx, 0, prefix+"*", 10_000).Iterator()
		p := node.Pipeline()
		for keys.Next(ctx) {
			if p.Unlink(ctx, keys.Val()); p.Len() == 1000 {
				if _, err := p.Exec(ctx); err != nil {
					return err
				}
			}
		}
		_, err := p.Exec(ctx)
		return errors.Join(err, keys.Err())
	}
	var err error
	if cluster, ok := c.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			return one(ctx, node)
		})
	} else {
		err = one(ctx, c)
	}
	if err != nil {
		tb.Logf("clean up: %v", err) // the test may have taken the server down
	}
}

// owner returns an owner text of its own for each call.
func owner(worker string) string {
	text, err := lease.NewOwner(worker, "host-a", 4711, rand.Text())
	if err != nil {
		panic(err)
	}
	return text
}

func asksFor(worker string, resources ...string) []grant.Ask {
	asks := make([]grant.Ask, len(resources))
	for i, r := range resources {
		asks[i] = grant.Ask{Resource: r, Owner: owner(worker)}
	}
	return asks
}

// take acquires one resource and expects to get it.
func (b *bench) take(tb testing.TB, a grant.Ask) grant.Lease {
	tb.Helper()
	got := b.Acquire(tb.Context(), []grant.Ask{a})[0]
	if got.Err != nil || got.Lease == nil {
		tb.Fatalf("acquire %q: holder %+v, error %v", a.Resource, got.Holder, got.Err)
	}
	return *got.Lease
}
