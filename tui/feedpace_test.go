package tui

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

func lease(resource string, token int64) inspect.Lease {
	return inspect.Lease{Resource: resource, Token: token}
}

// What is read by itself goes where it stands; what is not found is gone; nothing else moves.
func TestFeedNoticesRowsReadByThemselves(t *testing.T) {
	t.Parallel()
	f := leaseFeed(testDesk(t, 0))
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	text := func() string {
		var parts []string
		for _, it := range f.out.Load().items {
			words := it.id + tokenText(it.row.Token)
			if it.gone {
				words += " gone"
			}
			parts = append(parts, words)
		}
		return strings.Join(parts, ",")
	}
	want := func(what, rows string) {
		t.Helper()
		if got := text(); got != rows {
			t.Errorf("%s: %s, want %s", what, got, rows)
		}
	}
	read := func(when int64, rows ...inspect.Lease) {
		f.take(loaded[inspect.Lease]{
			batch: batch[inspect.Lease]{rows: rows}, at: at(when), took: time.Second,
		})
		f.publish()
	}
	read(10, lease("a", 1), lease("b", 1), lease("c", 1))
	before := f.out.Load()
	look := func(when int64, ids []string, rows ...inspect.Lease) {
		f.notice(glanced[inspect.Lease]{ids: ids, rows: rows, at: at(when)})
	}
	look(11, []string{"a", "b"}, lease("a", 2))
	want("after a look", "a2,b1 gone,c1")
	v := f.out.Load()
	if v.age() != at(11) || v.readAt(v.items[0]) != at(11) || v.readAt(v.items[2]) != at(10) {
		t.Errorf("ages %v, %v, %v", v.age(), v.readAt(v.items[0]), v.readAt(v.items[2]))
	}
	if v.items[1].since != at(11) {
		t.Errorf("gone since %v, want the look that missed it", v.items[1].since)
	}
	if before.items[0].row.Token != 1 || before.items[1].gone {
		t.Error("an older view was changed")
	}
	f.publish() // such as for another filter
	want("arranged anew", "a2,b1 gone,c1")
	look(12, []string{"b"}, lease("b", 5))
	want("held again", "a2,b5,c1")
	read(14, lease("a", 3), lease("b", 5), lease("d", 1))
	want("all were read", "a3,b5,d1")
	if v := f.out.Load(); v.age() != at(14) {
		t.Errorf("age %v", v.age())
	}
	look(13, []string{"a"}, lease("a", 9)) // it was under way when all were read
	want("an old look", "a3,b5,d1")
	look(15, []string{"d", "never"})
	read(15, lease("a", 4), lease("d", 1)) // this read began before that look
	want("a look during a read", "a4,d1 gone")
	if f.notice(glanced[inspect.Lease]{ids: []string{"a"}, err: errors.New("down"), at: at(16)}) {
		t.Error("a failed look was taken for one that found nothing")
	}
	want("a failed look", "a4,d1 gone")
}

// scarce answers like quietPorts, and counts how it is asked.
type scarce struct {
	quietPorts
	mu    sync.Mutex
	all   int
	asked [][]string
	fails atomic.Bool
	slow  chan struct{} // all are read when it is closed; nil: at once
}

func (s *scarce) Leases(ctx context.Context, f inspect.LeaseFilter) (inspect.LeaseList, error) {
	s.mu.Lock()
	s.all++
	slow := s.slow
	s.mu.Unlock()
	if slow != nil {
		<-slow
	}
	return s.quietPorts.Leases(ctx, f)
}

func (s *scarce) LeasesOf(_ context.Context, names []string) (inspect.LeaseList, error) {
	s.mu.Lock()
	s.asked = append(s.asked, names)
	s.mu.Unlock()
	if s.fails.Load() {
		return inspect.LeaseList{}, errors.New("down")
	}
	var list inspect.LeaseList
	for _, name := range names {
		list.Leases = append(list.Leases, lease(name, 99))
	}
	return list, nil
}

func (s *scarce) counts() (all, looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all, len(s.asked)
}

// Of very many leases only those on the screen are read often; when that fails, or somebody is
// there again, all are.
func TestFeedReadsVeryManyLessOften(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 0)
	ports := &scarce{quietPorts: quietPorts{leases: manyLeases(20_000, d.now())}}
	d.opts.Inspector, d.opts.Refresh = ports, 10*time.Millisecond
	d.idle.Store(true)
	f := leaseFeed(d)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	until := func(what string, met func(all, looks int) bool) {
		t.Helper()
		limit := time.NewTimer(20 * time.Second)
		defer limit.Stop()
		for !met(ports.counts()) {
			select {
			case <-d.dirty:
			case <-time.After(10 * time.Millisecond):
			case <-limit.C:
				all, looks := ports.counts()
				t.Fatalf("%s: all were read %d times, some %d times", what, all, looks)
			}
		}
	}
	until("at first", func(all, _ int) bool { return all == 1 })
	f.see([]string{"reward:player-000007"})
	until("at rest", func(_, looks int) bool { return looks >= 20 })
	if all, _ := ports.counts(); all != 1 {
		t.Errorf("all were read %d times in the time of 20 looks", all)
	}
	v := f.out.Load()
	if it := v.items[v.find("reward:player-000007")]; it.row.Token != 99 {
		t.Errorf("the row on the screen is %+v", it.row)
	}
	slow := make(chan struct{})
	ports.mu.Lock()
	ports.slow = slow
	ports.mu.Unlock()
	f.refresh()
	until("asked for", func(all, _ int) bool { return all == 2 })
	_, before := ports.counts()
	until("while all are read", func(_, looks int) bool { return looks >= before+5 })
	close(slow)
	ports.fails.Store(true)
	until("a look failed", func(all, _ int) bool { return all == 3 })
}

// Somebody who comes back has the screen read at once.
func TestFirstKeyReadsAgain(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	start := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	r := shownAt(t, 50, 120, 32, func() time.Time { return start.Add(time.Duration(passed.Load())) })
	s := r.screen().(*leaseList)
	first := s.shown
	r.update(tickMsg{})
	if r.d.idle.Load() {
		t.Error("idle at once")
	}
	passed.Store(int64(idleAfter + time.Second))
	r.update(tickMsg{})
	if !r.d.idle.Load() {
		t.Error("not idle after a while")
	}
	r.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'j'}})
	if r.d.idle.Load() {
		t.Error("idle with a key")
	}
	for s.feed.out.Load().at == first.at {
		<-r.d.dirty
	}
}

// How long a read rests.
func TestRest(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 0)
	const every = time.Second
	for _, c := range []struct {
		what          string
		rows          int
		took          time.Duration
		idle, blurred bool
		calm          bool
		want          time.Duration
	}{
		{"few", 100, 0, false, false, true, every},
		{"few, nobody there", 100, 0, true, false, true, every},
		{"many", 25_000, 0, false, false, true, 2 * time.Second},
		{"very many", 1_000_000, 0, false, false, true, 8 * time.Second},
		{"very many, slowly", 1_000_000, 2 * time.Second, false, false, true, 6 * time.Second},
		{"slow", 100, time.Second, false, false, true, 3 * time.Second},
		{"very slow", 100, time.Minute, false, false, true, staleAfter / 2},
		{"very many, nobody there", 100_000, 0, true, false, true, 50 * time.Second},
		{"the most, nobody there", 10_000_000, 0, true, false, true, idleMost},
		{"what cannot be looked at", 100_000, 0, true, false, false, 8 * time.Second},
		{"out of sight", 100, 0, false, true, false, blurredRest},
		{"very many out of sight", 100_000, 0, false, true, false, 50 * time.Second},
	} {
		d.idle.Store(c.idle)
		d.blurred.Store(c.blurred)
		if got := d.rest(every, c.took, c.rows, c.calm); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// counting counts how often leases are counted.
type counting struct {
	quietPorts
	n     int
	total int
	err   error
}

func (c *counting) CountLeases(context.Context) (inspect.LeaseCounts, error) {
	c.n++
	return inspect.LeaseCounts{Total: c.total}, c.err
}

// Very many leases are counted less often; when somebody asks or it failed, at once.
func TestTally(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 0)
	now := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	d.now = func() time.Time { return now }
	d.opts.Refresh = time.Second
	ports := &counting{total: 100_000}
	d.opts.Inspector = ports
	s := newNowScreen(d)
	want := func(what string, n int) {
		t.Helper()
		if _, at, _ := s.tally.read(t.Context()); ports.n != n || at.IsZero() {
			t.Errorf("%s: counted %d times, want %d", what, ports.n, n)
		}
	}
	want("at first", 1)
	now = now.Add(time.Second)
	want("a second later", 1)
	now = now.Add(8 * time.Second)
	want("nine seconds later", 2)
	d.idle.Store(true)
	now = now.Add(20 * time.Second)
	want("nobody there", 2)
	s.again()
	want("asked", 3)
	ports.err = errors.New("down")
	now = now.Add(time.Minute)
	want("down", 4)
	want("still down", 5)
	ports.err, ports.total = nil, 100
	want("few", 6)
	want("few again", 7)
}
