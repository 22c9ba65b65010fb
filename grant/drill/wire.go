package drill

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// wire is the network between one worker and one server, which goes wrong on command. It stands
// below the drivers, so everything above it is as in production.
type wire struct {
	now func() time.Time

	mu      sync.Mutex
	hung    bool
	changed chan struct{} // closed when hung changes
	lose    bool          // the next answer is lost, and its connection with it
	conns   map[*wiredConn]bool
}

func newWire(now func() time.Time) *wire {
	return &wire{now: now, changed: make(chan struct{}), conns: make(map[*wiredConn]bool)}
}

// cut lets nothing through. As with real networks, what is sent meanwhile is not lost: it waits,
// and arrives when the network heals, even if its sender has given up or died.
func (w *wire) cut() { w.set(true) }

// heal delivers what waits and lets everything through again.
func (w *wire) heal() { w.set(false) }

func (w *wire) set(hung bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hung == hung {
		return
	}
	if !hung {
		for c := range w.conns {
			c.deliver()
		}
	}
	w.hung = hung
	close(w.changed)
	w.changed = make(chan struct{})
}

// loseReply swallows the next answer and ends its connection.
func (w *wire) loseReply() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = true
}

// shut ends all connections and lets new ones fail no more.
func (w *wire) shut() {
	w.mu.Lock()
	for c := range w.conns {
		c.queue = nil
		_ = c.Conn.Close()
	}
	w.mu.Unlock()
	w.heal()
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

const dialFor = time.Second // a driver's own bound does not reach through a dialer of ours

// through returns a dialer whose connections run over the wire. While it is cut there are no new
// ones: a request to cancel what waits could otherwise overtake it.
func (w *wire) through(next dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		w.mu.Lock()
		hung := w.hung
		w.mu.Unlock()
		if hung {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ENETUNREACH}
		}
		ctx, cancel := context.WithTimeout(ctx, dialFor)
		defer cancel()
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c := &wiredConn{Conn: conn, wire: w, poke: make(chan struct{})}
		w.mu.Lock()
		w.conns[c] = true
		w.mu.Unlock()
		return c, nil
	}
}

// redisVia returns a client like the drill's whose connections run over the wire.
func (st *stage) redisVia(w *wire) (redis.UniversalClient, error) {
	patience := 4*st.opt.TTL + 5*time.Second // a cut lasts longer than a lease
	var client redis.UniversalClient
	switch c := st.opt.Redis.(type) {
	case *redis.Client:
		o := *c.Options()
		o.Dialer = w.through(o.Dialer)
		o.MaxRetries, o.DialerRetries, o.ReadTimeout = -1, 1, patience
		o.PoolSize, o.MinIdleConns, o.ContextTimeoutEnabled = 2, 0, true
		client = redis.NewClient(&o)
	case *redis.ClusterClient:
		o := *c.Options()
		next := o.Dialer
		if next == nil { // the driver's own, which knows TLS
			next = redis.NewDialer(&redis.Options{TLSConfig: o.TLSConfig, DialTimeout: dialFor})
		}
		o.Dialer = w.through(next)
		o.MaxRetries, o.DialerRetries, o.ReadTimeout = -1, 1, patience
		o.PoolSize, o.MinIdleConns, o.ContextTimeoutEnabled = 2, 0, true
		client = redis.NewClusterClient(&o)
	default:
		return nil, errors.New("drill: the network cannot be cut under this kind of Redis client")
	}
	st.atEnd(func() { _ = client.Close() })
	st.atEnd(w.shut) // before it, so that nothing hangs
	return client, nil
}

// poolVia returns a pool of one connection like the drill's that runs over the wire.
func (st *stage) poolVia(ctx context.Context, w *wire) (*pgxpool.Pool, error) {
	config := st.db.pool.Config()
	config.MaxConns = 1
	// A question whether the connection still stands would wait for the network first.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.ConnConfig.DialFunc = pgconn.DialFunc(w.through(dialFunc(config.ConnConfig.DialFunc)))
	// To ask the server to cancel would need the network, too.
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, postgresError("open the drill's schema", err)
	}
	st.atEnd(pool.Close)
	st.atEnd(w.shut)
	return pool, nil
}
