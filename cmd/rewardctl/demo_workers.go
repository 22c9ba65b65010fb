package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const (
	demoHolders   = 4                      // workers that hold a lease for a while
	demoPayEvery  = 400 * time.Millisecond // pace of the worker that pays all the time
	demoHeartbeat = 10 * time.Second       // life of a heartbeat without renewal
	demoHoldMin   = 12 * time.Second       // how long a holder keeps its lease
	demoHoldMore  = 40 * time.Second       // and how much longer at most
	demoCleanUp   = 3 * time.Second        // bound of giving leases back at the end
)

// demoWorkers are the simulated workers of the demo: holders, which keep one lease each for a
// while, renew it and pay under it, and a payer, which grants through the engine all the time.
type demoWorkers struct {
	pool   *pgxpool.Pool
	store  *lease.Store
	engine *grant.Engine
	date   string
	warn   func(error)

	group sync.WaitGroup
	stop  context.CancelFunc
}

// start lets the workers run until halt is called.
func (d *demoWorkers) start(ctx context.Context) {
	ctx, d.stop = context.WithCancel(ctx)
	for n := range demoHolders {
		d.group.Go(func() { d.alive(ctx, n, d.hold) })
	}
	d.group.Go(func() { d.alive(ctx, demoHolders, d.pay) })
}

// halt stops the workers and waits until they gave their leases back.
func (d *demoWorkers) halt() {
	d.stop()
	d.group.Wait()
}

// alive runs a worker under its heartbeat, and begins again when it failed.
func (d *demoWorkers) alive(
	ctx context.Context, n int, work func(context.Context, int, string) error,
) {
	identity := fmt.Sprintf("payout-%d@demo-host/%d", n+1, 4001+n)
	for rest(ctx, 0) {
		beat, err := d.store.Heartbeat(ctx, identity, demoHeartbeat, nil)
		if err == nil {
			err = work(ctx, n, identity)
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoCleanUp)
			if stopErr := beat.Stop(end); err == nil {
				err = stopErr
			}
			cancel()
		}
		if err != nil && ctx.Err() == nil {
			d.warn(fmt.Errorf("worker %s: %w", identity, err))
		}
		rest(ctx, time.Second)
	}
}

// hold takes leases one after the other, keeps each for a while and pays under it.
func (d *demoWorkers) hold(ctx context.Context, n int, identity string) error {
	for turn := 0; ; turn++ {
		player := demoBusyPlayer(turn*demoHolders + n)
		resource := grant.ResourceFor(player)
		floor, err := demoFloor(ctx, d.pool, resource)
		if err != nil {
			return err
		}
		ask := grant.Ask{Resource: resource, Owner: identity + "#" + newID(), Floor: floor}
		answer := d.store.Acquire(ctx, []grant.Ask{ask})[0]
		switch {
		case answer.Err != nil:
			return answer.Err
		case answer.Lease != nil:
			if err := d.payHeld(ctx, player, turn, *answer.Lease); err != nil {
				return err
			}
		}
		if !rest(ctx, time.Duration(500+rand.IntN(2500))*time.Millisecond) {
			return nil
		}
	}
}

// payHeld keeps a lease for a while, grants under it and gives it back.
func (d *demoWorkers) payHeld(
	ctx context.Context, player string, turn int, held grant.Lease,
) error {
	keeper := d.store.Keep(ctx, held, lease.KeepOptions{})
	rest(keeper.Context(), demoHoldMin+rand.N(demoHoldMore))
	var err error
	if keeper.Context().Err() == nil {
		current := keeper.Lease()
		_, err = d.engine.Grant(keeper.Context(), d.request("raid", player, turn, &current))
	}
	keeper.Stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoCleanUp)
	defer cancel()
	if released := d.store.Release(end, []grant.Lease{held})[0]; err == nil {
		err = released
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// pay grants all the time. Some messages arrive twice, as messages do.
func (d *demoWorkers) pay(ctx context.Context, _ int, _ string) error {
	for turn := 0; rest(ctx, demoPayEvery); turn++ {
		player := demoBusyPlayer(rand.IntN(demoPlayers))
		request := d.request("quest", player, turn, nil)
		for range 1 + (turn%7)/6 {
			if _, err := d.engine.Grant(ctx, request); err != nil {
				return err
			}
		}
	}
	return nil
}

// demoBusyPlayer names one of the players that the simulated workers serve.
func demoBusyPlayer(n int) string { return demoPlayer(demoQuiet + n%(demoBusy-demoQuiet)) }

func (d *demoWorkers) request(
	campaign, player string, turn int, held *grant.Lease,
) grant.Request {
	id, err := grant.EventID(grant.EventParts{
		Campaign: campaign + "-" + d.date, PlayerID: player, Subject: fmt.Sprint("run-", turn),
		Kind: "gems",
	})
	if err != nil {
		panic(err) // the parts are made in this file
	}
	return grant.Request{
		PlayerID: player, EventID: id, Kind: "gems", Amount: int64(10 + turn%5*10),
		Actor: "payout-service", Reason: campaign + " finished", Held: held,
	}
}

// rest waits, and reports whether there was no reason to stop.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
