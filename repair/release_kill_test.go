package repair_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/repair"
)

// releaseOrders tell a child to release a lease and to stop dead at a step.
type releaseOrders struct {
	Postgres, Redis, Prefix string
	Request                 repair.ReleaseRequest
	Stop                    string
}

// The steps of a release at which a child can stop.
const (
	stopBeforeLook   = "before the look"
	stopAfterLook    = "after the look"
	stopBeforeDelete = "after the burn, before the delete"
	stopAfterDelete  = "after the delete, before the result"
	stopAtEnd        = "after the result"
)

// stoppingStore reports a step and stops there for good.
type stoppingStore struct {
	*lease.Store
	at     string
	orders *granttest.Orders
}

func (s stoppingStore) step(name string) {
	if s.at == name {
		s.orders.Stop(name)
	}
}

func (s stoppingStore) Show(ctx context.Context, resource string) (lease.Entry, error) {
	s.step(stopBeforeLook)
	e, err := s.Store.Show(ctx, resource)
	s.step(stopAfterLook)
	return e, err
}

func (s stoppingStore) ReleaseExact(
	ctx context.Context, resource, value string,
) (lease.Freed, error) {
	s.step(stopBeforeDelete)
	freed, err := s.Store.ReleaseExact(ctx, resource, value)
	s.step(stopAfterDelete)
	return freed, err
}

// TestReleaseChild is the child's side. Without orders it has nothing to do.
func TestReleaseChild(t *testing.T) {
	var o releaseOrders
	orders := granttest.Ordered(t, &o)
	if orders == nil {
		return
	}
	pool, err := pgxpool.New(t.Context(), o.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	client := redis.NewClient(&redis.Options{Addr: o.Redis, ContextTimeoutEnabled: true})
	defer client.Close()
	store, err := lease.New(client, lease.Options{Prefix: o.Prefix, TTL: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	stopping := stoppingStore{store, o.Stop, orders}
	operator, err := repair.New(pool, stopping, nil, repair.Options{
		Operator: "killed", NewID: rand.Text,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Release(t.Context(), o.Request); err != nil {
		t.Fatal(err)
	}
	stopping.step(stopAtEnd)
}

// TestReleaseKilled kills a releasing process between any two steps. The same release then
// finishes: the lock is gone, the token is burned, and the log is whole.
func TestReleaseKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, stop := range []string{
		stopBeforeLook, stopAfterLook, stopBeforeDelete, stopAfterDelete, stopAtEnd,
	} {
		t.Run(stop, func(t *testing.T) {
			l := b.take(t, fmt.Sprintf("reward:k%d", i), "paused")
			b.killAt(t, stop, releaseOf(l))
			rel, err := b.operator.Release(t.Context(), releaseOf(l))
			if err != nil {
				t.Fatal(err)
			}
			burned := stop != stopBeforeLook && stop != stopAfterLook
			if (rel.Burning == repair.AlreadyBurned) != burned {
				t.Errorf("%s when killed %s", rel.Burning, stop)
			}
			gone := stop == stopAfterDelete || stop == stopAtEnd
			if (rel.Freeing == repair.AlreadyGone) != gone {
				t.Errorf("%s when killed %s", rel.Freeing, stop)
			}
			late := b.under(t, l, b.request(fmt.Sprintf("k%d", i), "late", 1))
			if late.Outcome != grant.TokenCollision {
				t.Errorf("the paused worker got %s", late.Outcome)
			}
			open := b.scalar(t, `select count(*) from operator_action i where i.target = $1
				and i.phase = 'intent' and not exists (select from operator_action r
					where r.intent = i.id)`, l.Resource)
			want := "0"
			if stop == stopBeforeDelete || stop == stopAfterDelete {
				want = "1" // what was cut off stays to be seen
			}
			if open != want {
				t.Errorf("%s intents without a result, want %s", open, want)
			}
		})
	}
	if n := b.scalar(t, `select count(*) from (select a.id, row_number() over (order by id) as n,
		a.prev_hash, lag(a.hash) over (order by id) as before from operator_action a) as c
		where c.id <> c.n or c.before is not null and c.before <> c.prev_hash`); n != "0" {
		t.Fatalf("the chain of the log breaks in %s places", n)
	}
}

// killAt runs a release in a process of its own and kills it at a step.
func (b *bench) killAt(t *testing.T, stop string, req repair.ReleaseRequest) {
	t.Helper()
	orders := releaseOrders{b.URL(), b.RedisAddr, b.Prefix, req, stop}
	granttest.StartChild(t, "TestReleaseChild", orders).KillAt(stop)
}
