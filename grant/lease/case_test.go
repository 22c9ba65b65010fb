package lease_test

import (
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// lateHolder is case B01: the late holder, and an operator who looks at an old screen, must not
// touch the next holder's lease.
func lateHolder(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 500 * time.Millisecond})
	a := s.take(t, grant.Ask{Resource: "r", Owner: "a", Floor: 40})
	eventually(t, "a's lease ends", func() bool {
		return s.client.Exists(t.Context(), s.LockKey("r")).Val() == 0
	})
	long := s.reopen(t, lease.Options{TTL: 10 * time.Second})
	b := long.take(t, grant.Ask{Resource: "r", Owner: "b"})
	if a.Token != 41 || b.Token != 42 {
		t.Fatalf("tokens %d and %d, want 41 and 42", a.Token, b.Token)
	}
	if err := s.Release(t.Context(), []grant.Lease{a})[0]; err != nil {
		t.Errorf("a's late release: %v", err)
	}
	f, err := s.ReleaseExact(t.Context(), "r", lease.FormatValue(a.Token, a.Owner))
	if want := (lease.Freed{Answer: lease.Changed, Now: "42:b"}); err != nil || f != want {
		t.Errorf("the operator's release: %+v, %v; want %+v", f, err, want)
	}
	r := s.Renew(t.Context(), []grant.Lease{a})[0]
	if !r.Lost || r.Holder == nil || r.Holder.Owner != "b" {
		t.Errorf("a's late renewal: %+v, want lost to b", r)
	}
	e, err := s.Show(t.Context(), "r")
	if err != nil || e.Value != "42:b" || e.Left < 5*time.Second {
		t.Errorf("b's lease was touched: %+v, %v", e, err)
	}
}

// noExpiry is case B06: a lock without expiry is shown as such, and released only by its exact
// value.
func noExpiry(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "dead"})
	if err := s.client.Persist(t.Context(), s.LockKey("r")).Err(); err != nil {
		t.Fatal(err)
	}
	entries, err := s.List(t.Context())
	if err != nil || len(entries) != 1 || !entries[0].NoExpiry || entries[0].Left != 0 {
		t.Errorf("list %+v, %v; want one entry without expiry", entries, err)
	}
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "x"}})[0]
	if a.Holder == nil || a.Holder.Left >= 0 {
		t.Errorf("holder %+v, want its time left negative", a.Holder)
	}
	if f, err := s.ReleaseExact(t.Context(), "r", "2:dead"); err != nil || f.Answer != lease.Changed {
		t.Errorf("release with a wrong token: %+v, %v", f, err)
	}
	f, err := s.ReleaseExact(t.Context(), "r", lease.FormatValue(l.Token, l.Owner))
	if err != nil || f.Answer != lease.Released {
		t.Errorf("release with the right token: %+v, %v", f, err)
	}
	s.wantListed(t, nil)
}

// scriptsVanish is case B08: the server forgets its scripts between two calls.
func scriptsVanish(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	forget := func() {
		if err := s.client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	names := make([]string, 250) // several script calls in one pipeline
	for i := range names {
		names[i] = owner("p")
	}
	asks := asksFor("w", names...)
	forget()
	var held []grant.Lease
	for i, a := range s.Acquire(t.Context(), asks) {
		if a.Lease == nil {
			t.Fatalf("acquire %d: %+v", i, a)
		}
		held = append(held, *a.Lease)
	}
	forget()
	for i, r := range s.Renew(t.Context(), held) {
		if r.Err != nil || r.Lost {
			t.Fatalf("renew %d: %+v", i, r)
		}
	}
	forget()
	s.wantListed(t, names)
	forget()
	if _, err := s.Show(t.Context(), names[0]); err != nil {
		t.Errorf("show: %v", err)
	}
	forget()
	for i, err := range s.Release(t.Context(), held) {
		if err != nil {
			t.Fatalf("release %d: %v", i, err)
		}
	}
	forget()
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
}

// hostileNames is case B09: every non-empty resource works, and its keys share a slot.
func hostileNames(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	names := []string{
		"p1", "a}b", "{a}b", "日本", "{}", "}", "{", "}{", "%", "%7D", "a b\nc\td", "\x00", "\xff\xfe",
		"reward:player-42", "{p1}", "p1}", "%257D",
	}
	asks := asksFor("w", names...)
	held := make([]grant.Lease, len(asks))
	for i, a := range s.Acquire(t.Context(), asks) {
		if a.Lease == nil || a.Lease.Token != 1 {
			t.Fatalf("acquire %q: %+v", names[i], a)
		}
		held[i] = *a.Lease
		if r, ok := s.Resource(s.LockKey(names[i])); !ok || r != names[i] {
			t.Errorf("resource of key %q: %q, %v", s.LockKey(names[i]), r, ok)
		}
	}
	s.wantListed(t, names)
	for i, r := range s.Renew(t.Context(), held) {
		if r.Err != nil || r.Lost {
			t.Errorf("renew %q: %+v", names[i], r)
		}
	}
	for i, err := range s.Release(t.Context(), held) {
		if err != nil {
			t.Errorf("release %q: %v", names[i], err)
		}
		if e, err := s.History(t.Context(), names[i]); err != nil || len(e) != 2 {
			t.Errorf("history of %q: %v, %v", names[i], e, err)
		}
	}
	s.wantListed(t, nil)
	a := s.Acquire(t.Context(), []grant.Ask{{Owner: "a"}})[0]
	if !errors.Is(a.Err, lease.ErrNoResource) {
		t.Errorf("empty resource: %+v", a)
	}
}

// counterGoesBack is the Redis half of case B10: the counter fell behind, the floor lifts it.
func counterGoesBack(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a", Floor: 109})
	s.Release(t.Context(), []grant.Lease{l})
	s.put(t, s.FenceKey("r"), "100")
	stale := s.take(t, grant.Ask{Resource: "r", Owner: "b", Floor: 100})
	s.Release(t.Context(), []grant.Lease{stale})
	fresh := s.take(t, grant.Ask{Resource: "r", Owner: "b2", Floor: 110})
	if l.Token != 110 || stale.Token != 101 || fresh.Token != 111 {
		t.Errorf("tokens %d, %d, %d; want 110, 101 without the floor, 111 with it",
			l.Token, stale.Token, fresh.Token)
	}
}

// reopen makes another store on the same keys.
func (b *bench) reopen(tb testing.TB, o lease.Options) *bench {
	tb.Helper()
	o.Prefix = b.prefix
	s, err := lease.New(b.client, o)
	if err != nil {
		tb.Fatal(err)
	}
	return &bench{s, b.client, b.prefix}
}
