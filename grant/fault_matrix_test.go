package grant_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
	"rewardctl/repair"
)

// answered is what a caller may be told when an answer gets lost.
type answered string

const (
	known   answered = "known"   // what happened, although an answer was lost
	unsure  answered = "unknown" // that nobody knows; asking again tells
	cellRow          = 5         // faults of each step
)

// matrixStep is one step of the engine, the relay or an operator, and what is told when its answer
// gets lost.
type matrixStep struct {
	name string
	told map[granttest.Fault]answered // known where nothing is said
	// run plays the step while the fault is in force, checks what is peculiar to it, and returns
	// what the caller was told.
	run func(t *testing.T, w *granttest.World, rule granttest.Rule) answered
}

func matrix(t *testing.T) []matrixStep {
	t.Helper()
	atReply := func(match func(granttest.Frame) bool) func(granttest.Rule) granttest.Rule {
		return func(r granttest.Rule) granttest.Rule {
			r.At, r.Match = granttest.AtReply, match
			return r
		}
	}
	grantCall := granttest.SQL("from reward_grant(")
	return []matrixStep{
		{name: "acquire", run: grantCell(false, atReply(script(t, "acquire")))},
		{name: "renew", run: renewCell},
		{name: "release", run: grantCell(false, atReply(script(t, "release")))},
		{name: "grant", run: grantCell(true, atReply(grantCall))},
		{name: "commit", run: grantCell(true, func(r granttest.Rule) granttest.Rule {
			r.At, r.Match = granttest.AtComplete, granttest.Commit
			return r
		})},
		{name: "classify", run: classifyCell},
		// An operator's deed is not repeated behind his back.
		{name: "burn", run: burnCell, told: map[granttest.Fault]answered{
			granttest.Drop: unsure, granttest.Close: unsure, granttest.HalfClose: unsure,
			granttest.Hang: unsure, // he waits longer than this delay
		}},
		{name: "mark", run: markCell},
	}
}

// TestFaultMatrix loses the answer of each step in each way: {acquire, renew, release, grant,
// commit, classify, burn, mark} x {drop, close, hang, half-close, delay}. Whatever the caller is
// told, the event is posted once, the invariants hold, and asking again tells the rest.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	cells := 0
	for _, step := range matrix(t) {
		faults := append(granttest.LossFaults(), granttest.Delay)
		if len(faults) != cellRow {
			t.Fatalf("%d faults", len(faults))
		}
		for _, fault := range faults {
			cells++
			t.Run(step.name+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				// A delayed answer comes later than anybody waits.
				got := step.run(t, w, granttest.Rule{Fault: fault, Wait: 2 * faultTTL})
				want, special := step.told[fault]
				if !special {
					want = known
				}
				if got != want {
					t.Errorf("the caller was told what is %s, want %s", got, want)
				}
				t.Log("scoreboard: lost_reply_cells=1")
			})
		}
	}
	if cells != 8*cellRow {
		t.Errorf("%d cells", cells)
	}
}

// grantCell is a grant that loses the answer of one of its steps.
func grantCell(
	pg bool, where func(granttest.Rule) granttest.Rule,
) func(*testing.T, *granttest.World, granttest.Rule) answered {
	return func(t *testing.T, w *granttest.World, rule granttest.Rule) answered {
		t.Helper()
		f := newFaultyIn(t, w)
		proxy := f.redisProxy
		if pg {
			proxy = f.pgProxy
		}
		replyLost(t, f, proxy.Add(where(rule)))
		return known
	}
}

// classifyCell loses the answer of the commit, and then that of the transaction that was sent again
// to find out: whose statement classifies the item by the posting that is there.
func classifyCell(t *testing.T, w *granttest.World, rule granttest.Rule) answered {
	t.Helper()
	f := newFaultyIn(t, w)
	first := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Close,
	})
	rule.At, rule.Match, rule.Skip = granttest.AtReply, granttest.SQL("from reward_grant("), 1
	lost := f.pgProxy.Add(rule)
	engine := f.engine(t, nil)
	r := reward(t.Name())
	result := grantOne(t, engine, r)
	happens(t, first.Fired(), "the loss of the commit's answer")
	happens(t, lost.Fired(), "the loss of the classification")
	want(t, result, grant.Applied)
	if n := f.postings(t, r); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
	want(t, grantOne(t, f.engine(t, waitForHolder), r), grant.Replayed)
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
	return known
}

// renewCell loses the answer of a renewal: the lease stays the same one, is not made anew, and
// still carries its grant.
func renewCell(t *testing.T, w *granttest.World, rule granttest.Rule) answered {
	t.Helper()
	f := newFaultyIn(t, w)
	r := reward(t.Name())
	resource := grant.ResourceFor(r.PlayerID)
	ask := grant.Ask{Resource: resource, Owner: "fault@test/1#" + nonce()}
	taken := f.store.Acquire(t.Context(), []grant.Ask{ask})[0]
	if taken.Lease == nil {
		t.Fatalf("acquire: %+v", taken)
	}
	held := *taken.Lease
	rule.At, rule.Match = granttest.AtReply, script(t, "renew")
	rule.Wait = faultTTL / 4 // longer than a renewal waits, and the lease lives on
	lost := f.redisProxy.Add(rule)
	renewed := f.store.Renew(t.Context(), []grant.Lease{held})[0]
	happens(t, lost.Fired(), "the loss of the answer")
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
	if renewed.Err != nil {
		return unsure
	}
	return known
}

// burnCell loses the answer of the transaction that burns a token. Doing it again ends well, and
// the holder can no longer write.
func burnCell(t *testing.T, w *granttest.World, rule granttest.Rule) answered {
	t.Helper()
	f := newFaultyIn(t, w)
	resource := grant.ResourceFor(t.Name())
	ask := grant.Ask{Resource: resource, Owner: "fault@test/1#" + nonce()}
	taken := f.store.Acquire(t.Context(), []grant.Ask{ask})[0]
	if taken.Lease == nil {
		t.Fatalf("acquire: %+v", taken)
	}
	operator, err := repair.New(f.pool, f.store, f.engine(t, nil), repair.Options{
		Operator: "alice", NewID: nonce, Timeout: faultTTL,
	})
	if err != nil {
		t.Fatal(err)
	}
	request := repair.BurnRequest{
		Resource: resource, Token: taken.Lease.Token, Owner: taken.Lease.Owner, Reason: "dead",
	}
	burn := granttest.SQL("insert into reward_fence as f")
	var burning atomic.Bool
	rule.At, rule.Match = granttest.AtComplete, func(frame granttest.Frame) bool {
		if burn(frame) {
			burning.Store(true)
		}
		return burning.Load() && granttest.Commit(frame)
	}
	lost := f.pgProxy.Add(rule)
	_, err = operator.Burn(t.Context(), request)
	happens(t, lost.Fired(), "the loss of the answer")
	told := known
	var broken *grant.BackendError
	switch {
	case err == nil:
	case errors.As(err, &broken) && broken.Doubt:
		told = unsure
	default:
		t.Errorf("burn: %v, want an answer or a doubt", err)
	}
	f.settled(t)
	f.pool.Reset()
	again, err := operator.Burn(t.Context(), request)
	if err != nil || again.Burning != repair.Burned && again.Burning != repair.AlreadyBurned {
		t.Errorf("again: %s, %v", again.Burning, err)
	}
	r := reward(t.Name())
	r.Held = taken.Lease
	r.Held.Until = time.Time{}
	want(t, grantOne(t, f.engine(t, nil), r), grant.TokenCollision)
	f.CheckInvariants(t)
	return told
}

// markCell loses the answer of the statement by which the relay marks what it has delivered: all is
// delivered, and the receiver applies each posting once.
func markCell(t *testing.T, _ *granttest.World, rule granttest.Rule) answered {
	t.Helper()
	f := newFaulty(t) // a relay delivers everything there is in its schema
	const rows = 10
	for n := range rows {
		want(t, grantOne(t, f.engine(t, nil), reward(fmt.Sprintf("player-%d", n))), grant.Applied)
	}
	items, err := itemserver.New(t.Context(), f.Pool, itemserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(items)
	t.Cleanup(server.Close)
	sink, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: server.URL, Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	rule.At, rule.Match = granttest.AtReply, granttest.SQL("update reward_outbox o")
	lost := f.pgProxy.Add(rule)
	relay, err := outbox.New(f.pool, sink, outbox.Options{
		Name: "relay@test/1", ClaimFor: 2 * faultTTL, Timeout: faultTTL,
		PollMax: 50 * time.Millisecond, PauseMax: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- relay.Run(t.Context()) }()
	happens(t, lost.Fired(), "the loss of the answer")
	reached(t, "everything is delivered", func() bool {
		return f.count(t, "select count(*) from reward_outbox where state <> 'delivered'") == 0
	})
	if n := f.count(t, "select count(*) from itemserver_receipt"); n != rows {
		t.Errorf("%d receipts, want %d", n, rows)
	}
	select {
	case err := <-done:
		t.Errorf("the relay ended: %v", err)
	default:
	}
	f.CheckInvariants(t)
	return known
}
