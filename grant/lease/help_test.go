package lease_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"rewardctl/grant"
)

// eventually polls until ok, for ten seconds at most.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			tb.Fatalf("never happened: %s", what)
		case <-tick.C:
		}
	}
}

func (b *bench) put(tb testing.TB, key, value string) {
	tb.Helper()
	if err := b.client.Set(tb.Context(), key, value, 0).Err(); err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) get(tb testing.TB, key string) string {
	tb.Helper()
	value, err := b.client.Get(tb.Context(), key).Result()
	if err != nil {
		tb.Fatalf("get %s: %v", key, err)
	}
	return value
}

// wantListed expects exactly these resources in the list, each once.
func (b *bench) wantListed(tb testing.TB, want []string) {
	tb.Helper()
	entries, err := b.List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Resource)
	}
	want = slices.Sorted(slices.Values(want))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		tb.Errorf("%d listed, want %d:\n got %.300q\nwant %.300q", len(got), len(want), got, want)
	}
}

// indexed counts the index entries.
func (b *bench) indexed(tb testing.TB) int64 {
	tb.Helper()
	var n int64
	for shard := range b.Shards() {
		size, err := b.client.ZCard(tb.Context(), b.ShardKey(shard)).Result()
		if err != nil {
			tb.Fatal(err)
		}
		n += size
	}
	return n
}

// wantPlain expects an error of the store that proves that nothing happened.
func wantPlain(tb testing.TB, err error) {
	tb.Helper()
	var b *grant.BackendError
	if !errors.As(err, &b) || b.Backend != grant.Redis || b.Doubt {
		tb.Errorf("error %v (%T), want a BackendError without doubt", err, err)
	}
}
