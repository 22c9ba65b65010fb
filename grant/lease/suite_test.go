package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	for name, test := range map[string]func(*testing.T, opener){
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
		"list prunes":              listPrunes,
		"list odd entries":         listOdd,
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

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
	beat, err := s.Heartbeat(t.Context(), own, 1500*time.Millisecond, nil)
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
	end := time.Now().Add(3 * time.Second)
	eventually(t, "two lives pass", func() bool {
		if !alive() {
			t.Fatal("the heartbeat failed while it was kept")
		}
		return time.Now().After(end)
	})
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
