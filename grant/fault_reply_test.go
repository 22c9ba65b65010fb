package grant_test

import (
	"context"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// TestFaultReplyLost loses the answer of each step in each way. The grant is posted once, is
// answered as applied, and leaves no lease behind.
func TestFaultReplyLost(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		rule func(*testing.T) granttest.Rule
		pg   bool
	}{
		{name: "acquire", rule: func(t *testing.T) granttest.Rule {
			return granttest.Rule{At: granttest.AtReply, Match: script(t, "acquire")}
		}},
		{name: "release", rule: func(t *testing.T) granttest.Rule {
			return granttest.Rule{At: granttest.AtReply, Match: script(t, "release")}
		}},
		{name: "grant", pg: true, rule: func(*testing.T) granttest.Rule {
			return granttest.Rule{At: granttest.AtReply, Match: granttest.SQL("from reward_grant(")}
		}},
		{name: "commit", pg: true, rule: func(*testing.T) granttest.Rule {
			return granttest.Rule{At: granttest.AtComplete, Match: granttest.Commit}
		}},
	}
	w := granttest.New(t)
	for _, step := range steps {
		for _, fault := range append(granttest.LossFaults(), granttest.Delay) {
			t.Run(step.name+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				f := newFaultyIn(t, w)
				rule := step.rule(t)
				rule.Fault = fault
				rule.Wait = 2 * faultTTL // of Delay: longer than anybody waits
				proxy := f.redisProxy
				if step.pg {
					proxy = f.pgProxy
				}
				replyLost(t, f, proxy.Add(rule))
			})
		}
	}
}

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
	t.Log("scoreboard: lost_reply_cells=1")
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

// TestFaultRenewReplyLost loses the answer of a renewal: the lease stays the same one, is not made
// anew, and still carries its grant.
func TestFaultRenewReplyLost(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, fault := range granttest.LossFaults() {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			r := reward(t.Name())
			resource := grant.ResourceFor(r.PlayerID)
			ask := grant.Ask{Resource: resource, Owner: "fault@test/1#" + nonce()}
			answer := f.store.Acquire(t.Context(), []grant.Ask{ask})[0]
			if answer.Lease == nil {
				t.Fatalf("acquire: %+v", answer)
			}
			held := *answer.Lease
			lost := f.redisProxy.Add(granttest.Rule{
				At: granttest.AtReply, Match: script(t, "renew"), Fault: fault,
			})
			renewed := f.store.Renew(t.Context(), []grant.Lease{held})[0]
			happens(t, lost.Fired(), "the loss of the answer")
			t.Log("scoreboard: lost_reply_cells=1")
			if renewed.Lost {
				t.Fatalf("a renewal without an answer counts as loss: %+v", renewed)
			}
			r.Held = &held
			engine := f.engine(t, nil)
			want(t, grantOne(t, engine, r), grant.Applied)
			if err := f.store.Release(t.Context(), []grant.Lease{held})[0]; err != nil {
				t.Fatal(err)
			}
			f.free(t, resource)
			if again := f.store.Renew(t.Context(), []grant.Lease{held})[0]; !again.Lost {
				t.Fatalf("a released lease was renewed: %+v", again)
			}
			f.free(t, resource)
			f.CheckInvariants(t)
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
