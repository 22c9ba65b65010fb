package granttest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/grant/schema"
)

// World is what one test has for itself: a migrated schema and a key prefix.
type World struct {
	// Pool holds a few connections whose search_path is exactly Schema.
	Pool *pgxpool.Pool
	// Conn is how Pool connects. Copy it before changing it.
	Conn *pgx.ConnConfig
	// Redis is a client of the test server, which other tests use at the same time.
	Redis redis.UniversalClient
	// RedisAddr is the server's address, such as "127.0.0.1:40123".
	RedisAddr string
	// Schema is the name of the test's own PostgreSQL schema.
	Schema string
	// Prefix starts every Redis key of the test; keys with it are deleted at the end.
	Prefix string

	server string // the PostgreSQL URL
}

// cleanupLimit bounds the removal of a world.
const cleanupLimit = 30 * time.Second

// poolSize is small: many worlds share one server. Concurrent grants gather into batches anyway.
const poolSize = 8

// New makes a world and removes it when the test ends. It fails the test when there are no
// servers, which means that TestMain did not call Main, or that Main could not start them.
func New(tb testing.TB) *World {
	tb.Helper()
	w, admin := empty(tb, os.Getenv(PostgresVariable))
	create(tb, admin, w.Schema)
	migrate(tb, admin, w.Conn)
	return w
}

// NewOn is New on a PostgreSQL of the test's own, named by its URL. The schema disappears with the
// server, which the test may kill.
func NewOn(tb testing.TB, server string) *World {
	tb.Helper()
	w, admin := empty(tb, server)
	createOnly(tb, admin, w.Schema)
	migrate(tb, admin, w.Conn)
	return w
}

// NewEmpty is New without the migrations: the schema has no tables yet.
func NewEmpty(tb testing.TB) *World {
	tb.Helper()
	w, admin := empty(tb, os.Getenv(PostgresVariable))
	create(tb, admin, w.Schema)
	return w
}

// empty connects; the pool opens its connections later.
func empty(tb testing.TB, server string) (*World, *pgx.ConnConfig) {
	tb.Helper()
	name := "t_" + randomHex()
	w := &World{Schema: name, Prefix: name + ":", server: server}
	admin := w.connectPostgres(tb)
	w.connectRedis(tb)
	pool, err := pgxpool.NewWithConfig(tb.Context(), w.poolConfig(tb))
	if err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	w.Pool = pool
	tb.Cleanup(func() { closePool(tb, pool) })
	return w, admin
}

// URL returns a PostgreSQL connection string for other processes: it includes the schema.
func (w *World) URL() string {
	u, err := url.Parse(w.server)
	if err != nil {
		panic("granttest: the PostgreSQL of a world is not a URL") // New accepted it
	}
	q := u.Query()
	q.Set("search_path", w.Schema)
	q.Set("application_name", w.Schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// connectPostgres fills in Conn and returns the configuration for work outside the schema.
func (w *World) connectPostgres(tb testing.TB) *pgx.ConnConfig {
	tb.Helper()
	if w.server == "" {
		tb.Fatalf("granttest: no %s: does TestMain call granttest.Main?", PostgresVariable)
	}
	admin, err := pgx.ParseConfig(w.server)
	if err != nil {
		tb.Fatalf("granttest: %s: %v", PostgresVariable, err)
	}
	conn, err := pgx.ParseConfig(w.URL())
	if err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	conn.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{
			Conn: c, CancelRequestDelay: 0, DeadlineDelay: 2 * time.Second,
		}
	}
	w.Conn = conn
	return admin
}

func (w *World) poolConfig(tb testing.TB) *pgxpool.Config {
	tb.Helper()
	config, err := pgxpool.ParseConfig(w.URL())
	if err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	config.ConnConfig = w.Conn.Copy()
	config.MaxConns = poolSize
	config.PingTimeout = 2 * time.Second
	return config
}

// connectRedis fills in Redis and its address.
func (w *World) connectRedis(tb testing.TB) {
	tb.Helper()
	at := os.Getenv(RedisVariable)
	if at == "" {
		tb.Fatalf("granttest: no %s: does TestMain call granttest.Main?", RedisVariable)
	}
	if !strings.Contains(at, "://") {
		at = "redis://" + at
	}
	o, err := redis.ParseURL(at)
	if err != nil {
		tb.Fatalf("granttest: %s: %v", RedisVariable, err)
	}
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{
		Mode: maintnotifications.ModeDisabled,
	}
	client := redis.NewClient(o)
	w.Redis, w.RedisAddr = client, o.Addr
	tb.Cleanup(func() {
		ctx, cancel := lateContext(tb)
		defer cancel()
		deleteKeys(ctx, tb, client, w.Prefix)
		if err := client.Close(); err != nil {
			tb.Errorf("granttest: close Redis: %v", err)
		}
	})
}

// deleteKeys deletes the keys that start with a prefix, found by SCAN.
func deleteKeys(ctx context.Context, tb testing.TB, client *redis.Client, prefix string) {
	tb.Helper()
	var keys []string
	scan := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for scan.Next(ctx) {
		keys = append(keys, scan.Val())
	}
	if err := scan.Err(); err != nil {
		tb.Errorf("granttest: scan Redis: %v", err)
	}
	for start := 0; start < len(keys); start += 1000 {
		part := keys[start:min(start+1000, len(keys))]
		if err := client.Unlink(ctx, part...).Err(); err != nil {
			tb.Errorf("granttest: clean Redis: %v", err)
		}
	}
}

func createOnly(tb testing.TB, admin *pgx.ConnConfig, name string) {
	tb.Helper()
	quoted := pgx.Identifier{name}.Sanitize()
	run(tb.Context(), tb, admin, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, strings.ReplaceAll(schemaCreateSQL, "{schema}", quoted))
		return err
	})
}

// create makes the schema, and arranges for its removal.
func create(tb testing.TB, admin *pgx.ConnConfig, name string) {
	tb.Helper()
	createOnly(tb, admin, name)
	quoted := pgx.Identifier{name}.Sanitize()
	tb.Cleanup(func() {
		ctx, cancel := lateContext(tb)
		defer cancel()
		run(ctx, tb, admin, func(ctx context.Context, conn *pgx.Conn) error {
			left := pgx.StrictNamedArgs{"application_name": name}
			if _, err := conn.Exec(ctx, sessionsEndSQL, left); err != nil {
				return err
			}
			_, err := conn.Exec(ctx, strings.ReplaceAll(schemaDropSQL, "{schema}", quoted))
			return err
		})
	})
}

// migrate brings the schema up to date, one test at a time.
func migrate(tb testing.TB, admin, conn *pgx.ConnConfig) {
	tb.Helper()
	run(tb.Context(), tb, admin, func(ctx context.Context, lock *pgx.Conn) error {
		if _, err := lock.Exec(ctx, migrateLockSQL); err != nil {
			return err
		}
		_, err := schema.Up(ctx, conn.Copy())
		return err
	})
}

// run does something on a connection of its own, and fails the test when that fails.
func run(ctx context.Context, tb testing.TB, config *pgx.ConnConfig,
	do func(context.Context, *pgx.Conn) error,
) {
	tb.Helper()
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err == nil {
		err = do(ctx, conn)
		_ = conn.Close(ctx) // it is of no further use either way
	}
	if err != nil {
		tb.Errorf("granttest: %v", err)
		if tb.Context().Err() == nil { // not while cleaning up
			tb.FailNow()
		}
	}
}

// closePool waits for borrowed connections, but not for ever: one that is never returned is a
// leak, which is reported.
func closePool(tb testing.TB, pool *pgxpool.Pool) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		pool.Close()
		close(done)
	}()
	limit := time.NewTimer(cleanupLimit / 3)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		tb.Errorf("granttest: %d connections were never returned to the pool",
			pool.Stat().AcquiredConns())
	}
}

// lateContext is for cleaning up, when the test's own context has ended already.
func lateContext(tb testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(tb.Context()), cleanupLimit)
}

func randomHex() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return hex.EncodeToString(b[:])
}
