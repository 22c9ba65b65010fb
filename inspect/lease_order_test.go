package inspect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rewardctl/inspect"
)

// The first few are found without sorting the rest. They must be what the whole list begins with,
// in every order and for every number.
func TestLimitIsTheBeginningOfTheList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const n = 61
	for i := range n {
		b.take(t, fmt.Sprintf("reward:p%02d", i*37%n), fmt.Sprintf("w%d", i%5))
	}
	b.beat(t, "w1")
	b.beat(t, "w2")
	b.exec(t, "insert into reward_fence (resource, last_token, last_owner) "+
		"select 'reward:p' || lpad((n * 3)::text, 2, '0'), 5, 'newer' from generate_series(0, 15) n")
	reader := b.with(t, inspect.Options{TTL: time.Hour})
	for _, by := range []inspect.LeaseSort{
		"", inspect.SortResource, inspect.SortOwner, inspect.SortToken, inspect.SortState,
	} {
		for _, reverse := range []bool{false, true} {
			f := inspect.LeaseFilter{Sort: by, Reverse: reverse}
			all, err := reader.Leases(t.Context(), f)
			if err != nil || len(all.Leases) != n || all.Matched != n {
				t.Fatalf("%d of %d leases: %v", len(all.Leases), all.Matched, err)
			}
			for _, f.Limit = range []int{1, 2, 7, 29, 30, 60, 61, 62} {
				some, err := reader.Leases(t.Context(), f)
				if err != nil || some.Matched != n {
					t.Fatalf("%+v: %d matched, %v", f, some.Matched, err)
				}
				want := all.Leases[:min(f.Limit, n)]
				if !slices.EqualFunc(some.Leases, want, sameStanding) {
					t.Errorf("%+v: %v, want %v", f, standings(some.Leases), standings(want))
				}
			}
		}
	}
}

// sameStanding compares all but the time left, which runs.
func sameStanding(a, b inspect.Lease) bool {
	return a.Resource == b.Resource && a.Value == b.Value && a.Verdict.State == b.Verdict.State &&
		slices.Equal(a.Verdict.Also, b.Verdict.Also) && len(a.Verdict.Evidence) ==
		len(b.Verdict.Evidence) && (a.Fence == nil) == (b.Fence == nil)
}

func standings(leases []inspect.Lease) []string {
	var out []string
	for _, l := range leases {
		out = append(out, l.Resource+" "+string(l.Verdict.State))
	}
	return out
}
