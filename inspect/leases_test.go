package inspect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// one world with a lease in each state.
func states(t *testing.T, b *bench) {
	t.Helper()
	ctx := t.Context()
	b.beat(t, "alive")
	b.take(t, "reward:held", "alive")
	b.take(t, "reward:orphan", "dead")
	old := b.take(t, "reward:superseded", "alive")
	b.grant(t, "superseded", "e1", 5, &grant.Lease{Owner: "newer", Token: old.Token + 1})
	b.take(t, "reward:expiring", "alive")
	b.take(t, "reward:endless", "alive")
	b.take(t, "reward:long", "alive")
	b.take(t, "reward:foreign", "alive")
	if err := errors.Join(
		b.Redis.PExpire(ctx, b.store.LockKey("reward:expiring"), ttl/6).Err(),
		b.Redis.Persist(ctx, b.store.LockKey("reward:endless")).Err(),
		b.Redis.PExpire(ctx, b.store.LockKey("reward:long"), time.Hour).Err(),
		b.Redis.Del(ctx, b.store.LockKey("reward:foreign")).Err(),
		b.Redis.HSet(ctx, b.store.LockKey("reward:foreign"), "uuid", 1).Err(),
	); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "insert into reward_claim (player_id, reward_event_id, kind, amount, status) values "+
		"('held', 'e1', 'gems', 5, 'pending'), ('held', 'e2', 'gems', 5, 'processing'), "+
		"('held', 'e3', 'gems', 5, 'pending')")
}

func TestLeasesAreJudged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states(t, b)
	list, err := b.reader.Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil || list.Total != 7 || list.Matched != 7 || len(list.Missing) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	got := leasesByResource(list)
	for resource, want := range map[string]inspect.State{
		"reward:held": inspect.Held, "reward:orphan": inspect.OrphanSuspect,
		"reward:superseded": inspect.Superseded, "reward:expiring": inspect.Expiring,
		"reward:endless": inspect.NoExpiry, "reward:long": inspect.LongerThanTTL,
		"reward:foreign": inspect.Foreign,
	} {
		l := got[resource]
		if l.Verdict.State != want || len(l.Verdict.Evidence) < 2 {
			t.Errorf("%s: %+v, want %s", resource, l.Verdict, want)
		}
	}
	held := got["reward:held"]
	if held.Claims == nil || held.Claims.Pending != 2 || held.Claims.Processing != 1 {
		t.Errorf("claims: %+v", held.Claims)
	}
	if held.Left <= 0 || held.Left > ttl || held.Worker != "alive@host/7" {
		t.Errorf("held: %+v", held)
	}
	if endless := got["reward:endless"]; !endless.NoExpiry || endless.Left < 0 {
		t.Errorf("endless: %+v", endless)
	}
	if f := got["reward:superseded"].Fence; f == nil || f.Owner != "newer" {
		t.Errorf("fence: %+v", f)
	}
}

func TestLeaseFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states(t, b)
	b.take(t, "reward:[x]*", "other")
	for name, c := range map[string]struct {
		filter inspect.LeaseFilter
		want   []string
	}{
		"literal": {
			inspect.LeaseFilter{Resource: "reward:[x]*"}, []string{"reward:[x]*"},
		},
		"literal is not a pattern": {inspect.LeaseFilter{Resource: "reward:*"}, nil},
		"glob": {
			inspect.LeaseFilter{Resource: "reward:??l?", Glob: true}, []string{"reward:held"},
		},
		"worker name": {inspect.LeaseFilter{Owner: "dead"}, []string{"reward:orphan"}},
		"identity": {
			inspect.LeaseFilter{Owner: "dead@host/7"}, []string{"reward:orphan"},
		},
		"part of a name is not it": {inspect.LeaseFilter{Owner: "dea"}, nil},
		"state": {
			inspect.LeaseFilter{States: []inspect.State{inspect.Held, inspect.Foreign}},
			[]string{"reward:foreign", "reward:held"},
		},
		"state beside another": {
			inspect.LeaseFilter{States: []inspect.State{inspect.OverdueRenewal}},
			[]string{"reward:expiring"},
		},
		"expiring within": {
			inspect.LeaseFilter{ExpiringWithin: ttl / 5}, []string{"reward:expiring"},
		},
		"sorted by state, limited": {
			inspect.LeaseFilter{Sort: inspect.SortState, Limit: 2},
			[]string{"reward:foreign", "reward:superseded"},
		},
		"least time first": {
			inspect.LeaseFilter{Sort: inspect.SortLeft, Limit: 1}, []string{"reward:expiring"},
		},
		"most time first": {
			inspect.LeaseFilter{Sort: inspect.SortLeft, Reverse: true, Limit: 1},
			[]string{"reward:endless"},
		},
		"reversed": {inspect.LeaseFilter{Reverse: true, Limit: 1}, []string{"reward:superseded"}},
	} {
		list, err := b.reader.Leases(t.Context(), c.filter)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, l := range list.Leases {
			got = append(got, l.Resource)
			if len(l.Verdict.Evidence) == 0 {
				t.Errorf("%s: %s has no evidence", name, l.Resource)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for _, bad := range []inspect.LeaseFilter{
		{States: []inspect.State{"odd"}},
		{Sort: "odd"},
		{Limit: -1},
		{Resource: "[", Glob: true},
	} {
		var rejection *grant.Rejection
		if _, err := b.reader.Leases(t.Context(), bad); !errors.As(err, &rejection) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestLeasesWithOneServerDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deaf := b.deaf(t) // before there are leases: they end, and a slow machine needs time for it
	states(t, b)
	list, err := deaf.Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil || list.Total != 7 || len(list.Missing) != 1 ||
		list.Missing[0].Backend != grant.PostgreSQL || list.Blind() != nil {
		t.Fatalf("without PostgreSQL: %d leases, %+v, %v", list.Total, list.Missing, err)
	}
	got := leasesByResource(list)
	if v := got["reward:held"].Verdict; v.State != inspect.CannotTell || v.Likely != inspect.Held {
		t.Errorf("held: %+v", v)
	}
	if v := got["reward:endless"].Verdict; v.State != inspect.NoExpiry {
		t.Errorf("endless: %+v", v)
	}
	list, err = b.blind(t).Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil || len(list.Missing) != 1 || list.Missing[0].Backend != grant.Redis ||
		list.Blind() == nil {
		t.Fatalf("without Redis: %+v, %v", list, err)
	}
	if len(list.Fences) != 1 || list.Fences[0].Owner != "newer" {
		t.Errorf("fences: %+v", list.Fences)
	}
	b.Pool.Close()
	if _, err = b.blind(t).Leases(t.Context(), inspect.LeaseFilter{}); !grant.Unavailable(err) {
		t.Errorf("without both: %v", err)
	}
}

func TestLeaseDetail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deaf := b.deaf(t)
	states(t, b)
	d, err := b.reader.Lease(t.Context(), "reward:held")
	if err != nil || d.Lease == nil || d.Lease.Verdict.State != inspect.Held ||
		len(d.Due) != 3 || len(d.History) != 1 || d.History[0].Event != inspect.TokenIssued {
		t.Fatalf("%+v, %v", d, err)
	}
	mustContain(t, "evidence", text(d.Lease.Verdict.Evidence), "alive", "2 pending, 1 processing",
		"issued")
	b.expire(t, "reward:superseded")
	if d, err = b.reader.Lease(t.Context(), "reward:superseded"); err != nil || d.Lease != nil ||
		d.Fence == nil {
		t.Fatalf("released: %+v, %v", d, err)
	}
	if _, err = b.reader.Lease(t.Context(), "reward:nobody"); !errors.Is(err, inspect.ErrNotFound) {
		t.Fatalf("unknown: %v", err)
	}
	if d, err = deaf.Lease(t.Context(), "reward:held"); err != nil || len(d.Missing) != 1 ||
		d.Lease.Verdict.State != inspect.CannotTell {
		t.Fatalf("without PostgreSQL: %+v, %v", d, err)
	}
	if d, err = b.blind(t).Lease(t.Context(), "reward:superseded"); err != nil ||
		len(d.Missing) != 1 || d.Fence == nil {
		t.Fatalf("without Redis: %+v, %v", d, err)
	}
}

// The clock of this machine plays no part in the time left or in a verdict (B07).
func TestLeasesIgnoreThisMachinesClock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states(t, b)
	want, err := b.reader.Leases(t.Context(), inspect.LeaseFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		now := func() time.Time { return time.Now().Add(off) }
		list, err := b.with(t, inspect.Options{Now: now}).Leases(t.Context(), inspect.LeaseFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range list.Leases {
			w := want.Leases[i]
			if l.Verdict.State != w.Verdict.State || l.Left > w.Left || w.Left-l.Left > 5*time.Second {
				t.Errorf("%s off: %s has %s and is %s, want %s and %s", off, l.Resource, l.Left,
					l.Verdict.State, w.Left, w.Verdict.State)
			}
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.beat(t, "alive")
	first := b.take(t, "reward:a", "alive")
	look, changes := make(chan time.Time), make(chan inspect.Change)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// With so long a TTL every lease counts as expiring throughout, however slow the machine is.
	reader := b.with(t, inspect.Options{TTL: time.Hour})
	go func() {
		done <- reader.Watch(ctx, inspect.WatchOptions{Look: look}, func(c inspect.Change) error {
			select {
			case changes <- c:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	// expect lets Watch look until something changes, which must be what is expected.
	expect := func(kind inspect.ChangeKind, resource string) inspect.Change {
		t.Helper()
		late := time.After(30 * time.Second)
		for {
			select {
			case look <- time.Time{}:
			case c := <-changes:
				if c.Kind != kind || c.Lease.Resource != resource || c.What == "" {
					t.Fatalf("%+v, want %s of %s", c, kind, resource)
				}
				return c
			case err := <-done:
				t.Fatalf("watch ended: %v", err)
			case <-late:
				t.Fatalf("no change, want %s of %s", kind, resource)
			}
		}
	}
	expect(inspect.Added, "reward:a")
	b.take(t, "reward:b", "alive")
	expect(inspect.Added, "reward:b")
	second := b.swap(t, first, "dead")
	c := expect(inspect.Changed, "reward:a")
	if c.Before.Token != first.Token || c.Lease.Token != second.Token {
		t.Fatalf("%+v", c)
	}
	b.grant(t, "b", "e", 1, &grant.Lease{Owner: "newer", Token: 99})
	if c = expect(inspect.Changed, "reward:b"); c.Lease.Verdict.State != inspect.Superseded {
		t.Fatalf("%+v", c)
	}
	b.expire(t, "reward:a")
	expect(inspect.Gone, "reward:a")
	close(look)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A watch of one state tells of the leases that enter and leave it, in order, each once, and names
// how those stand that leave; what changes outside the filter is not told.
func TestWatchOfAState(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.beat(t, "alive")
	held := b.take(t, "reward:b", "alive")
	b.take(t, "reward:a", "dead")
	b.take(t, "reward:c", "dead")
	reader := b.with(t, inspect.Options{TTL: 0})
	look := make(chan time.Time)
	var now []string
	done := make(chan error, 1)
	go func() {
		done <- reader.Watch(t.Context(), inspect.WatchOptions{
			Look: look, Filter: inspect.LeaseFilter{States: []inspect.State{inspect.OrphanSuspect}},
		}, func(c inspect.Change) error {
			now = append(now, string(c.Kind)+" "+c.Lease.Resource+" "+
				string(c.Lease.Verdict.State)+": "+c.What)
			return nil
		})
	}()
	// A look is over when the next one can begin, so two of them show what one change brought.
	settle := func() {
		t.Helper()
		for range 2 {
			select {
			case look <- time.Time{}:
			case err := <-done:
				t.Fatal(err)
			}
		}
	}
	settle()
	b.swap(t, held, "gone")
	b.swap(t, b.take(t, "reward:d", "dead"), "alive")
	settle()
	b.beat(t, "dead")
	settle()
	close(look)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := []string{
		"added reward:a orphan_suspect: taken", "added reward:c orphan_suspect: taken",
		"added reward:b orphan_suspect: taken",
		"gone reward:a orphan_suspect: no longer selected", "gone reward:c orphan_suspect: no longer",
	}
	if len(now) != len(want) {
		t.Fatalf("told %q", now)
	}
	for i, words := range want {
		if !strings.HasPrefix(now[i], words) {
			t.Errorf("told %q, want %q", now[i], words)
		}
	}
	if !strings.HasSuffix(now[3], "held") {
		t.Errorf("it does not say how it stands: %q", now[3])
	}
}

// While Redis is away nothing is called gone.
func TestWatchIsBlindWithoutRedis(t *testing.T) {
	t.Parallel()
	b := setup(t)
	look := make(chan time.Time, 2)
	look <- time.Time{}
	look <- time.Time{}
	close(look)
	var seen []inspect.ChangeKind
	err := b.blind(t).Watch(t.Context(), inspect.WatchOptions{Look: look},
		func(c inspect.Change) error {
			seen = append(seen, c.Kind)
			return nil
		})
	if err != nil || !slices.Equal(seen, []inspect.ChangeKind{inspect.Blind}) {
		t.Fatalf("%v, %v", seen, err)
	}
}
