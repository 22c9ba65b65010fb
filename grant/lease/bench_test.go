package lease_test

import (
	"context"
	_ "embed" // the script below
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

//go:embed testdata/compare_delete.lua
var compareDeleteLua string

// BenchmarkPair is acquire and release of one lease, beside the bare pair.
func BenchmarkPair(b *testing.B) {
	s := open(b, lease.Options{TTL: 10 * time.Second})
	ctx := context.Background()
	compareDelete := redis.NewScript(compareDeleteLua)
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			key := fmt.Sprintf("%sbare:%d", s.prefix, i%1000)
			if ok, err := s.client.SetNX(ctx, key, key, 10*time.Second).Result(); err != nil || !ok {
				b.Fatal(ok, err)
			}
			if err := compareDelete.Run(ctx, s.client, []string{key}, key).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lease", func(b *testing.B) {
		b.ReportAllocs()
		asks := make([]grant.Ask, 1)
		leases := make([]grant.Lease, 1)
		for i := range b.N {
			asks[0] = grant.Ask{Resource: fmt.Sprintf("player-%d", i%1000), Owner: "w@h/1#n"}
			a := s.Acquire(ctx, asks)[0]
			if a.Lease == nil {
				b.Fatal(a)
			}
			leases[0] = *a.Lease
			if err := s.Release(ctx, leases)[0]; err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPipelined is acquire and release of batches of 1000, beside the bare pair pipelined.
// One operation is one lease.
func BenchmarkPipelined(b *testing.B) {
	const size = 1000
	s := open(b, lease.Options{TTL: 10 * time.Second})
	ctx := context.Background()
	compareDelete := redis.NewScript(compareDeleteLua)
	names := make([]string, size)
	for i := range names {
		names[i] = fmt.Sprintf("player-%d", i)
	}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		if err := compareDelete.Load(ctx, s.client).Err(); err != nil {
			b.Fatal(err)
		}
		for range max(b.N/size, 1) {
			p := s.client.Pipeline()
			for _, n := range names {
				p.SetNX(ctx, s.prefix+n, n, 10*time.Second)
			}
			if _, err := p.Exec(ctx); err != nil {
				b.Fatal(err)
			}
			p = s.client.Pipeline()
			for _, n := range names {
				compareDelete.EvalSha(ctx, p, []string{s.prefix + n}, n)
			}
			if _, err := p.Exec(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, o := range map[string]lease.Options{
		"lease":             {TTL: 10 * time.Second},
		"lease, no history": {TTL: 10 * time.Second, HistoryMax: -1},
	} {
		b.Run(name, func(b *testing.B) { pipelined(b, open(b, o), names) })
	}
}

func pipelined(b *testing.B, s *bench, names []string) {
	b.ReportAllocs()
	ctx, size := context.Background(), len(names)
	asks := make([]grant.Ask, size)
	leases := make([]grant.Lease, size)
	for i, n := range names {
		asks[i] = grant.Ask{
			Resource: n, Owner: "worker@host/4711#0123456789abcdef0123456789abcdef",
		}
	}
	for range max(b.N/size, 1) {
		for i, a := range s.Acquire(ctx, asks) {
			if a.Lease == nil {
				b.Fatal(a)
			}
			leases[i] = *a.Lease
		}
		for _, err := range s.Release(ctx, leases) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkList lists 100,000 leases among 1,000,000 other keys.
func BenchmarkList(b *testing.B) {
	const leases, others, part = 100_000, 1_000_000, 10_000
	s := open(b, lease.Options{TTL: time.Hour})
	ctx := context.Background()
	for start := 0; start < others; start += part {
		p := s.client.Pipeline()
		for i := range part {
			p.Set(ctx, fmt.Sprintf("%sother:%d", s.prefix, start+i), "x", 0)
		}
		if _, err := p.Exec(ctx); err != nil {
			b.Fatal(err)
		}
	}
	for start := 0; start < leases; start += part {
		asks := make([]grant.Ask, part)
		for i := range asks {
			asks[i] = grant.Ask{
				Resource: fmt.Sprintf("reward:player-%d", start+i), Owner: owner("worker"),
			}
		}
		for _, a := range s.Acquire(ctx, asks) {
			if a.Lease == nil {
				b.Fatal(a)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := s.List(ctx)
		if err != nil || len(got) != leases {
			b.Fatal(len(got), err)
		}
	}
}
