package repair_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// yes is a Granter that applies everything and remembers nothing.
type yes struct{}

func (yes) GrantMany(_ context.Context, requests []grant.Request) ([]grant.Result, error) {
	results := make([]grant.Result, len(requests))
	for i := range results {
		results[i].Outcome, results[i].LedgerID = grant.Applied, int64(i+1)
	}
	return results, nil
}

// BenchmarkApplyMillion applies a million rows to an engine that costs nothing: what is left is
// reading, the result file and the memory of both. It reports the highest heap between batches.
func BenchmarkApplyMillion(b *testing.B) {
	const million = 1_000_000
	path := filepath.Join(b.TempDir(), "million.csv")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "player_id,kind,amount,subject")
	for i := range million {
		fmt.Fprintf(w, "7656119%010d,gems,%d,rank-%d\n", i, i%500+1, i%1000)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		file := openFile(b, path)
		runtime.GC()
		highest := uint64(0)
		report, err := repair.ApplyFile(b.Context(), yes{}, file, repair.ApplyOptions{
			ResultPath: filepath.Join(b.TempDir(), "out.csv"),
			OnProgress: func(repair.ApplyProgress) {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				highest = max(highest, m.HeapInuse)
			},
		})
		if err != nil || report.Counts.Of(grant.Applied) != million {
			b.Fatalf("%v, %+v", err, report.Counts)
		}
		b.ReportMetric(float64(highest)/(1<<20), "heap-MB")
	}
	b.ReportMetric(float64(million)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkApply applies files of new rows on real servers, beside GrantMany of as many rows in
// the same batches.
func BenchmarkApply(b *testing.B) {
	const rows, batchMax = 20_000, 1000
	world := granttest.New(b)
	store, err := lease.New(world.Redis, lease.Options{Prefix: world.Prefix, TTL: 5 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	engine, err := grant.NewEngine(world.Pool, store, grant.Options{
		Worker: "bench@host/1", NewID: rand.Text,
	})
	if err != nil {
		b.Fatal(err)
	}
	// The players' fences and balances are there before either of the two is timed.
	first := campaignFile(b, rand.Text(), rows)
	if _, err := repair.ApplyFile(b.Context(), engine, first, repair.ApplyOptions{}); err != nil {
		b.Fatal(err)
	}
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			file := campaignFile(b, rand.Text(), rows)
			report, err := repair.ApplyFile(b.Context(), engine, file,
				repair.ApplyOptions{BatchMax: batchMax})
			if err != nil || report.Counts.Of(grant.Applied) != rows {
				b.Fatalf("%v, %+v", err, report.Counts)
			}
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("GrantMany", func(b *testing.B) {
		for b.Loop() {
			campaign := rand.Text()
			for from := 0; from < rows; from += batchMax {
				requests := make([]grant.Request, batchMax)
				for i := range requests {
					requests[i] = grant.Request{
						PlayerID: fmt.Sprintf("player-%d", from+i), EventID: campaign, Kind: "gems",
						Amount: 1, Actor: "ops", Reason: "test",
					}
				}
				if _, err := engine.GrantMany(b.Context(), requests); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

func campaignFile(b *testing.B, campaign string, rows int) *batchfile.File {
	b.Helper()
	file, err := batchfile.Open(b.Context(), writeFile(b, "grants.csv", manyRows(rows)),
		batchfile.Options{Campaign: campaign, Actor: "ops", Reason: "test"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	return file
}
