package inspect

import (
	"context"
	"errors"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is what a Reader needs of a lease store; *lease.Store implements it.
type Store interface {
	TTL() time.Duration
	LockKey(resource string) string
	Index(ctx context.Context) (*lease.Index, error)
	Scan(ctx context.Context, o lease.ScanOptions, emit func([]lease.Found) error,
	) (lease.ScanReport, error)
	Look(ctx context.Context, resources []string) ([]lease.Entry, error)
	Show(ctx context.Context, resource string) (lease.Entry, error)
	History(ctx context.Context, resource string) ([]lease.Event, error)
	Counter(ctx context.Context, resource string) (token int64, ok bool, err error)
	Alive(ctx context.Context, workers []string) (map[string]bool, error)
	Ages(ctx context.Context, held []lease.Held) ([]time.Duration, error)
	Check(ctx context.Context) error
	Facts(ctx context.Context) ([]lease.Facts, error)
}

const (
	timeoutDefault   = 5 * time.Second
	skewDefault      = 500 * time.Millisecond
	outboxAgeDefault = 5 * time.Minute
)

// New returns a Reader of the primary's pool and of a lease store. Either may be nil: its part of
// every answer is then missing. It fails when both are.
func New(pool *pgxpool.Pool, store Store, opts Options) (*Reader, error) {
	if s, ok := store.(*lease.Store); ok && s == nil {
		store = nil
	}
	if pool == nil && store == nil {
		return nil, errors.New("inspect: neither a database pool nor a lease store to read from")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Timeout <= 0 {
		opts.Timeout = timeoutDefault
	}
	if opts.SkewMax <= 0 {
		opts.SkewMax = skewDefault
	}
	if opts.OutboxAgeMax <= 0 {
		opts.OutboxAgeMax = outboxAgeDefault
	}
	if opts.OutboxSource == "" {
		opts.OutboxSource = "/rewardctl"
	}
	if opts.TTL <= 0 && store != nil {
		opts.TTL = store.TTL()
	}
	return &Reader{pool: pool, store: store, opts: opts}, nil
}

// redis runs one question to the lease store with its own bound.
func (r *Reader) redis(ctx context.Context, op string, fn func(context.Context) error) error {
	return r.redisFor(ctx, r.opts.Timeout, op, fn)
}

// redisFor is redis with a bound of its own.
func (r *Reader) redisFor(
	ctx context.Context, most time.Duration, op string, fn func(context.Context) error,
) error {
	if r.store == nil {
		return &grant.BackendError{Backend: grant.Redis, Op: op, Err: errNoPool}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, errTooSlow)
	defer cancel()
	return backendError(ctx, grant.Redis, op, fn(ctx))
}

// current returns who holds a resource now, without a verdict; nil when nobody does. When the
// heartbeat cannot be asked for, it stays unseen.
func (r *Reader) current(ctx context.Context, resource string) (*Lease, error) {
	var held *Lease
	err := r.redis(ctx, "show the lease", func(ctx context.Context) error {
		entry, err := r.store.Show(ctx, resource)
		if errors.Is(err, lease.ErrNoLease) {
			return nil
		}
		if err != nil {
			return err
		}
		one := leaseOf(entry, r.opts.Now())
		held = &one
		if one.Foreign != "" {
			return nil
		}
		alive, err := r.store.Alive(ctx, []string{one.Worker})
		if err != nil {
			return nil // the lease itself was seen; a heartbeat that was not is part of the verdict
		}
		held.Heartbeat = heartbeatOf(alive[one.Worker])
		return nil
	})
	return held, err
}

func leaseOf(e lease.Entry, at time.Time) Lease {
	return Lease{
		Resource: e.Resource, Value: e.Value, Token: e.Token, Owner: e.Owner,
		Worker: lease.Identity(e.Owner), Left: e.Left, At: at, NoExpiry: e.NoExpiry,
		Foreign: e.Foreign,
	}
}

func heartbeatOf(alive bool) Heartbeat {
	if alive {
		return HeartbeatAlive
	}
	return HeartbeatGone
}

// facts of a lease, for its verdict.
func (l *Lease) facts(ttl time.Duration, fence *grant.Fence, fenceSeen bool) Facts {
	return Facts{
		Token: l.Token, Owner: l.Owner, Foreign: l.Foreign, NoExpiry: l.NoExpiry, Left: l.Left,
		Heartbeat: l.Heartbeat, Fence: fence, FenceSeen: fenceSeen, TTL: ttl,
	}
}

// judge sets the verdict.
func (l *Lease) judge(ttl time.Duration, fence *FenceSeen, fenceSeen bool) {
	l.Fence = nil
	if fence != nil {
		l.Fence = &fence.Fence
	}
	l.Verdict = Judge(l.facts(ttl, l.Fence, fenceSeen))
}
