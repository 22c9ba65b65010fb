package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/config"
	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// pair is a primary and a replica that follows it by streaming, asynchronously.
type pair struct {
	t                *testing.T
	primary, replica *embedded.Postgres
}

func startPair(t *testing.T) *pair {
	t.Helper()
	folder, err := os.MkdirTemp("", "rewardctl-failover-")
	if err == nil {
		err = os.Chmod(folder, 0o755) // the account that runs the servers must get in
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &pair{t: t}
	p.primary = p.start(filepath.Join(folder, "primary"))
	bin, _, err := embedded.FindPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The copy has the shape of a private server's folder, and belongs to the same account.
	copied := filepath.Join(folder, "replica")
	for _, step := range [][]string{
		{"mkdir", "-m", "700", copied},
		{"cp", "-a", filepath.Join(p.primary.Dir(), "password"), copied},
		{
			filepath.Join(bin, "pg_basebackup"), "--dbname", p.primary.URL(), "--pgdata",
			filepath.Join(copied, "data"), "--wal-method", "stream", "--checkpoint", "fast",
			"--write-recovery-conf", // standby.signal and primary_conninfo
		},
		{"chown", "-R", "--reference", p.primary.Dir(), copied},
	} {
		if out, err := exec.CommandContext(t.Context(), step[0], step[1:]...).
			CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", step, err, out)
		}
	}
	p.replica = p.start(copied)
	return p
}

func (p *pair) start(dir string) *embedded.Postgres {
	p.t.Helper()
	server, err := embedded.StartPostgres(context.WithoutCancel(p.t.Context()),
		embedded.PostgresOptions{Dir: dir, Settings: map[string]string{"max_connections": "60"}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = server.Stop() })
	return server
}

// both is a connection string that finds whichever of the two accepts writes.
func (p *pair) both(schema string) string {
	p.t.Helper()
	at, err := url.Parse(p.primary.URL())
	if err != nil {
		p.t.Fatal(err)
	}
	password, _ := at.User.Password()
	return fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=%s password=%s "+
		"dbname=postgres sslmode=disable target_session_attrs=read-write search_path=%s",
		p.primary.Port(), p.replica.Port(), at.User.Username(), password, schema)
}

// pool connects to a server, or to both.
func (p *pair) pool(at string) *pgxpool.Pool {
	p.t.Helper()
	settings, err := pgxpool.ParseConfig(at)
	if err != nil {
		p.t.Fatal(err)
	}
	settings.MaxConns, settings.PingTimeout = 8, time.Second
	settings.ConnConfig.ConnectTimeout = time.Second
	pool, err := pgxpool.NewWithConfig(p.t.Context(), settings)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(pool.Close)
	return pool
}

// number asks a server for one number.
func (p *pair) number(pool *pgxpool.Pool, query string) (n int) {
	p.t.Helper()
	if err := pool.QueryRow(p.t.Context(), query).Scan(&n); err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// grants makes events that are all different.
type grants struct {
	t      *testing.T
	engine *grant.Engine
	next   atomic.Int64
}

// load grants new events from several clients until so many are applied, and returns them.
func (g *grants) load(clients, events int) []grant.Request {
	g.t.Helper()
	var (
		done  atomic.Int64
		group sync.WaitGroup
		mu    sync.Mutex
		all   []grant.Request
	)
	for range clients {
		group.Go(func() {
			for done.Add(1) <= int64(events) {
				n := g.next.Add(1)
				r := grant.Request{
					PlayerID: fmt.Sprintf("p-%d", n%20), EventID: fmt.Sprintf("e-%d", n),
					Kind: "gems", Amount: 5, Actor: "failover", Reason: "failover",
				}
				res, err := g.engine.Grant(g.t.Context(), r)
				if err != nil || res.Outcome != grant.Applied {
					g.t.Errorf("%s: %s, %v", r.EventID, res.Outcome, err)
				}
				mu.Lock()
				all = append(all, r)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// TestFailoverToALaggingReplica loses a PostgreSQL primary whose asynchronous replica had stopped
// following: the grants answered last are gone. Clients find the promoted replica by themselves,
// and granting locks itself there until the operator accepts the timeline with fence reseed. Then
// everything is asked for again: what was replicated is replayed, what was lost is granted once,
// and who held a lease of before is refused.
func TestFailoverToALaggingReplica(t *testing.T) {
	t.Parallel()
	const clients, kept, lost = 8, 200, 60
	p := startPair(t)
	w := granttest.NewOn(t, p.primary.URL())
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	pool := p.pool(p.both(w.Schema))
	engine, err := grant.NewEngine(pool, store, grant.Options{
		Worker: "failover@test/1", NewID: newID, HeldWait: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &grants{t: t, engine: engine}
	before := g.load(clients, kept)
	replica := p.pool(p.replica.URL() + "&search_path=" + w.Schema)
	until(t, "the replica to catch up", func() bool {
		return p.number(replica, "select count(*) from reward_ledger") == kept
	})
	held := p.lag(replica, store)
	after := g.load(clients, lost)
	if n := p.number(replica, "select count(*) from reward_ledger"); n != kept {
		t.Fatalf("the replica has %d rows, want the %d of before the cut", n, kept)
	}
	began := time.Now()
	p.promote(replica)
	p.locked(engine, replica, kept)
	p.reseed(w)
	answer, err := engine.Grant(t.Context(), after[0])
	if err != nil || answer.Outcome != grant.Applied {
		t.Fatalf("a lost grant, asked for again: %s, %v", answer.Outcome, err)
	}
	t.Logf("scoreboard: failovers=1 postgres_failover_recovered_ms=%d",
		time.Since(began).Milliseconds())
	p.askAgain(engine, before, grant.Replayed)
	p.askAgain(engine, after[1:], grant.Applied)
	p.askAgain(engine, after, grant.Replayed)
	late := after[0]
	late.EventID, late.PlayerID, late.Held = "late", "p-held", &held
	if res, err := engine.Grant(t.Context(), late); err != nil ||
		res.Outcome != grant.StaleToken && res.Outcome != grant.TokenCollision {
		t.Errorf("a holder of before the failover: %s, %v", res.Outcome, err)
	}
	if n := p.number(replica, "select count(*) from reward_ledger"); n != kept+lost {
		t.Errorf("%d postings of %d events", n, kept+lost)
	}
	w.Conn.Port = uint16(p.replica.Port())
	w.Conn.Fallbacks = nil
	w.CheckInvariants(t)
}

// lag cuts the replica off, and takes a lease that its next owner does not know of.
func (p *pair) lag(replica *pgxpool.Pool, store *lease.Store) grant.Lease {
	p.t.Helper()
	for _, statement := range []string{
		"alter system set primary_conninfo = 'host=127.0.0.1 port=1'", "select pg_reload_conf()",
	} {
		if _, err := replica.Exec(p.t.Context(), statement); err != nil {
			p.t.Fatal(err)
		}
	}
	until(p.t, "the replica to stop following", func() bool {
		return p.number(replica, "select count(*) from pg_stat_wal_receiver") == 0
	})
	answer := store.Acquire(p.t.Context(), []grant.Ask{{
		Resource: grant.ResourceFor("p-held"), Owner: "held@test/1#x", Floor: 0,
	}})[0]
	if answer.Lease == nil {
		p.t.Fatalf("acquire: %+v", answer)
	}
	answer.Lease.Until = time.Time{} // its holder stalls, and does not know how late it is
	return *answer.Lease
}

// promote kills the primary without a word and makes the replica the primary.
func (p *pair) promote(replica *pgxpool.Pool) {
	p.t.Helper()
	if err := syscall.Kill(p.primary.Pid(), syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
	<-p.primary.Done()
	if _, err := replica.Exec(p.t.Context(), "select pg_promote(wait => true)"); err != nil {
		p.t.Fatal(err)
	}
	until(p.t, "the end of the recovery", func() bool {
		return p.number(replica, "select pg_is_in_recovery()::integer") == 0
	})
}

// locked waits until clients have found the promoted server, and wants it to grant nothing.
func (p *pair) locked(engine *grant.Engine, replica *pgxpool.Pool, rows int) {
	p.t.Helper()
	var gate *grant.GateError
	until(p.t, "an answer of the promoted server", func() bool {
		res, err := engine.Grant(p.t.Context(), grant.Request{
			PlayerID: "p-new", EventID: "new", Kind: "gems", Amount: 1, Actor: "a", Reason: "r",
		})
		if err == nil {
			p.t.Fatalf("granted on another timeline: %s", res.Outcome)
		}
		return errors.As(err, &gate)
	})
	if !strings.Contains(gate.Problem, "timeline") || !strings.Contains(gate.WayOut, "reseed") {
		p.t.Errorf("the gate says %q, %q", gate.Problem, gate.WayOut)
	}
	if n := p.number(replica, "select count(*) from reward_ledger"); n != rows {
		p.t.Errorf("%d postings before the timeline is accepted, want %d", n, rows)
	}
}

// reseed is what the operator does, with the program.
func (p *pair) reseed(w *granttest.World) {
	p.t.Helper()
	dir := programDir(p.t)
	path := filepath.Join(dir, "rewardctl.yaml")
	var conf config.Context
	conf.Name, conf.Operator = "main", "mara"
	conf.Postgres.URL, conf.Postgres.Schema = p.replica.URL(), w.Schema
	conf.Redis.Addrs = []string{w.RedisAddr}
	conf.Lease.Prefix, conf.Lease.TTL = w.Prefix, 2*time.Second
	if err := config.Write(path, "main", conf); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(dir, "rewardctl"), "--config", path,
		"fence", "reseed", "--all", "--fences", "--reason", "failover", "--confirm",
		"void-leases")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("fence reseed: %v: %s", err, out)
	}
	p.t.Logf("fence reseed: %s", out)
}

// askAgain asks for events again and wants one outcome for all.
func (p *pair) askAgain(engine *grant.Engine, all []grant.Request, want grant.Outcome) {
	p.t.Helper()
	results, err := engine.GrantMany(p.t.Context(), all)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, res := range results {
		if res.Outcome != want {
			p.t.Errorf("%s: %s, want %s, %v", res.EventID, res.Outcome, want, res.Err)
		}
	}
}
