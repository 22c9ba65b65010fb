package inspect_test

import (
	"strings"
	"testing"
	"time"

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

// Asked for by their type, attempts are entries of their own: they are filtered and paged like
// others, also those of one moment. Not asked for, they are none.
func TestAttemptsAsEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "insert into reward_ledger (id, player_id, reward_event_id, kind, amount, "+
		"fence_token, lease_owner, actor, reason, created_at) overriding system value "+
		"select i, 'p' || i % 2, 'c:e' || i, 'gems', 5, i, 'w', 'ann', 'due', now() - interval '1 h' "+
		"from generate_series(1, 20) i")
	b.exec(t, "insert into reward_outbox_attempt (ledger_id, claim_id, attempt, relay, sink, "+
		"verdict, detail, kept, started_at, ended_at) select i % 20 + 1, gen_random_uuid(), i / 20 + 1, "+
		"'r@h/1', 'http', case when i % 3 = 0 then 'unknown' else 'delivered' end, 'said', true, "+
		"now() - interval '1 s' * (i / 30), now() from generate_series(0, 59) i")
	types := []inspect.EntryType{inspect.EntryDelivery}
	walk := func(q inspect.PlayerQuery) (all []inspect.PlayerEntry) {
		t.Helper()
		for q.PlayerID = "p1"; ; {
			page, err := b.reader.Player(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page.Entries...)
			if q.Cursor = page.Next; q.Cursor == "" {
				return all
			}
		}
	}
	for name, c := range map[string]struct {
		query inspect.PlayerQuery
		want  int
	}{
		"all":             {inspect.PlayerQuery{Types: types}, 30},
		"pages of 7":      {inspect.PlayerQuery{Types: types, Limit: 7}, 30},
		"one verdict":     {inspect.PlayerQuery{Types: types, Outcome: "unknown", Limit: 3}, 10},
		"one event":       {inspect.PlayerQuery{Types: types, Event: "c:e3"}, 3},
		"a campaign":      {inspect.PlayerQuery{Types: types, Campaign: "c"}, 30},
		"another":         {inspect.PlayerQuery{Types: types, Campaign: "d"}, 0},
		"another kind":    {inspect.PlayerQuery{Types: types, Kind: "coins"}, 0},
		"not asked for":   {inspect.PlayerQuery{}, 10},
		"and postings":    {inspect.PlayerQuery{Types: append(types, "posting"), Limit: 9}, 40},
		"postings' alone": {inspect.PlayerQuery{Types: types, Outcome: "applied"}, 0},
	} {
		entries := walk(c.query)
		seen, before := map[string]bool{}, time.Time{}
		for _, e := range entries {
			if !before.IsZero() && e.At.After(before) {
				t.Errorf("%s: %s stands below %s", name, e.At, before)
			}
			before = e.At
			key := string(e.Type) + e.Detail
			if e.Type == inspect.EntryDelivery && (e.ID%2 != 1 || e.Actor != "r@h/1" ||
				!strings.Contains(e.Detail, "by http: said") || e.FenceToken != 0) {
				t.Errorf("%s: %+v", name, e)
			}
			if e.Type == inspect.EntryDelivery && seen[key] {
				t.Errorf("%s: twice: %s", name, key)
			}
			seen[key] = true
		}
		if len(entries) != c.want {
			t.Errorf("%s: %d entries, want %d", name, len(entries), c.want)
		}
	}
	page, err := b.reader.Player(t.Context(), inspect.PlayerQuery{
		PlayerID: "p1", Types: types, Limit: 4,
	})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	second, err := b.reader.Player(t.Context(), inspect.PlayerQuery{
		PlayerID: "p1", Types: types, Limit: 4, Cursor: page.Next,
	})
	if err != nil {
		t.Fatal(err)
	}
	back, err := b.reader.Player(t.Context(), inspect.PlayerQuery{
		PlayerID: "p1", Types: types, Limit: 4, Cursor: second.Prev,
	})
	if err != nil || len(back.Entries) != 4 || back.Entries[0].Detail != page.Entries[0].Detail {
		t.Errorf("forwards: %+v, %v", back.Entries, err)
	}
}
