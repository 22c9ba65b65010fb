package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

const failover = "failover"

func failoverScript() script {
	return script{
		Description: Description{
			Name: failover,
			Plays: "The Redis primary dies before its replica has heard of A's lease: the replica gives " +
				"B the same token. Then Redis restarts with nothing.",
			Defences: []Defence{None, TokenOnly, Fence, Unique, All}, Columns: workers(), TTL: ttlShort,
		},
		play: playFailover,
	}
}

func playFailover(ctx context.Context, st *stage) error {
	if err := playSameToken(ctx, st); err != nil {
		return err
	}
	return playEmptyRestart(ctx, st)
}

func redisError(op string, err error) error {
	return &grant.BackendError{Backend: grant.Redis, Op: op, Err: err}
}

// playSameToken fails over to a replica that has neither A's lease nor the counter behind it.
func playSameToken(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "replica")
	if err != nil {
		return err
	}
	long, err := st.working()
	if err != nil {
		return err
	}
	first, err := st.takeFrom(ctx, long, "worker-z", r)
	if err != nil {
		return err
	}
	if _, err := st.store.ReleaseExact(ctx, r.resource, exact(first)); err != nil {
		return err
	}
	counter, err := st.opt.Redis.Get(ctx, st.store.FenceKey(r.resource)).Result()
	if err != nil {
		return redisError("read the counter", err)
	}
	if err := st.replicate(ctx); err != nil {
		return err
	}
	a, err := st.takeFrom(ctx, long, "worker-a", r)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("takes the lease: token %d; the replica's counter is at %s", a.Token, counter)
	if err := st.row(ctx, text, ""); err != nil {
		return err
	}
	if err := st.promote(ctx, r, counter); err != nil {
		return err
	}
	b, err := st.takeFrom(ctx, long, "worker-b", r)
	if err != nil {
		return err
	}
	if a.Token != b.Token {
		return notPlayed("B got token %d, not %d again", b.Token, a.Token)
	}
	text = fmt.Sprintf("the replica is primary now: takes the lease, token %d as well", b.Token)
	if err := st.row(ctx, "(the primary dies)", text); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	return st.pays(ctx, "worker-a", r, a)
}

// replicate gets a replica that lags behind what comes next, where there can be one.
func (st *stage) replicate(ctx context.Context) error {
	if st.opt.Replica == nil {
		return nil
	}
	if err := st.opt.Replica.Follow(ctx); err != nil {
		return redisError("start a replica", err)
	}
	if err := st.opt.Replica.Lag(ctx); err != nil {
		return redisError("cut the replica off", err)
	}
	return nil
}

// promote kills the primary and promotes the replica, or puts the drill's keys back to what a
// replica would have.
func (st *stage) promote(ctx context.Context, r reward, counter string) error {
	if st.opt.Replica != nil {
		if err := st.opt.Replica.TakeOver(ctx); err != nil {
			return redisError("promote the replica", err)
		}
		st.note("The primary was really killed, and a replica that had not heard of A's lease was " +
			"promoted in its place.")
		return nil
	}
	err := errors.Join(
		st.opt.Redis.Set(ctx, st.store.FenceKey(r.resource), counter, redis.KeepTTL).Err(),
		st.opt.Redis.Unlink(ctx, st.store.LockKey(r.resource)).Err(),
	)
	if err != nil {
		return redisError("roll back to the replica", err)
	}
	st.note("The failover is emulated: lock and counter of the drill were put back to what a " +
		"replica that lags has. The server itself went on.")
	return nil
}

// playEmptyRestart takes everything from Redis while A holds a lease.
func playEmptyRestart(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "restart")
	if err != nil {
		return err
	}
	long, err := st.working()
	if err != nil {
		return err
	}
	a, err := st.takeFrom(ctx, long, "worker-a", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, fmt.Sprintf("takes the lease: token %d", a.Token), ""); err != nil {
		return err
	}
	how, err := st.emptyRedis(ctx, r)
	if err != nil {
		return err
	}
	b, err := st.takeFrom(ctx, long, "worker-b", r)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("finds neither lock nor counter: token %d", b.Token)
	if err := st.row(ctx, how, text); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-a", r, a); err != nil {
		return err
	}
	if st.opt.Defence != All {
		return nil
	}
	return playFloor(ctx, st, r, b)
}

// emptyRedis restarts the server without data, or forgets what the drill has in it.
func (st *stage) emptyRedis(ctx context.Context, r reward) (how string, err error) {
	if st.opt.RestartRedis != nil {
		if err := st.opt.RestartRedis(ctx); err != nil {
			return "", redisError("restart without data", err)
		}
		st.note("Redis was really stopped and started again, without data.")
		return "(Redis restarts, empty)", nil
	}
	for _, key := range []string{
		st.store.LockKey(r.resource), st.store.FenceKey(r.resource), st.store.HistoryKey(r.resource),
	} {
		if err := st.opt.Redis.Unlink(ctx, key).Err(); err != nil {
			return "", redisError("forget the drill's keys", err)
		}
	}
	st.note("The restart of Redis is emulated: only the drill's own keys were removed, because the " +
		"server is shared.")
	return "(Redis forgets everything)", nil
}

// playFloor shows that the engine starts above the fence, whatever Redis has forgotten: else it
// would be refused until the counter has caught up.
func playFloor(ctx context.Context, st *stage, r reward, b grant.Lease) error {
	if _, err := st.store.ReleaseExact(ctx, r.resource, exact(b)); err != nil {
		return err
	}
	if _, err := st.emptyRedis(ctx, r); err != nil {
		return err
	}
	result, err := st.engine.Grant(ctx, st.request(r, nil))
	if err != nil {
		return err
	}
	if result.Token <= b.Token {
		return notPlayed("the engine got token %d, not above the fence %d", result.Token, b.Token)
	}
	p, err := st.answered("B", result)
	if err != nil {
		return err
	}
	return st.paid(ctx, "worker-b", p, fmt.Sprintf(
		"Redis is empty again; the fence is the floor: token %d. Asks again", result.Token))
}
