package outbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// failing is a sink whose receiver accepts nothing.
type failing struct{}

func (failing) Name() string { return "failing" }

func (failing) Publish(context.Context, grant.Message) outbox.Report {
	return outbox.Report{Verdict: outbox.Failed, Detail: "not today"}
}

func (failing) Close() {}

// A relay that stalls between the receiver's answer and its mark has lost its claim by then:
// another has delivered the row, and the late mark changes nothing.
func TestLateMarkChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.post(t, 1, 1)
	stalled, wake := make(chan struct{}), make(chan struct{})
	var once sync.Once
	opts := quick()
	opts.ClaimFor, opts.Timeout = 400*time.Millisecond, 100*time.Millisecond
	opts.OnStep = func(step outbox.Step, _ []int64) {
		if step == outbox.StepMark {
			once.Do(func() { close(stalled) })
			<-wake
		}
	}
	opts.Grace = time.Minute
	opts.StrikesMax = 1 // its mark would make a dead letter of the row
	late := b.relay(t, failing{}, opts)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- late.Run(ctx) }()
	<-stalled
	stop() // or it might claim the row again itself, once the claim is over
	until(t, "the claim is over", func() bool {
		return b.count(t, `select count(*) from reward_outbox
			where claimed_until < clock_timestamp()`) == 1
	})
	if _, err := b.relay(t, sink(t, b.server.URL), quick()).Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.allDelivered(t)
	close(wake)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, "select count(*) from reward_outbox where state <> 'delivered'"); n != 0 {
		t.Fatalf("%d rows are no longer delivered after the late mark", n)
	}
	b.arrived(t)
	if got := late.Tally(); got.Dead != 0 || got.Delivered != 0 {
		t.Errorf("the late relay counts %+v as its own", got)
	}
	b.CheckInvariants(t)
}
