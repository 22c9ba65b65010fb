package lease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// openProxied makes a store behind a proxy, and a plain one on the same keys to look from.
func openProxied(t *testing.T, o lease.Options) (s, plain *bench, p *granttest.Proxy) {
	t.Helper()
	p = granttest.NewRedisProxy(t, os.Getenv(granttest.RedisVariable))
	opts := options(p.Addr())
	opts.ReadTimeout = 600 * time.Millisecond
	c := redis.NewClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	plain = open(t, o)
	o.Prefix = plain.prefix
	if o.TTL == 0 {
		o.TTL = 10 * time.Second
	}
	store, err := lease.New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Check(t.Context()); err != nil { // the connection is up and the scripts known
		t.Fatal(err)
	}
	return &bench{store, c, plain.prefix}, plain, p
}

// TestB05LostReply is case B05: the reply of each call is lost in each way. The call is repeated,
// and its answer is the truth. A reply that is only slow may cost another repetition.
func TestB05LostReply(t *testing.T) {
	t.Parallel()
	for _, fault := range granttest.LossFaults() {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			s, plain, p := openProxied(t, lease.Options{})
			lose := func(source string) (lost, ran *granttest.Trigger) {
				p.Clear()
				ran = p.Add(granttest.Rule{
					At: granttest.BeforeSend, Match: granttest.Script(source), Times: -1,
				})
				lost = p.Add(granttest.Rule{
					At: granttest.AtReply, Match: granttest.Script(source), Fault: fault,
				})
				return lost, ran
			}
			warm := s.take(t, grant.Ask{Resource: "warm", Owner: "w"})
			s.Renew(t.Context(), []grant.Lease{warm})
			s.Release(t.Context(), []grant.Lease{warm})

			lost, ran := lose(s.AcquireSource())
			l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
			if l.Token != 1 || lost.Count() != 1 || ran.Count() < 2 {
				t.Errorf("token %d, %d replies lost, %d runs; want 1, 1 and at least 2",
					l.Token, lost.Count(), ran.Count())
			}
			_, ran = lose(s.RenewSource())
			if r := s.Renew(t.Context(), []grant.Lease{l})[0]; r.Err != nil || r.Lost || ran.Count() < 2 {
				t.Errorf("renew: %+v after %d runs", r, ran.Count())
			}
			_, ran = lose(s.ReleaseSource())
			if err := s.Release(t.Context(), []grant.Lease{l})[0]; err != nil || ran.Count() < 2 {
				t.Errorf("release: %v after %d runs", err, ran.Count())
			}
			plain.wantListed(t, nil)
			if n := plain.client.Exists(t.Context(), plain.LockKey("r")).Val(); n != 0 {
				t.Error("the lock is still there")
			}
		})
	}
}

// TestB05ReleaseExactLost checks that an operator's release tells after a lost reply, and leaves
// a new owner alone.
func TestB05ReleaseExactLost(t *testing.T) {
	t.Parallel()
	s, plain, p := openProxied(t, lease.Options{})
	warm := s.take(t, grant.Ask{Resource: "warm", Owner: "w"})
	s.Release(t.Context(), []grant.Lease{warm}) // the server knows the script from here on
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	taken := make(chan grant.Lease, 1)
	p.Add(granttest.Rule{
		At: granttest.AtReply, Fault: granttest.Close,
		Match: func(f granttest.Frame) bool {
			if !granttest.Script(s.ReleaseSource())(f) || len(taken) > 0 {
				return false
			}
			// The release ran, and before its reply is lost somebody else comes.
			a := plain.Acquire(context.Background(), []grant.Ask{{Resource: "r", Owner: "b"}})[0]
			if a.Lease != nil {
				taken <- *a.Lease
			}
			return true
		},
	})
	f, err := s.ReleaseExact(t.Context(), "r", lease.FormatValue(l.Token, l.Owner))
	if want := (lease.Freed{Answer: lease.Changed, Now: "2:b"}); err != nil || f != want {
		t.Errorf("release: %+v, %v; want %+v", f, err, want)
	}
	if e, err := plain.Show(t.Context(), "r"); err != nil || e.Owner != "b" {
		t.Errorf("the new owner's lease: %+v, %v", e, err)
	}
}

// TestAcquireAllRepliesLost checks the worst case: the lease is in doubt, tried a bounded number of
// times, and given back, so that nobody has to wait for an orphan of our own making.
func TestAcquireAllRepliesLost(t *testing.T) {
	t.Parallel()
	s, plain, p := openProxied(t, lease.Options{})
	lost := p.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.Script(s.AcquireSource()), Times: -1,
		Fault: granttest.Close,
	})
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}, {Resource: "q", Owner: "a"}})
	for _, got := range a {
		if got.Lease != nil || !lease.Doubts(got.Err) {
			t.Errorf("answer %+v, want doubt", got)
		}
	}
	if lost.Count() < 2 || lost.Count() > 4 {
		t.Errorf("%d attempts, want a few", lost.Count())
	}
	plain.wantListed(t, nil)
	if l := plain.take(t, grant.Ask{Resource: "r", Owner: "b"}); l.Token < 2 {
		t.Errorf("token %d, want a gap: the lost one was issued", l.Token)
	}
}

// TestAcquireContextEnds checks that a caller who gives up leaves nothing behind.
func TestAcquireContextEnds(t *testing.T) {
	t.Parallel()
	s, plain, p := openProxied(t, lease.Options{})
	p.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.Script(s.AcquireSource()), Fault: granttest.Drop,
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	a := s.Acquire(ctx, []grant.Ask{{Resource: "r", Owner: "a"}})[0]
	if !lease.Doubts(a.Err) || !errors.Is(a.Err, context.DeadlineExceeded) {
		t.Errorf("answer %+v, want doubt after the deadline", a)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	eventually(t, "the lease is given back", func() bool {
		_, err := plain.Show(t.Context(), "r")
		return errors.Is(err, lease.ErrNoLease)
	})
	plain.wantListed(t, nil)
	a = s.Acquire(ctx, []grant.Ask{{Resource: "r", Owner: "a"}})[0]
	wantPlain(t, a.Err) // nothing is sent in a context that ended
}

// TestServerDown checks the refusal when no connection can be made: quick, and without doubt.
func TestServerDown(t *testing.T) {
	t.Parallel()
	s, plain, p := openProxied(t, lease.Options{})
	down := dial(t, "127.0.0.1:1")
	nowhere, err := lease.New(down, lease.Options{Prefix: s.prefix, TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	wantPlain(t, nowhere.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}})[0].Err)
	held := []grant.Lease{{Resource: "r", Owner: "a", Token: 1}}
	wantPlain(t, nowhere.Release(t.Context(), held)[0])
	wantPlain(t, nowhere.Renew(t.Context(), held)[0].Err)
	wantPlain(t, nowhere.Check(t.Context()))
	if _, err := nowhere.List(t.Context()); !grant.Unavailable(err) {
		t.Errorf("list: %v", err)
	}
	if _, err := nowhere.Show(t.Context(), "r"); !grant.Unavailable(err) {
		t.Errorf("show: %v", err)
	}
	if _, err := nowhere.Alive(t.Context(), []string{"w"}); !grant.Unavailable(err) {
		t.Errorf("alive: %v", err)
	}
	if _, err := nowhere.Facts(t.Context()); !grant.Unavailable(err) {
		t.Errorf("facts: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	p.SetPath(granttest.Refused)
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}})[0]
	if a.Lease != nil || !grant.Unavailable(a.Err) {
		t.Errorf("through a cut path: %+v", a)
	}
	plain.wantListed(t, nil)
	p.SetPath(granttest.Open)
	s.take(t, grant.Ask{Resource: "r", Owner: "a"}) // and it comes back by itself
}

// TestB03KeeperOnServer is case B03 on a real path: a short cut costs nothing, a long one ends the
// work before the lease ends, and a lease taken again afterwards is renewed again.
func TestB03KeeperOnServer(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	s, plain, p := openProxied(t, lease.Options{TTL: ttl, Margin: 600 * time.Millisecond})
	lost := make(chan error, 10)
	keep := func(owner string) *lease.Keeper {
		l := s.take(t, grant.Ask{Resource: "r", Owner: owner})
		return s.Keep(t.Context(), l, lease.KeepOptions{Lost: func(err error) { lost <- err }})
	}
	k := keep("a")
	defer k.Stop()
	p.SetPath(granttest.Refused)
	at := time.Now()
	eventually(t, "a third of the lease passes", func() bool { return time.Since(at) > ttl/3 })
	p.SetPath(granttest.Open)
	eventually(t, "the lease outlives its first TTL", func() bool { return time.Since(at) > 2*ttl })
	e, err := plain.Show(t.Context(), "r")
	if err != nil || e.Owner != "a" || k.Context().Err() != nil {
		t.Fatalf("after a short cut: %+v, %v; work: %v", e, err, context.Cause(k.Context()))
	}
	p.SetPath(granttest.Refused)
	<-k.Context().Done()
	if _, err := plain.Show(t.Context(), "r"); err != nil {
		t.Errorf("the work was cancelled after the lease ended: %v", err)
	}
	eventually(t, "the lease ends", func() bool {
		_, err := plain.Show(t.Context(), "r")
		return errors.Is(err, lease.ErrNoLease)
	})
	if err := <-lost; !errors.Is(err, lease.ErrExpired) {
		t.Errorf("loss reported as %v", err)
	}
	p.SetPath(granttest.Open)
	k2 := keep("a2")
	at = time.Now()
	eventually(t, "the second lease outlives its TTL", func() bool { return time.Since(at) > 2*ttl })
	if e, err := plain.Show(t.Context(), "r"); err != nil || e.Owner != "a2" {
		t.Errorf("the lease taken again: %+v, %v", e, err)
	}
	k2.Stop()
	s.Release(t.Context(), []grant.Lease{k2.Lease()})
	if len(lost) != 0 {
		t.Errorf("a second loss was reported: %v", <-lost)
	}
	plain.wantListed(t, nil)
}

// TestB07Clocks is case B07: what the worker's clock says does not change what is shown, and time
// lost before an answer is deducted.
func TestB07Clocks(t *testing.T) {
	t.Parallel()
	for _, shift := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		s := open(t, lease.Options{TTL: 10 * time.Second, Now: func() time.Time {
			return time.Now().Add(shift)
		}})
		s.take(t, grant.Ask{Resource: "r", Owner: "a"})
		e, err := s.List(t.Context())
		if err != nil || len(e) != 1 || e[0].Left < 5*time.Second || e[0].Left > 10*time.Second {
			t.Errorf("clock off by %v: %+v, %v", shift, e, err)
		}
	}
	calls := 0
	s := open(t, lease.Options{TTL: 5 * time.Second, Now: func() time.Time {
		calls++ // the process sleeps 6 seconds between its first look at the clock and the next
		return time.Now().Add(time.Duration(calls-1) * 6 * time.Second)
	}})
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "a"}})[0]
	if a.Lease != nil || !errors.Is(a.Err, lease.ErrLate) {
		t.Errorf("answer %+v, want ErrLate", a)
	}
	if _, err := s.Show(t.Context(), "r"); !errors.Is(err, lease.ErrNoLease) {
		t.Errorf("the late lease was not given back: %v", err)
	}
}

// own starts a server that only one test uses.
func own(t *testing.T, port int, args ...string) *embedded.Redis {
	t.Helper()
	r, err := embedded.StartRedis(context.Background(), embedded.RedisOptions{Port: port, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Stop() })
	return r
}

// TestB08Restart is the second half of case B08: the server restarts empty.
func TestB08Restart(t *testing.T) {
	t.Parallel()
	r := own(t, 0)
	s := openAt(t, dial(t, r.Addr()), lease.Options{})
	l := s.take(t, grant.Ask{Resource: "r", Owner: "a"})
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	own(t, r.Port())
	if got := s.Renew(t.Context(), []grant.Lease{l})[0]; !got.Lost {
		t.Errorf("renewing after the restart: %+v, want lost", got)
	}
	if next := s.take(t, grant.Ask{Resource: "r", Owner: "b", Floor: l.Token}); next.Token != 2 {
		t.Errorf("token %d, want 2 by the floor", next.Token)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestB12Memory is the Redis half of case B12.
func TestB12Memory(t *testing.T) {
	t.Parallel()
	s := openAt(t, dial(t, own(t, 0).Addr()), lease.Options{TTL: time.Minute})
	set := func(name, value string) {
		if err := s.client.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	l := s.take(t, grant.Ask{Resource: "held", Owner: "a"})
	set("maxmemory", "1")
	a := s.Acquire(t.Context(), []grant.Ask{{Resource: "r", Owner: "b"}, {Resource: "q", Owner: "b"}})
	for _, got := range a {
		wantPlain(t, got.Err)
		var reply redis.Error
		if !errors.As(got.Err, &reply) || !redis.HasErrorPrefix(got.Err, "OOM") {
			t.Errorf("full memory: %v, want the server's OOM", got.Err)
		}
	}
	wantPlain(t, s.Check(t.Context()))
	s.wantListed(t, []string{"held"})
	if r := s.Renew(t.Context(), []grant.Lease{l})[0]; r.Err != nil || r.Lost {
		t.Errorf("renewing with full memory: %+v", r)
	}
	if f, err := s.ReleaseExact(t.Context(), "held", "1:a"); err != nil || f.Answer != lease.Released {
		t.Errorf("releasing with full memory: %+v, %v", f, err)
	}
	set("maxmemory", "0")
	facts, err := s.Facts(t.Context())
	if err != nil || len(facts) != 1 || facts[0].Policy != "noeviction" || facts[0].Role != "master" ||
		facts[0].Version == "" || facts[0].Skew.Abs() > time.Minute {
		t.Errorf("facts %+v, %v", facts, err)
	}
	l = s.take(t, grant.Ask{Resource: "evicted", Owner: "a"})
	set("maxmemory-policy", "volatile-lru")
	set("maxmemory", "1")
	if facts, err := s.Facts(t.Context()); err != nil || facts[0].Policy != "volatile-lru" {
		t.Errorf("facts %+v, %v; want the policy", facts, err)
	}
	if r := s.Renew(t.Context(), []grant.Lease{l})[0]; !r.Lost {
		t.Errorf("renewing an evicted lease: %+v, want lost", r)
	}
}

// TestB14List is case B14: a few leases among many other keys are found without KEYS and SCAN.
func TestB14List(t *testing.T) {
	t.Parallel()
	s := openAt(t, dial(t, own(t, 0).Addr()), lease.Options{TTL: time.Minute})
	p := s.client.Pipeline()
	for i := range 20_000 {
		p.Set(t.Context(), fmt.Sprintf("%sother:%d", s.prefix, i), "x", 0)
	}
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Acquire(t.Context(), asksFor("w", "a", "b", "c"))
	s.wantListed(t, []string{"a", "b", "c"})
	stats, err := s.client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, banned := range []string{"cmdstat_keys:", "cmdstat_scan:", "cmdstat_flushall:"} {
		if strings.Contains(stats, banned) {
			t.Errorf("%s was called", banned)
		}
	}
}
