package inspect_test

import (
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// Leases that are asked for by name are told as a list of all tells them.
func TestLeasesByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deaf := b.deaf(t)
	states(t, b)
	list, err := b.reader.Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil {
		t.Fatal(err)
	}
	asked := []string{
		"reward:none", "reward:superseded", "reward:orphan", "reward:held", "reward:foreign",
		"reward:expiring", "reward:endless", "reward:long",
	}
	got, err := b.reader.LeasesOf(t.Context(), asked)
	if err != nil || got.Total != 7 || got.Matched != 7 || len(got.Missing) > 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	all := leasesByResource(list)
	for i, l := range got.Leases {
		want := all[asked[i+1]]
		if l.Resource != want.Resource || l.Value != want.Value || l.Heartbeat != want.Heartbeat ||
			l.Verdict.State != want.Verdict.State || l.Left > want.Left ||
			(l.Fence == nil) != (want.Fence == nil) || len(l.Reasons()) == 0 {
			t.Errorf("%+v, want %+v", l, want)
		}
	}
	since, err := b.reader.HeldSince(t.Context(), got.Leases)
	if at, ok := since["reward:held"]; err != nil || !ok || at.After(time.Now()) ||
		time.Since(at) > time.Minute || !since["reward:foreign"].IsZero() {
		t.Errorf("since %v, %v", since, err)
	}
	none, err := b.reader.LeasesOf(t.Context(), []string{"reward:none"})
	if err != nil || len(none.Leases) != 0 {
		t.Errorf("nobody's: %+v, %v", none, err)
	}
	half, err := deaf.LeasesOf(t.Context(), asked)
	if err != nil || len(half.Leases) != 7 || len(half.Missing) != 1 ||
		half.Missing[0].Backend != grant.PostgreSQL {
		t.Errorf("without PostgreSQL: %+v, %v", half.Missing, err)
	}
	if _, err := b.blind(t).LeasesOf(t.Context(), asked); !grant.Unavailable(err) {
		t.Errorf("without Redis: %v", err)
	}
}
