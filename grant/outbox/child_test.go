package outbox_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// orders tell a child what to do: relay, and stop dead at a step, where it is killed.
type orders struct {
	Postgres, Sink, Name string

	Step     outbox.Step
	ClaimFor time.Duration
}

// TestRelayChild is the child's side. Without orders it has nothing to do.
func TestRelayChild(t *testing.T) {
	var o orders
	ordered := granttest.Ordered(t, &o)
	if ordered == nil {
		return
	}
	pool, err := pgxpool.New(t.Context(), o.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	opts := quick()
	opts.Name, opts.ClaimFor, opts.Timeout = o.Name, o.ClaimFor, o.ClaimFor/2
	opts.Listen = true
	opts.OnStep = func(step outbox.Step, _ []int64) {
		if step == o.Step {
			ordered.Stop(string(step))
		}
	}
	r, err := outbox.New(pool, sink(t, o.Sink), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestB32RelayKilledAtEachStep kills a relay with kill -9 at each step, also right after the
// receiver's answer, and lets another one take over: everything arrives, is applied once, in
// order, and a row that may have been sent twice says so.
func TestB32RelayKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step outbox.Step
		lost bool // rows stay claimed by the dead relay
		sent bool // the receiver has some of them although nobody marked them
	}{
		{outbox.StepClaimed, true, false},
		{outbox.StepSend, true, false},
		{outbox.StepSent, true, true},
		{outbox.StepMark, true, true},
		{outbox.StepMarked, false, true}, // of the rows that were in hand besides, anything holds
	} {
		t.Run(string(c.step), func(t *testing.T) {
			t.Parallel()
			b := setup(t, itemserver.Options{})
			b.post(t, 5, 4)
			granttest.StartChild(t, "TestRelayChild", orders{
				Postgres: b.URL(), Sink: b.server.URL, Name: "victim@test/1", Step: c.step,
				ClaimFor: 3 * time.Second,
			}).KillAt(string(c.step))
			had := b.count(t, "select count(*) from itemserver_receipt")
			if c.sent && had == 0 {
				t.Fatal("nothing had been sent")
			}
			opts := quick()
			opts.Listen = true
			opts.ClaimFor, opts.Timeout = 10*time.Second, 5*time.Second
			start(t, b.relay(t, sink(t, b.server.URL), opts))
			b.allDelivered(t)
			b.arrived(t)
			b.CheckInvariants(t)
			b.inOrder(t)
			lost := b.count(t, `select count(*) from reward_outbox_attempt a
				join reward_outbox o using (ledger_id)
				where a.verdict = 'lost' and a.relay = 'victim@test/1' and not a.kept
					and o.last_error like 'sent again%may be a duplicate'`)
			if c.lost && lost == 0 {
				t.Error("no row says that a relay vanished with it")
			}
		})
	}
}

// inOrder fails the test when a player's receipts came in another order than the postings.
func (b *bench) inOrder(t testing.TB) {
	t.Helper()
	for _, line := range b.texts(t, `
		select player_id || ': ' || string_agg(reward_event_id, ' ' order by received_at)
		from (select player_id, reward_event_id, received_at,
				row_number() over (partition by player_id order by received_at) as came,
				row_number() over (partition by player_id order by reward_event_id) as due
			from itemserver_receipt) r
		group by player_id having bool_or(came <> due) limit 5`) {
		t.Error("out of order: " + line)
	}
}
