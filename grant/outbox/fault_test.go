package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

func secondsOf(n int) time.Duration { return time.Duration(n) * time.Second }

// Every third answer is dropped after the reward was applied: the receiver is asked before anything
// is sent again, so each message is sent once.
func TestAnswerDroppedAfterApplying(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{Fault: func(n int64, _ grant.Message) itemserver.Fault {
		if n%3 == 0 {
			return itemserver.Drop
		}
		return itemserver.NoFault
	}})
	b.post(t, 30, 5)
	r := b.relay(t, sink(t, b.server.URL), quick())
	start(t, r)
	b.allDelivered(t)
	b.arrived(t)
	b.inOrder(t)
	b.CheckInvariants(t)
	if n := b.count(t, "select max(copies) from itemserver_receipt"); n != 1 {
		t.Errorf("a message that had arrived was sent %d times", n)
	}
	tally := r.Tally()
	if tally.Unknown == 0 || tally.Repeated < tally.Unknown {
		t.Errorf("%+v: each unknown outcome is to be found by asking", tally)
	}
}

// Answers of every wrong kind at once.
func TestReceiverGoesWrongInEveryWay(t *testing.T) {
	t.Parallel()
	faults := []itemserver.Fault{
		itemserver.Drop, itemserver.Break, itemserver.Garble, itemserver.NoFault, itemserver.NoFault,
	}
	b := setup(t, itemserver.Options{
		Conflict: true,
		Fault: func(n int64, _ grant.Message) itemserver.Fault {
			return faults[int(n)%len(faults)]
		},
	})
	b.post(t, 40, 3)
	opts := quick()
	opts.StrikesMax = 100
	start(t, b.relay(t, sink(t, b.server.URL), opts))
	b.allDelivered(t)
	b.arrived(t)
	b.inOrder(t)
	b.CheckInvariants(t)
}

// Two and four relays at once: each message is delivered once, in order, and sent once.
func TestSeveralRelays(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			b := setup(t, itemserver.Options{})
			b.post(t, 60, 5)
			relays := make([]*outbox.Relay, n)
			for i := range relays {
				relays[i] = b.relay(t, sink(t, b.server.URL), quick())
				start(t, relays[i])
			}
			b.allDelivered(t)
			b.arrived(t)
			b.inOrder(t)
			b.CheckInvariants(t)
			// The last marks may be counted a moment after they are committed.
			until(t, "counted", func() bool {
				delivered := int64(0)
				for _, r := range relays {
					delivered += r.Tally().Delivered
				}
				return delivered == 300
			})
			if n := b.count(t, "select max(copies) from itemserver_receipt"); n != 1 {
				t.Errorf("a message was sent %d times", n)
			}
		})
	}
}

// Two relays, 50 players with 10 messages each, one relay slow: each player's messages arrive in
// order, and the slow relay holds up only the players whose message it has.
func TestOrderWithASlowRelay(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.post(t, 50, 10)
	var players sync.Map
	var atOnce, most atomic.Int64
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		players.Store(r.Header.Get(outbox.HeaderKey), true)
		if n := atOnce.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer atOnce.Add(-1)
		timer := time.NewTimer(300 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
		b.items.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	opts := quick()
	opts.Concurrency = 4
	start(t, b.relay(t, sink(t, slow.URL), opts))
	until(t, "the slow relay is at work", func() bool { return atOnce.Load() > 0 })
	fast := b.relay(t, sink(t, b.server.URL), quick())
	start(t, fast)
	b.allDelivered(t)
	b.arrived(t)
	b.inOrder(t)
	b.CheckInvariants(t)
	if most.Load() < 2 {
		t.Error("the slow relay never had two players' messages on their way")
	}
	if fast.Tally().Delivered < 250 {
		t.Errorf("the fast relay delivered only %d of 500", fast.Tally().Delivered)
	}
}

// The receiver is down under load and comes back: nothing is given up, and delivery goes on soon.
func TestReceiverDownUnderLoad(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	b := setup(t, itemserver.Options{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		b.items.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	opts := quick()
	opts.StrikesMax = 2
	r := b.relay(t, sink(t, front.URL), opts)
	start(t, r)
	for round := range 5 {
		b.post(t, 20, round+1)
		if round == 0 {
			until(t, "refused often", func() bool { return r.Tally().NotNow > 20 })
			if h := r.Health(); h.OK {
				t.Errorf("healthy while the receiver is down: %+v", h)
			}
		}
	}
	down.Store(false)
	b.allDelivered(t)
	b.arrived(t)
	if tally := r.Tally(); tally.Dead != 0 {
		t.Errorf("%+v: a receiver that is down makes no dead letters", tally)
	}
}

// 200 writers commit out of order, a quarter of them roll back: what is delivered is what was
// committed, and the gaps of those who did not hold nobody up.
func TestB31WritersOutOfOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	opts := quick()
	opts.PollMax, opts.Listen = 20*time.Millisecond, true
	start(t, b.relay(t, sink(t, b.server.URL), opts))
	random := rand.New(rand.NewPCG(1, 2))
	var writers sync.WaitGroup
	for n := range 200 {
		hold := time.Duration(random.IntN(300)) * time.Millisecond
		undo := random.IntN(4) == 0
		writers.Go(func() { b.write(t, n, hold, undo) })
	}
	writers.Wait()
	b.allDelivered(t)
	b.arrived(t)
	committed := b.count(t, "select count(*) from reward_ledger")
	if got := b.count(t, "select count(*) from itemserver_receipt"); got != committed ||
		committed < 100 || committed > 190 {
		t.Errorf("%d arrived, %d were committed", got, committed)
	}
}

// write posts one reward in a transaction that takes its id first and ends later.
func (b *bench) write(t *testing.T, n int, hold time.Duration, undo bool) {
	ctx := context.WithoutCancel(t.Context())
	tx, err := b.Pool.Begin(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, `with posted as (
			insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason)
			values ($1, 'e-1', 'gems', 1, 1, 'w@test/1#1', 'test', 'test') returning id, player_id)
		insert into reward_outbox (ledger_id, player_id) select id, player_id from posted`,
		fmt.Sprintf("w-%d", n))
	if err != nil {
		t.Error(err)
		return
	}
	timer := time.NewTimer(hold)
	defer timer.Stop()
	<-timer.C
	if undo {
		return
	}
	if err := tx.Commit(ctx); err != nil {
		t.Error(err)
	}
}
