package inspect_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/inspect"

	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) { granttest.Main(m) }

// ttl is long enough that no lease ends while a slow machine sets a test up.
const ttl = 50 * time.Second

// bench is a world with a reader and what is needed to make things to read.
type bench struct {
	*granttest.World
	store  *lease.Store
	engine *grant.Engine
	reader *inspect.Reader
}

func setup(t testing.TB) *bench {
	t.Helper()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := grant.NewEngine(w.Pool, store, grant.Options{
		Worker: "worker@host/1", NewID: rand.Text,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{World: w, store: store, engine: engine}
	b.reader = b.with(t, inspect.Options{})
	return b
}

func (b *bench) with(t testing.TB, opts inspect.Options) *inspect.Reader {
	t.Helper()
	r, err := inspect.New(b.Pool, b.store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// blind is a reader whose Redis does not answer.
func (b *bench) blind(t testing.TB) *inspect.Reader {
	t.Helper()
	r, err := inspect.New(b.Pool, b.nowhere(t), inspect.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nowhere is a store on a server that refuses connections.
func (b *bench) nowhere(t testing.TB) *lease.Store {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1,
	})
	t.Cleanup(func() { _ = client.Close() })
	store, err := lease.New(client, lease.Options{Prefix: b.Prefix, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// deaf is a reader whose PostgreSQL does not answer.
func (b *bench) deaf(t testing.TB) *inspect.Reader {
	t.Helper()
	other := granttest.New(t)
	other.Pool.Close()
	r, err := inspect.New(other.Pool, b.store, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// take acquires a lease with the fence as floor; beat keeps a heartbeat for the worker.
func (b *bench) take(t testing.TB, resource, worker string) grant.Lease {
	t.Helper()
	var floor int64
	b.query(t, &floor, "select coalesce(max(last_token), 0) from reward_fence "+
		"where resource = $1", resource)
	owner, err := lease.NewOwner(worker, "host", 7, rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	answer := b.store.Acquire(t.Context(), []grant.Ask{{
		Resource: resource, Owner: owner, Floor: floor,
	}})[0]
	if answer.Lease == nil {
		t.Fatalf("%s did not get %s: %+v %v", worker, resource, answer.Holder, answer.Err)
	}
	return *answer.Lease
}

func (b *bench) beat(t testing.TB, worker string) {
	t.Helper()
	beat, err := b.store.Heartbeat(t.Context(), worker+"@host/7", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = beat.Stop(t.Context()) })
}

func (b *bench) query(t testing.TB, into any, sql string, args ...any) {
	t.Helper()
	if err := b.Pool.QueryRow(t.Context(), sql, args...).Scan(into); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bench) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bench) expire(t testing.TB, resource string) {
	t.Helper()
	if err := b.Redis.Del(t.Context(), b.store.LockKey(resource)).Err(); err != nil {
		t.Fatal(err)
	}
}

// swap gives a lease to another worker in one step, as it looks when nobody watches in between.
func (b *bench) swap(t testing.TB, old grant.Lease, worker string) grant.Lease {
	t.Helper()
	next := grant.Lease{
		Resource: old.Resource, Token: old.Token + 1, Owner: worker + "@host/7#" + rand.Text(),
	}
	value := lease.FormatValue(next.Token, next.Owner)
	key := b.store.LockKey(old.Resource)
	if err := b.Redis.Set(t.Context(), key, value, ttl).Err(); err != nil {
		t.Fatal(err)
	}
	return next
}

// grant posts through the engine, under its own lease or the given one.
func (b *bench) grant(
	t testing.TB, player, event string, amount int64, held *grant.Lease,
) grant.Result {
	t.Helper()
	if held != nil {
		copied := *held
		copied.Until = time.Time{}
		held = &copied
	}
	res, err := b.engine.Grant(t.Context(), grant.Request{
		PlayerID: player, EventID: event, Kind: "gems", Amount: amount, Actor: "tester",
		Reason: "because", Held: held,
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func leasesByResource(list inspect.LeaseList) map[string]inspect.Lease {
	out := make(map[string]inspect.Lease, len(list.Leases))
	for _, l := range list.Leases {
		out[l.Resource] = l
	}
	return out
}

func text(v any) string { return fmt.Sprintf("%+v", v) }

func mustContain(t testing.TB, what, in string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(in, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, in)
		}
	}
}
