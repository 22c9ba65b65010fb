package repair_test

import (
	"errors"
	"sync"
	"testing"

	"rewardctl/repair"
)

// Of operators who decide at once about a finding that nobody had decided about, one is first; the
// others are told by whom.
func TestAcknowledgeOnlyAsItWasSeen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run, err := b.operator.StartAudit(t.Context(), repair.AuditRecord{
		Checks: []string{"balance"}, Origin: "o", Parts: 1, Command: "c",
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.operator.RecordAuditFindings(t.Context(), run, []repair.AuditFinding{{
		Check: "balance", Word: "w", Severity: "critical", Rule: "r", What: "it is off", Table: "t",
		Fingerprint: "f",
	}})
	if err != nil {
		t.Fatal(err)
	}
	const operators = 6
	var wait sync.WaitGroup
	errs := make([]error, operators)
	for i := range operators {
		wait.Go(func() {
			_, errs[i] = b.operator.Acknowledge(t.Context(), repair.AckRequest{
				Finding: 1, Version: 0, Reason: "looked at",
			})
		})
	}
	wait.Wait()
	done := 0
	for _, err := range errs {
		var changed *repair.PreconditionError
		switch {
		case err == nil:
			done++
		case !errors.As(err, &changed) || changed.DenialID == 0:
			t.Errorf("refused with %v", err)
		}
	}
	if done != 1 {
		t.Errorf("%d operators decided about version 0", done)
	}
	ack, err := b.operator.Acknowledge(t.Context(), repair.AckRequest{
		Finding: 1, Version: 1, Reopen: true, Reason: "it is back",
	})
	if err != nil || ack.Version != 2 || ack.State != repair.AckOpen || ack.LogID == 0 {
		t.Errorf("reopened as %+v, %v", ack, err)
	}
	again, err := b.operator.Acknowledge(t.Context(), repair.AckRequest{
		Finding: 1, Version: repair.AckAny, Reopen: true, Reason: "it is back",
	})
	if err != nil || again.Changed || again.LogID != 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if n := b.scalar(t, `select count(*) from operator_action where action = 'audit ack'
		and phase = 'result'`); n != "2" {
		t.Errorf("%s rows in the log, want 2", n)
	}
}
