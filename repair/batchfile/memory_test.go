package batchfile_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rewardctl/repair/batchfile"
	"rewardctl/repair/batchfile/workbook/booktest"
)

const million = 1_000_000

// writeMany writes a file of n different rows for n different players.
func writeMany(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "many.csv")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "player_id,kind,amount,subject")
	for i := range n {
		fmt.Fprintf(w, "7656119%010d,gems,%d,rank-%d\n", i*7919%9999991, i%500+1, i%1000)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// liveHeap is what the heap holds after a collection, in bytes.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkValidateMillion reports the live heap at the end of the file, where it is highest, and
// after Validate, beside the speed.
func BenchmarkValidateMillion(b *testing.B) {
	path := writeMany(b, million)
	for b.Loop() {
		before, peak := liveHeap(), uint64(0)
		file := open(b, path, batchfile.Options{OnProgress: func(at batchfile.Progress) {
			rows := at.Rows
			if rows%(100*8192) == 0 || rows > million-8192 {
				peak = max(peak, liveHeap())
			}
		}})
		check, err := file.Validate(context.Background())
		if err != nil || check.Good != million || check.Players != million {
			b.Fatalf("%+v, %v", check, err)
		}
		after := liveHeap()
		b.ReportMetric(float64(peak-before)/(1<<20), "peak-MB")
		b.ReportMetric(float64(after-before)/(1<<20), "after-MB")
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(check)
	}
	b.ReportMetric(float64(million)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkRowsMillion(b *testing.B) {
	file := open(b, writeMany(b, million), batchfile.Options{})
	if _, err := file.Validate(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		for _, err := range file.Rows(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != million {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(million)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// TestMemoryPerRow is the limit behind the benchmark: 120 MB for a million rows while validating,
// 20 MB afterwards. It is not parallel, because it measures the heap of the process.
func TestMemoryPerRow(t *testing.T) {
	const rows = 20 * 8192
	path := writeMany(t, rows)
	before, peak := liveHeap(), uint64(0)
	file := open(t, path, batchfile.Options{OnProgress: func(at batchfile.Progress) {
		n := at.Rows
		if n > rows-8192 {
			peak = liveHeap()
		}
	}})
	check, err := file.Validate(context.Background())
	if err != nil || check.Good != rows || check.ProblemCount != 0 {
		t.Fatalf("%+v, %v", check, err)
	}
	if perRow := (int64(peak) - int64(before)) / rows; perRow > 120 || perRow < 10 {
		t.Errorf("%d bytes per row at the end of the file", perRow)
	}
	if perRow := (int64(liveHeap()) - int64(before)) / rows; perRow > 20 {
		t.Errorf("%d bytes per row after validating", perRow)
	}
	runtime.KeepAlive(file)
}

// BenchmarkValidateSheet is BenchmarkValidateMillion for a workbook of 200,000 rows; XML costs.
func BenchmarkValidateSheet(b *testing.B) {
	const rows = 200_000
	records := make([][]string, 1, rows+1)
	records[0] = []string{"player_id", "kind", "amount", "subject"}
	for i := range rows {
		records = append(records, []string{
			fmt.Sprintf("7656119%010d", i*7919%9999991), "gems", fmt.Sprint(i%500 + 1),
			fmt.Sprintf("rank-%d", i%1000),
		})
	}
	path := writeBook(b, booktest.One(booktest.Table(records...)...))
	records = nil
	for b.Loop() {
		before, peak := liveHeap(), uint64(0)
		file := open(b, path, batchfile.Options{OnProgress: func(at batchfile.Progress) {
			n := at.Rows
			if n > rows-8192 {
				peak = max(peak, liveHeap())
			}
		}})
		check, err := file.Validate(context.Background())
		if err != nil || check.Good != rows {
			b.Fatalf("%+v, %v", check, err)
		}
		b.ReportMetric((float64(peak)-float64(before))/rows, "peak-B/row")
		b.ReportMetric((float64(liveHeap())-float64(before))/rows, "after-B/row")
		runtime.KeepAlive(file)
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
