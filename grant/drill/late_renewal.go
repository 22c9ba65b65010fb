package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const lateRenewal = "late-renewal"

func lateRenewalScript() script {
	return script{
		Description: Description{
			Name: lateRenewal,
			Plays: "A renewal arrives after the lease has expired, fails in the middle of the work, or " +
				"comes after the loss, while worker B holds the lease.",
			Defences: []Defence{None, Compare, All}, Columns: workers(), TTL: ttlShort,
		},
		play: playLateRenewal,
	}
}

func playLateRenewal(ctx context.Context, st *stage) error {
	if err := playDelayedRenewal(ctx, st); err != nil {
		return err
	}
	if err := playFailingRenewal(ctx, st); err != nil {
		return err
	}
	return playRenewalAfterLoss(ctx, st)
}

// cable is a worker's own line to Redis, with the lease store on it.
type cable struct {
	*wire
	client redis.UniversalClient
	store  *lease.Store
}

func (st *stage) cable(ctx context.Context) (cable, error) {
	c := cable{wire: newWire(st.opt.Now)}
	var err error
	if c.client, err = st.redisVia(c.wire); err != nil {
		return c, err
	}
	if c.store, err = storeFor(c.client, st.prefix, st.opt.TTL, st.opt.Now); err != nil {
		return c, err
	}
	if err = c.client.Ping(ctx).Err(); err != nil { // the line stands before it is cut
		err = &grant.BackendError{Backend: grant.Redis, Op: "connect", Err: err}
	}
	return c, err
}

// renews is what a worker does to renew: naively, whatever holds the lease now, or by its value. It
// reports whether the worker believes to hold it afterwards, and what it was told.
func (st *stage) renews(ctx context.Context, c cable, held grant.Lease) (bool, string, error) {
	if st.opt.Defence == None {
		done, err := c.client.PExpire(ctx, c.store.LockKey(held.Resource), st.opt.TTL).Result()
		return done, fmt.Sprintf("PEXPIRE answers %t", done), err
	}
	answer := c.store.Renew(ctx, []grant.Lease{held})[0]
	switch {
	case answer.Err != nil:
		return false, "", answer.Err
	case !answer.Lost:
		return true, "extended", nil
	case answer.Holder == nil:
		return false, "lost: nobody holds it", nil
	}
	return false, fmt.Sprintf("lost: %s holds it, token %d", workerName(answer.Holder.Owner),
		answer.Holder.Token), nil
}

type renewal struct {
	holds bool
	text  string
	err   error
}

// playDelayedRenewal: the packet waits in the network until B holds the lease.
func playDelayedRenewal(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "delayed")
	if err != nil {
		return err
	}
	c, err := st.cable(ctx)
	if err != nil {
		return err
	}
	a, err := st.take(ctx, "worker-a", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, "takes the lease", ""); err != nil {
		return err
	}
	c.cut()
	answer := make(chan renewal, 1)
	go func() {
		holds, text, err := st.renews(ctx, c, a)
		answer <- renewal{holds, text, err}
	}()
	if err := st.row(ctx, "sends a renewal; the network delays it", ""); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	c.heal()
	got := <-answer
	if got.err != nil {
		return got.err
	}
	return st.believes(ctx, r, a, "the renewal arrives: ", got)
}

// believes has worker A pay if it believes to hold the lease.
func (st *stage) believes(
	ctx context.Context, r reward, a grant.Lease, how string, got renewal,
) error {
	if err := st.row(ctx, how+got.text, ""); err != nil {
		return err
	}
	if got.holds {
		return st.pays(ctx, "worker-a", r, a)
	}
	st.refused(Refusal{Worker: "A", Line: Compare, Detail: got.text + "; it stops"})
	return nil
}

// playFailingRenewal: worker A works, and cannot renew.
func playFailingRenewal(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "failing")
	if err != nil {
		return err
	}
	c, err := st.cable(ctx)
	if err != nil {
		return err
	}
	a, err := st.take(ctx, "worker-a", r)
	if err != nil {
		return err
	}
	c.cut()
	if err := st.row(ctx, "takes the lease and works; the network breaks", ""); err != nil {
		return err
	}
	if st.opt.Defence == None {
		return st.ignoresFailure(ctx, c, r, a)
	}
	keeper := c.store.Keep(ctx, a, lease.KeepOptions{})
	defer keeper.Stop()
	defer c.heal() // a renewal that is on its way has to end first
	<-keeper.Context().Done()
	cause := context.Cause(keeper.Context())
	if !errors.Is(cause, lease.ErrExpired) {
		return notPlayed("the work ended with %v", cause)
	}
	detail := fmt.Sprintf("its work is cancelled in time: %v", cause)
	st.refused(Refusal{Worker: "A", Line: Lease, Detail: detail})
	if err := st.row(ctx, detail, ""); err != nil {
		return err
	}
	_, err = st.payInStead(ctx, r)
	return err
}

// ignoresFailure is a worker that logs the failed renewal and works on.
func (st *stage) ignoresFailure(ctx context.Context, c cable, r reward, a grant.Lease) error {
	const patience = 50 * time.Millisecond
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, _, err := st.renews(bounded, c, a); err == nil {
		return notPlayed("a renewal through a broken network was answered")
	}
	if err := st.row(ctx, "cannot renew: it logs the error and works on", ""); err != nil {
		return err
	}
	if _, err := st.payInStead(ctx, r); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-a", r, a); err != nil {
		return err
	}
	c.heal()
	return nil
}

// playRenewalAfterLoss: the naive worker sets the key again, which takes it from B.
func playRenewalAfterLoss(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "lost")
	if err != nil {
		return err
	}
	a, err := st.take(ctx, "worker-a", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, "takes the lease, and forgets to renew it", ""); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	if st.opt.Defence != None {
		holds, text, err := st.renews(ctx, cable{client: st.opt.Redis, store: st.store}, a)
		return errors.Join(err, st.believes(ctx, r, a, "renews: ", renewal{holds: holds, text: text}))
	}
	value := lease.FormatValue(a.Token, a.Owner)
	err = st.opt.Redis.Set(ctx, st.store.LockKey(r.resource), value, st.opt.TTL).Err()
	if err != nil {
		return &grant.BackendError{Backend: grant.Redis, Op: "renew", Err: err}
	}
	return st.believes(ctx, r, a, "renews: ", renewal{holds: true, text: "SET overwrites B's lease"})
}
