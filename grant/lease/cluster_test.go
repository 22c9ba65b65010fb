package lease_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// startCluster starts three primaries that share all slots and returns their addresses.
func startCluster(t *testing.T) []string {
	t.Helper()
	return formCluster(t, func(_ int, args ...string) *embedded.Redis { return own(t, 0, args...) })
}

// formCluster is startCluster with servers that start makes.
func formCluster(t *testing.T, start func(i int, args ...string) *embedded.Redis) []string {
	t.Helper()
	const nodes, slots = 3, 16384
	var addrs []string
	var first int
	for i := range nodes {
		bus := granttest.FreePort(t)
		r := start(i, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
		c := dial(t, r.Addr())
		from, to := i*slots/nodes, (i+1)*slots/nodes-1
		if err := c.ClusterAddSlotsRange(t.Context(), from, to).Err(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = bus
		} else if err := c.Do(t.Context(), "cluster", "meet", "127.0.0.1",
			port(t, addrs[0]), strconv.Itoa(first)).Err(); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, r.Addr())
	}
	for _, addr := range addrs {
		c := dial(t, addr)
		eventually(t, "the cluster agrees", func() bool {
			info, err := c.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, "cluster_slots_ok:16384") &&
				strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return addrs
}

func port(t *testing.T, addr string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func universal(t *testing.T, o redis.UniversalOptions) redis.UniversalClient {
	t.Helper()
	o.ContextTimeoutEnabled, o.DisableIdentity, o.DialerRetries = true, true, 1
	o.MaintNotificationsConfig = &maintnotifications.Config{
		Mode: maintnotifications.ModeDisabled,
	}
	c := redis.NewUniversalClient(&o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestCluster runs the suite on a real Cluster of three primaries, and what only Cluster can show.
func TestCluster(t *testing.T) {
	t.Parallel()
	addrs := startCluster(t)
	open := func(t *testing.T, o lease.Options) *bench {
		return openAt(t, universal(t, redis.UniversalOptions{Addrs: addrs}), o)
	}
	t.Run("suite", func(t *testing.T) { conform(t, open) })
	t.Run("model", func(t *testing.T) {
		drive(t, open(t, lease.Options{TTL: time.Minute, Shards: 2}))
	})
	t.Run("same slot", func(t *testing.T) {
		s := open(t, lease.Options{})
		for _, r := range []string{"p1", "a}b", "{a}b", "日本", "{}", "}x{", "%", "\x00"} {
			lock := s.client.ClusterKeySlot(t.Context(), s.LockKey(r)).Val()
			fence := s.client.ClusterKeySlot(t.Context(), s.FenceKey(r)).Val()
			history := s.client.ClusterKeySlot(t.Context(), s.HistoryKey(r)).Val()
			if lock != fence || lock != history {
				t.Errorf("%q: slots %d, %d and %d", r, lock, fence, history)
			}
		}
	})
	t.Run("all primaries", func(t *testing.T) {
		s := open(t, lease.Options{TTL: time.Minute})
		var names []string
		for i := range 60 {
			names = append(names, fmt.Sprint("p", i))
		}
		for _, a := range s.Acquire(t.Context(), asksFor("w", names...)) {
			if a.Lease == nil {
				t.Fatalf("%+v", a)
			}
		}
		for _, addr := range addrs {
			node := openAt(t, dial(t, addr), lease.Options{})
			locks := node.client.Scan(t.Context(), 0, s.prefix+"lock:*", 1000).Iterator()
			if !locks.Next(t.Context()) {
				t.Errorf("%s holds no lock", addr)
			}
		}
		s.wantListed(t, names)
		facts, err := s.Facts(t.Context())
		if err != nil || len(facts) != 3 || facts[0].Mode != "cluster" || facts[2].Role != "master" {
			t.Errorf("facts %+v, %v; want three primaries", facts, err)
		}
	})
	t.Run("lost reply", func(t *testing.T) {
		lostOnCluster(t, addrs)
	})
}

// lostOnCluster loses one acquire reply on Cluster, where the driver's own retries do not obey
// MaxRetries: the script runs twice in all, once for each of our attempts.
func lostOnCluster(t *testing.T, addrs []string) {
	proxies := map[string]*granttest.Proxy{}
	for _, addr := range addrs {
		proxies[addr] = granttest.NewRedisProxy(t, addr)
	}
	c := universal(t, redis.UniversalOptions{
		Addrs: addrs,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, proxies[addr].Addr())
		},
	})
	s := openAt(t, c, lease.Options{})
	warm := s.take(t, grant.Ask{Resource: "r", Owner: "warm"})
	s.Release(t.Context(), []grant.Lease{warm})
	var mu sync.Mutex
	var ran, lost int
	for _, p := range proxies {
		p.Add(granttest.Rule{
			At: granttest.AtReply, Times: -1, Fault: granttest.Close,
			Match: func(f granttest.Frame) bool {
				mu.Lock()
				defer mu.Unlock()
				if !granttest.Script(s.AcquireSource())(f) {
					return false
				}
				ran++
				if lost > 0 {
					return false
				}
				lost++
				return true
			},
		})
	}
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	mu.Lock()
	if l.Token != 2 || ran != 2 || lost != 1 {
		t.Errorf("token %d after %d runs with %d lost; want 2, 2 and 1", l.Token, ran, lost)
	}
	mu.Unlock()
	s.wantListed(t, []string{"r"})
}

// TestSentinel runs the suite through Sentinel, and fails over to a replica whose counter is
// behind: the floor keeps the tokens rising. This is the live half of case B10.
func TestSentinel(t *testing.T) {
	t.Parallel()
	primary := own(t, 0)
	replica := own(t, 0, "--replicaof", "127.0.0.1", port(t, primary.Addr()))
	behind := dial(t, replica.Addr())
	eventually(t, "the replica follows", func() bool {
		info, err := behind.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	sentinel := startSentinel(t, primary.Addr())
	open := func(t *testing.T, o lease.Options) *bench {
		return openAt(t, universal(t, redis.UniversalOptions{
			Addrs: []string{sentinel}, MasterName: "mymaster",
		}), o)
	}
	t.Run("suite", func(t *testing.T) { conform(t, open) })
	s := open(t, lease.Options{TTL: time.Minute})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a", Floor: 109})
	watcher := dial(t, sentinel)
	eventually(t, "the sentinel knows the replica", func() bool {
		got, err := watcher.Do(t.Context(), "sentinel", "replicas", "mymaster").Slice()
		return err == nil && len(got) == 1
	})
	if err := primary.Stop(); err != nil {
		t.Fatal(err)
	}
	var next grant.Lease
	eventually(t, "the replica is promoted", func() bool {
		info, err := behind.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "role:master")
	})
	// What replication had not brought over yet: the lock, and the counter's last steps.
	behind.Del(t.Context(), s.LockKey("r"))
	behind.Set(t.Context(), s.FenceKey("r"), "100", 0)
	eventually(t, "the client finds the new primary", func() bool {
		a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "b", Floor: 110}})[0]
		if a.Lease != nil {
			next = *a.Lease
		}
		return a.Lease != nil
	})
	if l.Token != 110 || next.Token != 111 {
		t.Errorf("tokens %d and %d, want 110 and, after the failover, 111", l.Token, next.Token)
	}
	if r := s.Renew(t.Context(), []grant.Lease{l})[0]; !r.Lost {
		t.Errorf("the old holder renews: %+v, want lost", r)
	}
	s.wantListed(t, []string{"r"})
	if facts, err := s.Facts(t.Context()); err != nil || facts[0].Role != "master" {
		t.Errorf("facts %+v, %v", facts, err)
	}
}

// startSentinel starts one sentinel that watches a primary, and returns its address.
func startSentinel(t *testing.T, primary string) string {
	t.Helper()
	at := granttest.FreePort(t)
	dir := t.TempDir()
	conf := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nlogfile %s\n"+
		"sentinel monitor mymaster 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds mymaster 500\n"+
		"sentinel failover-timeout mymaster 3000\n",
		at, dir, filepath.Join(dir, "sentinel.log"), port(t, primary))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "redis-server", conf, "--sentinel")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(at))
	c := dial(t, addr)
	eventually(t, "the sentinel answers", func() bool { return c.Ping(t.Context()).Err() == nil })
	return addr
}

// TestReplicaRefuses checks a client that reaches a replica: refused without doubt, never acquired.
func TestReplicaRefuses(t *testing.T) {
	t.Parallel()
	primary := own(t, 0)
	replica := own(t, 0, "--replicaof", "127.0.0.1", port(t, primary.Addr()))
	s := openAt(t, dial(t, replica.Addr()), lease.Options{})
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}})[0]
	wantPlain(t, a.Err)
	if !redis.HasErrorPrefix(a.Err, "READONLY") && !redis.HasErrorPrefix(a.Err, "MASTERDOWN") {
		t.Errorf("error %v, want the server's READONLY", a.Err)
	}
	if errors.Is(a.Err, lease.ErrLate) || a.Lease != nil {
		t.Errorf("answer %+v", a)
	}
	facts, err := s.Facts(t.Context())
	if err != nil || facts[0].Role != "slave" {
		t.Errorf("facts %+v, %v; want a replica", facts, err)
	}
}

// TestNobodyThere checks that a Cluster or Sentinel that cannot be reached is refused without
// doubt: nothing was sent.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]redis.UniversalOptions{
		"cluster":  {Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}},
		"sentinel": {Addrs: []string{"127.0.0.1:1"}, MasterName: "mymaster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := lease.New(universal(t, o), lease.Options{TTL: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}})[0]
			wantPlain(t, a.Err)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if _, err := s.List(t.Context()); !grant.Unavailable(err) {
				t.Errorf("list: %v", err)
			}
		})
	}
}
