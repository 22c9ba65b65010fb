package drill

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

// deductor is one worker: it takes points, in the way that is played.
type deductor struct {
	*plays
	conn   *pgxpool.Conn
	number int
}

// round makes one deduction. With barriers all workers begin it together.
func (w *deductor) round(ctx context.Context) error {
	if w.forced {
		if err := w.all.wait(ctx); err != nil {
			return err
		}
	}
	switch w.way {
	case WayNone:
		return w.naive(ctx)
	case WayPessimistic:
		return w.pessimistic(ctx)
	case WayOptimistic:
		return w.optimistic(ctx)
	case WayLease:
		return w.leased(ctx)
	}
	return fmt.Errorf("drill: unknown way %q", w.way)
}

// naive reads, and writes what it reckoned. The barrier between has all workers read the same.
func (w *deductor) naive(ctx context.Context) error {
	amount, _, err := w.read(ctx, w.conn, pointsReadSQL)
	if err != nil {
		return err
	}
	w.say("reads %d", amount)
	if w.forced {
		if err := w.all.wait(ctx); err != nil {
			return err
		}
	}
	return w.write(ctx, w.conn, amount)
}

// pessimistic reads for update. The first of a round keeps the row until all others are seen to
// wait for it.
func (w *deductor) pessimistic(ctx context.Context) error {
	return pgx.BeginTxFunc(ctx, w.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted},
		func(tx pgx.Tx) error {
			w.trip(2) // BEGIN and COMMIT
			asked := w.opt.Now()
			amount, _, err := w.read(ctx, tx, pointsLockSQL)
			if err != nil {
				return err
			}
			first := w.hold()
			switch {
			case first:
				w.say("reads %d and keeps the row", amount)
				err = w.untilBlocked(ctx)
			case w.forced:
				waited := w.opt.Now().Sub(asked)
				w.waited(waited)
				w.say("had to wait %.1f ms, then reads %d", waited.Seconds()*1000, amount)
			}
			if err != nil {
				return err
			}
			return w.write(ctx, tx, amount)
		})
}

// untilBlocked waits until the database says that all other workers wait for a lock.
func (w *deductor) untilBlocked(ctx context.Context) error {
	for {
		var blocked int
		err := w.pool.QueryRow(ctx, sessionsBlockedSQL, w.pids).Scan(&blocked)
		if err != nil {
			return postgresError("see who waits", err)
		}
		if blocked == w.opt.Workers-1 {
			return nil
		}
		if err := w.opt.Wait(ctx, blockedEvery); err != nil {
			return err
		}
	}
}

// optimistic writes only over the version that it read. The barrier has all workers read the same
// version the first time, so that one of them wins.
func (w *deductor) optimistic(ctx context.Context) error {
	for try := 1; ; try++ {
		amount, version, err := w.read(ctx, w.conn, pointsReadSQL)
		if err != nil {
			return err
		}
		w.say("reads %d, version %d", amount, version)
		if w.forced && try == 1 {
			if err := w.all.wait(ctx); err != nil {
				return err
			}
		}
		w.trip(1)
		tag, err := w.conn.Exec(ctx, pointsWriteIfSQL, w.player, pointsKind, amount-deduction,
			version)
		if err != nil {
			return postgresError("write the points", err)
		}
		if tag.RowsAffected() == 1 {
			w.say("writes %d", amount-deduction)
			return nil
		}
		w.say("is refused: version %d is not there any more", version)
		w.retried()
	}
}

// leased reads and writes while it holds the player's lease. The first of a round keeps it until
// all others were told that it is held.
func (w *deductor) leased(ctx context.Context) error {
	ask := grant.Ask{
		Resource: grant.ResourceFor(w.player),
		Owner:    fmt.Sprintf("worker-%d@drill/%d#%s", w.number, w.number, w.opt.NewID()),
	}
	asked := w.opt.Now()
	var held grant.Lease
	for told := false; ; {
		w.trip(1)
		answer := w.store.Acquire(ctx, []grant.Ask{ask})[0]
		if answer.Lease != nil {
			held = *answer.Lease
			if told {
				waited := w.opt.Now().Sub(asked)
				w.waited(waited)
				w.say("had to wait %.1f ms, then gets token %d", waited.Seconds()*1000, held.Token)
			}
			break
		}
		if answer.Holder == nil {
			return answer.Err
		}
		if !told {
			told = true
			w.say("is told that token %d holds it", answer.Holder.Token)
			w.queue()
		}
		if err := w.opt.Wait(ctx, heldEvery); err != nil {
			return err
		}
	}
	if w.hold() {
		w.say("gets token %d and keeps the lease", held.Token)
		if err := w.untilQueued(ctx); err != nil {
			return err
		}
	}
	amount, _, err := w.read(ctx, w.conn, pointsReadSQL)
	if err == nil {
		err = w.write(ctx, w.conn, amount)
	}
	w.trip(1)
	if freed := w.store.Release(context.WithoutCancel(ctx), []grant.Lease{held})[0]; err == nil {
		err = freed
	}
	return err
}

// querier is a connection, or a transaction on it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func (w *deductor) read(
	ctx context.Context, from querier, statement string,
) (amount, version int64, err error) {
	w.trip(1)
	err = from.QueryRow(ctx, statement, w.player, pointsKind).Scan(&amount, &version)
	if err != nil {
		return 0, 0, postgresError("read the points", err)
	}
	return amount, version, nil
}

func (w *deductor) write(ctx context.Context, to execer, amount int64) error {
	w.trip(1)
	_, err := to.Exec(ctx, pointsWriteSQL, w.player, pointsKind, amount-deduction)
	if err != nil {
		return postgresError("write the points", err)
	}
	w.say("writes %d", amount-deduction)
	return nil
}

// say records a moment, as long as there are few enough to be read.
func (w *deductor) say(format string, args ...any) {
	if !w.forced || w.opt.Workers > workersDefault || w.opt.Rounds > 1 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, Step{
		At: w.opt.Now().Sub(w.start), Way: w.way, Worker: w.number,
		Text: fmt.Sprintf(format, args...),
	})
}

func (p *plays) trip(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forced {
		p.trips += n
	}
}

func (p *plays) waited(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.Waits++
	p.tally.Waited += d
}

func (p *plays) retried() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.Retries++
}

// hold counts a worker that has got hold of the balance, and reports whether it is the first of a
// round with barriers.
func (p *plays) hold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.forced {
		return false
	}
	p.begun++
	return (p.begun-1)%p.opt.Workers == 0
}

// queue counts a worker that was told to wait.
func (p *plays) queue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.forced {
		return
	}
	p.queued++
	close(p.turned)
	p.turned = make(chan struct{})
}

// untilQueued waits until all other workers were told to wait, and begins to count anew.
func (p *plays) untilQueued(ctx context.Context) error {
	for {
		p.mu.Lock()
		queued, turned := p.queued, p.turned
		if queued >= p.opt.Workers-1 {
			p.queued = 0
		}
		p.mu.Unlock()
		if queued >= p.opt.Workers-1 {
			return nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
