package outbox

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// ear hears of queued rows while the relay has nothing to do. It holds an advisory lock while it
// sleeps; a transaction that queues a row finds the lock and notifies. A working relay does not
// hold it, so grants pay for notifying only when somebody waits for it.
type ear struct {
	relay  *Relay
	on     bool
	conn   *pgx.Conn // a session of its own; nil while there is none
	again  time.Time // when to connect again after a failure
	asleep bool
}

const (
	earReconnect = 5 * time.Second
	earTimeout   = 2 * time.Second
)

func (r *Relay) newEar(drain bool) *ear { return &ear{relay: r, on: r.opts.Listen && !drain} }

// fallAsleep reports whether grants will wake us from now on. When another relay sleeps already,
// or a grant is about to commit, it is false: then we look again by the clock.
func (e *ear) fallAsleep(ctx context.Context) bool {
	if !e.on || !e.connect(ctx) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, earTimeout)
	defer cancel()
	if err := e.conn.QueryRow(ctx, sleepSQL).Scan(&e.asleep); err != nil {
		e.drop(ctx)
	}
	return e.asleep
}

// awake gives the lock back.
func (e *ear) awake(ctx context.Context) {
	if !e.asleep {
		return
	}
	e.asleep = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), earTimeout)
	defer cancel()
	if _, err := e.conn.Exec(ctx, awakeSQL); err != nil {
		e.drop(ctx) // the lock goes with the session
	}
}

// wait waits for a notification, but not longer than d, nor beyond a kick.
func (e *ear) wait(ctx context.Context, d time.Duration, kick <-chan struct{}) {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-kick:
			cancel()
		case <-done:
		}
	}()
	_, err := e.conn.WaitForNotification(waiting)
	if err != nil && waiting.Err() == nil {
		e.drop(ctx)
		e.relay.wait(ctx, min(d, pollMin), false)
	}
}

// connect opens the session, but not again and again.
func (e *ear) connect(ctx context.Context) bool {
	if e.conn != nil && !e.conn.IsClosed() {
		return true
	}
	now := e.relay.opts.Now()
	if now.Before(e.again) {
		return false
	}
	e.again = now.Add(earReconnect)
	ctx, cancel := context.WithTimeout(ctx, earTimeout)
	defer cancel()
	config := e.relay.pool.Config().ConnConfig
	// A wait that ends is no query to cancel on the server.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	e.conn = conn
	if _, err := conn.Exec(ctx, listenSQL); err != nil {
		e.drop(ctx)
		return false
	}
	return true
}

func (e *ear) drop(ctx context.Context) {
	e.asleep = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), earTimeout)
	defer cancel()
	_ = e.conn.Close(ctx)
	e.conn = nil
}

func (e *ear) close(ctx context.Context) {
	if e.conn != nil {
		e.drop(ctx)
	}
}
