package inspect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/inspect"
)

func scanAll(
	t *testing.T, b *bench, r *inspect.Reader,
) (map[string]inspect.Found, inspect.ScanReport) {
	t.Helper()
	found := map[string]inspect.Found{}
	report, err := r.Scan(t.Context(), lease.ScanOptions{Pattern: b.Prefix + "*"},
		func(f inspect.Found) error {
			found[f.Key[len(b.Prefix):]] = f
			return nil
		})
	if err != nil || !report.Complete || int(report.Found) != len(found) {
		t.Fatalf("%d found, report %+v: %v", len(found), report, err)
	}
	return found, report
}

// Leases are judged as the list judges them; all else is foreign, with what it is.
func TestScan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.beat(t, "w1")
	b.take(t, "held", "w1")
	b.take(t, "orphan", "w2")
	b.exec(t, "insert into reward_fence (resource, last_token, last_owner) values ('old', 9, 'x')")
	ctx := t.Context()
	b.Redis.Set(ctx, b.store.LockKey("old"), "3:w1@host/7#n", ttl)
	b.Redis.Set(ctx, b.Prefix+"their:lock", "x", 0)
	b.Redis.HSet(ctx, b.store.LockKey("hash"), "a", "b")
	found, report := scanAll(t, b, b.reader)
	if len(found) != 5 || len(report.Missing) != 0 {
		t.Fatalf("found %+v, report %+v", found, report)
	}
	for key, want := range map[string]inspect.State{
		"lock:{held}": inspect.Held, "lock:{orphan}": inspect.OrphanSuspect,
		"lock:{old}": inspect.Superseded, "their:lock": inspect.Foreign,
		"lock:{hash}": inspect.Foreign,
	} {
		if got := found[key].Verdict.State; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if !found["their:lock"].Verdict.Is(inspect.NoExpiry) {
		t.Errorf("%+v", found["their:lock"])
	}
	mustContain(t, "unindexed", text(found["lock:{old}"].Verdict.Evidence), "index", "not there")
	mustContain(t, "wrong type", text(found["lock:{hash}"].Verdict.Evidence), "a hash under a key")
	if _, err := b.store.Show(ctx, "old"); err != nil {
		t.Errorf("the scan changed a lock: %v", err)
	}
}

// Without PostgreSQL the locks are found and the report says once what the verdicts lack; without
// Redis nothing is called empty.
func TestScanBlind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.beat(t, "w1")
	b.take(t, "held", "w1")
	found, report := scanAll(t, b, b.deaf(t))
	v := found["lock:{held}"].Verdict
	if v.State != inspect.CannotTell || v.Likely != inspect.Held || len(report.Missing) != 1 ||
		report.Missing[0].Backend != grant.PostgreSQL {
		t.Errorf("verdict %+v, missing %v", v, report.Missing)
	}
	none := func(inspect.Found) error { return nil }
	seen, err := b.blind(t).Scan(t.Context(), lease.ScanOptions{}, none)
	if !grant.Unavailable(err) || seen.Complete {
		t.Errorf("report %+v, error %v", seen, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	started := time.Now()
	seen, err = b.reader.Scan(ctx, lease.ScanOptions{}, none)
	if !errors.Is(err, context.Canceled) || seen.Complete || time.Since(started) > time.Second {
		t.Errorf("stopped: report %+v, error %v", seen, err)
	}
}
