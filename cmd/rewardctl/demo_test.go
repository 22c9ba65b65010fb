package main

import (
	"testing"
	"time"

	"rewardctl/grant/granttest"
)

// Every statement of this package fits the migrated schema.
func TestStatementsFitTheSchema(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	if _, err := w.Pool.Exec(t.Context(), demoLegacyTableSQL); err != nil {
		t.Fatal(err)
	}
	for name, statement := range map[string]string{
		"demo_postings": demoPostingsSQL, "demo_claims": demoClaimsSQL, "demo_floor": demoFloorSQL,
		"demo_legacy_rows": demoLegacyRowsSQL, "demo_delivered": demoDeliveredSQL,
	} {
		conn, err := w.Pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Conn().Prepare(t.Context(), name, statement); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		conn.Release()
	}
}

// The demo's history is as the engine would have left it, and loading it twice adds nothing.
func TestDemoDataKeepsTheInvariants(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	count := func() (n int) {
		t.Helper()
		err := w.Pool.QueryRow(t.Context(), "select count(*) from reward_ledger").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	now := time.Now()
	for round := range 2 {
		before := count()
		if err := loadDemoData(t.Context(), w.Pool, now); err != nil {
			t.Fatal(err)
		}
		if after := count(); (after > before) != (round == 0) {
			t.Errorf("round %d: %d postings, then %d", round, before, after)
		}
		w.CheckInvariants(t)
	}
	var doubles int
	err := w.Pool.QueryRow(t.Context(), "select count(*) from (select from legacy_reward_log "+
		"group by user_id, reward_key having count(*) > 1) as d").Scan(&doubles)
	if err != nil || doubles == 0 {
		t.Errorf("the legacy ledger holds no doubles: %d, %v", doubles, err)
	}
}
