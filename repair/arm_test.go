package repair_test

import (
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// A write window leaves two rows: why and for how long it was opened, and why it closed.
func TestWindowIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := repair.ArmRequest{Context: "live", Reason: " INC-77 ", For: 15 * time.Minute}
	id, err := b.operator.Arm(t.Context(), ask)
	if err != nil || id == 0 {
		t.Fatalf("armed as %d, %v", id, err)
	}
	ended, err := b.operator.Disarm(t.Context(), repair.Window{
		ArmRequest: repair.ArmRequest{Context: "live", Reason: "INC-77"}, Armed: id,
		Ended: time.Now(), Why: "by hand",
	})
	if err != nil || ended <= id {
		t.Fatalf("disarmed as %d, %v", ended, err)
	}
	for sql, want := range map[string]string{
		`select action || ' ' || target || ' ' || phase || ' ' || reason || ' ' || outcome
			from operator_action where id = $1`: "arm live result INC-77 armed",
		`select action || ' ' || outcome || ' ' || (arguments->>'armed')
			from operator_action where arguments->>'armed' = $1::bigint::text`: "disarm " +
			"disarmed: by hand 1",
	} {
		if got := b.scalar(t, sql, id); got != want {
			t.Errorf("the log has %q, want %q", got, want)
		}
	}
	ask.Reason = ""
	var rejected *grant.Rejection
	if _, err := b.operator.Arm(t.Context(), ask); !errors.As(err, &rejected) {
		t.Errorf("without a reason: %v", err)
	}
}
