package grant_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// deed is a row of the operator log as an operator's program hands it to the engine.
func deed(r grant.Request, nonce string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"operator": "mara", "host": "desk", "action": "grant create",
		"target": %q, "args_version": 1, "arguments": {"deed": %q}, "reason": "because",
		"command": "rewardctl grant create"}`, r.PlayerID, nonce))
}

// In one batch some act by hand and some do not: each deed has its row, in the transaction of the
// batch, with what came of it; the others have none.
func TestDeedsOfABatch(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	engine := f.engine(t, nil)
	first := reward("player-1")
	first.Deed = deed(first, "a")
	other := first
	other.Amount++
	other.Deed = deed(other, "b")
	requests := []grant.Request{reward("player-0"), first, reward("player-2")}
	results, err := engine.GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].ActionID != 0 || results[1].ActionID != 1 || results[2].ActionID != 0 {
		t.Errorf("rows %d, %d, %d", results[0].ActionID, results[1].ActionID, results[2].ActionID)
	}
	want(t, grantOne(t, engine, first), grant.Replayed)
	want(t, grantOne(t, engine, other), grant.Mismatch)
	var log string
	err = f.Pool.QueryRow(t.Context(), `select string_agg(id || ' ' || phase || ' ' || outcome
		|| ' ' || coalesce(before ->> 'balance', '-') || ' ' || coalesce(after ->> 'balance', '-'),
		', ' order by id) from operator_action`).Scan(&log)
	expected := fmt.Sprintf("1 result applied 0 %d, 2 result replayed - -, 3 denied mismatch - -",
		first.Amount)
	if err != nil || log != expected {
		t.Errorf("%s, %v, want %s", log, err, expected)
	}
	f.CheckInvariants(t)
}

// When the answer to COMMIT is lost, the batch is sent again: the row is there once, and the answer
// names it. When the COMMIT itself was lost, so was the row, and the second sending writes it.
func TestDeedIsLoggedOnceWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]granttest.Point{
		"after the commit": granttest.AtComplete, "before the commit": granttest.BeforeSend,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t)
			lost := f.pgProxy.Add(granttest.Rule{
				At: at, Match: granttest.Commit, Fault: granttest.Close,
			})
			r := reward("player-1")
			r.Deed = deed(r, "a")
			result := grantOne(t, f.engine(t, nil), r)
			happens(t, lost.Fired(), "the loss")
			want(t, result, grant.Applied)
			var rows, id int64
			err := f.Pool.QueryRow(t.Context(), "select count(*), max(id) from operator_action "+
				"where outcome = 'applied'").Scan(&rows, &id)
			if err != nil || rows != 1 || id != result.ActionID {
				t.Errorf("%d rows, the last is %d, the answer names %d, %v", rows, id,
					result.ActionID, err)
			}
			f.CheckInvariants(t)
		})
	}
}

// A deed that cannot be written down is not done: the posting goes with its row.
func TestNoGrantWithoutItsRow(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	r := reward("player-1")
	r.Deed = json.RawMessage(`{"operator": "mara", "action": "grant create", "target": "player-1",
		"arguments": {"deed": "a"}, "reason": "", "command": "c"}`)
	result, err := f.engine(t, nil).Grant(t.Context(), r)
	if err == nil || result.Outcome != grant.Failed {
		t.Fatalf("%+v, %v", result, err)
	}
	if n := f.count(t, "select count(*) from reward_ledger"); n != 0 {
		t.Errorf("%d postings", n)
	}
}
