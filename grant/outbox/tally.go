package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Tally counts what a relay has done since it began.
type Tally struct {
	Delivered int64 // rows that the receiver took from us, Repeated included
	Repeated  int64 // of these, rows that it had before
	Retried   int64 // attempts that failed and are made again
	Dead      int64 // rows given up
	Unknown   int64 // attempts that may have arrived
	NotNow    int64 // attempts at a receiver that was down or busy; also in Retried
	Lost      int64 // answers that came after the claim was over
}

// meters hold the tally and show it as metrics.
type meters struct {
	mu      sync.Mutex
	tally   Tally
	latency prometheus.Histogram
}

func (m *meters) start() {
	m.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rewardctl_outbox_publish_seconds",
		Help: "Time from the beginning of an attempt to the receiver's answer.",
		// 0.5 ms to 16 s
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
	})
}

func (m *meters) took(d time.Duration) { m.latency.Observe(d.Seconds()) }

// Tally returns what was done so far.
func (r *Relay) Tally() Tally {
	r.meters.mu.Lock()
	defer r.meters.mu.Unlock()
	return r.meters.tally
}

// count enters one result, of which kept says whether the claim still had the row.
func (r *Relay) count(res result, kept bool) {
	m := &r.meters
	m.mu.Lock()
	defer m.mu.Unlock()
	if res.report.Verdict == Unknown {
		m.tally.Unknown++
	}
	if !kept {
		m.tally.Lost++
		r.opts.Logger.Warn("the claim was over before the answer came; another relay has the row",
			"ledger_id", res.row.id, "verdict", string(res.report.Verdict))
		return
	}
	switch res.state {
	case stateDelivered:
		m.tally.Delivered++
		if res.report.Verdict == Repeated {
			m.tally.Repeated++
		}
	case stateDead:
		m.tally.Dead++
		r.opts.Logger.Warn("dead letter", "ledger_id", res.row.id,
			"player_id", res.row.message.PlayerID, "event", res.row.message.EventID,
			"attempts", res.row.attempts+1, "why", res.report.Detail)
	default:
		m.tally.Retried++
		if res.report.Verdict == NotNow {
			m.tally.NotNow++
		}
	}
}

// trouble remembers whether the database answered last.
type trouble struct {
	mu   sync.Mutex
	text string    // empty when it did
	at   time.Time // when it last did
}

// troubled notes how a call to the database went. A call that we stopped ourselves says nothing.
func (r *Relay) troubled(ctx context.Context, op string, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	t := &r.trouble
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		if t.text != "" {
			r.opts.Logger.Info("the database answers again")
		}
		t.text, t.at = "", r.opts.Now()
		return
	}
	if t.text == "" {
		r.opts.Logger.Error("the database does not do its part", "op", op, "error", err.Error())
	}
	t.text = op + ": " + err.Error()
}
