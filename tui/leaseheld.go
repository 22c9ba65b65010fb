package tui

import (
	"context"
	"sync"
	"time"

	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

// heldMax bounds how many leases are remembered with the time since when they are held.
const heldMax = 5000

// holding remembers since when leases are held. Only those on the screen are asked for, each once
// per token: it never changes.
type holding struct {
	d      *desk
	asking *job

	mu    sync.Mutex // exports read in the background
	since map[string]heldSince
}

// heldSince is when a token was issued; zero when nobody knows.
type heldSince struct {
	token int64
	at    time.Time
}

// sinceMsg brings when tokens were issued.
type sinceMsg struct {
	asked []inspect.Lease
	since map[string]time.Time
	err   error
}

func newHolding(d *desk) *holding { return &holding{d: d, since: map[string]heldSince{}} }

// of returns how long a lease has been held, and false when that is not known.
func (h *holding) of(l *inspect.Lease, now time.Time) (time.Duration, bool) {
	h.mu.Lock()
	have := h.since[l.Resource]
	h.mu.Unlock()
	if have.token != l.Token || have.at.IsZero() {
		return 0, false
	}
	return max(now.Sub(have.at), 0), true
}

// update asks for what is on the screen and not known yet, and takes the answer.
func (h *holding) update(l *leaseList, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case dataMsg, tickMsg:
		return h.ask(l)
	case jobDoneMsg:
		if got, ok := msg.result.(sinceMsg); ok && msg.job == h.asking {
			h.take(got)
		}
	}
	return nil
}

func (h *holding) ask(l *leaseList) tea.Cmd {
	if h.asking != nil || l.shown.at.IsZero() || l.shown.err != nil {
		return nil
	}
	var want []inspect.Lease
	from, to := l.table.Visible()
	h.mu.Lock()
	for _, it := range l.shown.items[min(from, len(l.shown.items)):min(to, len(l.shown.items))] {
		if have, known := h.since[it.id]; !it.gone && it.row.Token > 0 &&
			(!known || have.token != it.row.Token) {
			want = append(want, *it.row)
		}
	}
	h.mu.Unlock()
	if len(want) == 0 {
		return nil
	}
	d := h.d
	j, cmd := d.start(d.ctx, "since", false, readLimit, func(ctx context.Context, _ *job) tea.Msg {
		since, err := d.opts.Inspector.HeldSince(ctx, want)
		return sinceMsg{want, since, err}
	})
	h.asking = j
	return cmd
}

// take remembers the answer. What the server does not know is not asked again; when it did not
// answer, it is asked with the next screen.
func (h *holding) take(got sinceMsg) {
	h.asking = nil
	if got.err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.since) > heldMax {
		clear(h.since)
	}
	for _, l := range got.asked {
		h.since[l.Resource] = heldSince{l.Token, got.since[l.Resource]}
	}
}
