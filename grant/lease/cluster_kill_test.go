package lease_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// node is a primary that a test kills and starts again on its data.
type node struct {
	*embedded.Redis
	options embedded.RedisOptions
}

func (n *node) start(t *testing.T) {
	t.Helper()
	r, err := embedded.StartRedis(context.WithoutCancel(t.Context()), n.options)
	if err != nil {
		t.Fatal(err)
	}
	n.Redis, n.options.Port = r, r.Port()
}

func (n *node) kill(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(n.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-n.Done()
	_ = n.Stop()
}

// TestClusterPrimaryKilled kills one of three primaries. Its leases cannot be reached, which is
// not "busy"; those of the others work on; once it is back with its data, everything does, and no
// token is issued twice.
func TestClusterPrimaryKilled(t *testing.T) {
	t.Parallel()
	nodes := make([]*node, 3)
	addrs := formCluster(t, func(i int, args ...string) *embedded.Redis {
		nodes[i] = &node{options: embedded.RedisOptions{Dir: t.TempDir(), Args: append(args,
			"--appendonly", "yes", "--appendfsync", "always", "--cluster-node-timeout", "1000",
			"--cluster-require-full-coverage", "no")}}
		nodes[i].start(t)
		t.Cleanup(func() { _ = nodes[i].Stop() })
		return nodes[i].Redis
	})
	s := openAt(t, universal(t, redis.UniversalOptions{
		Addrs: addrs, ReadTimeout: 300 * time.Millisecond, DialTimeout: 300 * time.Millisecond,
	}), lease.Options{TTL: time.Minute})
	var names []string
	tokens := map[string]int64{}
	for i := range 30 {
		names = append(names, fmt.Sprint("p", i))
	}
	for _, a := range s.Acquire(t.Context(), asksFor("before", names...)) {
		if a.Lease == nil {
			t.Fatalf("acquire: %+v, %v", a.Holder, a.Err)
		}
		tokens[a.Lease.Resource] = a.Lease.Token
		if err := s.Release(t.Context(), []grant.Lease{*a.Lease})[0]; err != nil {
			t.Fatal(err)
		}
	}
	nodes[1].kill(t)
	lost := partly(t, s, names, tokens)
	began := time.Now()
	nodes[1].start(t)
	eventually(t, "the leases of the primary that was killed", func() bool {
		for _, name := range lost {
			a := s.Acquire(t.Context(), asksFor("after", name))[0]
			if a.Lease == nil {
				return false
			}
			if a.Lease.Token <= tokens[name] {
				t.Fatalf("token %d was issued twice", a.Lease.Token)
			}
			s.Release(t.Context(), []grant.Lease{*a.Lease})
		}
		return true
	})
	t.Logf("scoreboard: cluster_primary_recovered_ms=%d", time.Since(began).Milliseconds())
}

// partly acquires all names while one primary is dead and returns those that it had.
func partly(
	t *testing.T, s *bench, names []string, tokens map[string]int64,
) (lost []string) {
	t.Helper()
	for i, a := range s.Acquire(t.Context(), asksFor("meanwhile", names...)) {
		var broken *grant.BackendError
		switch {
		case a.Lease != nil:
			if a.Lease.Token <= tokens[names[i]] {
				t.Errorf("%s: token %d was issued twice", names[i], a.Lease.Token)
			}
			tokens[names[i]] = a.Lease.Token
			s.Release(t.Context(), []grant.Lease{*a.Lease})
		case a.Holder != nil:
			t.Errorf("%s: a dead primary was called busy: %+v", names[i], a.Holder)
		case errors.As(a.Err, &broken):
			lost = append(lost, names[i])
		default:
			t.Errorf("%s: %v", names[i], a.Err)
		}
	}
	if len(lost) == 0 || len(lost) == len(names) {
		t.Fatalf("%d of %d leases were lost, want those of one primary", len(lost), len(names))
	}
	return lost
}
