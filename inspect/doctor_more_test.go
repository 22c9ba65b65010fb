package inspect_test

import (
	"context"
	"testing"

	"rewardctl/grant/lease"
	"rewardctl/inspect"
)

// told is a store whose server says other things about itself.
type told struct {
	inspect.Store
	facts lease.Facts
}

func (s told) Facts(context.Context) ([]lease.Facts, error) { return []lease.Facts{s.facts}, nil }

func TestDoctorShowsTheSystem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var system string
	b.query(t, &system, "select system_identifier::text from pg_control_system()")
	r := b.with(t, inspect.Options{Replica: b.Pool})
	wants(t, diagnose(t, r), "database system", inspect.Warning, inspect.Pass, system, "timeline 1")
}

func TestDoctorKnowsReplicasAndTornFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const replicas, torn = "redis min-replicas", "redis aof-load-truncated"
	facts := lease.Facts{Role: "master", Version: "7.0.15", Policy: "noeviction", AppendOnly: true}
	look := func(f lease.Facts) map[string]inspect.Check {
		r, err := inspect.New(b.Pool, told{b.store, f}, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return diagnose(t, r)
	}
	checks := look(facts)
	wants(t, checks, replicas, inspect.Warning, inspect.Pass, "no replicas")
	wants(t, checks, torn, inspect.Warning, inspect.Unseen, "CONFIG")
	facts.Replicas, facts.MinReplicas, facts.LoadTruncated = 2, "0", "yes"
	checks = look(facts)
	wants(t, checks, replicas, inspect.Warning, inspect.Fail, "2 replicas", "min-replicas-to-write")
	wants(t, checks, torn, inspect.Warning, inspect.Fail, "aof-load-truncated no")
	facts.MinReplicas, facts.LoadTruncated = "1", "no"
	checks = look(facts)
	wants(t, checks, replicas, inspect.Warning, inspect.Pass)
	wants(t, checks, torn, inspect.Warning, inspect.Pass)
}

// B12: any policy that throws leases or counters away stops granting, by name. INFO tells it where
// CONFIG is forbidden; a server that tells nothing is not taken for a safe one.
func TestB12DoctorNamesTheEvictionPolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const name = "redis eviction"
	look := func(policy string) map[string]inspect.Check {
		facts := lease.Facts{Role: "master", Version: "7.0.15", Policy: policy}
		r, err := inspect.New(b.Pool, told{b.store, facts}, inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return diagnose(t, r)
	}
	for _, policy := range []string{
		"volatile-lru", "volatile-ttl", "volatile-random", "volatile-lfu", "allkeys-lru",
		"allkeys-lfu", "allkeys-random",
	} {
		wants(t, look(policy), name, inspect.Gate, inspect.Fail, policy, "maxmemory-policy noeviction")
	}
	wants(t, look("noeviction"), name, inspect.Gate, inspect.Pass)
	if c := look("")[name]; c.Status == inspect.Pass {
		t.Errorf("a policy that was not told passes: %+v", c)
	}
}
