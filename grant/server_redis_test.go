package grant_test

import (
	"context"
	"fmt"
	"os"
	process "os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// ownRedis is a redis-server that a test may kill: it keeps its port and its data.
type ownRedis struct {
	*embedded.Redis
	dir  string
	args []string
}

func startRedis(t *testing.T, args ...string) *ownRedis {
	t.Helper()
	o := &ownRedis{dir: t.TempDir(), args: args}
	o.start(t, 0)
	t.Cleanup(func() { _ = o.Stop() })
	return o
}

func (o *ownRedis) start(t *testing.T, port int) {
	t.Helper()
	server, err := embedded.StartRedis(context.WithoutCancel(t.Context()), embedded.RedisOptions{
		Dir: o.dir, Port: port, Args: o.args,
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Redis = server
}

// crash kills the server without a word and starts it again on its data.
func (o *ownRedis) crash(t *testing.T) {
	t.Helper()
	_, port := hostPort(t, o.Addr())
	if err := syscall.Kill(o.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	happens(t, o.Done(), "the end of the killed server")
	_ = o.Stop()
	o.start(t, int(port))
}

func clientOf(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: addr, ReadTimeout: 500 * time.Millisecond, DialTimeout: time.Second,
		ContextTimeoutEnabled: true, DisableIdentity: true, DialerRetries: 1,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func storeOf(t *testing.T, w *granttest.World, addr string, ttl time.Duration) *lease.Store {
	t.Helper()
	store, err := lease.New(clientOf(t, addr), lease.Options{Prefix: w.Prefix, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// takeLease acquires a player's lease, as a worker of its own would.
func takeLease(t *testing.T, s *lease.Store, player, worker string, floor int64) grant.Lease {
	t.Helper()
	answer := s.Acquire(t.Context(), []grant.Ask{{
		Resource: grant.ResourceFor(player), Owner: worker + "@test/1#" + nonce(), Floor: floor,
	}})[0]
	if answer.Lease == nil {
		t.Fatalf("acquire: %+v, %v", answer.Holder, answer.Err)
	}
	// Its holder vouches for it: it stalls, and does not know how late it is.
	answer.Lease.Until = time.Time{}
	return *answer.Lease
}

// TestServerRedisCrash kills Redis under load, several times: no grant is lost or doubled.
func TestServerRedisCrash(t *testing.T) {
	t.Parallel()
	const clients, crashes = 8, 3
	server := startRedis(t, "--appendonly", "yes", "--appendfsync", "everysec")
	w := granttest.New(t)
	engine := newEngine(t, w.Pool, storeOf(t, w, server.Addr(), faultTTL), nil)
	var (
		done    atomic.Bool
		granted atomic.Int64
		load    sync.WaitGroup
	)
	for c := range clients {
		load.Go(func() {
			for n := 0; !done.Load(); n++ {
				untilFinal(t, engine, reward(fmt.Sprintf("player-%d-%d", c, n)))
				granted.Add(1)
			}
		})
	}
	for range crashes {
		before := granted.Load()
		reached(t, "grants before the crash", func() bool { return granted.Load() > before+50 })
		began := time.Now()
		server.crash(t)
		before = granted.Load()
		reached(t, "grants after the crash", func() bool { return granted.Load() > before })
		t.Logf("scoreboard: redis_crash_recovered_ms=%d", time.Since(began).Milliseconds())
	}
	done.Store(true)
	load.Wait()
	if n := count(t, w, "select count(*) from reward_ledger"); int64(n) != granted.Load() {
		t.Errorf("%d postings, want %d", n, granted.Load())
	}
	w.CheckInvariants(t)
}

// TestServerRedisRollback: a Redis with snapshots only comes back with an old counter and with a
// lock that was released. The lock is busy, nothing worse; then the floor lifts the counter.
func TestServerRedisRollback(t *testing.T) {
	t.Parallel()
	server := startRedis(t, "--save", "3600 1")
	w := granttest.New(t)
	client := clientOf(t, server.Addr())
	store := storeOf(t, w, server.Addr(), time.Minute)
	engine := newEngine(t, w.Pool, store, nil)
	ghost := takeLease(t, store, "player-1", "ghost", 0)
	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := store.Release(t.Context(), []grant.Lease{ghost})[0]; err != nil {
		t.Fatal(err)
	}
	var last int64
	for n := range 5 {
		r := reward("player-1")
		r.EventID = fmt.Sprintf("%s-%d", r.EventID, n)
		last = mustGrant(t, engine, r).Token
	}
	server.crash(t)
	late := reward("player-1")
	held := mustGrant(t, engine, late)
	wantOutcome(t, held, grant.LeaseHeld)
	if held.Holder.Token != ghost.Token || held.Holder.Owner != ghost.Owner {
		t.Errorf("held by %+v, want the lock that came back", held.Holder)
	}
	freed, err := store.ReleaseExact(t.Context(), grant.ResourceFor("player-1"),
		lease.FormatValue(ghost.Token, ghost.Owner))
	if err != nil || freed.Answer != lease.Released {
		t.Fatalf("release: %+v, %v", freed, err)
	}
	after := mustGrant(t, engine, late)
	wantOutcome(t, after, grant.Applied)
	if after.Token <= last {
		t.Errorf("token %d after the rollback, want one above %d", after.Token, last)
	}
	// The ghost itself can no longer write.
	late.EventID, late.Held = late.EventID+"-ghost", &ghost
	wantOutcome(t, mustGrant(t, engine, late), grant.StaleToken)
	w.CheckInvariants(t)
}

// TestServerRedisBusy: while a script of somebody else blocks Redis, an acquisition is refused
// without doubt, and nothing is written.
func TestServerRedisBusy(t *testing.T) {
	t.Parallel()
	server := startRedis(t, "--busy-reply-threshold", "20")
	w := granttest.New(t)
	engine := newEngine(t, w.Pool, storeOf(t, w, server.Addr(), faultTTL), nil)
	wantOutcome(t, mustGrant(t, engine, reward("player-1")), grant.Applied) // the script is known
	blocker := clientOf(t, server.Addr())
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		_ = blocker.Eval(t.Context(), "while true do end", nil).Err()
	}()
	watcher := clientOf(t, server.Addr())
	reached(t, "Redis is busy", func() bool {
		return redis.HasErrorPrefix(watcher.Ping(t.Context()).Err(), "BUSY")
	})
	res, err := engine.Grant(t.Context(), reward("player-2"))
	if res.Outcome != grant.Failed || !redis.HasErrorPrefix(err, "BUSY") {
		t.Errorf("answered %s, %v; want a failure that says BUSY", res.Outcome, err)
	}
	if err := watcher.ScriptKill(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	happens(t, blocked, "the end of the script")
	wantOutcome(t, mustGrant(t, engine, reward("player-2")), grant.Applied)
	w.CheckInvariants(t)
}

// TestServerRedisSplitBrain: the primary and a replica that was promoted behind its back issue the
// same token to two owners. Both use it; the fence lets one of them write.
func TestServerRedisSplitBrain(t *testing.T) {
	t.Parallel()
	primary := startRedis(t)
	_, port := hostPort(t, primary.Addr())
	replica := startRedis(t, "--replicaof", "127.0.0.1", strconv.Itoa(int(port)))
	w := granttest.New(t)
	onPrimary := storeOf(t, w, primary.Addr(), time.Minute)
	onReplica := storeOf(t, w, replica.Addr(), time.Minute)
	promoted := clientOf(t, replica.Addr())
	a := newEngine(t, w.Pool, onPrimary, nil)
	for n := range 3 {
		r := reward("player-1")
		r.EventID = fmt.Sprintf("%s-%d", r.EventID, n)
		wantOutcome(t, mustGrant(t, a, r), grant.Applied)
	}
	key := onPrimary.FenceKey(grant.ResourceFor("player-1"))
	reached(t, "the replica has the counter", func() bool {
		return promoted.Get(t.Context(), key).Val() == "3"
	})
	if err := promoted.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	one := takeLease(t, onPrimary, "player-1", "a", 3)
	two := takeLease(t, onReplica, "player-1", "b", 3)
	if one.Token != two.Token {
		t.Fatalf("tokens %d and %d, want the same", one.Token, two.Token)
	}
	t.Logf("scoreboard: failovers=1 duplicate_tokens_refused=1")
	first, second := reward("player-1"), reward("player-1")
	first.Held, second.Held = &one, &two
	second.EventID += "-other"
	wantOutcome(t, mustGrant(t, a, first), grant.Applied)
	wantOutcome(t, mustGrant(t, a, second), grant.TokenCollision)
	// Without a lease of its own to insist on, the engine takes a new one above the fence.
	b := newEngine(t, w.Pool, onReplica, nil)
	if err := onReplica.Release(t.Context(), []grant.Lease{two})[0]; err != nil {
		t.Fatal(err)
	}
	second.Held = nil
	wantOutcome(t, mustGrant(t, b, second), grant.Applied)
	w.CheckInvariants(t)
}

// clockShim moves a process's wall clock by the number of seconds that a file holds. A library
// that does more than that makes the server hang: its allocator asks for the time early.
const clockShim = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
static long offset(void) {
	FILE *f = fopen(CLOCK_FILE, "r");
	long s = 0;
	if (f) { if (fscanf(f, "%ld", &s) != 1) s = 0; fclose(f); }
	return s;
}
int gettimeofday(struct timeval *tv, void *tz) {
	struct timespec ts;
	(void)tz;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec + offset();
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
`

// TestServerRedisClock moves the server's wall clock: an hour ahead all leases are gone, and the
// fence refuses their holders; an hour back they last an hour longer, which an operator sees and
// can end.
func TestServerRedisClock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock, library := filepath.Join(dir, "clock"), filepath.Join(dir, "clock.so")
	set := func(text string) {
		next := clock + ".next"
		if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, clock); err != nil {
			t.Fatal(err)
		}
	}
	set("0")
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, []byte(clockShim), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := process.Command("gcc", "-shared", "-fPIC", "-O1",
		`-DCLOCK_FILE="`+clock+`"`, "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	addr := startWithClock(t, library)
	w := granttest.New(t)
	store := storeOf(t, w, addr, time.Minute)
	engine := newEngine(t, w.Pool, store, nil)

	early := takeLease(t, store, "player-1", "early", 0)
	set("3600")
	next := reward("player-1")
	wantOutcome(t, mustGrant(t, engine, next), grant.Applied) // under a newer lease
	stalled := reward("player-1")
	stalled.EventID, stalled.Held = stalled.EventID+"-early", &early
	wantOutcome(t, mustGrant(t, engine, stalled), grant.StaleToken)

	long := takeLease(t, store, "player-2", "long", 0)
	set("0")
	entry, err := store.Show(t.Context(), grant.ResourceFor("player-2"))
	if err != nil || entry.Left < 50*time.Minute {
		t.Fatalf("%v left, %v; want about an hour", entry.Left, err)
	}
	freed, err := store.ReleaseExact(t.Context(), entry.Resource, entry.Value)
	if err != nil || freed.Answer != lease.Released || entry.Token != long.Token {
		t.Fatalf("release: %+v, %v", freed, err)
	}
	wantOutcome(t, mustGrant(t, engine, reward("player-2")), grant.Applied)
	w.CheckInvariants(t)
}

// startWithClock starts a redis-server whose clock the library moves, and returns its address.
func startWithClock(t *testing.T, library string) string {
	t.Helper()
	port := granttest.FreePort(t)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := process.CommandContext(context.WithoutCancel(t.Context()), "redis-server", "--bind",
		"127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--dir", t.TempDir())
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+library)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	client := clientOf(t, addr)
	reached(t, "the server answers", func() bool { return client.Ping(t.Context()).Err() == nil })
	return addr
}
