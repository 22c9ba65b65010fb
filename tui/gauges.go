package tui

import (
	"slices"
	"sync"
	"time"

	"rewardctl/inspect"
)

const (
	// latencyBucket is how long each column of the servers' latencies stands for.
	latencyBucket = 10 * time.Second
	// oldestBucket is how long each column of the age of what waits stands for.
	oldestBucket = time.Minute
	// gaugeBuckets is how many columns are drawn.
	gaugeBuckets = 30
)

// gauges remember what the pulse measured, whatever screen was shown meanwhile: every screen counts
// what waits behind the tabs.
type gauges struct {
	mu              sync.Mutex
	redis, postgres series // how long a small question took
	oldest          series // the age of the oldest delivery that waits
}

// sample is one value at a moment.
type sample struct {
	at    time.Time
	value time.Duration
}

// series are the samples of a window, oldest first.
type series struct{ samples []sample }

// take adds a value and forgets what is older than the window.
func (s *series) take(at time.Time, value, window time.Duration) {
	s.samples = append(s.samples, sample{at, value})
	old := 0
	for old < len(s.samples) && at.Sub(s.samples[old].at) >= window {
		old++
	}
	s.samples = slices.Delete(s.samples, 0, old)
}

// bars are the highest values of the last columns of time, in units; -1 where nothing was measured.
func (s series) bars(now time.Time, bucket, unit time.Duration) []int {
	bars := make([]int, gaugeBuckets)
	for i := range bars {
		bars[i] = -1
	}
	for _, one := range s.samples {
		if at := gaugeBuckets - 1 - int(now.Sub(one.at)/bucket); at >= 0 && at < gaugeBuckets {
			bars[at] = max(bars[at], int(one.value/unit))
		}
	}
	return bars
}

// p95 is the value that 95 of 100 samples do not exceed; 0 without any.
func (s series) p95() time.Duration {
	if len(s.samples) == 0 {
		return 0
	}
	values := make([]time.Duration, len(s.samples))
	for i, one := range s.samples {
		values[i] = one.value
	}
	slices.Sort(values)
	const share, whole = 95, 100
	return values[(len(values)*share+whole-1)/whole-1]
}

// take remembers what a pulse measured.
func (g *gauges) take(p inspect.Pulse) {
	g.mu.Lock()
	defer g.mu.Unlock()
	const latencies = gaugeBuckets * latencyBucket
	if p.RedisTook > 0 {
		g.redis.take(p.At, p.RedisTook, latencies)
	}
	if p.PostgresTook > 0 { // it was asked what waits
		g.postgres.take(p.At, p.PostgresTook, latencies)
		g.oldest.take(p.At, p.Oldest, gaugeBuckets*oldestBucket)
	}
}

// read returns what is remembered now.
func (g *gauges) read() (redis, postgres, oldest series) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return series{slices.Clone(g.redis.samples)}, series{slices.Clone(g.postgres.samples)},
		series{slices.Clone(g.oldest.samples)}
}
