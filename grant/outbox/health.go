package outbox

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health tells how the relay is, as /healthz does.
type Health struct {
	OK       bool   `json:"ok"`
	Database string `json:"database"` // "ok", or what is wrong
	Receiver string `json:"receiver"` // "ok", or what it last answered
	Sink     string `json:"sink"`
}

// Health returns how the relay is now. A receiver that is down makes it not OK.
func (r *Relay) Health() Health {
	h := Health{OK: true, Database: "ok", Receiver: "ok", Sink: r.sink.Name()}
	r.trouble.mu.Lock()
	if r.trouble.text != "" {
		h.OK, h.Database = false, r.trouble.text
	}
	r.trouble.mu.Unlock()
	if why, careful := r.rest.careful(); careful {
		h.OK, h.Receiver = false, "not ready: "+why
	}
	return h
}

// Handler serves /healthz, which answers 503 while something is wrong, and /metrics. The questions
// that metrics ask of the database end with ctx.
func (r *Relay) Handler(ctx context.Context) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.meters.latency, &collector{relay: r, life: ctx})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		h := r.Health()
		w.Header().Set("Content-Type", "application/json")
		if !h.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h)
	})
	return mux
}

// Backlog is what is not delivered, by lane. Each count stops at BacklogMax.
type Backlog struct {
	Fresh    int64   `db:"fresh"`    // never tried, or requeued
	Retrying int64   `db:"retrying"` // between two attempts
	Claimed  int64   `db:"claimed"`  // a relay has it
	Dead     int64   `db:"dead"`
	Parked   int64   `db:"parked"`
	Oldest   float64 `db:"oldest_seconds"` // age in seconds of the oldest that is to be sent
}

// BacklogMax is where counting the backlog stops.
const BacklogMax = 1_000_000

// Backlog measures the backlog.
func (r *Relay) Backlog(ctx context.Context) (Backlog, error) {
	rows, err := r.pool.Query(ctx, backlogSQL, int64(BacklogMax))
	if err != nil {
		return Backlog{}, backend("measure the backlog", err)
	}
	b, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Backlog])
	if err != nil {
		return Backlog{}, backend("measure the backlog", err)
	}
	return b, nil
}

// collector shows the tally and the backlog as metrics. The backlog is measured when it is asked
// for, but not more often than every backlogEvery.
type collector struct {
	relay *Relay
	life  context.Context

	mu   sync.Mutex
	last Backlog
	at   time.Time
	ok   bool
}

const (
	backlogEvery = 5 * time.Second
	backlogFor   = 4 * time.Second
)

// Describe sends nothing: the metrics are not known in advance to the registry.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	t := c.relay.Tally()
	send := func(kind prometheus.ValueType, value float64, name, help string) {
		out <- prometheus.MustNewConstMetric(
			prometheus.NewDesc("rewardctl_outbox_"+name, help, nil, nil), kind, value)
	}
	for _, one := range []struct {
		value      int64
		name, help string
	}{
		{t.Delivered, "delivered_total", "Rows that the receiver took from this relay."},
		{t.Repeated, "repeated_total", "Rows among them that the receiver had before."},
		{t.Retried, "retried_total", "Attempts that failed and are made again."},
		{t.Dead, "dead_total", "Rows that this relay gave up."},
		{t.Unknown, "unknown_total", "Attempts that may have arrived without an answer."},
		{t.NotNow, "not_now_total", "Attempts at a receiver that was down or busy."},
		{t.Lost, "lost_claims_total", "Answers that came after the claim was over."},
	} {
		send(prometheus.CounterValue, float64(one.value), one.name, one.help)
	}
	b, ok := c.backlog()
	if !ok {
		return // no number is better than a wrong one
	}
	lanes := prometheus.NewDesc("rewardctl_outbox_backlog", "Rows that are not delivered.",
		[]string{"lane"}, nil)
	for lane, n := range map[string]int64{
		"fresh": b.Fresh, "retrying": b.Retrying, "claimed": b.Claimed, "dead": b.Dead,
		"parked": b.Parked,
	} {
		out <- prometheus.MustNewConstMetric(lanes, prometheus.GaugeValue, float64(n), lane)
	}
	send(prometheus.GaugeValue, b.Oldest, "oldest_age_seconds",
		"Age of the oldest row that is to be sent; 0 when there is none.")
}

func (c *collector) backlog() (Backlog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.relay.opts.Now()
	if c.ok && now.Sub(c.at) < backlogEvery {
		return c.last, true
	}
	ctx, cancel := context.WithTimeout(c.life, backlogFor)
	defer cancel()
	var err error
	c.last, err = c.relay.Backlog(ctx)
	c.at, c.ok = now, err == nil
	return c.last, c.ok
}
