package lease_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// virtualTTL is the leases' time to live on the virtual clock: seconds cost nothing there.
const virtualTTL = 3 * time.Second

// virtual is a schedule in virtual time: real stores and their scripts on a Redis in this
// process, and a resource that checks tokens as PostgreSQL's fence does.
type virtual struct {
	t      *testing.T
	server *miniredis.Miniredis
	mu     sync.Mutex
	fences map[string]grant.Fence
	seen   map[string]int
	forgot bool
	rng    *rand.Rand // guarded by mu, as all of these
}

// TestVirtualTime plays workers that hold, renew, stall past their lease and die, on a Redis that
// forgets, in virtual time: the real client, the real scripts, the real keeper. Tokens accepted by
// the fence never go down, no two owners write under one token, a worker that does not stall is
// told of its loss before anybody else can hold its lease, and everything that can happen did.
func TestVirtualTime(t *testing.T) {
	t.Parallel()
	seen, played := map[string]int{}, 0
	first := number(t, "REWARDCTL_VIRTUAL_SEED", 0)
	for seed := first; seed < first+number(t, "REWARDCTL_VIRTUAL_SCHEDULES", 150); seed++ {
		synctest.Test(t, func(t *testing.T) { playVirtual(t, seed, seen) })
		if t.Failed() {
			t.Fatalf("seed %d: run again with REWARDCTL_VIRTUAL_SEED=%d REWARDCTL_VIRTUAL_SCHEDULES=1 "+
				"go test ./grant/lease -run '^TestVirtualTime$'", seed, seed)
		}
		played++
	}
	t.Logf("scoreboard: virtual_schedules=%d %v", played, seen)
	if played < 100 {
		return // too few to have seen everything: one that is played again
	}
	for _, what := range []string{
		"wrote", "stale", "lost while working", "stalled past the lease", "busy", "forgot", "died",
	} {
		if seen[what] == 0 {
			t.Errorf("no schedule ever saw: %s", what)
		}
	}
}

// number reads a number from the environment.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func playVirtual(t *testing.T, seed uint64, seen map[string]int) {
	v := &virtual{
		t: t, server: miniredis.NewMiniRedis(), fences: map[string]grant.Fence{}, seen: seen,
		rng: rand.New(rand.NewPCG(seed, 7)),
	}
	v.server.ClockTTL(true)
	defer v.server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for n := range 2 + v.below(3) {
		all.Go(func() { v.work(ctx, n) })
	}
	if v.below(3) == 0 {
		all.Go(func() {
			idle(v.upTo(8 * time.Second))
			v.forget()
		})
	}
	all.Wait()
}

func (v *virtual) below(n int) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.rng.IntN(n)
}

func (v *virtual) upTo(d time.Duration) time.Duration {
	return time.Millisecond + time.Duration(v.below(int(d/time.Millisecond)))*time.Millisecond
}

func (v *virtual) count(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[what]++
}

// idle lets virtual time pass.
func idle(d time.Duration) { <-time.After(d) }

// forget loses every key, as a restart without persistence does.
func (v *virtual) forget() {
	v.mu.Lock()
	v.forgot = true
	v.mu.Unlock()
	for _, key := range v.server.Keys() {
		v.server.Del(key)
	}
	v.count("forgot")
}

// work takes leases and writes under them, again and again.
func (v *virtual) work(ctx context.Context, n int) {
	client := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return v.server.Dial()
		},
		ContextTimeoutEnabled: true, DisableIdentity: true, PoolSize: 2,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	defer func() { _ = client.Close() }()
	store, err := lease.New(client, lease.Options{Prefix: "v:", TTL: virtualTTL})
	if err != nil {
		v.t.Error(err)
		return
	}
	for try := range 6 {
		resource := fmt.Sprintf("r%d", v.below(2))
		v.mu.Lock()
		floor := v.fences[resource].Token
		v.mu.Unlock()
		answer := store.Acquire(ctx, []grant.Ask{{
			Resource: resource, Owner: fmt.Sprintf("w%d@virtual/1#%d", n, try), Floor: floor,
		}})[0]
		if answer.Lease == nil {
			v.count("busy")
			idle(v.upTo(virtualTTL))
			continue
		}
		if answer.Lease.Token <= floor {
			v.t.Errorf("token %d was issued below fence %d", answer.Lease.Token, floor)
		}
		v.hold(ctx, store, *answer.Lease)
	}
}

// hold works under a lease: it writes several times while a keeper renews, stalls now and then,
// and sometimes dies without a release.
func (v *virtual) hold(ctx context.Context, store *lease.Store, l grant.Lease) {
	kept := v.below(3) > 0
	work := ctx
	if kept {
		keeper := store.Keep(ctx, l, lease.KeepOptions{})
		defer keeper.Stop()
		work = keeper.Context()
	}
	for range 1 + v.below(4) {
		idle(v.upTo(virtualTTL / 2))
		if v.below(6) == 0 && !kept {
			idle(virtualTTL + 100*time.Millisecond) // the articles' stall
			v.count("stalled past the lease")
		}
		if kept && work.Err() != nil {
			v.count("lost while working")
			return
		}
		v.write(l, kept)
	}
	if v.below(5) == 0 {
		v.count("died")
		return
	}
	if err := store.Release(ctx, []grant.Lease{l})[0]; err != nil {
		v.t.Error(err)
	}
}

// write is the check of PostgreSQL's fence. A holder whose keeper has not reported a loss is never
// refused, unless Redis forgot.
func (v *virtual) write(l grant.Lease, kept bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.fences[l.Resource]
	switch {
	case f.Token < l.Token:
		v.fences[l.Resource] = grant.Fence{Resource: l.Resource, Token: l.Token, Owner: l.Owner}
		v.seen["wrote"]++
	case f.Token == l.Token && f.Owner == l.Owner:
		v.seen["wrote"]++
	case f.Token == l.Token:
		v.seen["collision"]++
		if !v.forgot {
			v.t.Errorf("%s and %s were both issued token %d", f.Owner, l.Owner, l.Token)
		}
	default:
		v.seen["stale"]++
		if kept && !v.forgot {
			v.t.Errorf("%s was refused by token %d and had not been told of its loss", l.Owner,
				f.Token)
		}
	}
}
