package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// errNotPlayed says that a drill did not come to what it is about, so that its report would show
// nothing.
var errNotPlayed = errors.New("the drill did not play out as it is meant")

func notPlayed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotPlayed, fmt.Sprintf(format, args...))
}

// longTTL is for the leases of workers that are at work, so that only what the drill lets expire
// does, however slow the machine is.
const longTTL = time.Minute

// working returns a store of the same keys whose leases last.
func (st *stage) working() (*lease.Store, error) {
	return storeFor(st.opt.Redis, st.prefix, longTTL, st.opt.Now)
}

// takeOver has worker B wait until A's lease has expired and take it for long.
func (st *stage) takeOver(ctx context.Context, worker string, r reward) (grant.Lease, error) {
	long, err := st.working()
	if err != nil {
		return grant.Lease{}, err
	}
	b, err := st.takeFrom(ctx, long, worker, r)
	if err != nil {
		return b, err
	}
	return b, st.says(ctx, worker, fmt.Sprintf("finds the lease expired and takes it: token %d",
		b.Token))
}

// ask asks once for the lease, and answers nil when another holds it.
func (st *stage) ask(
	ctx context.Context, store *lease.Store, worker string, r reward,
) (*grant.Lease, *grant.Holder, error) {
	answer := store.Acquire(ctx, []grant.Ask{
		{Resource: r.resource, Owner: st.owner(worker)},
	})[0]
	return answer.Lease, answer.Holder, answer.Err
}

// looks has a worker look whether the event is paid, and shows what it sees.
func (st *stage) looks(ctx context.Context, worker string, r reward) (paid bool, err error) {
	there, err := st.posted(ctx, r)
	if err != nil {
		return false, err
	}
	text := "looks: not paid yet"
	if there.ID != 0 {
		text = fmt.Sprintf("looks: paid already, ledger %d; does nothing", there.ID)
	}
	return there.ID != 0, st.says(ctx, worker, text)
}

// engineOn makes an engine of a worker's own. The leases that it takes itself last: only those that
// a drill lets expire do.
func (st *stage) engineOn(
	pool *pgxpool.Pool, worker string, onStep func(grant.Step),
) (*grant.Engine, error) {
	long, err := st.working()
	if err != nil {
		return nil, err
	}
	return grant.NewEngine(pool, long, grant.Options{
		Worker: worker + "@drill/1", Now: st.opt.Now, NewID: st.opt.NewID, Wait: st.opt.Wait,
		OnStep: onStep,
	})
}

// gone waits until a session of PostgreSQL has ended, and with it what it had been sent.
func (st *stage) gone(ctx context.Context, pid uint32) error {
	const tries, pause = 2000, 5 * time.Millisecond
	for range tries {
		var there bool
		err := st.db.pool.QueryRow(ctx, sessionThereSQL, int64(pid)).Scan(&there)
		if err != nil {
			return postgresError("look for a session", err)
		}
		if !there {
			return nil
		}
		if err := st.wait(ctx, pause); err != nil {
			return err
		}
	}
	return notPlayed("a session whose client is gone does not end")
}

// warm opens the connection of a pool of one and returns its session.
func warm(ctx context.Context, pool *pgxpool.Pool) (pid uint32, err error) {
	err = pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		pid = c.Conn().PgConn().PID()
		return c.Ping(ctx)
	})
	if err != nil {
		return 0, postgresError("connect", err)
	}
	return pid, nil
}

// exact is the value of the lock of a lease.
func exact(l grant.Lease) string { return lease.FormatValue(l.Token, l.Owner) }
