package inspect_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"rewardctl/inspect"
)

// BenchmarkPlayerPages measures the newest page of a history of 1,000,000 postings and pages that
// lie deep in it. It fails when a deep page costs more than 1.2 times the first.
func BenchmarkPlayerPages(b *testing.B) {
	const n = 1_000_000
	w := setup(b)
	w.exec(b, "insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, "+
		"lease_owner, actor, reason, created_at) select 'p1', 'e' || n, 'gems', 1, 1, 'w', 'a', "+
		"'r', timestamptz '2026-01-01 00:00Z' + n * interval '1 second' "+
		"from generate_series(1, $1::integer) n", n)
	w.exec(b, "insert into reward_balance (player_id, kind, amount) values ('p1', 'gems', $1)", n)
	w.exec(b, "insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, "+
		"status) select player_id, reward_event_id, kind, amount, 1, 'applied' from reward_ledger")
	w.exec(b, "vacuum analyze reward_ledger")
	w.exec(b, "vacuum analyze reward_claim")
	reader := w.with(b, inspect.Options{Timeout: time.Minute})
	read := func(depth int) time.Duration {
		q := inspect.PlayerQuery{PlayerID: "p1"}
		if depth > 0 {
			q.Cursor = placeAt(n-depth+1, n-depth)
		}
		began := time.Now()
		page, err := reader.Player(b.Context(), q)
		took := time.Since(began)
		if err != nil || len(page.Entries) != 100 ||
			*page.Entries[0].BalanceAfter != int64(n-depth) {
			b.Fatalf("at %d: %d entries, %v", depth, len(page.Entries), err)
		}
		return took
	}
	depths := []int{0, 100, n / 2, n - 1000}
	best := make([]time.Duration, len(depths))
	for b.Loop() {
		for i, depth := range depths { // in turns, so that all of them meet the same load
			if took := read(depth); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, depth := range depths {
		b.ReportMetric(float64(best[i].Microseconds())/1000, fmt.Sprintf("ms-at-%d", depth))
		if ratio := best[i].Seconds() / best[0].Seconds(); ratio > 1.2 {
			b.Errorf("the page at %d costs %.2f times the first", depth, ratio)
		}
	}
}

// placeAt is the cursor of a page that ended with the posting of this id and left this balance.
func placeAt(id, balance int) string {
	at := time.Date(2026, 1, 1, 0, 0, id, 0, time.UTC).Format(time.RFC3339)
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil,
		`{"at":%q,"rank":4,"id":"%d","balances":{"gems":%d}}`, at, id, balance))
}
