package repair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// B40 and the rule of the whole file: one bad row, and nothing is granted.
func TestB40ApplyRefusesTheWholeFile(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	report, lines, err := apply(t, ledger, "player_id,kind,amount\np1,gems,1\np2,gems,\"1,234\"\n",
		repair.ApplyOptions{ResultPath: t.TempDir() + "/out.csv"})
	var invalid *repair.InvalidRowsError
	if !errors.As(err, &invalid) || len(ledger.calls) != 0 || len(lines) != 0 {
		t.Fatalf("%v, %d calls, %d lines", err, len(ledger.calls), len(lines))
	}
	mustContain(t, err.Error(), "1 of 2 rows", "nothing was granted", "--skip-invalid")
	if report.Counts.NotRun != 2 || report.ResultPath != "" {
		t.Errorf("%+v", report)
	}
}

func TestB40ApplySkipsInvalidRows(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	report, lines, err := apply(t, ledger, "player_id,kind,amount\np1,gems,1\np2,gems,\"1,234\"\n"+
		"p3,gems,3\n", repair.ApplyOptions{SkipInvalid: true})
	if err != nil || words(lines) != "applied rejected applied" || ledger.total() != 4 {
		t.Fatalf("%v, %s, %d", err, words(lines), ledger.total())
	}
	mustContain(t, lines[1].Detail, `amount "1,234"`, "write plain digits")
	if report.Counts.Refused() != 1 || len(report.Notable) != 1 || report.GoOn != "" {
		t.Errorf("%+v", report)
	}
}

func TestB21ApplyGrantsARepeatedKeyOnce(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	text := "player_id,event,kind,amount\np1,e1,gems,100\np2,e1,gems,100\np3,e1,gems,1\n" +
		"p1,e1,gems,100\np4,e1,gems,1\np2,e1,gems,250\np5,e1,gems,1\np1,e1,gems,100\n"
	for _, batchMax := range []int{1, 3, 100} {
		report, lines, err := apply(t, ledger, text,
			repair.ApplyOptions{SkipInvalid: true, BatchMax: batchMax})
		first := "applied"
		if batchMax > 1 {
			first = "replayed"
		}
		want := strings.ReplaceAll("F rejected F replayed F rejected F replayed", "F", first)
		if err != nil || words(lines) != want {
			t.Fatalf("batches of %d: %v, %s", batchMax, err, words(lines))
		}
		mustContain(t, lines[3].Detail, "duplicate of line 2")
		mustContain(t, lines[7].Detail, "duplicate of line 2")
		mustContain(t, lines[1].Detail, "line 7")
		mustContain(t, lines[5].Detail, "line 3")
		if lines[3].LedgerID != lines[0].LedgerID || report.Counts.Duplicates != 2 {
			t.Errorf("%+v %+v", lines[3], report.Counts)
		}
	}
	if len(ledger.posted) != 4 || ledger.total() != 103 {
		t.Errorf("%v", ledger.posted)
	}
}

// A duplicate answers what its first row answers, also when that is a refusal.
func TestDuplicatesShareTheAnswer(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[grant.Outcome]string{
		grant.Mismatch: "mismatch mismatch", grant.StaleToken: "stale_token stale_token",
		grant.Applied: "applied replayed",
	} {
		ledger := newLedger()
		ledger.each = func(int, grant.Request) (grant.Result, bool) {
			return grant.Result{Outcome: outcome}, true
		}
		_, lines, err := apply(t, ledger,
			"player_id,event,kind,amount\np1,e1,gems,1\np1,e1,gems,1\n",
			repair.ApplyOptions{BatchMax: 1})
		if err != nil || words(lines) != want || len(ledger.calls) != 1 {
			t.Errorf("%v, %s", err, words(lines))
		}
	}
}

// A held lease is asked for again, with growing pauses that end with the lease.
func TestHeldLeasesAreTriedAgain(t *testing.T) {
	t.Parallel()
	ledger, waits := newLedger(), new(noWait)
	left := map[string]time.Duration{
		"player-1": 5 * time.Second, "player-2": 120 * time.Millisecond, "player-3": -1,
	}
	ledger.each = func(call int, r grant.Request) (grant.Result, bool) {
		held := &grant.Holder{
			Owner: "w9", Token: 7, Resource: "reward:" + r.PlayerID,
			Left: left[r.PlayerID],
		}
		busy := grant.Result{Outcome: grant.LeaseHeld, Holder: held}
		switch r.PlayerID {
		case "player-1":
			return busy, call < 3
		case "player-2":
			return busy, call < 2
		case "player-3":
			return busy, true
		case "player-4":
			held.Foreign = true
			return busy, true
		}
		return grant.Result{}, false
	}
	report, lines, err := apply(t, ledger, manyRows(6), repair.ApplyOptions{Wait: waits.wait})
	want := "applied applied applied lease_held lease_held applied"
	if err != nil || words(lines) != want {
		t.Fatalf("%v, %s", err, words(lines))
	}
	if got := fmt.Sprint(waits.pauses); got != "[100ms 120ms 400ms]" {
		t.Errorf("pauses %s", got)
	}
	if len(ledger.calls) != 4 || len(ledger.calls[1]) != 2 || len(ledger.calls[3]) != 1 {
		t.Errorf("%d calls", len(ledger.calls))
	}
	mustContain(t, lines[3].Detail, "w9", "token 7", "without expiry")
	mustContain(t, lines[4].Detail, "other data")
	mustContain(t, report.GoOn, "again", "2 rows")
}

func TestHeldRoundsAreBounded(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	ledger.each = func(int, grant.Request) (grant.Result, bool) {
		return grant.Result{Outcome: grant.LeaseHeld}, true
	}
	_, lines, err := apply(t, ledger, manyRows(1), repair.ApplyOptions{HeldRounds: 3})
	if err != nil || words(lines) != "lease_held" || len(ledger.calls) != 4 {
		t.Errorf("%v, %s, %d calls", err, words(lines), len(ledger.calls))
	}
	ledger.calls = nil
	if _, _, err = apply(t, ledger, manyRows(1), repair.ApplyOptions{HeldRounds: -1}); err != nil ||
		len(ledger.calls) != 1 {
		t.Errorf("%v, %d calls", err, len(ledger.calls))
	}
}

// A server that is gone stops the run; the rest is untouched, and applying again finishes.
func TestUnavailableStopsTheRun(t *testing.T) {
	t.Parallel()
	down := &grant.BackendError{
		Backend: grant.Redis, Op: "acquire", Err: errors.New("connection refused"),
	}
	faults := map[string]func(*memoryLedger){
		"whole batch": func(m *memoryLedger) {
			m.fault = func(call int, _ []grant.Request) ([]grant.Result, error, bool) {
				return nil, down, call == 2
			}
		},
		"one item": func(m *memoryLedger) {
			m.each = func(call int, r grant.Request) (grant.Result, bool) {
				return grant.Result{Err: down}, call == 2 && r.PlayerID == "player-25"
			}
		},
	}
	for name, fault := range faults {
		ledger := newLedger()
		fault(ledger)
		path := writeFile(t, "grants.csv", manyRows(60))
		report, lines, err := applyFile(t, t.Context(), ledger, path,
			repair.ApplyOptions{BatchMax: 10})
		var stopped *repair.StoppedError
		if !errors.As(err, &stopped) || !grant.Unavailable(err) || len(ledger.calls) != 3 {
			t.Fatalf("%s: %v after %d calls", name, err, len(ledger.calls))
		}
		if lines[25].Word() != "failed" || lines[30].Word() != "not_run" || stopped.Done != 30 ||
			report.Counts.NotRun != 30 {
			t.Errorf("%s: %s", name, words(lines))
		}
		mustContain(t, err.Error(), "30 of 60", "connection refused", "same file again")
		posted := len(ledger.posted)
		ledger.fault, ledger.each = nil, nil
		report, _, err = applyFile(t, t.Context(), ledger, path, repair.ApplyOptions{})
		if err != nil || report.Counts.Of(grant.Replayed) != posted || ledger.total() != 60 {
			t.Errorf("%s, again: %v, %+v", name, err, report.Counts)
		}
	}
}

// An item that fails because of its own content does not stop the others.
func TestPoisonedRowDoesNotStopTheRun(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	ledger.each = func(_ int, r grant.Request) (grant.Result, bool) {
		return grant.Result{Err: errors.New("out of range")}, r.PlayerID == "player-1"
	}
	report, lines, err := apply(t, ledger, manyRows(4), repair.ApplyOptions{BatchMax: 2})
	if err != nil || words(lines) != "applied failed applied applied" {
		t.Fatalf("%v, %s", err, words(lines))
	}
	mustContain(t, lines[1].Detail, "out of range")
	mustContain(t, report.GoOn, "1 row left")
}

// B30 for files: an answer that was lost is asked after; what stays unknown is listed apart.
func TestB30LostAnswers(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	ledger.each = func(call int, r grant.Request) (grant.Result, bool) {
		if r.PlayerID != "player-1" || call > 0 {
			return grant.Result{}, false
		}
		ledger.post(r) // posted, but the answer is lost
		return grant.Result{Outcome: grant.Unknown}, true
	}
	report, lines, err := apply(t, ledger, manyRows(3), repair.ApplyOptions{})
	if err != nil || words(lines) != "applied replayed applied" || len(report.Unknown) != 0 {
		t.Fatalf("%v, %s", err, words(lines))
	}
	ledger = newLedger()
	down := &grant.BackendError{Backend: grant.PostgreSQL, Op: "grant", Err: errors.New("gone")}
	ledger.each = func(call int, r grant.Request) (grant.Result, bool) {
		if r.PlayerID != "player-1" {
			return grant.Result{}, false
		}
		if call > 0 { // "nothing written this time" does not settle the first try
			return grant.Result{Err: down}, true
		}
		return grant.Result{Outcome: grant.Unknown}, true
	}
	report, lines, err = apply(t, ledger, manyRows(6), repair.ApplyOptions{BatchMax: 3})
	if !errors.Is(err, repair.ErrAnswerLost) || len(report.Unknown) != 1 ||
		report.Unknown[0].Line != 3 {
		t.Fatalf("%v, %+v", err, report.Unknown)
	}
	if words(lines) != "applied unknown applied not_run not_run not_run" {
		t.Errorf("%s", words(lines))
	}
}

// Cancelling stops between batches: the batch that runs is not cut short.
func TestCancelStopsBetweenBatches(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	ctx, cancel := context.WithCancel(t.Context())
	ledger.fault = func(call int, _ []grant.Request) ([]grant.Result, error, bool) {
		if call == 1 {
			cancel()
		}
		return nil, nil, false
	}
	path := writeFile(t, "grants.csv", manyRows(50))
	out := t.TempDir() + "/out.csv"
	report, lines, err := applyFile(t, ctx, ledger, path,
		repair.ApplyOptions{BatchMax: 10, ResultPath: out})
	if !errors.Is(err, context.Canceled) || report.Done() != 20 || len(ledger.posted) != 20 {
		t.Fatalf("%v, %+v", err, report.Counts)
	}
	mustContain(t, err.Error(), "20 of 50", "apply the same file again for the 30 rows left")
	if report.ResultPath != out+".partial" || len(readCSV(t, report.ResultPath)) != 50 ||
		lines[20].Word() != "not_run" {
		t.Errorf("%s", report.ResultPath)
	}
}

func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ledger := newLedger()
	ledger.fault = func(int, []grant.Request) ([]grant.Result, error, bool) {
		now = now.Add(2 * time.Second)
		return nil, nil, false
	}
	var told []string
	_, _, err := apply(t, ledger, manyRows(25), repair.ApplyOptions{
		BatchMax: 10, Now: func() time.Time { return now },
		OnProgress: func(p repair.ApplyProgress) {
			told = append(told, fmt.Sprintf("%d/%d %d %.0f/s %s", p.Done, p.Total,
				p.Counts.Of(grant.Applied), p.Rate, p.Left))
		},
	})
	want := []string{"0/25 0 0/s 0s", "10/25 10 5/s 3s", "20/25 20 5/s 1s", "25/25 25 4/s 0s"}
	if err != nil || !slices.Equal(told, want) {
		t.Errorf("%v, %q", err, told)
	}
}

type memoryPreview struct{ ledger *memoryLedger }

func (m memoryPreview) Preview(
	ctx context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	copied := newLedger()
	for key, res := range m.ledger.posted {
		copied.posted[key] = res
	}
	return copied.GrantMany(ctx, requests)
}

func TestDryRunGrantsNothing(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	ledger.post(grant.Request{
		PlayerID: "player-1", EventID: "season-34:player-1::gems:v1",
		Kind: "gems", Amount: 1,
	})
	ledger.post(grant.Request{
		PlayerID: "player-2", EventID: "season-34:player-2::gems:v1",
		Kind: "gems", Amount: 5,
	})
	report, lines, err := apply(t, ledger, manyRows(3),
		repair.ApplyOptions{DryRun: true, Preview: memoryPreview{ledger}})
	if err != nil || words(lines) != "applied replayed mismatch" || !report.DryRun {
		t.Fatalf("%v, %s", err, words(lines))
	}
	if len(ledger.calls) != 0 || len(ledger.posted) != 2 {
		t.Errorf("granted: %v", ledger.calls)
	}
	mustContain(t, lines[0].Detail, "would be granted")
	mustContain(t, lines[2].Detail, "amount is 5 there, 1 here")
	if _, _, err := apply(t, ledger, manyRows(1), repair.ApplyOptions{DryRun: true}); err == nil {
		t.Error("a dry run without a preview passes")
	}
}

// A file that changes while it is applied stops the run before a changed row is granted.
func TestChangedFileStopsTheRun(t *testing.T) {
	t.Parallel()
	ledger := newLedger()
	path := writeFile(t, "grants.csv", manyRows(30000))
	file := openFile(t, path)
	if _, err := file.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, strings.ReplaceAll(manyRows(30000), "player-29", "pl4yer-29"))
	report, err := repair.ApplyFile(t.Context(), ledger, file, repair.ApplyOptions{})
	if !errors.Is(err, batchfile.ErrChanged) || report.Done() != 29 || len(ledger.posted) != 29 {
		t.Errorf("%v, %+v, %d posted", err, report.Counts, len(ledger.posted))
	}
	if report.Counts.Sum() != 30000 {
		t.Errorf("%+v", report.Counts)
	}
}
