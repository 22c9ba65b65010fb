package grant_test

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// faulty is a world whose engine talks to both servers through proxies.
type faulty struct {
	*granttest.World
	pgProxy    *granttest.Proxy
	redisProxy *granttest.Proxy
	pool       *pgxpool.Pool // through the proxy
	client     *redis.Client // through the proxy
	store      *lease.Store  // through the proxy
	codes      *codeCounter
	mode       pgx.QueryExecMode // of pools that are opened from now on
}

// faultTTL is the time to live of leases in these tests. A client that waits for a lost answer of
// PostgreSQL waits until its lease can no longer be trusted, so a short one keeps them short.
const faultTTL = 1500 * time.Millisecond

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	return newFaultyIn(t, granttest.New(t))
}

// newFaultyIn puts proxies of their own before a world that several subtests share, each with a
// player of its own: making a world costs more than most of them.
func newFaultyIn(t *testing.T, w *granttest.World) *faulty {
	t.Helper()
	f := &faulty{
		World: w, redisProxy: granttest.NewRedisProxy(t, w.RedisAddr), codes: &codeCounter{},
	}
	f.pgProxy = granttest.NewPostgresProxy(t, f.direct())
	f.pool = f.newPool(t, f.pgProxy.Addr(), 8)
	// The driver's own retries stay on: the store must not depend on them being off.
	f.client = redis.NewClient(&redis.Options{
		Addr: f.redisProxy.Addr(), ReadTimeout: 200 * time.Millisecond,
		WriteTimeout: 200 * time.Millisecond, DialTimeout: time.Second,
		ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	t.Cleanup(func() { _ = f.client.Close() })
	f.store = f.newStore(t, f.client, faultTTL)
	return f
}

// newPool opens a pool in the world's schema at another address.
func (f *faulty) newPool(t *testing.T, addr string, size int32) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(f.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig = f.Conn.Copy()
	config.ConnConfig.Host, config.ConnConfig.Port = hostPort(t, addr)
	config.ConnConfig.Fallbacks = nil
	config.ConnConfig.Tracer = f.codes
	if f.mode != 0 {
		config.ConnConfig.DefaultQueryExecMode = f.mode
	}
	config.MaxConns = size
	config.PingTimeout = 2 * time.Second
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Closing waits for the other side's goodbye, which a broken path never brings.
		f.pgProxy.SetPath(granttest.Refused)
		pool.Close()
	})
	return pool
}

func (f *faulty) newStore(
	t *testing.T, client redis.UniversalClient, ttl time.Duration,
) *lease.Store {
	t.Helper()
	store, err := lease.New(client, lease.Options{Prefix: f.Prefix, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// engine makes an engine behind the proxies.
func (f *faulty) engine(t *testing.T, change func(*grant.Options)) *grant.Engine {
	t.Helper()
	return newEngine(t, f.pool, f.store, change)
}

func newEngine(
	t *testing.T, pool *pgxpool.Pool, leases grant.Leases, change func(*grant.Options),
) *grant.Engine {
	t.Helper()
	opt := grant.Options{Worker: "fault@test/1", NewID: nonce}
	if change != nil {
		change(&opt)
	}
	engine, err := grant.NewEngine(pool, leases, opt)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// count runs a query that answers one number.
func (f *faulty) count(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := f.Pool.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// postings counts the ledger rows of an event.
func (f *faulty) postings(t *testing.T, r grant.Request) int64 {
	t.Helper()
	return f.count(t, `select count(*) from reward_ledger
		where player_id = $1 and reward_event_id = $2`, r.PlayerID, r.EventID)
}

// free fails unless the resource has no lease.
func (f *faulty) free(t *testing.T, resource string) {
	t.Helper()
	direct := f.newStore(t, f.Redis, faultTTL)
	entry, err := direct.Show(t.Context(), resource)
	if !errors.Is(err, lease.ErrNoLease) {
		t.Fatalf("an orphan was left behind: %s holds %q, %v left, %v", resource, entry.Value,
			entry.Left, err)
	}
}

// codeCounter counts the errors of PostgreSQL that a pool met.
type codeCounter struct {
	deadlocks      atomic.Int64
	serializations atomic.Int64
}

func (c *codeCounter) see(err error) {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
	case pgErr.Code == "40P01":
		c.deadlocks.Add(1)
	case pgErr.Code == "40001":
		c.serializations.Add(1)
	}
}

// The methods of pgx.QueryTracer and pgx.BatchTracer.

func (c *codeCounter) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData,
) context.Context {
	return ctx
}

func (c *codeCounter) TraceQueryEnd(_ context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	c.see(d.Err)
}

func (c *codeCounter) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData,
) context.Context {
	return ctx
}

func (c *codeCounter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	c.see(d.Err)
}

func (c *codeCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func hostPort(t *testing.T, addr string) (string, uint16) {
	t.Helper()
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return host, uint16(port)
}

func nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// reward is a request of a player who has nothing else.
func reward(player string) grant.Request {
	return grant.Request{
		PlayerID: player, EventID: "season-2026-week-34:" + player + ":rank-3", Kind: "gems",
		Amount: 100, Actor: "fault", Reason: "fault test",
	}
}

// leaseScripts are the files that the lease store was built with.
//
//go:embed lease/lua/*.lua
var leaseScripts embed.FS

// script matches the run of a script of the lease store.
func script(t *testing.T, name string) func(granttest.Frame) bool {
	t.Helper()
	source, err := leaseScripts.ReadFile("lease/lua/" + name + ".lua")
	if err != nil {
		t.Fatal(err)
	}
	return granttest.Script(string(source))
}

// happens waits for a signal.
func happens(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: did not happen within 30 s", what)
	}
}

// mustGrant grants and fails on an error.
func grantOne(t *testing.T, engine *grant.Engine, r grant.Request) grant.Result {
	t.Helper()
	result, err := engine.Grant(t.Context(), r)
	if err != nil {
		t.Fatalf("grant %s: %v", r.EventID, err)
	}
	return result
}

// want fails unless the result has the outcome.
func want(t *testing.T, result grant.Result, outcome grant.Outcome) {
	t.Helper()
	if result.Outcome != outcome {
		t.Fatalf("outcome %s (%v), want %s; %+v", result.Outcome, result.Err, outcome, result)
	}
}

// direct is PostgreSQL's own address.
func (f *faulty) direct() string {
	return net.JoinHostPort(f.Conn.Host, strconv.Itoa(int(f.Conn.Port)))
}
