package drill_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
	"rewardctl/grant/drill"
	"rewardctl/grant/granttest"
)

// startCluster starts a Cluster of one primary: the client has to find it, and keys of different
// slots may not share a script.
func startCluster(t *testing.T) *redis.ClusterClient {
	t.Helper()
	bus, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{}) // to learn a free port
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(bus.Port())
	if err := bus.Stop(); err != nil {
		t.Fatal(err)
	}
	server, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{
		Args: []string{"--cluster-enabled", "yes", "--cluster-port", port},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	node := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer node.Close()
	if err := node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := node.ClusterInfo(t.Context()).Result()
		if err == nil && strings.Contains(info, "cluster_state:ok") {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("the cluster does not form: %s, %v", info, err)
		case <-tick.C:
		}
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{server.Addr()}, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestOnCluster plays the drills that touch Redis most on a Cluster, without and with defences.
func TestOnCluster(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	client := startCluster(t)
	for _, name := range []string{
		"late-renewal", "partition", "lost-reply", "wrong-release", "failover", "room-owner",
		"ranking", drill.LostUpdate,
	} {
		t.Run(name, func(t *testing.T) {
			opt := options(w, "")
			opt.Name, opt.Redis = name, client
			p, err := drill.Prove(t.Context(), opt)
			if err != nil {
				t.Fatalf("%v\n%s%s", err, timeline(p.Control), timeline(p.Defended))
			}
			if !p.Proved {
				t.Errorf("control %+v, defended %+v", p.Control.Checks, p.Defended.Checks)
			}
		})
	}
	if size, err := client.DBSize(t.Context()).Result(); err != nil || size != 0 {
		t.Errorf("%d keys are left, %v", size, err) // the server is this test's own
	}
}
