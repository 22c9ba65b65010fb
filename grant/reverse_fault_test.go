package grant_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// reverseDeed is a log row as an operator's program makes it, one per transaction.
func reverseDeed(part []grant.Reversal) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"operator": "alice", "action": "ledger reverse", "target": part[0].PlayerID,
		"arguments": map[string]string{"deed": nonce()}, "reason": part[0].Reason,
		"command": "rewardctl ledger reverse",
	})
}

// reversedOnce checks that a posting was taken back once, with one log row and one outbox row.
func reversedOnce(t *testing.T, f *faulty, posted grant.Result, deeds int64) {
	t.Helper()
	if n := f.count(t, `select count(*) from reward_ledger l
		join reward_outbox o on o.ledger_id = l.id
		where l.reverses = $1 and l.amount = $2`, posted.LedgerID, -posted.Amount); n != 1 {
		t.Errorf("%d reversals with an outbox row, want 1", n)
	}
	if n := f.count(t, `select amount from reward_balance where player_id = $1`,
		posted.PlayerID); n != 0 {
		t.Errorf("balance %d, want 0", n)
	}
	if n := f.count(t, `select count(*) from operator_action where target = $1
		and outcome = 'reversed'`, posted.PlayerID); n != deeds {
		t.Errorf("%d log rows say reversed, want %d", n, deeds)
	}
	f.free(t, posted.Resource)
	f.CheckInvariants(t)
}

// TestFaultReverseReplyLost loses the answer of each step in each way: the posting is taken back
// once, answered as reversed, logged once, and no lease is left behind.
func TestFaultReverseReplyLost(t *testing.T) {
	t.Parallel()
	steps := map[string]granttest.Rule{
		"reverse": {At: granttest.AtReply, Match: granttest.SQL("from reward_reverse(")},
		"commit":  {At: granttest.AtComplete, Match: granttest.Commit},
	}
	w := granttest.New(t)
	for name, rule := range steps {
		for _, fault := range granttest.LossFaults() {
			t.Run(name+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				f := newFaultyIn(t, w)
				engine := f.engine(t, nil)
				posted := grantOne(t, engine, reward(t.Name()))
				rule := rule
				rule.Fault = fault
				lost := f.pgProxy.Add(rule)
				done, err := engine.Reverse(t.Context(), takeBack(posted), reverseDeed)
				if err != nil {
					t.Fatal(err)
				}
				happens(t, lost.Fired(), "the loss of the answer")
				wantReversed(t, done, grant.ReverseDone)
				if done.Taken != posted.Amount || done.LedgerID == 0 {
					t.Errorf("answer %+v", done)
				}
				reversedOnce(t, f, posted, 1)
			})
		}
	}
}

// TestFaultReverseRequestLost loses the request: the server has nothing of it, so it is sent again.
func TestFaultReverseRequestLost(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, match := range map[string]func(granttest.Frame) bool{
		"reverse": granttest.SQL("from reward_reverse("), "commit": granttest.Commit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			engine := f.engine(t, nil)
			posted := grantOne(t, engine, reward(t.Name()))
			lost := f.pgProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: match, Fault: granttest.Close,
			})
			done, err := engine.Reverse(t.Context(), takeBack(posted), reverseDeed)
			if err != nil {
				t.Fatal(err)
			}
			happens(t, lost.Fired(), "the loss of the request")
			wantReversed(t, done, grant.ReverseDone)
			reversedOnce(t, f, posted, 1)
		})
	}
}

// TestFaultReverseKill kills a reversing process at each step and runs the same reversal again: it
// is taken back once, and the log tells it once.
func TestFaultReverseKill(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, s := range killSteps() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			direct := newEngine(t, f.Pool, f.newStore(t, f.Redis, faultTTL), waitForHolder)
			posted := grantOne(t, direct, reward(t.Name()))
			if s.lost.Match != nil {
				f.pgProxy.Add(s.lost)
			}
			o := f.ordersFor(t, f.pgProxy.Addr(), faultTTL)
			back := takeBack(posted)
			o.Step, o.Reversal = s.step, &back
			startChild(t, o).KillAt(string(s.step))
			again, err := direct.Reverse(t.Context(), back, reverseDeed)
			if err != nil {
				t.Fatal(err)
			}
			if s.committed {
				wantReversed(t, again, grant.AlreadyReversed)
			} else {
				wantReversed(t, again, grant.ReverseDone)
			}
			reversedOnce(t, f, posted, 1)
		})
	}
}

// reverseInChild takes back what the orders say.
func (o orders) reverseInChild(t *testing.T, engine *grant.Engine) string {
	t.Helper()
	done, err := engine.Reverse(t.Context(), *o.Reversal, reverseDeed)
	return fmt.Sprintf("%s %v", done.Outcome, err)
}
