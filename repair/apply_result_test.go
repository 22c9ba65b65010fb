package repair_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"

	"pgregory.net/rapid"
)

func overwrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// B44: text cells of the result are safe in a spreadsheet, numbers are left alone, and the result
// is a file of grants that finds the same players.
func TestB44ResultFile(t *testing.T) {
	t.Parallel()
	text := "player_id,event,kind,amount,name\n" +
		"=1+1,e1,gems,1,x\n+1,e1,gems,2,x\n-2+3,e1,gems,3,x\n@x,e1,gems,4,x\n" +
		"\"\"\"=1\",e1,gems,5,x\n-abc,-e,gems,6,x\n00123,007,gems,7,x\n" +
		"p1,e1,gems,-5,x\np2,e1,gems,=5,x\n"
	ledger := newLedger()
	out := filepath.Join(t.TempDir(), "out.csv")
	report, _, err := apply(t, ledger, text,
		repair.ApplyOptions{SkipInvalid: true, ResultPath: out})
	if err != nil || report.ResultPath != out {
		t.Fatalf("%v, %+v", err, report)
	}
	rows := readCSV(t, out)
	want := [][]string{
		{"2", "'=1+1", "e1", "gems", "1", "applied", "1", ""},
		{"3", "'+1", "e1", "gems", "2", "applied", "2", ""},
		{"4", "'-2+3", "e1", "gems", "3", "applied", "3", ""},
		{"5", "'@x", "e1", "gems", "4", "applied", "4", ""},
		{"6", "'\"=1", "e1", "gems", "5", "applied", "5", ""},
		{"7", "'-abc", "'-e", "gems", "6", "applied", "6", ""},
		{"8", "00123", "007", "gems", "7", "applied", "7", ""},
	}
	for i, row := range want {
		if !slices.Equal(rows[i], row) {
			t.Errorf("%q, want %q", rows[i], row)
		}
	}
	if rows[7][4] != "-5" || rows[8][4] != "'=5" || rows[7][5] != "rejected" {
		t.Errorf("%q %q", rows[7], rows[8])
	}
	posted := len(ledger.posted)
	report, _, err = applyFile(t, t.Context(), ledger, out, repair.ApplyOptions{SkipInvalid: true})
	if err != nil || report.Counts.Of(grant.Replayed) != 7 || len(ledger.posted) != posted {
		t.Errorf("the result applied: %v, %+v", err, report.Counts)
	}
	for _, w := range report.Check.Warnings {
		if strings.Contains(w.Text, "apostrophe") {
			t.Errorf("our own guard warns: %s", w)
		}
	}
}

func TestResultIsPrivateAndKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.csv")
	overwrite(t, out, "old")
	overwrite(t, out+".partial", "of an earlier run")
	var during []string
	report, _, err := apply(t, newLedger(), manyRows(3), repair.ApplyOptions{
		ResultPath: out, OnProgress: func(repair.ApplyProgress) {
			old, err := os.ReadFile(out)
			during = append(during, fmt.Sprint(string(old), err))
		},
	})
	if err != nil || report.ResultPath != out || len(readCSV(t, out)) != 3 {
		t.Fatalf("%v, %+v", err, report)
	}
	if !slices.Equal(during, []string{"old<nil>", "old<nil>"}) {
		t.Errorf("while it ran: %q", during)
	}
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	kept, err := os.ReadFile(out + ".partial")
	if err != nil || string(kept) != "of an earlier run" {
		t.Errorf("%q, %v", kept, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Where a result cannot go is known before anything is granted.
func TestResultPathIsCheckedFirst(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	input := writeFile(t, "grants.csv", manyRows(2))
	link := filepath.Join(filepath.Dir(input), "link.csv")
	if err := os.Symlink(input, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		input, link, t.TempDir(), filepath.Join(t.TempDir(), "none", "out.csv"), "/dev/null",
	} {
		_, _, err := applyFile(t, t.Context(), ledger, input, repair.ApplyOptions{ResultPath: path})
		var wrong *repair.ResultPathError
		if !errors.As(err, &wrong) || wrong.Path != path || len(ledger.calls) != 0 {
			t.Errorf("%s: %v, %d calls", path, err, len(ledger.calls))
		}
	}
	if kept, err := os.ReadFile(input); err != nil || string(kept) != manyRows(2) {
		t.Errorf("the input: %q, %v", kept, err)
	}
}

// I6, and exactly once: whatever answers a run meets, every row has one line, and applying until
// nothing is left pays every good row once.
func TestEveryRowHasOneLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var text strings.Builder
		text.WriteString("player_id,event,kind,amount\n")
		due := make(map[string]int64)
		for i := range rapid.IntRange(1, 30).Draw(rt, "rows") {
			player := rapid.IntRange(0, 12).Draw(rt, "player")
			if rapid.IntRange(0, 9).Draw(rt, "bad") == 0 {
				fmt.Fprintf(&text, "bad-%d,e,gems,0\n", i)
				continue
			}
			fmt.Fprintf(&text, "p%d,e,gems,%d\n", player, player+1)
			due[fmt.Sprintf("p%d", player)] = int64(player + 1)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		ledger := newLedger()
		ledger.each = func(_ int, r grant.Request) (grant.Result, bool) {
			switch random.IntN(8) {
			case 0:
				return grant.Result{Outcome: grant.LeaseHeld}, true
			case 1:
				return grant.Result{Outcome: grant.StaleToken}, true
			case 2: // lost before or after the commit
				if random.IntN(2) == 0 {
					ledger.post(r)
				}
				return grant.Result{Outcome: grant.Unknown}, true
			case 3:
				return grant.Result{Err: errors.New("of its own")}, true
			}
			return grant.Result{}, false
		}
		path := writeFile(t, "grants.csv", text.String())
		for try := 0; ; try++ {
			if try == 5 {
				ledger.each = nil
			}
			out := fmt.Sprintf("%s.%d.out", path, try)
			report, lines, err := applyFile(t, t.Context(), ledger, path, repair.ApplyOptions{
				SkipInvalid: true, BatchMax: rapid.IntRange(1, 8).Draw(rt, "batch"),
				HeldRounds: -1, ResultPath: out,
			})
			if rows := readCSV(t, report.ResultPath); len(rows) != len(lines) {
				rt.Fatalf("%d lines in the result, want %d", len(rows), len(lines))
			}
			for i, line := range lines {
				if line.Line != i+2 {
					rt.Fatalf("line %d at place %d", line.Line, i)
				}
			}
			if err == nil && report.GoOn == "" {
				break
			}
			if try > 5 {
				rt.Fatalf("still not done: %v, %s", err, words(lines))
			}
		}
		for player, amount := range due {
			if got := ledger.posted[[2]string{player, "e"}]; got.Amount != amount {
				rt.Fatalf("%s has %+v, want %d", player, got, amount)
			}
		}
		if len(ledger.posted) != len(due) {
			rt.Fatalf("%d postings, want %d", len(ledger.posted), len(due))
		}
	})
}
