package outbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// poisoned puts 10 messages that always get 400 before 500 good ones, and two later ones behind a
// poisoned player.
func poisoned(t *testing.T) (b *bench, url string, cure *atomic.Bool) {
	t.Helper()
	b = setup(t, itemserver.Options{AnyToken: true})
	cure = new(atomic.Bool)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get(outbox.HeaderKey), "bad-") && !cure.Load() &&
			strings.HasSuffix(r.Header.Get(outbox.HeaderKey), "/e-1") {
			http.Error(w, "no such item", http.StatusBadRequest)
			return
		}
		b.items.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b.exec(t, `with due as (
			select 'bad-' || n as player, 'e-1' as event, n as rank from generate_series(1, 10) n
			union all select 'good-' || n, 'e-1', 10 + n from generate_series(1, 500) n
			union all select 'bad-1', 'e-' || n, 600 + n from generate_series(2, 3) n
		), posted as (
			insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason)
			select player, event, 'gems', 1, 1, 'w@test/1#1', 'test', 'test' from due order by rank
			returning id, player_id)
		insert into reward_outbox (ledger_id, player_id) select id, player_id from posted`)
	return b, front.URL, cure
}

// Poison at the head blocks nobody: the good ones arrive, the ten become dead letters with the last
// error shown, and the two behind one of them wait, or pass, as the policy says. After the fault
// is fixed and the rows are requeued they are sent at once.
func TestB33Poison(t *testing.T) {
	t.Parallel()
	for _, policy := range []outbox.Policy{outbox.PolicyWait, outbox.PolicyPass} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			b, url, cure := poisoned(t)
			opts := quick()
			opts.Batch, opts.Policy, opts.StrikesMax = 10, policy, 4
			opts.BackoffMin, opts.BackoffMax = 50*time.Millisecond, 200*time.Millisecond
			r := b.relay(t, sink(t, url), opts)
			stop := start(t, r)
			want := "dead 10, delivered 500, pending 2"
			if policy == outbox.PolicyPass {
				want = "dead 10, delivered 502"
			}
			until(t, want, func() bool { return b.states(t) == want })
			if n := b.count(t, `select count(*) from reward_outbox where state = 'dead'
				and attempts = 4 and last_error = 'answered 400: no such item'`); n != 10 {
				t.Errorf("%d dead letters show their last error", n)
			}
			if n := b.count(t, `select count(*) from reward_outbox_attempt a
				join reward_outbox o using (ledger_id) where o.state = 'dead'`); n != 40 {
				t.Errorf("%d attempts at dead letters are kept, want 40", n)
			}
			stop()
			cure.Store(true)
			b.exec(t, `update reward_outbox set state = 'pending', next_attempt_at = null,
				strikes = 0 where state = 'dead'`)
			tally, err := b.relay(t, sink(t, url), opts).Drain(t.Context())
			if err != nil || tally.Delivered < 10 {
				t.Errorf("%+v, %v", tally, err)
			}
			if got := b.states(t); got != "delivered 512" {
				t.Error(got)
			}
			b.arrived(t)
		})
	}
}

// What the receiver refuses for good is a dead letter at once.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{RefuseKind: "gems"})
	b.post(t, 3, 1)
	tally, err := b.relay(t, sink(t, b.server.URL), quick()).Drain(t.Context())
	if err != nil || tally.Dead != 3 || tally.Retried != 0 {
		t.Errorf("%+v, %v", tally, err)
	}
	if got := b.texts(t, "select distinct last_error from reward_outbox"); len(got) != 1 ||
		got[0] != `answered 422: there is no item "gems"` {
		t.Error(got)
	}
}

// A receiver that answers to nobody is down; its messages are not to blame. One message that alone
// gets no answer is.
func TestSilenceOfAllAndOfOne(t *testing.T) {
	t.Parallel()
	var mute atomic.Value
	mute.Store("")
	b := setup(t, itemserver.Options{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get(outbox.HeaderKey)
		if r.Method == http.MethodPost && strings.HasPrefix(key, mute.Load().(string)) {
			panic(http.ErrAbortHandler)
		}
		b.items.ServeHTTP(w, r)
	}))
	front.Config.ErrorLog = nil
	t.Cleanup(front.Close)
	b.post(t, 8, 1)
	opts := quick()
	opts.StrikesMax = 3
	r := b.relay(t, sink(t, front.URL), opts)
	stop := start(t, r)
	until(t, "many attempts without an answer", func() bool { return r.Tally().Unknown > 40 })
	if tally := r.Tally(); tally.Dead > 0 {
		t.Errorf("%+v: dead letters although nobody gets an answer", tally)
	}
	mute.Store("p-3/")
	until(t, "the others delivered and the one given up", func() bool {
		return b.states(t) == "dead 1, delivered 7"
	})
	stop()
	if got := b.texts(t, `select player_id || ' ' || doubt from reward_outbox
		where state = 'dead'`); len(got) != 1 || got[0] != "p-3 true" {
		t.Error(got)
	}
}
