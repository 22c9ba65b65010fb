package lease_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

func acquireAnswers(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	before := time.Now()
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a", Floor: 41})
	if l.Resource != "r" || l.Owner != "a" || l.Token != 42 {
		t.Errorf("lease %+v, want token 42 of r for a", l)
	}
	late := time.Since(before)
	if trust := l.Until.Sub(before); trust <= 8*time.Second || trust > 9*time.Second+late {
		t.Errorf("trusted for %v, want just under TTL minus margin = 9s", trust)
	}
	if got, err := s.client.Get(t.Context(), s.LockKey("r")).Result(); err != nil || got != "42:a" {
		t.Errorf("lock holds %q, %v; want 42:a", got, err)
	}
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "b", Floor: 99}})[0]
	if a.Lease != nil || a.Err != nil || a.Holder == nil {
		t.Fatalf("second owner got %+v, want a holder", a)
	}
	if h := *a.Holder; h.Owner != "a" || h.Token != 42 || h.Foreign || h.Resource != "r" ||
		h.Left <= 2*time.Second || h.Left > 10*time.Second {
		t.Errorf("holder %+v, want a with token 42 and nearly 10s left", h)
	}
	if n, ok, err := s.Counter(t.Context(), "r"); n != 42 || !ok || err != nil {
		t.Errorf("counter %d %v %v; want 42: a busy lease issues no token", n, ok, err)
	}
}

func askingAgain(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	ask := grant.Ask{Resource: "r", Owner: owner("a")}
	first, again := s.take(t, ask), s.take(t, ask)
	if first.Token != again.Token {
		t.Errorf("asked again: token %d, then %d; want the same", first.Token, again.Token)
	}
	if again.Until.After(first.Until.Add(time.Second)) {
		t.Errorf("asking again prolonged the trust from %v to %v", first.Until, again.Until)
	}
}

func floorRules(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	for _, c := range []struct {
		counter     string
		floor, want int64
	}{
		{"", 0, 1},
		{"", 7, 8},
		{"5", 0, 6},
		{"5", 5, 6},
		{"5", 100, 101},
		{"100", 5, 101},
		{"9007199254740990", 0, lease.TokenMax},
		{"", 9007199254740990, lease.TokenMax},
		{"0", 0, 1},
	} {
		r := fmt.Sprintf("r%s-%d", c.counter, c.floor)
		if c.counter != "" {
			s.put(t, s.FenceKey(r), c.counter)
		}
		if l := s.take(t, grant.Ask{Resource: r, Owner: "a", Floor: c.floor}); l.Token != c.want {
			t.Errorf("counter %q, floor %d: token %d, want %d", c.counter, c.floor, l.Token, c.want)
		}
		if got := s.get(t, s.FenceKey(r)); got != fmt.Sprint(c.want) {
			t.Errorf("counter %q, floor %d: counter became %q, want %d", c.counter, c.floor, got, c.want)
		}
		if left := s.client.PTTL(t.Context(), s.FenceKey(r)).Val(); left < 6*24*time.Hour {
			t.Errorf("counter %q: idle time left %v, want 7 days", c.counter, left)
		}
	}
}

func damagedCounter(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	for _, counter := range []string{
		"abc", "-5", "1.5", "1e3", "9007199254740991", "99999999999999999999", " 7", "7 ", "0x10",
	} {
		r := "r" + counter
		s.put(t, s.FenceKey(r), counter)
		a := s.Acquire(t.Context(), []grant.Ask{{Resource: r, Owner: "a"}})[0]
		var damaged *lease.DamagedError
		if !errors.As(a.Err, &damaged) || damaged.Resource != r || damaged.Counter != counter {
			t.Errorf("counter %q: %+v, %v; want a DamagedError that shows it", counter, a.Lease, a.Err)
		}
		wantPlain(t, a.Err)
		if n := s.client.Exists(t.Context(), s.LockKey(r)).Val(); n != 0 {
			t.Errorf("counter %q: a lock was made", counter)
		}
		if got := s.get(t, s.FenceKey(r)); got != counter {
			t.Errorf("counter %q was changed to %q", counter, got)
		}
	}
	if err := s.client.HSet(t.Context(), s.FenceKey("h"), "f", "v").Err(); err != nil {
		t.Fatal(err)
	}
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "h", Owner: "a"}})[0]
	var damaged *lease.DamagedError
	if !errors.As(a.Err, &damaged) || damaged.Counter != "(hash)" {
		t.Errorf("counter of another type: %+v, %v; want (hash)", a.Lease, a.Err)
	}
	if n := s.client.Exists(t.Context(), s.LockKey("h")).Val(); n != 0 {
		t.Error("counter of another type: the lock stayed")
	}
	if got, err := s.List(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("list %v, %v; want none of the refused", got, err)
	}
}

func foreignData(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	ctx := t.Context()
	s.put(t, s.LockKey("text"), "some-uuid")
	if err := s.client.HSet(ctx, s.LockKey("hash"), "uuid:1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	got := s.Acquire(ctx, []grant.Ask{
		{Resource: "text", Owner: "a"}, {Resource: "hash", Owner: "a"}, {Resource: "free", Owner: "a"},
	})
	for i, want := range []string{"some-uuid", "(hash)"} {
		h := got[i].Holder
		if h == nil || !h.Foreign || h.Owner != want {
			t.Errorf("holder %+v, want foreign data %s", h, want)
		}
	}
	if got[0].Holder.Left >= 0 {
		t.Errorf("time left of a key without expiry is %v, want it negative", got[0].Holder.Left)
	}
	if got[2].Lease == nil {
		t.Errorf("the free resource beside them: %+v", got[2])
	}
	if v := s.get(t, s.LockKey("text")); v != "some-uuid" {
		t.Errorf("foreign text became %q", v)
	}
	if v := s.client.HGet(ctx, s.LockKey("hash"), "uuid:1").Val(); v != "1" {
		t.Errorf("foreign hash became %q", v)
	}
	if n, ok, err := s.Counter(ctx, "hash"); ok || err != nil {
		t.Errorf("a token was issued for foreign data: %d, %v", n, err)
	}
	for r, want := range map[string]string{"text": "string", "hash": "hash"} {
		if e, err := s.Show(ctx, r); err != nil || e.Foreign != want || !e.NoExpiry {
			t.Errorf("show %s: %+v, %v; want foreign %s", r, e, err, want)
		}
	}
	for _, r := range s.Renew(ctx, []grant.Lease{
		{Resource: "text", Owner: "a", Token: 1}, {Resource: "hash", Owner: "a", Token: 1},
	}) {
		if !r.Lost || r.Holder == nil || !r.Holder.Foreign {
			t.Errorf("renewing foreign data: %+v", r)
		}
	}
	for _, r := range []string{"text", "hash"} {
		if left := s.client.PTTL(ctx, s.LockKey(r)).Val(); left != -1 {
			t.Errorf("renewing set an expiry of %v on foreign data", left)
		}
		f, err := s.ReleaseExact(ctx, r, "1:a")
		if err != nil || f.Answer != lease.Changed {
			t.Errorf("releasing foreign data: %+v, %v", f, err)
		}
	}
	if f, err := s.ReleaseExact(ctx, "text", "some-uuid"); err != nil || f.Answer != lease.Released {
		t.Errorf("releasing foreign text by its exact value: %+v, %v", f, err)
	}
}

func invalidAsks(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	got := s.Acquire(t.Context(), []grant.Ask{
		{Resource: "", Owner: "a"},
		{Resource: "r", Owner: ""},
		{Resource: "r", Owner: "a", Floor: -1},
		{Resource: "r", Owner: "a", Floor: lease.TokenMax + 1},
		{Resource: "ok", Owner: "a"},
		{Resource: "last", Owner: "a", Floor: lease.TokenMax},
	})
	if !errors.Is(got[0].Err, lease.ErrNoResource) {
		t.Errorf("empty resource: %v", got[0].Err)
	}
	for i := range 4 {
		if got[i].Err == nil || grant.Unavailable(got[i].Err) || got[i].Lease != nil {
			t.Errorf("ask %d: %+v, want a plain refusal", i, got[i])
		}
	}
	if got[4].Lease == nil {
		t.Errorf("the valid ask among them: %+v", got[4])
	}
	var damaged *lease.DamagedError
	if !errors.As(got[5].Err, &damaged) {
		t.Errorf("no token is left above the floor: %+v", got[5])
	}
	if got := s.Acquire(t.Context(), nil); len(got) != 0 {
		t.Errorf("no asks: %v", got)
	}
	if got := s.Release(t.Context(), []grant.Lease{{}}); !errors.Is(got[0], lease.ErrNoResource) {
		t.Errorf("release of nothing: %v", got)
	}
	if got := s.Renew(t.Context(), []grant.Lease{{}}); !errors.Is(got[0].Err, lease.ErrNoResource) {
		t.Errorf("renewal of nothing: %v", got)
	}
}

func largeBatch(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: time.Minute})
	var names []string
	size := 1045
	if _, err := s.client.ConfigGet(t.Context(), "maxmemory").Result(); err != nil {
		size = 130 // the Redis in the process walks all keys at every command
	}
	for i := range size {
		names = append(names, fmt.Sprintf("p%d", i))
	}
	asks := asksFor("w", names...)
	leases := make([]grant.Lease, len(asks))
	for i, a := range s.Acquire(t.Context(), asks) {
		if a.Lease == nil || a.Lease.Owner != asks[i].Owner || a.Lease.Resource != names[i] {
			t.Fatalf("ask %d: %+v", i, a)
		}
		leases[i] = *a.Lease
	}
	s.wantListed(t, names)
	for i, a := range s.Renew(t.Context(), leases) {
		if a.Err != nil || a.Lost {
			t.Fatalf("renew %d: %+v", i, a)
		}
	}
	for i, err := range s.Release(t.Context(), leases) {
		if err != nil {
			t.Fatalf("release %d: %v", i, err)
		}
	}
	s.wantListed(t, nil)
	if n := s.indexed(t); n != 0 {
		t.Errorf("%d index entries stayed", n)
	}
}

// manyOwners asks for one resource many times in one batch: exactly one gets it.
func manyOwners(t *testing.T, open opener) {
	s := open(t, lease.Options{})
	asks := asksFor("w", strings.Fields(strings.Repeat("r ", 250))...)
	got := s.Acquire(t.Context(), asks)
	var won []grant.Lease
	for i, a := range got {
		switch {
		case a.Lease != nil:
			won = append(won, *a.Lease)
		case a.Holder == nil || a.Holder.Foreign:
			t.Fatalf("ask %d: %+v", i, a)
		}
	}
	if len(won) != 1 || won[0].Token != 1 {
		t.Fatalf("won: %+v, want one with token 1", won)
	}
	for i, a := range got {
		if a.Holder != nil && a.Holder.Owner != won[0].Owner {
			t.Fatalf("ask %d sees %+v, want the winner", i, a.Holder)
		}
	}
	s.Release(t.Context(), won)
	if n := s.indexed(t); n != 0 {
		t.Errorf("%d index entries of losers stayed", n)
	}
}
