package repair_test

import (
	"crypto/rand"
	"errors"
	"testing"

	"rewardctl/repair"
)

// An operator who may only look sees and previews everything, and changes nothing: not the
// ledger, not the fence, not Redis, not the log.
func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held := b.take(t, "reward:p1", "worker")
	o, err := repair.New(b.Pool, b.store, b.engine, repair.Options{
		Operator: "mara", NewID: rand.Text, ReadOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if p, err := o.PreviewGrant(ctx, b.request("p2", "e", 5)); err != nil || p.BalanceAfter != 5 {
		t.Errorf("preview: %+v, %v", p, err)
	}
	dry := releaseOf(held)
	dry.DryRun = true
	if r, err := o.Release(ctx, dry); err != nil || r.Freeing != repair.WouldRelease {
		t.Errorf("dry run: %+v, %v", r, err)
	}
	_, granted := o.Grant(ctx, b.request("p2", "e", 5))
	_, released := o.Release(ctx, releaseOf(held))
	_, started := o.StartAudit(ctx, record())
	for name, err := range map[string]error{
		"grant": granted, "release": released, "audit": started,
	} {
		var closed *repair.ReadOnlyError
		if !errors.As(err, &closed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for sql, want := range map[string]string{
		"select count(*) from reward_ledger": "0", "select count(*) from reward_fence": "0",
		"select count(*) from operator_action": "0", "select count(*) from audit_run": "0",
	} {
		if got := b.scalar(t, sql); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if e, err := b.store.Show(ctx, held.Resource); err != nil || e.Token != held.Token {
		t.Errorf("the lock: %+v, %v", e, err)
	}
}
