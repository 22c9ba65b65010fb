package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/inspect"
)

// many makes n leases, half of them superseded, that live as long as the test.
func many(tb testing.TB, n int) *inspect.Reader {
	tb.Helper()
	b := setup(tb)
	var err error
	b.store, err = lease.New(b.Redis, lease.Options{Prefix: b.Prefix, TTL: 10 * time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	const part = 5_000
	for start := 0; start < n; start += part {
		asks := make([]grant.Ask, part)
		for i := range asks {
			asks[i] = grant.Ask{
				Resource: fmt.Sprintf("reward:p%06d", start+i),
				Owner:    fmt.Sprintf("w%d@host/1#%d", i%50, start+i),
			}
		}
		for _, a := range b.store.Acquire(tb.Context(), asks) {
			if a.Lease == nil {
				tb.Fatalf("%+v", a)
			}
		}
	}
	b.exec(tb, "insert into reward_fence (resource, last_token, last_owner) "+
		"select 'reward:p' || lpad(n::text, 6, '0'), 2, 'newer' "+
		"from generate_series(0, $1::integer - 1, 2) n", n)
	b.exec(tb, "analyze reward_fence")
	return b.with(tb, inspect.Options{Timeout: time.Minute})
}

// However many leases there are, each server is asked once, and nothing is left out.
func TestManyLeases(t *testing.T) {
	t.Parallel()
	const n = 20_000
	reader := many(t, n)
	best := time.Hour
	for range 3 {
		started := time.Now()
		list, err := reader.Leases(t.Context(), inspect.LeaseFilter{
			States: []inspect.State{inspect.Superseded}, Limit: 50,
		})
		best = min(best, time.Since(started))
		if err != nil || len(list.Missing) != 0 {
			t.Fatalf("%v %v", list.Missing, err)
		}
		if list.Total != n || list.Matched != n/2 || len(list.Leases) != 50 {
			t.Fatalf("%d leases, %d superseded, %d shown", list.Total, list.Matched,
				len(list.Leases))
		}
	}
	if best > 5*time.Second {
		t.Errorf("%d leases took %s", n, best)
	}
}

// BenchmarkLeases lists 100,000 leases: the first 50, and those in one state.
func BenchmarkLeases(b *testing.B) {
	reader := many(b, 100_000)
	for name, filter := range map[string]inspect.LeaseFilter{
		"first":      {Limit: 50},
		"superseded": {States: []inspect.State{inspect.Superseded}, Limit: 50},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := reader.Leases(b.Context(), filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatch looks again at 100,000 leases of which none has changed.
func BenchmarkWatch(b *testing.B) {
	reader := many(b, 100_000)
	look, done := make(chan time.Time), make(chan error, 1)
	go func() {
		done <- reader.Watch(b.Context(), inspect.WatchOptions{Look: look, OnlyChanges: true},
			func(c inspect.Change) error { return fmt.Errorf("%s: %s", c.Lease.Resource, c.What) })
	}()
	b.ReportAllocs()
	for b.Loop() {
		select {
		case look <- time.Time{}:
		case err := <-done:
			b.Fatal(err)
		}
	}
	close(look)
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
