package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

const lostReply = "lost-reply"

func lostReplyScript() script {
	return script{
		Description: Description{
			Name: lostReply,
			Plays: "An answer gets lost although the deed was done: of acquiring the lease, of the " +
				"commit, and of the item server.",
			Defences: []Defence{None, All},
			Columns:  [3]string{"worker A", "redis lease", "network"}, TTL: ttlShort,
		},
		play: playLostReply,
	}
}

func playLostReply(ctx context.Context, st *stage) error {
	for _, play := range []func(context.Context, *stage) error{
		playLostAcquire, playLostCommit, playLostDelivery,
	} {
		if err := play(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// playLostAcquire: Redis has given the lease, and the worker does not hear of it.
func playLostAcquire(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "acquire")
	if err != nil {
		return err
	}
	c, err := st.cable(ctx)
	if err != nil {
		return err
	}
	if st.opt.Defence == None {
		return st.acquiresNaively(ctx, c, r)
	}
	store, err := storeFor(c.client, st.prefix, longTTL, st.opt.Now)
	if err != nil {
		return err
	}
	// The server learns the script, so that the lost answer is that of its run.
	warm, err := st.takeFrom(ctx, store, "worker-a", r)
	if err != nil {
		return err
	}
	if _, err := store.ReleaseExact(ctx, r.resource, exact(warm)); err != nil {
		return err
	}
	c.loseReply()
	held, busy, err := st.ask(ctx, store, "worker-a", r)
	if err != nil {
		return err
	}
	if held == nil || held.Token != warm.Token+1 {
		return notPlayed("the lease was not given once: %+v, %+v", held, busy)
	}
	st.refused(Refusal{Worker: "A", Line: Idempotency, Detail: "no second token for the same owner"})
	text := fmt.Sprintf("asks again with the same owner: token %d, as before", held.Token)
	if err := st.row(ctx, text, "the answer of acquire is lost"); err != nil {
		return err
	}
	return st.pays(ctx, "worker-a", r, *held)
}

// acquiresNaively sets a key if it is not there. Asked again, the key is there: its own.
func (st *stage) acquiresNaively(ctx context.Context, c cable, r reward) error {
	value := lease.FormatValue(1, st.owner("worker-a"))
	set := func() (bool, error) {
		err := c.client.SetArgs(ctx, st.store.LockKey(r.resource), value, redis.SetArgs{
			Mode: "NX", TTL: longTTL,
		}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	}
	c.loseReply()
	got, err := set()
	if got {
		return notPlayed("the answer was not lost")
	}
	if err := st.row(ctx, "SET NX", "the answer of acquire is lost"); err != nil {
		return err
	}
	if err != nil { // on Cluster the driver has sent it again by itself
		if got, err = set(); err != nil {
			return redisError("acquire", err)
		}
	}
	if got {
		return notPlayed("the first SET NX had not been carried out")
	}
	return st.row(ctx, "SET NX again: the key is there. Takes it for another's and pays nothing", "")
}

// playLostCommit: PostgreSQL has committed, and the worker does not hear of it.
func playLostCommit(ctx context.Context, st *stage) error {
	before, err := st.due(ctx, "before")
	if err != nil {
		return err
	}
	a, err := st.remote(ctx)
	if err != nil {
		return err
	}
	held, err := st.take(ctx, "worker-a", before)
	if err != nil {
		return err
	}
	p, err := a.pay(ctx, "A", before, held) // the driver has its statements prepared from now on
	if err == nil {
		err = st.paid(ctx, "worker-a", p, "with its network whole, pays")
	}
	if err != nil {
		return err
	}
	r, err := st.due(ctx, "commit")
	if err != nil {
		return err
	}
	if held, err = st.take(ctx, "worker-a", r); err != nil {
		return err
	}
	if st.opt.Defence == None {
		a.loseReply()
		if _, err := a.pay(ctx, "A", r, held); err == nil {
			return notPlayed("the answer was not lost")
		}
		if err := st.row(ctx, "pays, hears nothing", "the answer of the commit is lost"); err != nil {
			return err
		}
		if p, err = a.pay(ctx, "A", r, held); err != nil {
			return err
		}
		return st.paid(ctx, "worker-a", p, "tries again")
	}
	a.losing = true
	if p, err = a.pay(ctx, "A", r, held); err != nil {
		return err
	}
	select {
	case <-a.asked:
	default:
		return notPlayed("the engine was not made to ask again")
	}
	if p.refused != nil {
		return notPlayed("the engine took its own posting for another's: %+v", *p.refused)
	}
	st.refused(Refusal{
		Worker: "A", Line: Unique, Outcome: grant.Applied,
		Detail: fmt.Sprintf("no second posting beside ledger %d: it was its own", p.ledgerID),
	})
	if err := st.row(ctx, "pays, hears nothing", "the answer of the commit is lost"); err != nil {
		return err
	}
	return st.paid(ctx, "worker-a", p, "asks again under the same lease")
}

// playLostDelivery: the item server has given the items, and the sender does not hear of it.
func playLostDelivery(ctx context.Context, st *stage) error {
	receiver, err := st.newReceiver(ctx, func(n int64) itemserver.Fault {
		if n == 1 {
			return itemserver.Drop
		}
		return itemserver.NoFault
	})
	if err != nil {
		return err
	}
	c, err := st.count(ctx)
	if err != nil {
		return err
	}
	receiver.shows(st)
	if st.opt.Defence == None {
		err = st.sendsAgain(ctx, receiver)
		c.Paid = expected // it sends one message
	} else {
		err = st.drained(ctx, receiver.url, "relay@drill/1")
	}
	if err != nil {
		return err
	}
	given, err := receiver.items(ctx, st)
	if err != nil {
		return err
	}
	if st.opt.Defence != None {
		if given == c.Paid {
			st.refused(Refusal{Worker: "A", Line: Idempotency, Detail: "the key was applied before"})
		}
		if err := st.row(ctx, "delivers all postings; one answer is lost, so it asks for its status",
			"an answer of the item server is lost"); err != nil {
			return err
		}
	}
	st.expect("delivered(event) = ledger_sum(event)", c.Paid, given)
	return nil
}

// sendsAgain is a sender that takes silence for failure.
func (st *stage) sendsAgain(ctx context.Context, to *receiver) error {
	sink, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: to.url, Now: st.opt.Now})
	if err != nil {
		return err
	}
	defer sink.Close()
	message := grant.Message{
		PlayerID: st.report.PlayerID, EventID: st.report.EventID, Kind: kind, Amount: expected,
		Token: 1, LedgerID: 1, At: st.opt.Now(), Source: "/drill",
	}
	first := sink.Publish(ctx, message)
	if first.Verdict != outbox.Unknown {
		return notPlayed("the answer of the item server was not lost: %s", first.Verdict)
	}
	if err := st.row(ctx, fmt.Sprintf("sends %d %s, hears nothing", expected, kind),
		"the answer of the item server is lost"); err != nil {
		return err
	}
	again := sink.Publish(ctx, message)
	return st.row(ctx, "sends them again: "+string(again.Verdict), "")
}
