package repair_test

import (
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

func record() repair.AuditRecord {
	return repair.AuditRecord{
		Checks: []string{"duplicate-key", "balance"}, Options: map[string]string{"window": "1h"},
		Origin: "1/2/3", Parts: 2, Command: "rewardctl audit run duplicate-key balance",
	}
}

// What is written down twice, because a run was cut off in between, is there once.
func TestAuditIsKeptOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara := b.as(t, "mara")
	run, err := mara.StartAudit(t.Context(), record())
	if err != nil || run == 0 {
		t.Fatal(run, err)
	}
	one, null := "1", (*string)(nil)
	finding := repair.AuditFinding{
		Check: "duplicate-key", Word: "duplicate", Severity: "critical", Rule: "r", What: "w",
		Table: "reward_ledger", PlayerID: "p\u202e", EventID: "e", Count: 2,
		Columns: []string{"id", "kind"}, Rows: [][]*string{{&one, null}}, Differs: []string{"id"},
		Proof: "select 1", Remedy: "rewardctl explain p e", Fingerprint: "f1",
	}
	other := finding
	other.Fingerprint = "f2"
	for range 2 {
		err := errors.Join(
			mara.RecordAuditFindings(t.Context(), run, []repair.AuditFinding{finding, other}),
			mara.RecordAuditFindings(t.Context(), run, nil),
			mara.RecordAuditUnit(t.Context(), run, repair.AuditUnit{
				Check: "duplicate-key", Unit: "part 1", Mark: 7, Rows: 100, Findings: 2,
			}),
			mara.RecordAuditCheck(t.Context(), run, repair.AuditCheck{
				Check: "duplicate-key", Mark: 7,
			}),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	for sql, want := range map[string]string{
		"select count(*)::text from audit_finding":                            "2",
		"select count(*)::text from audit_part":                               "1",
		"select findings::text from audit_check":                              "2",
		"select requested_by from audit_run":                                  "mara",
		"select state from audit_run":                                         "running",
		"select evidence -> 'rows' ->> 0 from audit_finding limit 1":          `["1", null]`,
		"select player_id from audit_finding limit 1":                         "p\u202e",
		"select options ->> 'window' from audit_run":                          "1h",
		"select (db_user = session_user)::text from audit_run":                "true",
		"select coalesce(since::text, 'all') from audit_check":                "all",
		"select array_to_string(checks, ',') from audit_run where run_id = 1": "duplicate-key,balance",
	} {
		if got := b.scalar(t, sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// A run goes on unless it was read to its end.
func TestAuditGoesOnUntilDone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mara := b.as(t, "mara")
	run, err := mara.StartAudit(t.Context(), record())
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []repair.AuditState{
		repair.AuditRunning, repair.AuditStopped, repair.AuditFailed,
	} {
		if state != repair.AuditRunning { // killed: nobody wrote anything down
			if err := mara.EndAudit(t.Context(), run, state, "because"); err != nil {
				t.Fatal(err)
			}
		}
		if err := mara.ResumeAudit(t.Context(), run); err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if got := b.scalar(t, "select state || coalesce(problem, '') from audit_run"); got != "running" {
			t.Errorf("%s, gone on: %s", state, got)
		}
	}
	if err := mara.EndAudit(t.Context(), run, repair.AuditDone, ""); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{run, run + 1} {
		var refused *grant.Rejection
		if err := mara.ResumeAudit(t.Context(), n); !errors.As(err, &refused) {
			t.Errorf("run %d: %v", n, err)
		}
	}
}
