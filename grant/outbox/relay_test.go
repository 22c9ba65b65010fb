package outbox_test

import (
	"context"
	"testing"

	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// start runs a relay until the returned function is called, which waits for its end.
func start(t testing.TB, r *outbox.Relay) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the relay ended: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func TestDrainDeliversInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.post(t, 20, 10)
	r := b.relay(t, sink(t, b.server.URL), quick())
	tally, err := r.Drain(t.Context())
	if err != nil || tally.Delivered != 200 || tally.Retried+tally.Dead+tally.Lost != 0 {
		t.Errorf("%+v, %v", tally, err)
	}
	b.arrived(t)
	b.CheckInvariants(t)
	if n := b.count(t, `select count(*) from reward_outbox_attempt where verdict = 'delivered'
		and kept and attempt = 1`); n != 200 {
		t.Errorf("%d attempts are written down, want 200", n)
	}
	if n := b.count(t, "select max(copies) from itemserver_receipt"); n != 1 {
		t.Errorf("a message was sent %d times", n)
	}
}
