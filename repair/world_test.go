package repair_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/repair"
)

func TestMain(m *testing.M) { granttest.Main(m) }

// bench is a world with everything an operator needs in it.
type bench struct {
	*granttest.World
	store    *lease.Store
	engine   *grant.Engine
	operator *repair.Operator
}

func setup(t *testing.T) *bench {
	t.Helper()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: 20 * time.Second})
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
	b.operator = b.as(t, "alice")
	return b
}

func (b *bench) as(t *testing.T, name string) *repair.Operator {
	t.Helper()
	o, err := repair.New(b.Pool, b.store, b.engine, repair.Options{
		Operator: name, NewID: rand.Text, LockTimeout: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// take acquires a lease the way the engine does, with the fence as floor.
func (b *bench) take(t *testing.T, resource, worker string) grant.Lease {
	t.Helper()
	var floor int64
	err := b.Pool.QueryRow(t.Context(), "select coalesce(max(last_token), 0) from reward_fence "+
		"where resource = $1", resource).Scan(&floor)
	if err != nil {
		t.Fatal(err)
	}
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

func (b *bench) request(player, event string, amount int64) grant.Request {
	return grant.Request{
		PlayerID: player, EventID: event, Kind: "gems", Amount: amount, Actor: "test",
		Reason: "test",
	}
}

// under grants while holding a lease, like a worker that keeps its own.
func (b *bench) under(t *testing.T, l grant.Lease, req grant.Request) grant.Result {
	t.Helper()
	l.Until = time.Time{}
	req.Held = &l
	res, err := b.engine.Grant(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (b *bench) scalar(t *testing.T, sql string, args ...any) string {
	t.Helper()
	var out any
	if err := b.Pool.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(out)
}

func (b *bench) fence(t *testing.T, resource string) (token int64, owner string) {
	t.Helper()
	err := b.Pool.QueryRow(t.Context(),
		"select last_token, last_owner from reward_fence where resource = $1", resource,
	).Scan(&token, &owner)
	if err != nil {
		t.Fatal(err)
	}
	return token, owner
}

func releaseOf(l grant.Lease) repair.ReleaseRequest {
	return repair.ReleaseRequest{
		Resource: l.Resource, Owner: l.Owner, Token: l.Token, Reason: "worker is stuck, T-1",
	}
}

func expire(t *testing.T, b *bench, resource string) {
	t.Helper()
	if err := b.Redis.Del(t.Context(), b.store.LockKey(resource)).Err(); err != nil {
		t.Fatal(err)
	}
}

// cutStore fails the calls that a test names.
type cutStore struct {
	*lease.Store
	releaseErr error
	// before runs ahead of each ReleaseExact.
	before func()
}

func (s *cutStore) ReleaseExact(
	ctx context.Context, resource, value string,
) (lease.Freed, error) {
	if s.before != nil {
		s.before()
	}
	if s.releaseErr != nil {
		return lease.Freed{}, s.releaseErr
	}
	return s.Store.ReleaseExact(ctx, resource, value)
}
