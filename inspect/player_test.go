package inspect_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// busyPlayer is a player with every kind of entry, the amounts made so that sums tell them apart.
func busyPlayer(t *testing.T, b *bench) {
	t.Helper()
	for i := range 12 {
		kind := []string{"gems", "gold"}[i%2]
		_, err := b.engine.Grant(t.Context(), grant.Request{
			PlayerID: "p1", EventID: fmt.Sprintf("c%d:p1:s%d:%s:v1", i%3, i, kind), Kind: kind,
			Amount: 1 << i, Actor: "tester", Reason: "because",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.grant(t, "p1", "c0:p1:s0:gems:v1", 999, nil) // mismatch
	b.grant(t, "p1", "late", 5, &grant.Lease{Owner: "late", Token: 1})
	b.exec(t, "insert into reward_claim (player_id, reward_event_id, kind, amount, status) values "+
		"('p1', 'due', 'gems', 5, 'pending'), ('p1', 'due2', 'gold', 5, 'processing')")
	b.exec(t, "insert into operator_action (operator, action, target, arguments, observed, reason, "+
		"outcome, command) values ('alice', 'lease release', 'reward:p1', '{\"token\": \"3\"}', "+
		"'{}', 'stuck', 'burned', 'rewardctl lease release'), ('alice', 'grant create', 'p1', "+
		"'{\"event\": \"c0:p1:s0:gems:v1\", \"kind\": \"gems\"}', '{}', 'sorry', 'applied', 'x')")
	b.grant(t, "other", "e", 5, nil)
}

func readAll(t *testing.T, r *inspect.Reader, q inspect.PlayerQuery) []inspect.PlayerEntry {
	t.Helper()
	var all []inspect.PlayerEntry
	for range 100 {
		page, err := r.Player(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all
		}
		q.Cursor = page.Next
	}
	t.Fatal("the pages do not end")
	return nil
}

func names(entries []inspect.PlayerEntry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = fmt.Sprintf("%s %d", e.Type, e.ID)
	}
	return out
}

func TestPlayerTimeline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	busyPlayer(t, b)
	page, err := b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "p1"})
	if err != nil || len(page.Entries) != 18 || page.Next != "" || page.Prev != "" {
		t.Fatalf("%d entries, %q %q, %v", len(page.Entries), page.Next, page.Prev, err)
	}
	counts := map[inspect.EntryType]int{}
	running := map[string]int64{}
	for i, e := range page.Entries {
		counts[e.Type]++
		if i > 0 && e.At.After(page.Entries[i-1].At) {
			t.Errorf("entry %d is newer than the one before", i)
		}
		if e.Detail == "" {
			t.Errorf("no sentence: %+v", e)
		}
	}
	for _, e := range slices.Backward(page.Entries) {
		if e.Type != inspect.EntryPosting {
			continue
		}
		if *e.BalanceBefore != running[e.Kind] {
			t.Errorf("%s: before %d, want %d", e.EventID, *e.BalanceBefore, running[e.Kind])
		}
		running[e.Kind] += e.Amount
		if *e.BalanceAfter != running[e.Kind] || e.Delivery == nil ||
			e.Delivery.State != "pending" {
			t.Errorf("%s: after %d, want %d; delivery %+v", e.EventID, *e.BalanceAfter,
				running[e.Kind], e.Delivery)
		}
	}
	want := map[inspect.EntryType]int{
		inspect.EntryPosting: 12, inspect.EntryRefusal: 2, inspect.EntryClaim: 2,
		inspect.EntryAction: 2,
	}
	for kind, n := range want {
		if counts[kind] != n {
			t.Errorf("%d of %s, want %d", counts[kind], kind, n)
		}
	}
	for _, p := range page.Balances {
		if p.Amount != running[p.Kind] || p.Ledger == nil || p.Broken() {
			t.Errorf("%+v, want %d", p, running[p.Kind])
		}
	}
}

// Pages of every size, with every filter, both ways, give what one page gives.
func TestPlayerPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	busyPlayer(t, b)
	b.exec(t, "alter table reward_ledger disable trigger user")
	b.exec(t, "update reward_ledger set created_at = '2026-01-01' where player_id = 'p1'")
	var middle time.Time
	b.query(t, &middle, "select created_at from grant_refusal where outcome = 'mismatch'")
	filters := map[string]inspect.PlayerQuery{
		"all": {}, "gems": {Kind: "gems"}, "event": {Event: "c0:p1:s0:gems:v1"},
		"campaign": {Campaign: "c1"}, "applied": {Outcome: "applied"},
		"pending": {Outcome: "pending"}, "stale": {Outcome: "stale_token"},
		"from": {From: middle}, "to": {To: middle},
		"types": {Types: []inspect.EntryType{inspect.EntryRefusal, inspect.EntryClaim}},
	}
	want := map[string]int{
		"all": 18, "gems": 6 + 2 + 1 + 1, "event": 3, "campaign": 4, "applied": 13, "pending": 1,
		"stale": 1, "from": 6, "to": 12, "types": 4,
	}
	for name, q := range filters {
		q.PlayerID = "p1"
		whole := names(readAll(t, b.reader, q))
		if len(whole) != want[name] {
			t.Errorf("%s: %d entries, want %d: %v", name, len(whole), want[name], whole)
		}
		for _, size := range []int{1, 2, 5, 17} {
			q.Limit = size
			if paged := names(readAll(t, b.reader, q)); !slices.Equal(paged, whole) {
				t.Errorf("%s by %d: %v\nwant %v", name, size, paged, whole)
			}
			if back := names(readBack(t, b.reader, q)); !slices.Equal(back, whole) {
				t.Errorf("%s by %d, backwards: %v\nwant %v", name, size, back, whole)
			}
		}
	}
}

// readBack turns to the last page, then back to the newest.
func readBack(t *testing.T, r *inspect.Reader, q inspect.PlayerQuery) []inspect.PlayerEntry {
	t.Helper()
	turn := func(cursor string) inspect.PlayerPage {
		q.Cursor = cursor
		page, err := r.Player(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	page := turn("")
	for page.Next != "" {
		page = turn(page.Next)
	}
	all := page.Entries
	for page.Prev != "" {
		page = turn(page.Prev)
		all = append(slices.Clone(page.Entries), all...)
	}
	return all
}

func TestPlayerWhoIsNotKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	busyPlayer(t, b)
	_, err := b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "P1"})
	if !errors.Is(err, inspect.ErrNotFound) {
		t.Fatalf("unknown player: %v", err)
	}
	page, err := b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "p1", Kind: "none"})
	if err != nil || len(page.Entries) != 0 {
		t.Fatalf("a filter that selects nothing: %+v, %v", page, err)
	}
	for _, bad := range []inspect.PlayerQuery{
		{},
		{PlayerID: "p1", Limit: -1},
		{PlayerID: "p1", Cursor: "x"},
		{PlayerID: "p1", Campaign: "\x00"},
	} {
		var rejection *grant.Rejection
		if _, err := b.reader.Player(t.Context(), bad); !errors.As(err, &rejection) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	b.Pool.Close()
	if _, err = b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "p1"}); err == nil ||
		errors.Is(err, inspect.ErrNotFound) || !grant.Unavailable(err) {
		t.Fatalf("PostgreSQL is down: %v", err)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	busyPlayer(t, b)
	const event = "c0:p1:s0:gems:v1"
	e, err := b.reader.Explain(t.Context(), "p1", event)
	if err != nil || !e.Granted || e.IfGranted.Outcome != grant.Replayed ||
		len(e.Refusals) != 1 || len(e.Actions) != 1 || e.Delivery == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	mustContain(t, "summary", e.Summary, "Granted: 1 gems", "by tester", "token 1", "because",
		"waits for delivery", "999 gems", "would answer replayed")
	if e, err = b.reader.Explain(t.Context(), "p1", "due"); err != nil || e.Granted ||
		e.IfGranted.Outcome != grant.Applied {
		t.Fatalf("%+v, %v", e, err)
	}
	mustContain(t, "summary", e.Summary, "Not granted", "5 gems has been pending",
		"Nobody was refused")
	if e, err = b.reader.Explain(t.Context(), "p1", "late"); err != nil || e.Granted {
		t.Fatalf("%+v, %v", e, err)
	}
	mustContain(t, "summary", e.Summary, "One try by tester", "below the accepted token")
	l := b.take(t, "reward:p1", "somebody")
	if e, err = b.reader.Explain(t.Context(), "p1", "new"); err != nil ||
		e.IfGranted.Outcome != grant.LeaseHeld || e.Lease.Owner != l.Owner {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = b.blind(t).Explain(t.Context(), "p1", event); err != nil || len(e.Missing) != 1 {
		t.Fatalf("without Redis: %+v, %v", e, err)
	}
	mustContain(t, "summary", e.Summary, "Redis could not be asked")
	if _, err = b.reader.Explain(t.Context(), "nobody", event); !errors.Is(err, inspect.ErrNotFound) {
		t.Fatalf("unknown player: %v", err)
	}
}
