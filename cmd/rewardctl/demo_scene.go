package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// demoLongTTL is how long the demo's abandoned locks stay: long enough to look at them.
const demoLongTTL = 45 * time.Minute

// The players whose locks tell a story. The simulated workers leave them alone.
const (
	demoOrphan     = 30 // p-1031 and the next: their worker is gone
	demoNoExpiry   = 32 // p-1033: a lock that never ends
	demoForeign    = 33 // p-1034: a plain lock of another library
	demoForeignMap = 34 // p-1035: a lock of a third library
	demoSuperseded = 35 // p-1036: a holder that stalled and was overtaken

	demoQuiet = 10 // the players before this one are left alone, for trying things on
	demoBusy  = 30 // and those from this one on, for the scene
)

// demoScene sets the stage: locks that need an operator, and answers that need explaining.
type demoScene struct {
	pool   *pgxpool.Pool
	redis  redis.UniversalClient
	store  *lease.Store // leases as workers take them
	long   *lease.Store // the same keys, with the long TTL
	engine *grant.Engine
	date   string // today, for event ids
}

// set plays every part of the scene once.
func (s *demoScene) set(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		s.orphans, s.noExpiry, s.foreign, s.overtaken, s.collision, s.repeated, s.undeliverable,
	} {
		if err := part(ctx); err != nil {
			return fmt.Errorf("set the demo's scene: %w", err)
		}
	}
	return nil
}

// take acquires one lease in the name of a past worker, who keeps no heartbeat.
func (s *demoScene) take(
	ctx context.Context, resource, worker string,
) (grant.Lease, error) {
	floor, err := demoFloor(ctx, s.pool, resource)
	if err != nil {
		return grant.Lease{}, err
	}
	ask := grant.Ask{Resource: resource, Owner: worker + "#" + newID(), Floor: floor}
	answer := s.long.Acquire(ctx, []grant.Ask{ask})[0]
	switch {
	case answer.Lease != nil:
		return *answer.Lease, nil
	case answer.Holder != nil:
		return grant.Lease{}, fmt.Errorf("%s is held by %s", resource, answer.Holder.Owner)
	}
	return grant.Lease{}, answer.Err
}

// orphans leaves leases behind whose worker is gone: no heartbeat, and a long time left.
func (s *demoScene) orphans(ctx context.Context) error {
	for n := range 2 {
		resource := grant.ResourceFor(demoPlayer(demoOrphan + n))
		if _, err := s.take(ctx, resource, "payout-7@demo-host/4777"); err != nil {
			return err
		}
	}
	return nil
}

// noExpiry leaves a lock that never ends, as a SET without an expiry does.
func (s *demoScene) noExpiry(ctx context.Context) error {
	resource := grant.ResourceFor(demoPlayer(demoNoExpiry))
	if _, err := s.take(ctx, resource, "cron-script@demo-host/3120"); err != nil {
		return err
	}
	return s.redis.Persist(ctx, s.store.LockKey(resource)).Err()
}

// foreign leaves locks of other libraries under our keys: they wrote over a lease of ours.
func (s *demoScene) foreign(ctx context.Context) error {
	plain := grant.ResourceFor(demoPlayer(demoForeign))
	hash := grant.ResourceFor(demoPlayer(demoForeignMap))
	for _, resource := range []string{plain, hash} {
		if _, err := s.take(ctx, resource, workerName(0)); err != nil {
			return err
		}
	}
	value := "8c6f1f0e-1a52-4f0e-9a57-legacy-lock"
	if err := s.redis.Set(ctx, s.store.LockKey(plain), value, demoLongTTL).Err(); err != nil {
		return err
	}
	key := s.store.LockKey(hash)
	if err := s.redis.Del(ctx, key).Err(); err != nil {
		return err
	}
	if err := s.redis.HSet(ctx, key, "5d2f7c1a-node-3:88", 1).Err(); err != nil {
		return err
	}
	return s.redis.Expire(ctx, key, demoLongTTL).Err()
}

// overtaken plays the race of the fencing articles: a holder stalls, a higher token is accepted,
// the holder wakes up and is refused.
func (s *demoScene) overtaken(ctx context.Context) error {
	player := demoPlayer(demoSuperseded)
	old, err := s.take(ctx, grant.ResourceFor(player), "payout-2@demo-host/4002")
	if err != nil {
		return err
	}
	// The next holder took its token on a Redis that then failed over: the counter went along,
	// and the old lock came back.
	token, err := s.redis.Incr(ctx, s.store.FenceKey(old.Resource)).Result()
	if err != nil {
		return err
	}
	next := grant.Lease{
		Resource: old.Resource, Owner: "payout-3@demo-host/4003#" + newID(), Token: token,
	}
	if err := s.expect(ctx, s.request(player, "race", 300, &next), grant.Applied,
		grant.Replayed); err != nil {
		return err
	}
	return s.expect(ctx, s.request(player, "race-late", 300, &old), grant.StaleToken)
}

// collision plays a Redis that lost its counter: the same token is presented by another owner.
func (s *demoScene) collision(ctx context.Context) error {
	player := demoPlayer(demoSuperseded + 1)
	resource := grant.ResourceFor(player)
	floor, err := demoFloor(ctx, s.pool, resource)
	if err != nil {
		return err
	}
	first := grant.Lease{
		Resource: resource, Owner: "payout-1@demo-host/4001#" + newID(), Token: floor + 1,
	}
	second := first
	second.Owner = "payout-4@demo-host/4004#" + newID()
	if err := s.expect(ctx, s.request(player, "failover", 40, &first), grant.Applied,
		grant.Replayed); err != nil {
		return err
	}
	return s.expect(ctx, s.request(player, "failover-twin", 40, &second), grant.TokenCollision)
}

// repeated grants a reward, grants it again, and asks for it with another amount.
func (s *demoScene) repeated(ctx context.Context) error {
	player := demoPlayer(0)
	for _, step := range []struct {
		amount int64
		want   []grant.Outcome
	}{
		{100, []grant.Outcome{grant.Applied, grant.Replayed}},
		{100, []grant.Outcome{grant.Replayed}},
		{1000, []grant.Outcome{grant.Mismatch}},
	} {
		if err := s.expect(ctx, s.request(player, "welcome", step.amount, nil),
			step.want...); err != nil {
			return err
		}
	}
	return nil
}

// undeliverable grants what the item server does not know, and something after it, which waits.
func (s *demoScene) undeliverable(ctx context.Context) error {
	player := demoPlayer(demoSuperseded + 2)
	bad := s.request(player, "skin", 1, nil)
	bad.Kind = demoRefusedKind
	for _, r := range []grant.Request{bad, s.request(player, "after-skin", 20, nil)} {
		if err := s.expect(ctx, r, grant.Applied, grant.Replayed); err != nil {
			return err
		}
	}
	return nil
}

func (s *demoScene) request(
	player, subject string, amount int64, held *grant.Lease,
) grant.Request {
	id, err := grant.EventID(grant.EventParts{
		Campaign: "demo-" + s.date, PlayerID: player, Subject: subject, Kind: "gems",
	})
	if err != nil {
		panic(err) // the parts are constants of this file
	}
	return grant.Request{
		PlayerID: player, EventID: id, Kind: "gems", Amount: amount, Actor: "payout-service",
		Reason: "demo: " + subject, Held: held,
	}
}

// expect grants and checks that the answer is one of those that the scene is about.
func (s *demoScene) expect(ctx context.Context, r grant.Request, want ...grant.Outcome) error {
	result, err := s.engine.Grant(ctx, r)
	if err != nil {
		return err
	}
	if contains(want, result.Outcome) {
		return nil
	}
	return errors.New("granting " + r.EventID + " answered " + result.Outcome.String())
}
