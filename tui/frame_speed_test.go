package tui

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// quickest returns the shortest of many runs of each, taken in turns: what the machine does besides
// only adds to them, and it does it to all.
func quickest(runs int, works ...func()) []time.Duration {
	best := make([]time.Duration, len(works))
	for range runs {
		for i, work := range works {
			start := time.Now()
			work()
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// A frame of very many leases costs what one of a screenful costs, and so does a key; both make a
// bounded number of allocations.
func TestFrameCostsTheSameForManyLeases(t *testing.T) {
	few, many := shown(t, 100, 200, 60), shown(t, 100_000, 200, 60)
	key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'j'}}
	view := func(r *root) func() { return func() { _ = r.View() } }
	press := func(r *root) func() { return func() { r.update(key) } }
	for name, cost := range map[string][2]func(){
		"View": {view(few), view(many)}, "Update": {press(few), press(many)},
	} {
		const runs, ratioMax = 300, 3
		took := quickest(runs, cost[0], cost[1])
		t.Logf("%s: %s with 100 leases, %s with 100,000", name, took[0], took[1])
		if took[1] > ratioMax*took[0]+50*time.Microsecond {
			t.Errorf("%s takes %s with 100,000 leases and %s with 100", name, took[1], took[0])
		}
	}
	const allocsMax = 1200
	if n := testing.AllocsPerRun(20, view(many)); n > allocsMax {
		t.Errorf("View allocates %.0f times, more than %d", n, allocsMax)
	}
	if n := testing.AllocsPerRun(20, press(many)); n > allocsMax {
		t.Errorf("a key allocates %.0f times, more than %d", n, allocsMax)
	}
}

// All rows marked: the marks are counted when they change and not on every frame.
func TestMarksCostNothingPerFrame(t *testing.T) {
	bare, marked := shown(t, 100_000, 200, 60), shown(t, 100_000, 200, 60)
	for _, it := range marked.screen().(*leaseList).shown.items {
		marked.screen().(*leaseList).table.Mark(it.id)
	}
	took := quickest(100, func() { _ = bare.View() }, func() { _ = marked.View() })
	if took[1] > 3*took[0] {
		t.Errorf("a frame takes %s with 100,000 marks, %s without", took[1], took[0])
	}
}

// What a screen of ticking leases sends each second, line by line as the renderer does: a line that
// changed is sent whole.
func TestOutputOfTickingLeases(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64 // the feed reads in a goroutine of its own
	start := time.Date(2026, 11, 30, 14, 2, 3, 0, time.UTC)
	r := shownAt(t, 100_000, 120, 50, func() time.Time {
		return start.Add(time.Duration(passed.Load()))
	})
	last := strings.Split(r.View(), "\n")
	sent, frames := 0, 0
	const seconds, perSecond = 10, int(time.Second / tickEvery)
	for range seconds * perSecond {
		passed.Add(int64(tickEvery))
		r.update(tickMsg{})
		lines := strings.Split(r.View(), "\n")
		for i, line := range lines {
			if line != last[i] {
				const moves = 16 // the sequences around a line
				sent += len(line) + moves
			}
		}
		last = lines
		frames++
	}
	const rateMax = 64 << 10
	t.Logf("%d bytes a second in %d frames", sent/seconds, frames)
	if rate := sent / seconds; rate > rateMax || rate == 0 {
		t.Errorf("%d bytes a second, more than %d", rate, rateMax)
	}
}
