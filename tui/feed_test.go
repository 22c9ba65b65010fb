package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// quietPorts answers with leases that never change.
type quietPorts struct {
	Inspector
	leases []inspect.Lease
}

func (q quietPorts) Leases(context.Context, inspect.LeaseFilter) (inspect.LeaseList, error) {
	return inspect.LeaseList{Leases: q.leases, Total: len(q.leases)}, nil
}

func manyLeases(n int, at time.Time) []inspect.Lease {
	out := make([]inspect.Lease, n)
	for i := range out {
		out[i] = inspect.Lease{
			Resource: fmt.Sprintf("reward:player-%06d", i), Token: int64(i + 1), At: at,
			Owner: fmt.Sprintf("worker-%02d@host/9#%d", i%50, i), Worker: fmt.Sprintf("worker-%02d", i%50),
			Left:    time.Duration(1+i%30) * time.Second,
			Verdict: inspect.Verdict{State: inspect.States()[i%len(inspect.States())]},
		}
	}
	return out
}

// Pulse answers the badges of the tabs.
func (quietPorts) Pulse(context.Context) (inspect.Pulse, error) { return inspect.Pulse{}, nil }

func testDesk(t testing.TB, leases int) *desk {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	d := newDesk(ctx, Options{
		Inspector: quietPorts{leases: manyLeases(leases, now)}, Environment: "test",
		Home: "leases",
		Now:  func() time.Time { return now }, LeaseTTL: 30 * time.Second, Refresh: time.Hour,
	})
	t.Cleanup(func() {
		cancel()
		<-d.crew.idle()
	})
	return d
}

func leaseFeed(d *desk) *feed[inspect.Lease] {
	return newLeasesScreen(d).feed
}

func TestFeedHoldsTheOrder(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 0)
	f := leaseFeed(d)
	give := func(names ...string) []string {
		rows := make([]inspect.Lease, len(names))
		for i, n := range names {
			rows[i].Resource = n
		}
		f.take(loaded[inspect.Lease]{batch: batch[inspect.Lease]{rows: rows}})
		f.publish()
		var out []string
		for _, it := range f.out.Load().items {
			name := it.id
			if it.gone {
				name += " gone"
			}
			out = append(out, name)
		}
		return out
	}
	if got := strings.Join(give("c", "a", "b"), ","); got != "a,b,c" {
		t.Errorf("sorted: %s", got)
	}
	f.hold.Store(true)
	if got := strings.Join(give("a", "c", "0"), ","); got != "a,b gone,c" {
		t.Errorf("held: %s", got)
	}
	if got := f.out.Load().held; got != 1 {
		t.Errorf("%d rows wait, want 1", got)
	}
	f.hold.Store(false)
	if got := strings.Join(give("a", "c", "0"), ","); got != "0,a,c" {
		t.Errorf("live again: %s", got)
	}
}

func TestFeedKeepsTheLastGoodRows(t *testing.T) {
	t.Parallel()
	f := leaseFeed(testDesk(t, 0))
	rows := []inspect.Lease{{Resource: "a"}}
	f.take(loaded[inspect.Lease]{batch: batch[inspect.Lease]{rows: rows}, at: time.Unix(5, 0)})
	f.take(loaded[inspect.Lease]{err: errors.New("down"), at: time.Unix(9, 0)})
	f.publish()
	v := f.out.Load()
	if len(v.items) != 1 || v.err == nil || !v.at.Equal(time.Unix(5, 0)) {
		t.Errorf("after a failed read: %d rows, error %v, from %s", len(v.items), v.err, v.at)
	}
}

func TestFeedStopsWithItsContext(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 10)
	f := leaseFeed(d)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	<-d.dirty
	cancel()
	<-done
}

// shown returns a root that shows n leases at w by h cells.
func shown(t testing.TB, n, w, h int) *root { return shownAt(t, n, w, h, nil) }

// shownAt is shown by a clock of the caller's.
func shownAt(t testing.TB, n, w, h int, now func() time.Time) *root {
	d := testDesk(t, n)
	if now != nil {
		d.now = now
	}
	r := newRoot(d)
	r.Init()
	r.update(tea.WindowSizeMsg{Width: w, Height: h})
	s := r.screen().(*leaseList)
	for len(s.shown.items) != n {
		<-d.dirty
		r.update(dataMsg{})
	}
	return r
}

func TestFrameIsExactAtEverySize(t *testing.T) {
	t.Parallel()
	r := shown(t, 500, 120, 32)
	for w := 0; w <= 220; w += 7 {
		for h := 0; h <= 70; h += 5 {
			r.update(tea.WindowSizeMsg{Width: w, Height: h})
			out := r.View()
			if w == 0 || h == 0 {
				continue
			}
			lines := strings.Split(out, "\n")
			if len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, line := range lines {
				if got := safetext.Width(line); got != w {
					t.Fatalf("%dx%d: a line is %d wide: %q", w, h, got, line)
				}
			}
		}
	}
}

func BenchmarkView100kLeases(b *testing.B) {
	r := shown(b, 100_000, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		r.screen().(*leaseList).table.Move(1)
		_ = r.View()
	}
}

func BenchmarkUpdateKey100kLeases(b *testing.B) {
	r := shown(b, 100_000, 200, 60)
	key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'j'}}
	for b.Loop() {
		r.update(key)
	}
}

func BenchmarkUpdateSnapshot100kLeases(b *testing.B) {
	r := shown(b, 100_000, 200, 60)
	s := r.screen().(*leaseList)
	s.table.Move(90_000)
	views := [2]*view[inspect.Lease]{}
	for i := range views {
		copied := *s.shown
		views[i] = &copied
	}
	b.ResetTimer()
	for i := range b.N {
		s.feed.out.Store(views[i%2])
		r.update(dataMsg{})
	}
}
