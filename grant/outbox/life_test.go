package outbox_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// A sleeping relay is woken by the transaction that queues a row, long before it would look again.
func TestNotificationWakes(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	opts := quick()
	opts.PollMax, opts.Listen = time.Minute, true
	start(t, b.relay(t, sink(t, b.server.URL), opts))
	asleep := func() bool {
		return b.count(t, `select count(*) from pg_locks where locktype = 'advisory' and granted
			and classid = 1919250036 and objid = 'reward_outbox'::regclass::oid`) > 0
	}
	for round := range 3 {
		until(t, "asleep", asleep)
		b.post(t, 2, round+1)
		b.allDelivered(t)
	}
	b.arrived(t)
}

// A relay that is stopped finishes what is on its way and gives back what it has not sent: no row
// stays claimed, and none counts an attempt that was not made.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	var under atomic.Int64
	release := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		under.Add(1)
		<-release
		b.items.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b.post(t, 10, 1)
	opts := quick()
	opts.Concurrency = 3 // six are claimed, three on their way
	r := b.relay(t, sink(t, front.URL), opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	until(t, "three on their way", func() bool {
		return under.Load() == 3 && strings.Contains(b.states(t), "claimed 6")
	})
	cancel()
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := b.states(t); got != "delivered 3, pending 7" {
		t.Error(got)
	}
	if n := b.count(t, `select count(*) from reward_outbox where state = 'pending'
		and attempts + strikes = 0 and next_attempt_at is null and claimed_until is null`); n != 7 {
		t.Errorf("%d rows are as they were before", n)
	}
	b.arrived(t)
}

// What is on its way when the time for stopping is over is given up, and taken over later.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	var under atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		buffer := make([]byte, 1<<12)
		_, _ = r.Body.Read(buffer)
		under.Add(1)
		<-r.Context().Done()
	}))
	t.Cleanup(front.Close)
	b.post(t, 1, 1)
	opts := quick()
	opts.Grace = 50 * time.Millisecond
	r := b.relay(t, sink(t, front.URL), opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	until(t, "on its way", func() bool { return under.Load() == 1 })
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the relay does not end")
	}
}

func TestHealthAndMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{RefuseKind: "swords"})
	b.post(t, 4, 2)
	b.exec(t, `with posted as (
			insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason)
			values ('x', 'e-1', 'swords', 1, 1, 'w', 'a', 'r') returning id)
		insert into reward_outbox (ledger_id) select id from posted`)
	r := b.relay(t, sink(t, b.server.URL), quick())
	if _, err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	handler := r.Handler(t.Context())
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w
	}
	var health outbox.Health
	w := get("/healthz")
	if err := json.Unmarshal(w.Body.Bytes(), &health); err != nil || w.Code != 200 || !health.OK {
		t.Errorf("%d %s %v", w.Code, w.Body, err)
	}
	metrics := get("/metrics").Body.String()
	for _, line := range []string{
		"rewardctl_outbox_delivered_total 8", "rewardctl_outbox_dead_total 1",
		`rewardctl_outbox_backlog{lane="dead"} 1`, `rewardctl_outbox_backlog{lane="fresh"} 0`,
		"rewardctl_outbox_oldest_age_seconds 0", "rewardctl_outbox_publish_seconds_count 9",
		"rewardctl_outbox_unknown_total 0", "rewardctl_outbox_retried_total 0",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %q:\n%s", line, metrics)
		}
	}
	b.server.Close()
	b.post(t, 1, 3)
	if _, err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := get("/healthz"); w.Code != http.StatusServiceUnavailable ||
		!strings.Contains(w.Body.String(), "cannot connect") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestOptionProblems(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	for name, change := range map[string]func(*outbox.Options){
		"no name": func(o *outbox.Options) { o.Name = "" },
		"policy":  func(o *outbox.Options) { o.Policy = "skip" },
		"timeout": func(o *outbox.Options) { o.Timeout, o.ClaimFor = secondsOf(10), secondsOf(5) },
		"backoff": func(o *outbox.Options) { o.BackoffMin = time.Hour },
	} {
		opts := quick()
		change(&opts)
		if _, err := outbox.New(b.Pool, sink(t, b.server.URL), opts); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
