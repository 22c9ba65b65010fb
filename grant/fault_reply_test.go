package grant_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// replyLost is a grant that loses the answer of one of its steps.
func replyLost(t *testing.T, f *faulty, lost *granttest.Trigger) {
	t.Helper()
	sent := f.pgProxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.SQL("from reward_grant("), Times: -1,
		Fault: granttest.Watch,
	})
	engine := f.engine(t, nil)
	r := reward(t.Name())
	result := grantOne(t, engine, r)
	happens(t, lost.Fired(), "the loss of the answer")
	want(t, result, grant.Applied)
	if result.Token != 1 {
		t.Errorf("token %d, want 1: the acquisition did not recognise itself", result.Token)
	}
	if n := f.postings(t, r); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
	if sent.Count() > 2 {
		t.Errorf("the batch was sent %d times, want at most twice", sent.Count())
	}
	f.free(t, grant.ResourceFor(r.PlayerID))
	want(t, grantOne(t, engine, r), grant.Replayed)
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
}

// TestFaultReplyLostUnprepared loses answers of PostgreSQL where nothing is prepared, as behind a
// pooler: the driver then reads answers in another way, and says "closed" of a connection that it
// has written to, as if it had not.
func TestFaultReplyLostUnprepared(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, rule := range map[string]granttest.Rule{
		"grant":  {At: granttest.AtReply, Match: granttest.SQL("from reward_grant(")},
		"commit": {At: granttest.AtComplete, Match: granttest.Commit},
	} {
		for _, fault := range granttest.LossFaults() {
			t.Run(name+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				f := newFaultyIn(t, w)
				f.mode = pgx.QueryExecModeExec
				f.pool = f.newPool(t, f.pgProxy.Addr(), 4)
				rule := rule
				rule.Fault = fault
				replyLost(t, f, f.pgProxy.Add(rule))
			})
		}
	}
}

// TestFaultRequestLost loses the request instead: the server has nothing of it, so it must be
// sent again rather than believed done.
func TestFaultRequestLost(t *testing.T) {
	t.Parallel()
	rules := map[string]func(*testing.T, *faulty) *granttest.Trigger{
		"acquire": func(t *testing.T, f *faulty) *granttest.Trigger {
			return f.redisProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: script(t, "acquire"), Fault: granttest.Close,
			})
		},
		"release": func(t *testing.T, f *faulty) *granttest.Trigger {
			return f.redisProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: script(t, "release"), Fault: granttest.Close,
			})
		},
		"grant": func(_ *testing.T, f *faulty) *granttest.Trigger {
			return f.pgProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: granttest.SQL("from reward_grant("),
				Fault: granttest.Close,
			})
		},
		"commit": func(_ *testing.T, f *faulty) *granttest.Trigger {
			return f.pgProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Close,
			})
		},
	}
	w := granttest.New(t)
	for name, add := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			replyLost(t, f, add(t, f))
		})
	}
}

// TestFaultEveryAnswerOfAcquireLost never lets an answer through: the grant fails without a
// posting, and the lease that was taken all the same is gone once the server answers again.
func TestFaultEveryAnswerOfAcquireLost(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	lost := f.redisProxy.Add(granttest.Rule{
		At: granttest.AtReply, Match: script(t, "acquire"), Times: -1, Fault: granttest.Close,
	})
	r := reward("player-1")
	result, err := f.engine(t, nil).Grant(t.Context(), r)
	happens(t, lost.Fired(), "the loss of the answer")
	if err == nil || !grant.Unavailable(err) {
		t.Fatalf("answered %s, %v; want Redis unavailable", result.Outcome, err)
	}
	if n := f.postings(t, r); n != 0 {
		t.Fatalf("%d postings, want none", n)
	}
	f.free(t, grant.ResourceFor(r.PlayerID))
}

// TestFaultUnknown keeps PostgreSQL away after the answer of the commit was lost: the outcome is
// unknown, and the same request tells once the server is back.
func TestFaultUnknown(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	lost := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Close,
	})
	engine := f.engine(t, func(o *grant.Options) {
		o.OnStep = func(step grant.Step) {
			if step == grant.StepResolve {
				f.pgProxy.SetPath(granttest.Refused)
			}
		}
	})
	r := reward("player-1")
	result, err := engine.Grant(t.Context(), r)
	happens(t, lost.Fired(), "the loss of the answer")
	if result.Outcome != grant.Unknown {
		t.Fatalf("outcome %s, %v; want unknown", result.Outcome, err)
	}
	f.pgProxy.SetPath(granttest.Open)
	want(t, grantOne(t, f.engine(t, waitForHolder), r), grant.Replayed)
	if n := f.postings(t, r); n != 1 {
		t.Fatalf("%d postings, want 1", n)
	}
	f.CheckInvariants(t)
}

// TestFaultUnreachable proves the opposite: what could not be sent failed, promptly and without a
// doubt.
func TestFaultUnreachable(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, proxy := range map[string]func(*faulty) *granttest.Proxy{
		"postgresql": func(f *faulty) *granttest.Proxy { return f.pgProxy },
		"redis":      func(f *faulty) *granttest.Proxy { return f.redisProxy },
	} {
		for word, path := range map[string]granttest.Path{
			"refused": granttest.Refused, "black hole": granttest.BlackHole,
		} {
			t.Run(name+"/"+word, func(t *testing.T) {
				t.Parallel()
				f := newFaultyIn(t, w)
				engine := f.engine(t, nil)
				want(t, grantOne(t, engine, reward(t.Name()+"/before")), grant.Applied)
				proxy(f).SetPath(path)
				r := reward(t.Name())
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				start := time.Now()
				result, err := engine.Grant(ctx, r)
				if took := time.Since(start); err == nil || took > 6*time.Second {
					t.Fatalf("outcome %s, %v after %v; want an error soon", result.Outcome, err,
						took)
				}
				proxy(f).SetPath(granttest.Open)
				if n := f.postings(t, r); n != 0 {
					t.Fatalf("%d postings, want none", n)
				}
				want(t, grantOne(t, newEngineAfter(t, f), r), grant.Applied)
				f.CheckInvariants(t)
			})
		}
	}
}

// newEngineAfter makes an engine on fresh connections: those that lived through a black hole are
// dead, and finding that out takes the drivers their own time.
func newEngineAfter(t *testing.T, f *faulty) *grant.Engine {
	t.Helper()
	f.pool.Reset()
	return newEngine(t, f.newPool(t, f.pgProxy.Addr(), 4), f.newStore(t, f.Redis, faultTTL),
		waitForHolder)
}

// waitForHolder lets an engine outwait a lease that a fault left behind.
func waitForHolder(o *grant.Options) { o.HeldWait = 20 * time.Second }

// TestFaultDeadPool loses every connection of the pool at the moment of the commit, without a word
// (a firewall that forgot them). PostgreSQL stays reachable by new connections, so the outcome
// must be found.
func TestFaultDeadPool(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	warm(t, f)
	lost := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.SQL("from reward_grant("), Fault: granttest.Hold,
	})
	r := reward("player-1")
	done := make(chan grant.Result, 1)
	engine := f.engine(t, nil)
	go func() {
		result, _ := engine.Grant(t.Context(), r)
		done <- result
	}()
	happens(t, lost.Fired(), "the answer")
	f.pgProxy.SetPath(granttest.BlackHole)
	f.pgProxy.SetPath(granttest.Open)
	lost.Release()
	want(t, <-done, grant.Applied)
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
}

// warm opens four connections of the pool and leaves them idle.
func warm(t *testing.T, f *faulty) {
	t.Helper()
	var release []func()
	for range 4 {
		conn, err := f.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release = append(release, conn.Release)
	}
	for _, r := range release {
		r()
	}
}

// TestFaultHeldLeaseHang loses the answer of a grant under a lease that its holder vouches for
// without a deadline, on a connection that hangs: the caller still gets an answer.
func TestFaultHeldLeaseHang(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	lost := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Hang,
	})
	r := reward("player-1")
	r.Held = &grant.Lease{
		Resource: grant.ResourceFor(r.PlayerID), Owner: "fault@test/1#held", Token: 7,
	}
	done := make(chan grant.Result, 1)
	engine := f.engine(t, nil)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		result, _ := engine.Grant(ctx, r)
		done <- result
	}()
	happens(t, lost.Fired(), "the loss of the answer")
	select {
	case result := <-done:
		want(t, result, grant.Applied)
	case <-time.After(25 * time.Second):
		t.Fatal("the caller hangs: nothing bounds a grant under a lease without a deadline")
	}
	f.CheckInvariants(t)
}
