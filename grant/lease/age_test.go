package lease_test

import (
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// ages: the index tells since when a lease is held, and nothing about one that ended.
func ages(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second, Shards: 3})
	got := s.Acquire(t.Context(), []grant.Ask{{Resource: "a {1}%", Owner: "w#1"}})[0]
	if got.Lease == nil {
		t.Fatal(got.Err)
	}
	asked := []lease.Held{
		{Resource: "a {1}%", Owner: "w#1"},
		{Resource: "a {1}%", Owner: "w#2"},
		{Resource: "b", Owner: "w#1"},
	}
	old, err := s.Ages(t.Context(), asked)
	if err != nil || old[0] < 0 || old[0] > time.Minute || old[1] != -1 || old[2] != -1 {
		t.Errorf("ages %v, %v", old, err)
	}
	s.Release(t.Context(), []grant.Lease{*got.Lease})
	if old, err = s.Ages(t.Context(), asked[:1]); err != nil || old[0] != -1 {
		t.Errorf("after the release: %v, %v", old, err)
	}
}
