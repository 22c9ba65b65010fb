package grant_test

import (
	"testing"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// heldBy is a lease of a caller that keeps it for more than one request.
func heldBy(r grant.Request) *grant.Lease {
	return &grant.Lease{
		Resource: grant.ResourceFor(r.PlayerID), Token: 7, Owner: "keeper@test/1#" + nonce(),
	}
}

// TestFaultHeldRepeat asks twice under one lease and loses an answer of the second request. What
// the first posted carries the second's token and owner, too, and yet it is not the second's.
func TestFaultHeldRepeat(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, rule := range map[string]granttest.Rule{
		"the answer":   {At: granttest.AtReply, Match: granttest.SQL("from reward_grant(")},
		"the commit's": {At: granttest.AtComplete, Match: granttest.Commit},
		"the commit":   {At: granttest.BeforeSend, Match: granttest.Commit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			engine := f.engine(t, nil)
			r := reward(t.Name())
			r.Held = heldBy(r)
			first := grantOne(t, engine, r)
			want(t, first, grant.Applied)
			rule := rule
			rule.Fault = granttest.Close
			lost := f.pgProxy.Add(rule)
			again := grantOne(t, engine, r)
			happens(t, lost.Fired(), "the loss")
			want(t, again, grant.Replayed)
			if again.ReplayOf != first.LedgerID || again.Existing == nil ||
				again.Existing.Amount != r.Amount {
				t.Errorf("answer %+v, want a replay of %d", again, first.LedgerID)
			}
			lost = f.pgProxy.Add(rule)
			other := r
			other.Amount++
			differs := grantOne(t, engine, other)
			happens(t, lost.Fired(), "the loss")
			want(t, differs, grant.Mismatch)
			if len(differs.Differs) != 1 || differs.Differs[0].Field != "amount" {
				t.Errorf("differs in %+v", differs.Differs)
			}
			lost = f.pgProxy.Add(rule)
			r.EventID += "-next"
			next := grantOne(t, engine, r)
			happens(t, lost.Fired(), "the loss")
			want(t, next, grant.Applied) // it is the second's own
			f.CheckInvariants(t)
		})
	}
}

// TestFaultHeldReverseRepeat does the same with a reversal.
func TestFaultHeldReverseRepeat(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	engine := f.engine(t, nil)
	r := reward(t.Name())
	r.Held = heldBy(r)
	posted := grantOne(t, engine, r)
	back := takeBack(posted)
	back.Held = r.Held
	for i, outcome := range []grant.ReverseOutcome{grant.ReverseDone, grant.AlreadyReversed} {
		lost := f.pgProxy.Add(granttest.Rule{
			At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Close,
		})
		done, err := engine.Reverse(t.Context(), back, reverseDeed)
		if err != nil {
			t.Fatal(err)
		}
		happens(t, lost.Fired(), "the loss")
		if done.Outcome != outcome || done.Taken != posted.Amount {
			t.Errorf("try %d: %+v, want %s", i, done, outcome)
		}
	}
	f.CheckInvariants(t)
}
