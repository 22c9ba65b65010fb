package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"rewardctl/config"
	"rewardctl/grant/granttest"
)

// An export of many pages is one history: no entry is missing or twice, each balance goes on where
// the one before ended, the digest is of what was written, and the forms say the same.
func TestExportOfManyPages(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	const n = 2*historyPage + 7
	for _, statement := range []string{
		"insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, " +
			"lease_owner, actor, reason, created_at) select 'p1', 'e' || n, 'gems', n, 1, 'w', " +
			"'a', 'r', timestamptz '2026-01-01 00:00Z' + (n / 3) * interval '1 second' " +
			"from generate_series(1, " + strconv.Itoa(n) + ") n",
		"insert into reward_balance select player_id, kind, sum(amount) from reward_ledger " +
			"group by player_id, kind",
	} {
		if _, err := w.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	same := func(*config.Context) {}
	export := func(format string) string {
		exit, out, said := wired(t, w, same, "player", "export", "p1", "-o", format)
		sum := sha256.Sum256([]byte(out))
		want := strconv.Itoa(n) + " entries, sha256 " + hex.EncodeToString(sum[:]) + "\n"
		if exit != exitOK || said != want {
			t.Fatalf("%s: exit %d, says %q, want %q", format, exit, said, want)
		}
		return out
	}
	var doc struct {
		Entries []playerEntryJSON `json:"entries"`
	}
	if err := json.Unmarshal([]byte(export("json")), &doc); err != nil || len(doc.Entries) != n {
		t.Fatalf("%d entries, %v", len(doc.Entries), err)
	}
	checkChain(t, doc.Entries)
	var lines []string
	for _, e := range doc.Entries {
		var line bytes.Buffer
		if err := writeJSON(&line, e, false); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line.String())
	}
	if export("jsonl") != strings.Join(lines, "") {
		t.Error("jsonl says something else than json")
	}
	records, err := csv.NewReader(strings.NewReader(export("csv"))).ReadAll()
	if err != nil || len(records) != n+1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, e := range doc.Entries {
		r := records[i+1]
		if r[5] != *e.EventID || r[9] != strconv.FormatInt(*e.BalanceAfter, 10) {
			t.Fatalf("record %d: %q, want %+v", i, r, e)
		}
	}
}

func checkChain(t *testing.T, entries []playerEntryJSON) {
	t.Helper()
	for i, e := range entries {
		below := int64(0)
		if i+1 < len(entries) {
			below = *entries[i+1].BalanceAfter
		}
		if want := "e" + strconv.Itoa(len(entries)-i); *e.EventID != want ||
			*e.BalanceBefore != below || *e.BalanceAfter != below+*e.Amount {
			t.Fatalf("entry %d: %s with %d to %d, want %s from %d", i, *e.EventID,
				*e.BalanceBefore, *e.BalanceAfter, want, below)
		}
	}
}
