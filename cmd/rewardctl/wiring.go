package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/grant/schema"
	"rewardctl/inspect"
	"rewardctl/repair"
)

const (
	// askFor bounds each question to a server: with both down, a command answers within 5 s.
	askFor = 4 * time.Second
	// beatFor is the life of this process's heartbeat without renewal.
	beatFor = 10 * time.Second
	// cleanUpFor bounds what is put in order at the end.
	cleanUpFor = time.Second
)

// wiring opens what a command needs of the active context, and each of it only once.
type wiring struct {
	app  *app
	conf config.Context
	// contexts are those of the configuration file; empty for a configuration of our own making.
	contexts []config.Summary
	// again are the flags that lead another run to the same place, when that is not where the
	// flags of this run lead.
	again []string

	pool    *pgxpool.Pool
	redis   redis.UniversalClient
	store   *lease.Store
	closers []func()
	// operators are those that this run made; what they wrote into the log is asked of them.
	operators []*repair.Operator
}

// wire reads the configuration and picks the context. It talks to no server.
func (a *app) wire() (*wiring, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	w := a.newWiring(c.Active())
	w.contexts = c.Contexts()
	w.conf.ReadOnly = w.conf.ReadOnly || a.readOnly
	return w, nil
}

// wireFile is wire for a configuration file of our own making.
func (a *app) wireFile(path string) (*wiring, error) {
	c, err := config.Load(config.Source{File: path, Context: demoContext, Environ: []string{}})
	if err != nil {
		return nil, err
	}
	w := a.newWiring(c.Active())
	w.again = []string{"--config", path, "--context", demoContext}
	return w, nil
}

func (a *app) newWiring(conf config.Context) *wiring {
	w := &wiring{app: a, conf: conf}
	a.atClose(w.close)
	return w
}

// close closes what was opened, last first. It may be called repeatedly.
func (w *wiring) close() {
	closers := w.closers
	w.closers = nil
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for i := len(closers) - 1; i >= 0; i-- {
			closers[i]()
		}
	}()
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case <-closed:
	case <-limit.C:
	}
}

// closeLimit bounds how long the program takes leave of its servers: one that does not answer
// would keep a connection that is being closed for a quarter of a minute.
const closeLimit = 500 * time.Millisecond

func (w *wiring) limits() grant.Limits { return grant.Limits{AmountMax: w.conf.Limits.AmountMax} }

// openPool returns the pool of connections. It connects when it is first used.
func (w *wiring) openPool(ctx context.Context) (*pgxpool.Pool, error) {
	if w.pool != nil {
		return w.pool, nil
	}
	settings, err := w.conf.PoolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, err
	}
	w.pool = pool
	w.closers = append(w.closers, pool.Close)
	return pool, nil
}

// conn returns the settings of a single connection, for migrations.
func (w *wiring) conn() (*pgx.ConnConfig, error) {
	settings, err := w.conf.PoolConfig()
	if err != nil {
		return nil, err
	}
	return settings.ConnConfig, nil
}

// openRedis returns the client. It connects when it is first used.
func (w *wiring) openRedis() (redis.UniversalClient, error) {
	if w.redis != nil {
		return w.redis, nil
	}
	settings, err := w.conf.RedisOptions()
	if err != nil {
		return nil, err
	}
	w.redis = redis.NewUniversalClient(settings)
	w.closers = append(w.closers, func() { _ = w.redis.Close() })
	return w.redis, nil
}

func (w *wiring) openStore() (*lease.Store, error) {
	if w.store != nil {
		return w.store, nil
	}
	client, err := w.openRedis()
	if err != nil {
		return nil, err
	}
	w.store, err = lease.New(client, lease.Options{
		Prefix: w.conf.Lease.Prefix, TTL: w.conf.Lease.TTL, Margin: w.conf.Lease.Margin,
		FenceIdle: w.conf.Lease.FenceIdle, HistoryMax: w.conf.Lease.HistoryMax,
		Shards: w.conf.Lease.Shards, Now: w.app.now,
	})
	return w.store, err
}

// newEngine returns a grant engine that acts under the given identity.
func (w *wiring) newEngine(
	ctx context.Context, worker string, wait time.Duration,
) (*grant.Engine, error) {
	pool, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	store, err := w.openStore()
	if err != nil {
		return nil, err
	}
	return grant.NewEngine(pool, store, grant.Options{
		Worker: worker, Limits: w.limits(), BatchMax: w.conf.Limits.BatchMax, HeldWait: wait,
		Now: w.app.now, NewID: newID,
	})
}

// newReader returns what answers questions. Histories come from the replica when there is one.
func (w *wiring) newReader(ctx context.Context) (*inspect.Reader, error) {
	pool, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	replica, err := w.openReplica(ctx)
	if err != nil {
		return nil, err
	}
	store, err := w.openStore()
	if err != nil {
		return nil, err
	}
	return inspect.New(pool, store, inspect.Options{
		Now: w.app.now, TTL: w.conf.Lease.TTL, Timeout: askFor, Replica: replica,
		SchemaVersion: schema.Latest(), Players: inspect.PlayerTable(w.conf.Players),
		OutboxPass: w.conf.Outbox.Policy == "pass", OutboxSource: w.source(),
		RedisCLI: redisCLI(w.conf.Redis),
	})
}

// openReplica returns the pool of the server for reading, nil when the context names none. It
// connects when it is first used.
func (w *wiring) openReplica(ctx context.Context) (*pgxpool.Pool, error) {
	if w.conf.Postgres.ReadURL == "" {
		return nil, nil
	}
	settings, err := w.conf.ReadPoolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, pool.Close)
	return pool, nil
}

// reader wires what the reading commands need.
func (a *app) reader(ctx context.Context) (*inspect.Reader, error) {
	w, err := a.wire()
	if err != nil {
		return nil, err
	}
	return w.newReader(ctx)
}

// operator returns what carries out deeds, with an engine that waits so long for held leases.
func (w *wiring) operator(ctx context.Context, wait time.Duration) (*repair.Operator, error) {
	engine, err := w.newEngine(ctx, w.identity(), wait)
	if err != nil {
		return nil, err
	}
	operator, err := repair.New(w.pool, w.store, engine, repair.Options{
		Operator: w.conf.Operator, Host: hostName(), Ticket: w.app.ticket,
		ReadOnly: w.conf.ReadOnly, Limits: w.limits(), Now: w.app.now, NewID: newID, Timeout: askFor,
		Players: repair.PlayerTable{Table: w.conf.Players.Table, ID: w.conf.Players.ID},
		Plans:   planPolicy(w.conf.Approval),
	})
	if err == nil {
		w.operators = append(w.operators, operator)
	}
	return operator, err
}

// identity names this process in the owners of its leases: operator@host/pid.
func (w *wiring) identity() string {
	host := orElse(hostName(), "unknown-host")
	clean := strings.NewReplacer("@", "_", "#", "_", "/", "_", " ", "_")
	worker := clean.Replace(w.conf.Operator)
	return fmt.Sprintf("%s@%s/%d", orElse(worker, "rewardctl"), clean.Replace(host), os.Getpid())
}

// hostName is what this machine calls itself; empty when it does not.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
}

// beat keeps a heartbeat for as long as this command works, so that the leases it holds are seen
// as held. A heartbeat that fails is no reason to stop: the lease and the fence do the work.
func (w *wiring) beat(ctx context.Context) {
	store, err := w.openStore()
	if err != nil {
		return
	}
	heart, err := store.Heartbeat(ctx, w.identity(), beatFor, nil)
	if err != nil {
		return
	}
	w.closers = append(w.closers, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpFor)
		defer cancel()
		_ = heart.Stop(end)
	})
}

// newID returns 128 random bits as text.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return hex.EncodeToString(b[:])
}

func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

// endpoints says what this process talks to, without secrets.
func (w *wiring) endpoints() string {
	return config.MaskURL(w.conf.Postgres.URL) + ", redis " + strings.Join(w.conf.Redis.Addrs, ",")
}
