package inspect_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"rewardctl/inspect"
)

// Leases are counted as a list of them would be, and a terse list leaves out words only.
func TestLeasesAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states(t, b)
	list, err := b.reader.Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[inspect.State]int{}
	for _, l := range list.Leases {
		want[l.Verdict.State]++
	}
	got, err := b.reader.CountLeases(t.Context())
	if err != nil || got.Total != 7 || !maps.Equal(got.States, want) || len(got.Missing) > 0 {
		t.Errorf("%+v, %v; want %v", got, err, want)
	}
	ending, soon := 0, 0
	for i, n := range got.Ending {
		ending += n
		if time.Duration(i)*inspect.LeaseEndingSpan/inspect.LeaseEndings < ttl/5 {
			soon += n
		}
	}
	if soon != 1 || len(got.Ending) != inspect.LeaseEndings || ending < 4 {
		t.Errorf("%v end", got.Ending)
	}
	terse, err := b.reader.Leases(t.Context(), inspect.LeaseFilter{
		Sort: inspect.SortState, Terse: true,
	})
	if err != nil || len(terse.Leases) != 7 {
		t.Fatalf("%+v, %v", terse, err)
	}
	full := leasesByResource(list)
	for _, l := range terse.Leases {
		want := full[l.Resource]
		reasons := l.Reasons()
		if len(reasons) != len(want.Verdict.Evidence) || l.Verdict.State != want.Verdict.State ||
			!slices.Equal(l.Verdict.Also, want.Verdict.Also) {
			t.Fatalf("%s: %+v, want %+v", l.Resource, l.Verdict, want.Verdict)
		}
		for i, e := range want.Verdict.Evidence {
			if e.Name != reasons[i].Name {
				t.Errorf("%s: %v, want %v", l.Resource, reasons[i], e)
			}
		}
	}
}

func TestLeasesAreCountedWithOneServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states(t, b)
	b.Pool.Close()
	got, err := b.reader.CountLeases(t.Context())
	if err != nil || got.Total != 7 || len(got.Missing) != 1 || got.States[inspect.Foreign] != 1 {
		t.Errorf("without PostgreSQL: %+v, %v", got, err)
	}
	blind := b.blind(t)
	got, err = blind.CountLeases(t.Context())
	if err != nil || got.Total != 0 || len(got.Missing) != 1 || got.Missing[0].Err == nil {
		t.Errorf("without Redis: %+v, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = b.reader.CountLeases(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
