package lease_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

func listing(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second, Shards: 3})
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("reward:player-%d", i))
	}
	asks := asksFor("w", want...)
	var held []grant.Lease
	for _, a := range s.Acquire(t.Context(), asks) {
		held = append(held, *a.Lease)
	}
	s.wantListed(t, want)
	entries, _ := s.List(t.Context())
	for _, e := range entries {
		if e.Token != 1 || e.Value != lease.FormatValue(e.Token, e.Owner) || e.NoExpiry ||
			e.Foreign != "" || e.Left <= 2*time.Second || e.Left > 10*time.Second {
			t.Errorf("entry %+v", e)
		}
		if shown, err := s.Show(t.Context(), e.Resource); err != nil || shown.Value != e.Value {
			t.Errorf("show %s: %+v, %v", e.Resource, shown, err)
		}
	}
	s.Release(t.Context(), held[:25])
	s.wantListed(t, want[25:])
	if _, err := s.Show(t.Context(), want[0]); !errors.Is(err, lease.ErrNoLease) {
		t.Errorf("show a released one: %v", err)
	}
	if n := s.indexed(t); n != 15 {
		t.Errorf("%d index entries for 15 leases", n)
	}
}

// looking reads some locks by the names of their resources: each as a list and a look at it alone
// tell it, in the order asked for, and nothing for what is not there.
func looking(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute})
	names := []string{"b {1}%", "a", "endless", "foreign", "text"}
	s.Acquire(t.Context(), asksFor("w", names...))
	if err := errors.Join(
		s.client.Persist(t.Context(), s.LockKey("endless")).Err(),
		s.client.Del(t.Context(), s.LockKey("foreign")).Err(),
		s.client.HSet(t.Context(), s.LockKey("foreign"), "uuid", 1).Err(),
		s.client.Set(t.Context(), s.LockKey("text"), "mine", 0).Err(),
	); err != nil {
		t.Fatal(err)
	}
	got, err := s.Look(t.Context(), slices.Concat([]string{"none"}, names, []string{"never"}))
	if err != nil || len(got) != len(names) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, e := range got {
		alone, err := s.Show(t.Context(), names[i])
		if err != nil || e.Left < alone.Left || e.Left > alone.Left+time.Minute {
			t.Errorf("%s: %+v, alone %+v, %v", names[i], e, alone, err)
		}
		if e.Left = alone.Left; e != alone {
			t.Errorf("%s: %+v, alone %+v", names[i], e, alone)
		}
	}
	if _, err := s.Look(t.Context(), []string{"a", ""}); !errors.Is(err, lease.ErrNoResource) {
		t.Errorf("no name: %v", err)
	}
	if got, err := s.Look(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
	many := make([]string, 2500)
	for i := range many {
		many[i] = fmt.Sprintf("many-%d", i)
	}
	s.Acquire(t.Context(), asksFor("w", many...))
	got, err = s.Look(t.Context(), many)
	if err != nil || len(got) != len(many) || got[2400].Resource != "many-2400" {
		t.Errorf("many: %d, %v", len(got), err)
	}
}

// listPages reads the index in pages far smaller than the groups of entries that share a score: a
// batch enters all of its leases at one moment.
func listPages(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute, Shards: 2})
	var names []string
	for i := range 4 {
		batch := make([]string, 12)
		for k := range batch {
			batch[k] = fmt.Sprintf("%d-%d", i, k)
		}
		s.Acquire(t.Context(), asksFor("w", batch...))
		names = append(names, batch...)
	}
	for _, size := range []int{1, 2, 5, 47, 48, 49, 1000} {
		lease.SetPage(s.Store, size)
		s.wantListed(t, names)
	}
}

// listPrunes checks that dead entries go after the grace and not before, and live ones never.
func listPrunes(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute, Shards: 2})
	asks := asksFor("w", "live", "gone", "next")
	s.Acquire(t.Context(), asks)
	s.client.Del(t.Context(), s.LockKey("gone"))
	s.client.Del(t.Context(), s.LockKey("next"))
	s.take(t, grant.Ask{Resource: "next", Owner: owner("z")})
	s.wantListed(t, []string{"live", "next"})
	if n := s.indexed(t); n != 4 {
		t.Errorf("%d index entries, want 4: dead ones are young", n)
	}
	lease.SetGrace(s.Store, 0)
	s.wantListed(t, []string{"live", "next"})
	if n := s.indexed(t); n != 2 {
		t.Errorf("%d index entries after the grace, want the 2 live ones", n)
	}
	s.wantListed(t, []string{"live", "next"})
}

// listOdd checks entries whose lock is not what the index says: each lock is listed once.
func listOdd(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute, Shards: 1})
	asks := asksFor("w", "stolen", "stolen twice", "hash", "forever")
	s.Acquire(t.Context(), asks)
	s.put(t, s.LockKey("stolen"), "another library")
	s.client.Del(t.Context(), s.LockKey("stolen twice"))
	s.take(t, grant.Ask{Resource: "stolen twice", Owner: owner("x")})
	s.put(t, s.LockKey("stolen twice"), "9:somebody")
	s.client.Del(t.Context(), s.LockKey("hash"))
	s.client.HSet(t.Context(), s.LockKey("hash"), "a", "b")
	s.client.Persist(t.Context(), s.LockKey("forever"))
	s.wantListed(t, []string{"stolen", "stolen twice", "hash", "forever"})
	entries, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got := fmt.Sprintf("%s/%s/%v", e.Foreign, e.Value, e.NoExpiry)
		want := map[string]string{
			"stolen": "string/another library/true", "stolen twice": "/9:somebody/true",
			"hash": "hash//true", "forever": "/1:" + asks[3].Owner + "/true",
		}[e.Resource]
		if got != want {
			t.Errorf("%s: %s, want %s", e.Resource, got, want)
		}
	}
}

func history(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second, HistoryMax: 4})
	if got, err := s.History(t.Context(), "r"); err != nil || len(got) != 0 {
		t.Errorf("history of an unknown resource: %v, %v", got, err)
	}
	for i := range 3 {
		l := s.take(t, grant.Ask{Resource: "r", Owner: fmt.Sprint("o", i)})
		if i < 2 {
			s.Release(t.Context(), []grant.Lease{l})
			continue
		}
		if _, err := s.ReleaseExact(t.Context(), "r", lease.FormatValue(l.Token, l.Owner)); err != nil {
			t.Fatal(err)
		}
	}
	events, err := s.History(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %d %s", e.What, e.Token, e.Owner))
		if age := time.Since(e.At); age < -time.Minute || age > time.Minute {
			t.Errorf("event %+v is not of now", e)
		}
	}
	want := []string{"freed 3 o2", "acquired 3 o2", "released 2 o1", "acquired 2 o1"}
	if !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
	if left := s.client.PTTL(t.Context(), s.HistoryKey("r")).Val(); left <= 0 {
		t.Errorf("the history has no expiry: %v", left)
	}
	quiet := open(t, lease.Options{TTL: 10 * time.Second, HistoryMax: -1})
	quiet.Release(t.Context(), []grant.Lease{quiet.take(t, grant.Ask{Resource: "r", Owner: "a"})})
	if n := quiet.client.Exists(t.Context(), quiet.HistoryKey("r")).Val(); n != 0 {
		t.Error("history is kept although it is switched off")
	}
}

func heartbeat(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	own := owner("worker-1")
	beat, err := s.Heartbeat(t.Context(), own, 3*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := lease.Identity(own)
	alive := func() bool {
		got, err := s.Alive(t.Context(), []string{own, id, "nobody@host-a/1"})
		if err != nil {
			t.Fatal(err)
		}
		if got[own] != got[id] || got["nobody@host-a/1"] || len(got) != 3 {
			t.Fatalf("alive: %v", got)
		}
		return got[own]
	}
	if !alive() {
		t.Error("not alive after the first beat")
	}
	lowest := 3 * time.Second
	eventually(t, "the heartbeat gets a longer life again", func() bool {
		left := s.client.PTTL(t.Context(), s.prefix+"heartbeat:"+id).Val()
		lowest = min(lowest, left)
		return left > lowest+time.Second/10
	})
	if !alive() {
		t.Error("not alive while it is kept")
	}
	if err := beat.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive() {
		t.Error("alive after Stop")
	}
	if err := beat.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if _, err := s.Heartbeat(t.Context(), "", time.Second, nil); err == nil {
		t.Error("a heartbeat without identity was accepted")
	}
}
