package repair_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// memoryLedger is a Granter in memory: it answers applied, replayed and mismatch as the engine
// does, and what a test tells it to.
type memoryLedger struct {
	mu     sync.Mutex
	posted map[[2]string]grant.Result
	calls  [][]grant.Request

	// fault may answer a call instead of the ledger; ok says that it does.
	fault func(call int, requests []grant.Request) (results []grant.Result, err error, ok bool)
	// each may answer one request instead of the ledger.
	each func(call int, r grant.Request) (grant.Result, bool)
}

func newLedger() *memoryLedger {
	return &memoryLedger{posted: make(map[[2]string]grant.Result)}
}

func (m *memoryLedger) GrantMany(
	_ context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	call := len(m.calls)
	m.calls = append(m.calls, requests)
	if m.fault != nil {
		if results, err, ok := m.fault(call, requests); ok {
			return results, err
		}
	}
	results := make([]grant.Result, len(requests))
	for i, r := range requests {
		if m.each != nil {
			if res, ok := m.each(call, r); ok {
				results[i] = res
				continue
			}
		}
		results[i] = m.post(r)
	}
	return results, nil
}

func (m *memoryLedger) post(r grant.Request) grant.Result {
	res := grant.Result{
		Outcome: grant.Applied, PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind,
		Amount: r.Amount, LedgerID: int64(len(m.posted) + 1),
	}
	have, there := m.posted[[2]string{r.PlayerID, r.EventID}]
	switch {
	case !there:
		m.posted[[2]string{r.PlayerID, r.EventID}] = res
	case have.Kind == r.Kind && have.Amount == r.Amount:
		res.Outcome, res.LedgerID, res.ReplayOf = grant.Replayed, have.LedgerID, have.LedgerID
	default:
		res.Outcome, res.LedgerID = grant.Mismatch, have.LedgerID
		res.Differs = []grant.Difference{{
			Field: "amount", Have: fmt.Sprint(have.Amount), Want: fmt.Sprint(r.Amount),
		}}
	}
	return res
}

// total is the sum of what was posted.
func (m *memoryLedger) total() (sum int64) {
	for _, res := range m.posted {
		sum += res.Amount
	}
	return sum
}

// noWait passes pauses without waiting, and notes them.
type noWait struct{ pauses []time.Duration }

func (n *noWait) wait(ctx context.Context, d time.Duration) error {
	n.pauses = append(n.pauses, d)
	return ctx.Err()
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFile(t testing.TB, path string) *batchfile.File {
	t.Helper()
	file, err := batchfile.Open(t.Context(), path, batchfile.Options{
		Campaign: "season-34", Actor: "ops", Reason: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// apply applies a text and checks that no row is lost, in the counts and in the lines.
func apply(
	t testing.TB, engine repair.Granter, text string, opt repair.ApplyOptions,
) (repair.ApplyReport, []repair.ApplyLine, error) {
	t.Helper()
	return applyFile(t, t.Context(), engine, writeFile(t, "grants.csv", text), opt)
}

func applyFile(
	t testing.TB, ctx context.Context, engine repair.Granter, path string,
	opt repair.ApplyOptions,
) (repair.ApplyReport, []repair.ApplyLine, error) {
	t.Helper()
	var lines []repair.ApplyLine
	told := opt.OnLine
	opt.OnLine = func(l repair.ApplyLine) {
		lines = append(lines, l)
		if told != nil {
			told(l)
		}
	}
	if opt.Wait == nil {
		opt.Wait = new(noWait).wait
	}
	report, err := repair.ApplyFile(ctx, engine, openFile(t, path), opt)
	if report.Check != nil && report.Counts.Sum() != report.Check.Rows {
		t.Fatalf("%d rows, counted %+v", report.Check.Rows, report.Counts)
	}
	var stopped *repair.StoppedError
	if err == nil || errors.As(err, &stopped) {
		if len(lines) != report.Check.Rows && !errors.Is(err, batchfile.ErrChanged) {
			t.Fatalf("%d rows, %d lines", report.Check.Rows, len(lines))
		}
	}
	if (err == nil) != report.Complete {
		t.Fatalf("complete %v, error %v", report.Complete, err)
	}
	return report, lines, err
}

// words joins the outcomes of the lines.
func words(lines []repair.ApplyLine) string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = l.Word()
	}
	return strings.Join(all, " ")
}

// manyRows is a file of n rows for n players, 1 gem each.
func manyRows(n int) string {
	var text strings.Builder
	text.WriteString("player_id,kind,amount\n")
	for i := range n {
		fmt.Fprintf(&text, "player-%d,gems,1\n", i)
	}
	return text.String()
}

// readCSV reads a result file: its rows without the header.
func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func mustContain(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}
