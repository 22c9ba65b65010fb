package drill

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// WorkOptions are what a worker's process plays its part with. All are required but Now and Wait.
type WorkOptions struct {
	In    io.Reader // what the drill tells the worker
	Out   io.Writer // what the worker tells the drill
	Pool  *pgxpool.Pool
	Redis redis.UniversalClient
	Now   func() time.Time
	NewID func() string
	Wait  func(context.Context, time.Duration) error
}

// Work plays the part of a worker in a process of its own. It reads the part from In, tells each
// step on Out, and waits for a word at the steps at which the drill stops it. It ends when In does,
// so that no worker outlives its drill. The error was told on Out already.
func Work(ctx context.Context, opt WorkOptions) error {
	a := &actor{
		in: bufio.NewScanner(opt.In), out: json.NewEncoder(opt.Out), newID: opt.NewID, wait: opt.Wait,
		now: opt.Now,
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.wait == nil {
		a.wait = waitTimer
	}
	err := a.work(ctx, opt)
	if err != nil {
		_ = a.out.Encode(event{Step: stepFailed, Text: err.Error()}) // the drill may be gone
	}
	return err
}

// actor is a worker in a process of its own.
type actor struct {
	payer
	part
	in    *bufio.Scanner
	out   *json.Encoder
	store *lease.Store
	now   func() time.Time
	newID func() string
	wait  func(context.Context, time.Duration) error
}

// role is a part that a process can play.
type role func(context.Context, *actor) error

func roles() map[string]role {
	return map[string]role{
		roleHolder: playHolder, roleMarker: playMarker, roleConsumer: playConsumer,
		roleRelay: playRelay,
	}
}

func (a *actor) work(ctx context.Context, opt WorkOptions) error {
	if !a.in.Scan() {
		return errors.New("drill: a worker was told nothing")
	}
	if err := json.Unmarshal(a.in.Bytes(), &a.part); err != nil {
		return fmt.Errorf("drill: a worker cannot read its part: %w", err)
	}
	play, known := roles()[a.Role]
	if !known {
		return fmt.Errorf("drill: there is no part %q for a worker", a.Role)
	}
	pool, err := poolIn(ctx, opt.Pool, a.Schema)
	if err != nil {
		return err
	}
	defer pool.Close()
	if a.store, err = storeFor(opt.Redis, a.Prefix, a.TTL, a.now); err != nil {
		return err
	}
	long, err := storeFor(opt.Redis, a.Prefix, longTTL, a.now)
	if err != nil {
		return err
	}
	engine, err := grant.NewEngine(pool, long, grant.Options{
		Worker: a.Worker + "@drill/1", Now: a.now, NewID: a.newID, Wait: a.wait,
		OnStep: a.passes,
	})
	if err != nil {
		return err
	}
	a.payer = payer{pool: pool, engine: engine, defence: a.Defence, name: a.Drill}
	if err := a.tell(event{Step: stepReady}); err != nil {
		return err
	}
	return play(ctx, a)
}

// reward is what the part is about.
func (a *actor) reward() reward { return reward{a.Player, a.Event, a.Resource} }

// tell says that a step is reached, and waits there if the drill stops it.
func (a *actor) tell(e event) error {
	if err := a.out.Encode(e); err != nil {
		return err
	}
	if !slices.Contains(a.Hold, e.Step) {
		return nil
	}
	if !a.in.Scan() || a.in.Text() != goOn {
		return errors.New("drill: the drill is gone")
	}
	return nil
}

// passes tells the steps of the engine. A worker whose drill is gone stays where it is told to stop
// until it is killed, or until its servers give up on it.
func (a *actor) passes(step grant.Step) { _ = a.tell(event{Step: string(step)}) }

// take acquires the lease, waiting as long as another holds it.
func (a *actor) take(ctx context.Context) (grant.Lease, error) {
	const least = 2 * time.Millisecond
	ask := grant.Ask{Resource: a.Resource, Owner: a.Worker + "@drill/1#" + a.newID()}
	for {
		answer := a.store.Acquire(ctx, []grant.Ask{ask})[0]
		if answer.Lease != nil {
			return *answer.Lease, nil
		}
		if answer.Holder == nil {
			return grant.Lease{}, answer.Err
		}
		if err := a.wait(ctx, max(answer.Holder.Left, least)); err != nil {
			return grant.Lease{}, err
		}
	}
}

const roleHolder = "holder"

// playHolder takes the lease, and pays when it is told to, whatever happened meanwhile.
func playHolder(ctx context.Context, a *actor) error {
	held, err := a.take(ctx)
	if err != nil {
		return err
	}
	if err := a.tell(event{Step: stepHolds, Token: held.Token, Owner: held.Owner}); err != nil {
		return err
	}
	p, err := a.pay(ctx, letter(a.Worker), a.reward(), held)
	if err != nil {
		return err
	}
	return a.tell(told(p))
}
