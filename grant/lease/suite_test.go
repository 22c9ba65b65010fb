package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// opener makes a store for one test, on the kind of server the suite runs on.
type opener func(t *testing.T, o lease.Options) *bench

// TestServer runs the suite on a real Redis.
func TestServer(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, o lease.Options) *bench { return open(t, o) })
}

// TestMini runs the same suite on the Redis that the demo keeps inside its process.
func TestMini(t *testing.T) {
	t.Parallel()
	mini, err := embedded.StartMini(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mini.Stop() })
	conform(t, func(t *testing.T, o lease.Options) *bench {
		return openAt(t, dial(t, mini.Addr()), o)
	})
}

// conform is what every kind of server must do alike. The subtests run at once.
func conform(t *testing.T, open opener) {
	for name, test := range conformance() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// conformance lists the parts of the suite.
func conformance() map[string]func(*testing.T, opener) {
	return map[string]func(*testing.T, opener){
		"acquire answers":          acquireAnswers,
		"asking again":             askingAgain,
		"floor":                    floorRules,
		"damaged counter":          damagedCounter,
		"foreign data":             foreignData,
		"renew answers":            renewAnswers,
		"release answers":          releaseAnswers,
		"release exact":            releaseExact,
		"expiry":                   expiry,
		"list":                     listing,
		"list by pages":            listPages,
		"ages":                     ages,
		"look":                     looking,
		"list prunes":              listPrunes,
		"list odd entries":         listOdd,
		"scan":                     scanKinds,
		"history":                  history,
		"heartbeat":                heartbeat,
		"invalid asks":             invalidAsks,
		"B01 late holder":          lateHolder,
		"B06 no expiry":            noExpiry,
		"B08 scripts vanish":       scriptsVanish,
		"B09 hostile names":        hostileNames,
		"B10 counter goes back":    counterGoesBack,
		"large batch":              largeBatch,
		"one resource many owners": manyOwners,
	}
}

func renewAnswers(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	if err := s.client.PExpire(t.Context(), s.LockKey("r"), 3*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	other, wrong, gone := l, l, l
	other.Owner, wrong.Token, gone.Resource = "b", l.Token+1, "never"
	before := time.Now()
	got := s.Renew(t.Context(), []grant.Lease{l, other, wrong, gone})
	if got[0].Lost || got[0].Err != nil || got[0].Lease.Until.Sub(before) < 9*time.Second {
		t.Errorf("own lease: %+v", got[0])
	}
	if left := s.client.PTTL(t.Context(), s.LockKey("r")).Val(); left < 4*time.Second {
		t.Errorf("after renewing %v are left, want more than the 3s it had", left)
	}
	for i, name := range []string{1: "other owner", 2: "other token"} {
		if i > 0 && (!got[i].Lost || got[i].Holder == nil || got[i].Holder.Owner != "a") {
			t.Errorf("%s: %+v, want lost to a", name, got[i])
		}
	}
	if !got[3].Lost || got[3].Holder != nil {
		t.Errorf("nothing there: %+v, want lost to nobody", got[3])
	}
	if n := s.client.Exists(t.Context(), s.LockKey("never")).Val(); n != 0 {
		t.Error("renewing created a lock")
	}
}

func releaseAnswers(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	other := l
	other.Owner = "b"
	never := grant.Lease{Resource: "never", Owner: "x", Token: 1}
	for i, err := range s.Release(t.Context(), []grant.Lease{other, never}) {
		if err != nil {
			t.Errorf("release %d: %v", i, err)
		}
	}
	if v := s.get(t, s.LockKey("r")); v != "1:a" {
		t.Fatalf("releasing under another owner touched the lock: %q", v)
	}
	if got := s.Release(t.Context(), []grant.Lease{l, l}); got[0] != nil || got[1] != nil {
		t.Errorf("release: %v", got)
	}
	if n := s.client.Exists(t.Context(), s.LockKey("r")).Val(); n != 0 {
		t.Error("the lock is still there")
	}
	if next := s.take(t, grant.Ask{Resource: "r", Owner: "c"}); next.Token != 2 {
		t.Errorf("next token %d, want 2: the counter outlives the lease", next.Token)
	}
}

func releaseExact(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 10 * time.Second})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	for _, c := range []struct {
		resource, value string
		want            lease.Freed
	}{
		{"r", "2:a", lease.Freed{Answer: lease.Changed, Now: "1:a"}},
		{"r", "1:b", lease.Freed{Answer: lease.Changed, Now: "1:a"}},
		{"r", "a", lease.Freed{Answer: lease.Changed, Now: "1:a"}},
		{"r", "", lease.Freed{Answer: lease.Changed, Now: "1:a"}},
		{"never", "1:a", lease.Freed{Answer: lease.Gone}},
		{"r", "1:a", lease.Freed{Answer: lease.Released}},
		{"r", "1:a", lease.Freed{Answer: lease.Gone}},
	} {
		if got, err := s.ReleaseExact(t.Context(), c.resource, c.value); err != nil || got != c.want {
			t.Errorf("release %s %q: %+v, %v; want %+v", c.resource, c.value, got, err, c.want)
		}
	}
	if got := s.Renew(t.Context(), []grant.Lease{l})[0]; !got.Lost {
		t.Errorf("the holder renews after the operator's release: %+v, want lost", got)
	}
	if got, err := s.List(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("list after it: %v, %v", got, err)
	}
	if _, err := s.ReleaseExact(t.Context(), "", "1:a"); !errors.Is(err, lease.ErrNoResource) {
		t.Errorf("empty resource: %v", err)
	}
}

func expiry(t *testing.T, open opener) {
	s := open(t, lease.Options{TTL: 500 * time.Millisecond})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	eventually(t, "the lease ends by itself", func() bool {
		return s.client.Exists(t.Context(), s.LockKey("r")).Val() == 0
	})
	if got := s.Renew(t.Context(), []grant.Lease{l})[0]; !got.Lost {
		t.Errorf("renewing after the end: %+v, want lost", got)
	}
	if next := s.take(t, grant.Ask{Resource: "r", Owner: "b"}); next.Token != l.Token+1 {
		t.Errorf("next token %d after %d", next.Token, l.Token)
	}
}
