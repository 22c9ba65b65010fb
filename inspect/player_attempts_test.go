package inspect_test

import (
	"strings"
	"testing"

	"rewardctl/inspect"
)

// A player's history and the explanation of a reward tell each try to deliver it and each posting
// that takes a part of it back.
func TestDeliveriesAndPartsTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "insert into reward_ledger (id, player_id, reward_event_id, kind, amount, "+
		"fence_token, lease_owner, actor, reason, reverses) overriding system value values "+
		"(1, 'p1', 'e1', 'gems', 50, 1, 'w', 'ann', 'due', null), "+
		"(2, 'p1', 'reverse:1:1', 'gems', -20, 2, 'w', 'bob', 'half', 1), "+
		"(3, 'p1', 'reverse:1:2', 'gems', -30, 3, 'w', 'bob', 'rest', 1)")
	b.exec(t, "insert into reward_outbox (ledger_id, player_id, state, attempts) values "+
		"(1, 'p1', 'delivered', 2), (2, 'p1', 'pending', 0), (3, 'p1', 'pending', 0)")
	b.exec(t, "insert into reward_outbox_attempt (ledger_id, claim_id, attempt, relay, sink, "+
		"verdict, detail, kept, started_at, ended_at) values "+
		"(1, gen_random_uuid(), 2, 'r@h/2', 'http', 'delivered', null, true, now(), now()), "+
		"(1, gen_random_uuid(), 1, 'r@h/1', 'http', 'unknown', 'timeout', false, now(), now())")
	page, err := b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "p1"})
	if err != nil || len(page.Entries) != 3 {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	for _, e := range page.Entries {
		switch tries := e.Attempts; {
		case e.ID != 1 && len(tries) != 0:
			t.Errorf("posting %d has the attempts of another: %+v", e.ID, tries)
		case e.ID == 1 && (len(tries) != 2 || tries[0].Verdict != "unknown" ||
			tries[1].Verdict != "delivered"):
			t.Errorf("attempts %+v", tries)
		}
	}
	x, err := b.reader.Explain(t.Context(), "p1", "e1")
	if err != nil || len(x.Reversals) != 2 || x.Reversals[0].ID != 2 || x.Reversal.ID != 3 ||
		len(x.Attempts) != 2 {
		t.Fatalf("%+v %+v %v", x.Reversals, x.Attempts, err)
	}
	var told []string
	for _, e := range x.Evidence {
		told = append(told, e.Name+" "+e.Finding)
	}
	all := x.Summary + "\n" + strings.Join(told, "\n")
	for _, want := range []string{
		"2 postings take back 50 of it in all; the last part was reversed by bob",
		"reversal posting 2: -20 gems", "reversal posting 3: -30 gems",
		"delivery attempt 1 by r@h/1", "unknown, after its claim was over, timeout",
		"delivery attempt 2 by r@h/2",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in:\n%s", want, all)
		}
	}
}
