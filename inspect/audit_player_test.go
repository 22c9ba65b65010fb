package inspect_test

import (
	"fmt"
	"testing"
)

// What is known about a player is what the newest audits say: a finding that a later run of the
// same check no longer has is gone, one of another check stays.
func TestPlayerFindings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	do := func(sql string, args ...any) {
		t.Helper()
		if _, err := b.Pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for run := 1; run <= 3; run++ {
		do(`insert into audit_run (run_id, checks, options, origin, parts, incremental, requested_by,
			command) values ($1, '{near}', '{}', 'o', 1, false, 'mlee', 'c')`, run)
	}
	find := func(id, run int, check, player, print string) {
		t.Helper()
		do(`insert into audit_finding (finding_id, run_id, check_name, word, severity, rule, what,
			relation, player_id, reward_event_id, row_count, evidence, proof, remedy, fingerprint)
			values ($1, $2, $3, 'respelled', 'critical', 'once', 'paid twice', 'reward_ledger', $4,
			'e', 2, '{"columns": ["id"], "rows": [["7"], [null]], "differs": ["id"]}', '', '', $5)`,
			id, run, check, player, print)
	}
	read := func(run int, check string, since any) {
		t.Helper()
		do(`insert into audit_check (run_id, check_name, since, mark, findings)
			values ($1, $2, $3, 1, 1)`, run, check, since)
	}
	find(1, 1, "near", "p-1", "gone")
	find(2, 1, "balance", "p-1", "other check")
	find(3, 2, "near", "p-1", "still")
	find(4, 3, "near", "p-1", "still")
	find(5, 3, "near", "p-2", "somebody else")
	read(1, "near", nil)
	read(2, "near", nil)
	read(3, "near", 5) // it looked at what was new only: what run 2 found is still true
	got, err := b.reader.PlayerFindings(t.Context(), "p-1")
	if err != nil {
		t.Fatal(err)
	}
	have := ""
	for _, f := range got {
		have += fmt.Sprintf("%d:%d:%d ", f.ID, f.Run, len(f.Rows))
	}
	if have != "2:1:2 4:3:2 " {
		t.Errorf("found %s", have)
	}
	for _, name := range []string{"", "nobody", "a\x00b", "o'clock\n"} {
		if got, err := b.reader.PlayerFindings(t.Context(), name); err != nil || len(got) != 0 {
			t.Errorf("%q: %d findings, %v", name, len(got), err)
		}
	}
}
