package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const (
	holderUUID = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	foreignTTL = time.Minute
)

// scanned returns what a scan finds, as "KEY KIND" in order, with " forever" behind those without
// an expiry. It fails on a key that comes twice.
func scanned(t *testing.T, s *bench, o lease.ScanOptions) ([]string, lease.ScanReport) {
	t.Helper()
	var got []string
	seen := map[string]bool{}
	report, err := s.Scan(t.Context(), o, func(page []lease.Found) error {
		for _, f := range page {
			if seen[f.Key] {
				t.Errorf("%s was emitted twice", f.Key)
			}
			seen[f.Key] = true
			line := strings.TrimPrefix(f.Key, s.prefix) + " " + string(f.Kind)
			if f.NoExpiry {
				line += " forever"
			}
			got = append(got, line)
		}
		return nil
	})
	if err != nil || !report.Complete || int(report.Found) != len(got) {
		t.Errorf("report %+v, error %v after %d locks", report, err, len(got))
	}
	slices.Sort(got)
	return got, report
}

func wantScanned(t *testing.T, s *bench, o lease.ScanOptions, want []string) lease.ScanReport {
	t.Helper()
	got, report := scanned(t, s, o)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return report
}

// plant makes one lock of each kind, and look-alikes, and returns what a scan has to say.
func plant(t *testing.T, s *bench) (want []string) {
	t.Helper()
	ctx := t.Context()
	asks := asksFor("w", "fine", "lost", "forever")
	s.Acquire(ctx, asks)
	for shard := range s.Shards() {
		for _, a := range asks[1:2] {
			s.client.ZRem(ctx, s.ShardKey(shard), "lost}"+a.Owner)
		}
	}
	s.client.Persist(ctx, s.LockKey("forever"))
	s.put(t, s.LockKey("theirs"), "not ours")
	s.put(t, s.prefix+"lock:{a}b", "1:w")
	s.client.HSet(ctx, s.LockKey("hash"), "a", "1")
	s.client.RPush(ctx, s.FenceKey("list"), "1")
	for key, value := range map[string]string{
		"player:1:lock": "x", "playerMutex": "y", "block:7": "no", "clock": "no", "unlocked:9": "no",
	} {
		s.client.Set(ctx, s.prefix+key, value, foreignTTL)
	}
	s.put(t, s.prefix+"old_lock", "since 2019")
	s.client.Set(ctx, s.prefix+"big:lock", strings.Repeat("x", 5000), foreignTTL)
	hash := func(key string, expire bool, fields ...any) {
		s.client.HSet(ctx, s.prefix+key, fields...)
		if expire {
			s.client.PExpire(ctx, s.prefix+key, foreignTTL)
		}
	}
	hash("any name", true, holderUUID+":42", "2")
	hash("rw", true, holderUUID+":1:write", "1", "mode", "write")
	hash("hash lock", false, holderUUID+":42", "1")
	hash("no expiry", false, holderUUID+":42", "1")
	hash("profile", true, "name", "x")
	hash("no counter", true, holderUUID+":42", "x")
	hash("mode only", true, "mode", "read")
	return []string{
		"lock:{fine} lease", "lock:{lost} unindexed", "lock:{forever} lease forever",
		"lock:{theirs} foreign forever", "lock:{a}b foreign forever",
		"lock:{hash} wrong_type forever", "fence:{list} wrong_type forever",
		"player:1:lock string_lock", "playerMutex string_lock", "old_lock string_lock forever",
		"any name hash_lock", "rw hash_lock", "hash lock hash_lock forever",
	}
}

// scanKinds runs on every kind of server, among the keys of the tests that run beside it. A pattern
// also finds texts with an expiry whose name is not like a lock's.
func scanKinds(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute, Shards: 3})
	want := plant(t, s)
	want = append(want, "block:7 string_lock", "clock string_lock", "unlocked:9 string_lock")
	only := lease.ScanOptions{Pattern: s.prefix + "*"}
	report := wantScanned(t, s, only, want)
	if report.Visited < int64(len(want)) || report.Total < report.Visited || report.Primaries < 1 {
		t.Errorf("report %+v", report)
	}
	only.Unusual = true
	want = slices.DeleteFunc(want, func(w string) bool { return w == "lock:{fine} lease" })
	wantScanned(t, s, only, want)
	only.Pattern = s.prefix + "lock:*"
	want = slices.DeleteFunc(want, func(w string) bool { return !strings.HasPrefix(w, "lock:") })
	wantScanned(t, s, only, want)
	only.Pattern = s.prefix + "nothing*"
	wantScanned(t, s, only, nil)
}

// TestScanKinds is the scan of a whole server, without a pattern.
func TestScanKinds(t *testing.T) {
	t.Parallel()
	s := openAt(t, dial(t, own(t, 0).Addr()), lease.Options{TTL: time.Minute})
	wantScanned(t, s, lease.ScanOptions{}, plant(t, s))
	var values []string
	_, err := s.Scan(t.Context(), lease.ScanOptions{}, func(page []lease.Found) error {
		for _, f := range page {
			if f.Kind == lease.FoundHash && !f.NoExpiry {
				values = append(values, f.Value)
				if f.Left <= 0 || f.Left > foreignTTL || f.Addr == "" || f.Type != "hash" {
					t.Errorf("%+v", f)
				}
			}
		}
		return nil
	})
	slices.Sort(values)
	want := []string{holderUUID + ":1:write=1 mode=write", holderUUID + ":42=2"}
	if err != nil || !slices.Equal(values, want) {
		t.Errorf("values %q, %v; want %q", values, err, want)
	}
}

// among fills servers with keys of others.
func among(t *testing.T, s *bench, n int) {
	t.Helper()
	p := s.client.Pipeline()
	for i := range n {
		p.Set(t.Context(), fmt.Sprintf("other:%d", i), "x", 0)
	}
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// noKeysCalls expects that a server never ran a command that works through all keys in one piece,
// and that it was scanned.
func noKeysCalls(t *testing.T, c *redis.Client) {
	t.Helper()
	stats, err := c.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stats, "cmdstat_keys:") || !strings.Contains(stats, "cmdstat_scan:") {
		t.Errorf("%s:\n%s", c.Options().Addr, stats)
	}
}

// TestB14Scan is case B14: three locks among 20,000 other keys, most pages empty.
func TestB14Scan(t *testing.T) {
	t.Parallel()
	c := dial(t, own(t, 0).Addr())
	s := openAt(t, c, lease.Options{TTL: time.Minute})
	among(t, s, 20_000)
	s.take(t, grant.Ask{Resource: "a", Owner: "w"})
	for shard := range s.Shards() {
		c.ZRem(t.Context(), s.ShardKey(shard), "a}w")
	}
	c.Set(t.Context(), s.prefix+"b:lock", "x", foreignTTL)
	c.HSet(t.Context(), s.prefix+"c", holderUUID+":1", "1")
	c.PExpire(t.Context(), s.prefix+"c", foreignTTL)
	s.put(t, s.LockKey("d"), "7:gone")
	want := []string{
		"lock:{a} unindexed", "b:lock string_lock", "c hash_lock", "lock:{d} unindexed forever",
	}
	pages := 0
	report := wantScanned(t, s, lease.ScanOptions{
		Progress: func(p lease.ScanProgress) {
			pages++
			if p.Visited > p.Total {
				t.Errorf("progress %+v", p)
			}
		},
	}, want)
	if pages < 15 || report.Visited < 20_000 || report.Primaries != 1 {
		t.Errorf("%d pages, report %+v", pages, report)
	}
	noKeysCalls(t, c)
}

// TestB14ScanCluster is case B14 on three primaries, each with a replica's worth of other keys.
func TestB14ScanCluster(t *testing.T) {
	t.Parallel()
	addrs := startCluster(t)
	s := openAt(t, universal(t, redis.UniversalOptions{Addrs: addrs}),
		lease.Options{TTL: time.Minute})
	among(t, s, 20_000)
	resources := onePerPrimary(t, s, addrs)
	var want []string
	for _, r := range resources {
		s.take(t, grant.Ask{Resource: r, Owner: "w"})
		want = append(want, "lock:{"+r+"} lease")
	}
	if report := wantScanned(t, s, lease.ScanOptions{}, want); report.Primaries != 3 {
		t.Errorf("report %+v, want three primaries", report)
	}
	for shard := range s.Shards() {
		s.client.ZRem(t.Context(), s.ShardKey(shard), resources[0]+"}w")
	}
	s.client.Persist(t.Context(), s.LockKey(resources[1]))
	wantScanned(t, s, lease.ScanOptions{Unusual: true}, []string{
		"lock:{" + resources[0] + "} unindexed", "lock:{" + resources[1] + "} lease forever",
	})
	for _, addr := range addrs {
		noKeysCalls(t, dial(t, addr))
	}
}

// onePerPrimary names three resources whose keys are on three primaries.
func onePerPrimary(t *testing.T, s *bench, addrs []string) []string {
	t.Helper()
	const slots = 16384
	names := make([]string, len(addrs))
	for i := 0; slices.Contains(names, ""); i++ {
		r := fmt.Sprint("p", i)
		slot := s.client.ClusterKeySlot(t.Context(), s.LockKey(r)).Val()
		names[int(slot)*len(addrs)/slots] = r
	}
	return names
}

// TestScanStops checks cancelling, errors of the caller, a rate, and a server that is not there.
func TestScanStops(t *testing.T) {
	t.Parallel()
	s := openAt(t, dial(t, own(t, 0).Addr()), lease.Options{TTL: time.Minute})
	among(t, s, 5_000)
	s.Acquire(t.Context(), asksFor("w", "a", "b", "c"))
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		start := time.Now()
		// At this rate the whole scan would take more than a minute.
		report, err := s.Scan(ctx, lease.ScanOptions{
			Rate: 50, Progress: func(lease.ScanProgress) { cancel(enough) },
		}, func([]lease.Found) error { return nil })
		if !errors.Is(err, enough) || report.Complete || report.Visited == 0 {
			t.Errorf("report %+v, error %v", report, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("cancelling took %v", took)
		}
	})
	t.Run("the caller's error", func(t *testing.T) {
		full := errors.New("disk full")
		calls := 0
		_, err := s.Scan(t.Context(), lease.ScanOptions{}, func([]lease.Found) error {
			calls++
			return full
		})
		var backend *grant.BackendError
		if !errors.Is(err, full) || errors.As(err, &backend) || calls != 1 {
			t.Errorf("error %v after %d calls", err, calls)
		}
	})
	t.Run("rate", func(t *testing.T) {
		start := time.Now()
		_, report := scanned(t, s, lease.ScanOptions{Rate: 10_000})
		// 5 pages of 1000, of which the last is not waited for.
		if took := time.Since(start); took < 300*time.Millisecond || report.Visited < 5_000 {
			t.Errorf("%v for %+v at 10,000 keys a second", took, report)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		nobody := openAt(t, dial(t, "127.0.0.1:1"), lease.Options{})
		report, err := nobody.Scan(t.Context(), lease.ScanOptions{},
			func([]lease.Found) error { return nil })
		if !grant.Unavailable(err) || report.Complete {
			t.Errorf("report %+v, error %v", report, err)
		}
	})
}

// TestScanMoves scans while leases come and go: what stays is found once, nothing healthy is
// called unindexed.
func TestScanMoves(t *testing.T) {
	t.Parallel()
	s := openAt(t, dial(t, own(t, 0).Addr()), lease.Options{TTL: time.Minute})
	among(t, s, 3_000)
	s.Acquire(t.Context(), asksFor("w", "stays 1", "stays 2"))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			var held []grant.Lease
			for _, a := range s.Acquire(context.Background(), asksFor("w", "m1", "m2", "m3", "m4")) {
				if a.Lease != nil {
					held = append(held, *a.Lease)
				}
			}
			s.Release(context.Background(), held)
		}
	}()
	for range 20 {
		got, _ := scanned(t, s, lease.ScanOptions{})
		for _, line := range got {
			if !strings.HasSuffix(line, " lease") {
				t.Errorf("found %q", line)
			}
		}
		if !slices.Contains(got, "lock:{stays 1} lease") ||
			!slices.Contains(got, "lock:{stays 2} lease") {
			t.Errorf("found only %q", got)
		}
	}
	close(stop)
	<-done
}

func TestScanNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lock": true, "lock:7": true, "7-LOCK": true, "playerLock": true, "LockPlayer": true,
		"a.b.mutex": true, "shedlock/x": true, "日本lock": true, "\x1b]0;lock\x07": true,
		"myLOCK": true, "job_lock_default": true, "redlock": true, "lease{7}": true,
		"": false, "block": false, "clock:9": false, "unlock": false, "lockers": false,
		"locksmith": false, "release": false, "blocked": false, "l-o-c-k": false,
	} {
		if got := lease.LockLike(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
	for fields, want := range map[string]bool{
		holderUUID + ":1": true, holderUUID + ":1 mode": true, holderUUID + ":1:write": true,
		strings.ToUpper(holderUUID) + ":99": true, holderUUID + ":1 " + holderUUID + ":2": true,
		"mode": false, "": false, holderUUID: false, holderUUID + ":": false,
		holderUUID + ":x": false, holderUUID + ":1 name": false, "x" + holderUUID + ":1": false,
		strings.ReplaceAll(holderUUID, "-", "0") + ":1": false,
	} {
		if got := lease.HolderFields(strings.Fields(fields)); got != want {
			t.Errorf("%q: %t, want %t", fields, got, want)
		}
	}
}
