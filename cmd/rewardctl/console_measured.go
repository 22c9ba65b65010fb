//go:build measure

package main

import (
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"time"

	"rewardctl/tui"
)

// measureVariable names the folder to write measurements to.
const measureVariable = "CONSOLE_MEASURE"

// measures is how long each part of the console's loop took since the last report.
type measures struct {
	mu   sync.Mutex
	took map[string][]time.Duration
}

// measureReport is one line of times.jsonl. Times are in microseconds.
type measureReport struct {
	Parts map[string]measurePart `json:"parts"`
	Heap  uint64                 `json:"heap"` // bytes that are in use
	GCs   uint32                 `json:"gcs"`
}

type measurePart struct {
	N   int   `json:"n"`
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`
	P99 int64 `json:"p99_us"`
	Max int64 `json:"max_us"`
}

// measure has the console timed. SIGUSR1 and the end write a line of times.jsonl each; the end
// writes the profiles, too.
func (a *app) measure(opts *tui.Options) (end func()) {
	dir := a.env(measureVariable)
	if dir == "" {
		return func() {}
	}
	m := &measures{took: map[string][]time.Duration{}}
	opts.Timed = func(part string, took time.Duration) {
		m.mu.Lock()
		m.took[part] = append(m.took[part], took)
		m.mu.Unlock()
	}
	lines, err := os.Create(filepath.Join(dir, "times.jsonl"))
	if err != nil {
		return func() {}
	}
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err == nil {
		_ = pprof.StartCPUProfile(cpu)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			_ = json.NewEncoder(lines).Encode(m.report())
			_ = writeHeap(filepath.Join(dir, "heap.pprof"))
		}
	}()
	return func() {
		signal.Stop(asked)
		pprof.StopCPUProfile()
		_ = json.NewEncoder(lines).Encode(m.report())
	}
}

func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}

// report sums up and starts afresh.
func (m *measures) report() measureReport {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m.mu.Lock()
	took := m.took
	m.took = map[string][]time.Duration{}
	m.mu.Unlock()
	out := measureReport{Parts: map[string]measurePart{}, Heap: mem.HeapInuse, GCs: mem.NumGC}
	for part, all := range took {
		slices.Sort(all)
		at := func(percent int) int64 { return all[len(all)*percent/100].Microseconds() }
		out.Parts[part] = measurePart{
			N: len(all), P50: at(50), P95: at(95), P99: at(99),
			Max: all[len(all)-1].Microseconds(),
		}
	}
	return out
}
