package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"rewardctl/config"
	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/grant/schema"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

const (
	loadTTL     = 45 * time.Second // so that what is left of a lease is drawn in tenths of a second
	loadPrefix  = "load:"
	loadWorkers = 50
	loadPart    = 5000 // leases in one call
	loadFence   = 100  // the token that every player's fence is at
)

// consoleWorld is the servers, what is in them, and the program that is measured.
type consoleWorld struct {
	out     io.Writer
	size    consoleSize
	program string
	config  string
	url     string // of PostgreSQL
	stops   []func() error

	store  *lease.Store
	leases []grant.Lease

	progress string // of the audit and the plan
}

func (w *consoleWorld) say(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

// stop stops what was started, last first.
func (w *consoleWorld) stop() error {
	var errs []error
	for i := len(w.stops) - 1; i >= 0; i-- {
		errs = append(errs, w.stops[i]())
	}
	return errors.Join(errs...)
}

// newConsoleWorld starts the servers and fills them.
func newConsoleWorld(ctx context.Context, out io.Writer, size consoleSize, dir, program string) (
	w *consoleWorld, err error,
) {
	w = &consoleWorld{
		out: out, size: size, program: program, config: filepath.Join(dir, "rewardctl.yaml"),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop())
		}
	}()
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{
		Fast: true, Settings: map[string]string{
			"shared_buffers": "1GB", "max_wal_size": "16GB", "wal_level": "minimal",
			"max_wal_senders": "0", "maintenance_work_mem": "512MB", "checkpoint_timeout": "30min",
		},
	})
	if err != nil {
		return w, err
	}
	w.stops = append(w.stops, pg.Stop)
	rd, err := embedded.StartRedis(ctx, embedded.RedisOptions{})
	if err != nil {
		return w, err
	}
	w.stops = append(w.stops, rd.Stop)
	w.url = pg.URL()
	if err := w.fill(ctx); err != nil {
		return w, fmt.Errorf("fill PostgreSQL: %w", err)
	}
	if err := w.hold(ctx, rd.Addr()); err != nil {
		return w, fmt.Errorf("fill Redis: %w", err)
	}
	var c config.Context
	c.Name, c.Operator, c.Environment = "load", "mara", "load"
	c.Postgres.URL, c.Postgres.PasswordFile = pg.URL(), pg.PasswordFile()
	c.Redis.Addrs = []string{rd.Addr()}
	c.Lease.Prefix, c.Lease.TTL = loadPrefix, loadTTL
	c.Approval.Amount, c.Approval.PlayerDay = 1<<40, 1<<40
	c.Approval.Rows, c.Approval.Total, c.Approval.Within = 1<<40, 1<<40, time.Hour
	if err := config.Write(w.config, c.Name, c); err != nil {
		return w, err
	}
	return w, w.plan(ctx, filepath.Join(dir, "plan.csv"))
}

// fill makes a sound ledger: players with daily rewards of the same amount.
func (w *consoleWorld) fill(ctx context.Context) error {
	settings, err := pgx.ParseConfig(w.url)
	if err != nil {
		return err
	}
	if _, err := schema.Up(ctx, settings); err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	begin := time.Now()
	for _, sql := range loadStatements() {
		if _, err := conn.Exec(ctx, sql.text, sql.args(w.size)...); err != nil {
			return fmt.Errorf("%s: %w", sql.what, err)
		}
		w.say("%-9s after %v", sql.what, time.Since(begin).Round(time.Second))
	}
	return nil
}

// hold takes the leases, and keeps them and the heartbeats of their workers. Every fifth worker is
// dead: its leases are suspect.
func (w *consoleWorld) hold(ctx context.Context, addr string) error {
	client := redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1, ReadTimeout: 30 * time.Second,
	})
	store, err := lease.New(client, lease.Options{Prefix: loadPrefix, TTL: loadTTL})
	if err != nil {
		return err
	}
	w.store = store
	for n := range loadWorkers {
		if n%5 == 0 {
			continue
		}
		if _, err := store.Heartbeat(ctx, loadOwner(n), 30*time.Second, nil); err != nil {
			return err
		}
	}
	for start := 0; start < w.size.leases; start += loadPart {
		asks := make([]grant.Ask, min(loadPart, w.size.leases-start))
		for i := range asks {
			asks[i] = grant.Ask{
				Resource: "reward:" + loadPlayer(start+i), Owner: loadOwner(start + i), Floor: loadFence,
			}
		}
		for _, a := range store.Acquire(ctx, asks) {
			if a.Lease == nil {
				return fmt.Errorf("a lease is not to be had: %+v", a)
			}
			w.leases = append(w.leases, *a.Lease)
		}
	}
	w.say("%d leases are held", len(w.leases))
	ctx, cancel := context.WithCancel(ctx)
	var kept sync.WaitGroup
	kept.Go(func() { w.keep(ctx) })
	w.stops = append(w.stops, func() error {
		cancel()
		kept.Wait()
		return client.Close()
	})
	return nil
}

// keep renews the leases, in parts, each every third of its time; some end and are taken anew.
func (w *consoleWorld) keep(ctx context.Context) {
	const part = 1000
	parts := max(len(w.leases)/part, 1)
	tick := time.NewTicker(loadTTL / 3 / time.Duration(parts))
	defer tick.Stop()
	for at := 0; ; at = (at + part) % len(w.leases) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		some := w.leases[at:min(at+part, len(w.leases))]
		w.store.Renew(ctx, some)
		some = some[min(500, len(some)/2):]
		some = some[:min(10, len(some))] // not those that the cursor rests on
		_ = w.store.Release(ctx, some)
		asks := make([]grant.Ask, len(some))
		for i := range asks {
			asks[i] = grant.Ask{
				Resource: some[i].Resource, Owner: loadOwner(at + 500 + i), Floor: some[i].Token,
			}
		}
		for i, a := range w.store.Acquire(ctx, asks) {
			if a.Lease != nil {
				some[i] = *a.Lease
			}
		}
	}
}

func loadOwner(n int) string { return fmt.Sprintf("worker-%02d@game/1#%d", n%loadWorkers, n) }

func loadPlayer(n int) string { return fmt.Sprintf("player-%07d", n) }

// plan plans the rows that the console is to grant.
func (w *consoleWorld) plan(ctx context.Context, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := bufio.NewWriter(f)
	fmt.Fprintln(rows, "player_id,kind,amount")
	for n := range w.size.plan {
		fmt.Fprintf(rows, "new-%07d,gems,%d\n", n, 1+n%9)
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	begin := time.Now()
	cmd := w.command(ctx, "grant", "plan", path, "--campaign", "console-load", "--reason", "load")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("plan: %w\n%s", err, text)
	}
	w.say("%d rows planned in %v", w.size.plan, time.Since(begin).Round(time.Second))
	return nil
}

func (w *consoleWorld) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.program, append([]string{"--config", w.config}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(w.config), "TERM=xterm-256color",
		"LANG=C.UTF-8", "CONSOLE_MEASURE=" + w.size.keep,
	}
	return cmd
}

// open starts the console on a terminal.
func (w *consoleWorld) open(ctx context.Context, width, height int, args ...string) (
	*screen, error,
) {
	return openScreen(w.command(ctx, args...), width, height)
}
