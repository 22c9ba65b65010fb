package repair_test

import (
	"errors"
	"strconv"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// A finding of an audit: all but the first of the postings that it shows.
func TestReverseFinding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.grant(t, "p1", "daily:1", 50)
	second := b.grant(t, "p1", "Daily:1 retry", 50)
	text := func(s string) *string { return &s }
	run, err := b.operator.StartAudit(t.Context(), repair.AuditRecord{
		Checks: []string{"near-duplicate"}, Parts: 1, Command: "test", Origin: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	finding := repair.AuditFinding{
		Check: "near-duplicate", Word: "respelled", Severity: "critical", Rule: "r", What: "w",
		Table: "reward_ledger", PlayerID: "p1", EventID: "daily:1", Count: 2,
		Columns: []string{"id", "amount"}, Rows: [][]*string{
			{text(strconv.FormatInt(second.LedgerID, 10)), text("50")},
			{text(strconv.FormatInt(first.LedgerID, 10)), text("50")},
		}, Proof: "p", Remedy: "r", Fingerprint: "1",
	}
	other := finding
	other.Word, other.Fingerprint = "sum", "2"
	foreign := finding
	foreign.Table, foreign.Fingerprint = "legacy", "3"
	cut := finding
	cut.Count, cut.Fingerprint = 30, "4"
	err = b.operator.RecordAuditFindings(t.Context(), run,
		[]repair.AuditFinding{finding, other, foreign, cut})
	if err != nil {
		t.Fatal(err)
	}
	at := func(print string) repair.ReverseRequest {
		id, _ := strconv.ParseInt(b.scalar(t, "select finding_id from audit_finding "+
			"where fingerprint = $1", print), 10, 64)
		return repair.ReverseRequest{
			ReverseSelection: repair.ReverseSelection{Finding: id}, Reason: "paid twice",
		}
	}
	for _, print := range []string{"2", "3", "4"} {
		var rejected *grant.Rejection
		if _, err := b.operator.PreviewReverse(t.Context(), at(print)); !errors.As(err, &rejected) {
			t.Errorf("finding %s: %v", print, err)
		}
	}
	done := b.reverse(t, at("1"))
	if len(done.Items) != 1 || done.Items[0].Posting.ID != second.LedgerID ||
		done.Changes() != 1 || len(done.Warnings) != 1 {
		t.Fatalf("%+v", done)
	}
	if again := b.reverse(t, at("1")); again.Changes() != 0 ||
		again.Counts()[grant.AlreadyReversed] != 1 {
		t.Fatalf("again: %+v", again.Counts())
	}
	b.CheckInvariants(t)
}

// A plan: what its own runs posted, also what a killed run had committed, and nothing else.
func TestReversePlan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.grant(t, "p0", "e0", 10) // the plan found it there
	plan, err := strconv.ParseInt(b.scalar(t, `insert into grant_plan (campaign, source_name,
		requested_by, reason, started_at) values ('c', 'f', 'test', 'test', clock_timestamp())
		returning plan_id`), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	own, killed := b.grant(t, "p1", "e1", 10), b.grant(t, "p2", "e2", 10)
	req := b.request("p3", "e3", 10)
	req.Actor = "somebody else"
	other, err := b.engine.Grant(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for line, row := range []struct {
		res     grant.Result
		outcome string
	}{{own, "applied"}, {killed, "replayed"}, {before, "replayed"}, {other, "replayed"}} {
		_, err := b.Pool.Exec(t.Context(), `insert into grant_plan_row (plan_id, line, player_id,
			reward_event_id, kind, amount, outcome, ledger_id) values ($1, $2, $3, $4, 'gems', 10, $5,
			$6)`, plan, line+1, row.res.PlayerID, row.res.EventID, row.outcome, row.res.LedgerID)
		if err != nil {
			t.Fatal(err)
		}
	}
	done := b.reverse(t, repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{Plan: plan}, Reason: "wrong plan",
	})
	if len(done.Items) != 2 || done.Changes() != 2 ||
		done.Items[0].Posting.ID != own.LedgerID || done.Items[1].Posting.ID != killed.LedgerID {
		t.Fatalf("%+v", done.Items)
	}
	b.CheckInvariants(t)
}
