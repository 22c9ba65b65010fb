package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
)

// scattered is a busy player whose entries of all types lie among each other, many at one moment.
func scattered(t *testing.T) *bench {
	t.Helper()
	b := setup(t)
	busyPlayer(t, b)
	for _, table := range []string{"reward_ledger", "operator_action"} {
		b.exec(t, "alter table "+table+" disable trigger user")
	}
	for table, column := range map[string]string{
		"reward_ledger": "created_at", "grant_refusal": "created_at",
		"operator_action": "created_at", "reward_claim": "updated_at",
	} {
		id := "id"
		if table == "reward_claim" {
			id = "claim_id"
		}
		b.exec(t, fmt.Sprintf("update %s set %s = timestamptz '2026-01-01 00:00Z' + "+
			"(%s * 7 %% 4) * interval '1 hour'", table, column, id))
	}
	return b
}

// filtered is what a query selects from a whole history, one rule after the other.
func filtered(whole []inspect.PlayerEntry, q inspect.PlayerQuery) []string {
	var out []string
	for _, e := range whole {
		switch {
		case !q.From.IsZero() && e.At.Before(q.From):
		case !q.To.IsZero() && !e.At.Before(q.To):
		case q.Kind != "" && e.Kind != q.Kind:
		case q.Event != "" && e.EventID != q.Event:
		case q.Campaign != "" && !strings.HasPrefix(e.EventID, q.Campaign+":"):
		case q.Outcome != "" && e.Outcome != q.Outcome:
		case len(q.Types) > 0 && !slices.Contains(q.Types, e.Type):
		default:
			out = append(out, line(e))
		}
	}
	return out
}

// line is an entry with its balances.
func line(e inspect.PlayerEntry) string {
	s := fmt.Sprintf("%s %d %s", e.Type, e.ID, e.At.UTC().Format(time.TimeOnly))
	if e.BalanceBefore != nil {
		s += fmt.Sprintf(" %s %d to %d", e.Kind, *e.BalanceBefore, *e.BalanceAfter)
	}
	return s
}

func lines(entries []inspect.PlayerEntry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, line(e))
	}
	return out
}

// history is the whole history of the player, its balances summed up here from the oldest on.
func history(t *testing.T, b *bench) []inspect.PlayerEntry {
	t.Helper()
	page, err := b.reader.Player(t.Context(), inspect.PlayerQuery{PlayerID: "p1"})
	if err != nil || page.Next != "" || len(page.Entries) != 18 {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	sums := map[string]int64{}
	for i := range page.Entries {
		e := &page.Entries[len(page.Entries)-1-i]
		if e.Type != inspect.EntryPosting {
			continue
		}
		before := sums[e.Kind]
		sums[e.Kind] += e.Amount
		after := sums[e.Kind]
		e.BalanceBefore, e.BalanceAfter = &before, &after
	}
	return page.Entries
}

func combinations() []inspect.PlayerQuery {
	hour := func(h int) time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
	queries := []inspect.PlayerQuery{{PlayerID: "p1"}}
	vary := func(edits ...func(*inspect.PlayerQuery)) {
		var more []inspect.PlayerQuery
		for _, q := range queries {
			more = append(more, q)
			for _, edit := range edits {
				other := q
				edit(&other)
				more = append(more, other)
			}
		}
		queries = more
	}
	type query = inspect.PlayerQuery
	vary(func(q *query) { q.From = hour(1) })
	vary(func(q *query) { q.To = hour(3) })
	vary(func(q *query) { q.Kind = "gems" })
	vary(func(q *query) { q.Event = "c0:p1:s0:gems:v1" })
	vary(func(q *query) { q.Campaign = "c1" }, func(q *query) { q.Campaign = "c0" })
	vary(func(q *query) { q.Outcome = "applied" }, func(q *query) { q.Outcome = "mismatch" },
		func(q *query) { q.Outcome = "pending" })
	vary(func(q *query) { q.Types = []inspect.EntryType{inspect.EntryPosting} },
		func(q *query) {
			q.Types = []inspect.EntryType{inspect.EntryRefusal, inspect.EntryClaim}
		})
	return queries
}

// Every combination of filters, paged in both directions, gives what the rules give when applied
// to the whole history one by one, with the same balances.
func TestPlayerFiltersAndPages(t *testing.T) {
	t.Parallel()
	b := scattered(t)
	whole := history(t, b)
	found := 0
	for i, q := range combinations() {
		want := filtered(whole, q)
		found += len(want)
		q.Limit = i%4 + 1
		if got := lines(readAll(t, b.reader, q)); !slices.Equal(got, want) {
			t.Errorf("%+v:\n%q\nwant\n%q", q, got, want)
		}
		if got := lines(readBack(t, b.reader, q)); !slices.Equal(got, want) {
			t.Errorf("backwards %+v:\n%q\nwant\n%q", q, got, want)
		}
	}
	if found < 500 {
		t.Errorf("the filters select only %d entries in all", found)
	}
}

// A cursor without balances, as one of a player with very many kinds, sums them anew.
func TestPlayerOfManyKinds(t *testing.T) {
	t.Parallel()
	b := scattered(t)
	whole := history(t, b)
	b.exec(t, "insert into reward_balance (player_id, kind, amount) "+
		"select 'p1', 'kind' || n, n from generate_series(1, 80) n")
	for _, q := range []inspect.PlayerQuery{{Limit: 3}, {Limit: 2, Campaign: "c1"}} {
		q.PlayerID = "p1"
		want := filtered(whole, q)
		if got := lines(readAll(t, b.reader, q)); !slices.Equal(got, want) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
		if got := lines(readBack(t, b.reader, q)); !slices.Equal(got, want) {
			t.Errorf("backwards %q\nwant\n%q", got, want)
		}
	}
}
