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
