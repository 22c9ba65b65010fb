package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/config/embedded"
	"rewardctl/grant/lease"
	"rewardctl/grant/schema"
	"rewardctl/repair"
)

const (
	demoTTL      = 15 * time.Second // time to live of the demo's leases
	demoContext  = "demo"
	demoConfig   = "rewardctl.yaml"
	demoPassFile = "pgpass"
	demoStartFor = 2 * time.Minute // bound of a first start, which may fetch PostgreSQL
	demoFileMode = 0o600

	demoFolderMode = 0o755
)

// demoFlags are the flags of "demo".
type demoFlags struct {
	headless bool
	dir      string
	keep     bool
}

// demo is a running live system: two private servers, sample data and simulated workers.
type demo struct {
	app     *app
	flags   demoFlags
	madeDir bool // the folder did not exist before

	postgres *embedded.Postgres
	redis    *embedded.Mini
	wiring   *wiring
	workers  *demoWorkers
	delivery *demoDelivery
	config   string // path of the configuration file
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start a live system to try everything on; nothing to set up",
		Long: "Starts a private PostgreSQL and Redis, loads invented players, lets simulated workers" +
			" hold\nleases and pay, and opens the console. Nothing is left behind unless --keep says" +
			" so.",
		Example: "  rewardctl demo\n  rewardctl demo --headless",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.headless && !a.interactive() {
				return usage("headless", "add --headless: it starts the same system and prints how to "+
					"connect", "the demo opens the console, and there is no terminal")
			}
			return a.runDemo(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.headless, "headless", false, "no console: print how to connect and stay")
	flags.StringVar(&f.dir, "dir", "", "put everything into this folder")
	flags.BoolVar(&f.keep, "keep", false, "leave the folder's data there for the next demo")
	return cmd
}

func (a *app) runDemo(ctx context.Context, f demoFlags) (err error) {
	d := &demo{app: a, flags: f}
	// The servers outlive ctx: the workers give their leases back after it has ended.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.start(ctx, lasting); err != nil {
		return err
	}
	if !f.headless {
		_, err := d.wiring.console(ctx) // there is no other context
		return err
	}
	if err := d.greet(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil // stopping is how a demo ends
	case <-d.postgres.Done():
		return errors.New("the demo's PostgreSQL has ended; see " +
			filepath.Join(d.postgres.Dir(), "server.log"))
	}
}

// start brings everything up, in the order in which each part needs the one before it.
func (d *demo) start(ctx, lasting context.Context) error {
	began := d.app.now()
	starting, cancel := context.WithTimeout(ctx, demoStartFor)
	defer cancel()
	d.app.say("starting a private PostgreSQL and Redis ...")
	if err := d.startServers(starting, lasting); err != nil {
		return err
	}
	if err := d.writeConfig(); err != nil {
		return err
	}
	var err error
	if d.wiring, err = d.app.wireFile(d.config); err != nil {
		return err
	}
	conn, err := d.wiring.conn()
	if err != nil {
		return err
	}
	if _, err := schema.Up(starting, conn); err != nil {
		return err
	}
	if err := d.populate(starting, lasting); err != nil {
		return err
	}
	d.app.say("up after %s", span(d.app.now().Sub(began)))
	return nil
}

// startServers starts the two servers. They end with lasting, or when this process is gone.
func (d *demo) startServers(ctx, lasting context.Context) error {
	options := embedded.PostgresOptions{Remove: !d.flags.keep}
	if err := d.makeDir(); err != nil {
		return err
	}
	if d.flags.dir != "" {
		options.Dir = filepath.Join(d.flags.dir, "postgres")
	}
	// A start that is cut short is stopped; a server that runs no longer hears of ctx.
	starting, cancel := context.WithCancel(lasting)
	unhook := context.AfterFunc(ctx, cancel)
	var err error
	if d.postgres, err = embedded.StartPostgres(starting, options); err != nil {
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	if !unhook() {
		return ctx.Err()
	}
	if d.redis, err = embedded.StartMini(lasting); err != nil {
		return err
	}
	d.delivery, err = newDemoDelivery(lasting)
	return err
}

// makeDir settles the folder, when one is asked for or needed. Others may pass through it: the
// account that runs PostgreSQL has to reach its own folder inside.
func (d *demo) makeDir() error {
	if d.flags.dir == "" && !d.flags.keep {
		return nil
	}
	if d.flags.dir == "" {
		dir, err := os.MkdirTemp("", "rewardctl-demo-")
		if err != nil {
			return err
		}
		d.flags.dir = dir
		return os.Chmod(dir, demoFolderMode)
	}
	dir, err := filepath.Abs(d.flags.dir)
	if err != nil {
		return err
	}
	d.flags.dir = dir
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		d.madeDir = true
	}
	return os.MkdirAll(dir, demoFolderMode)
}

// home is the folder of the configuration: the given one, or the server's temporary one, which
// disappears with the server even when this process is killed.
func (d *demo) home() string {
	if d.flags.dir != "" {
		return d.flags.dir
	}
	return d.postgres.Dir()
}

// populate loads the data, sets the scene and starts the workers.
func (d *demo) populate(ctx, lasting context.Context) error {
	w := d.wiring
	pool, err := w.openPool(ctx)
	if err != nil {
		return err
	}
	if err := loadDemoData(ctx, pool, d.app.now()); err != nil {
		return err
	}
	client, err := w.openRedis()
	if err != nil {
		return err
	}
	store, err := w.openStore()
	if err != nil {
		return err
	}
	long, err := lease.New(client, lease.Options{
		Prefix: w.conf.Lease.Prefix, TTL: demoLongTTL, Now: d.app.now,
	})
	if err != nil {
		return err
	}
	engine, err := w.newEngine(ctx, "payout-5@demo-host/4005", 0)
	if err != nil {
		return err
	}
	date := d.app.now().UTC().Format(time.DateOnly)
	scene := &demoScene{
		pool: pool, redis: client, store: store, long: long, engine: engine, date: date,
	}
	if err := scene.set(ctx); err != nil {
		return err
	}
	d.workers = &demoWorkers{
		pool: pool, store: store, engine: engine, date: date, warn: d.warn,
	}
	d.workers.start(lasting)
	logger := slog.New(slog.DiscardHandler) // the console draws on the terminal
	if d.flags.headless {
		logger = d.app.logger()
	}
	return d.delivery.start(lasting, w, logger)
}

// warn reports a worker's trouble, where there is a place for it: the console draws on the
// terminal and shows the state of the servers itself.
func (d *demo) warn(err error) {
	if d.flags.headless {
		d.app.say("%v", err)
	}
}

// greet says how to connect. Its last line is a contract: scripts wait for it.
func (d *demo) greet() error {
	command := func(args ...string) string {
		return repair.CommandLine(append([]string{"rewardctl", "--config", d.config}, args...))
	}
	player := demoPlayer(0)
	create := []string{
		"grant", "create", "--player", player, "--campaign", "hello", "--subject", "first", "--kind",
		"gems", "--amount", "100", "--reason", "trying it out",
	}
	lines := []string{
		"PostgreSQL  " + "PGPASSFILE=" + repair.CommandLine([]string{d.passFile()}) +
			fmt.Sprintf(" psql -h 127.0.0.1 -p %d -U rewardctl postgres", d.postgres.Port()),
		"Redis       redis-cli -h 127.0.0.1 -p " + portOf(d.redis.Addr()),
		"",
		"Things to try, in another terminal:",
		"  " + command("lease", "list"),
		"  " + command(create...),
		"  " + command("player", "history", player),
		"  " + command("token", "list", "reward:"+demoPlayer(demoSuperseded)),
		"  " + command("outbox", "list"),
		"  " + command("drill", "run", "paused-holder", "--ttl", "1s"),
		"  " + command("doctor"),
		"Ctrl-C ends the demo.",
		command()[:0] + "ready: " + command(),
	}
	for _, line := range lines {
		if err := d.app.line(line); err != nil {
			return err
		}
	}
	return nil
}

// stop ends everything that start began, last first, and removes what is not to be kept.
func (d *demo) stop() error {
	var problems []error
	if d.postgres != nil {
		d.app.say("stopping the private servers ...")
	}
	if d.workers != nil {
		d.workers.halt()
	}
	if d.delivery != nil {
		d.delivery.stop()
	}
	if d.wiring != nil {
		d.wiring.close()
	}
	if d.redis != nil {
		problems = append(problems, d.redis.Stop())
	}
	if d.postgres != nil {
		problems = append(problems, d.postgres.Stop())
	}
	if d.flags.dir == "" || d.postgres == nil {
		return errors.Join(problems...)
	}
	if d.flags.keep {
		d.app.say("kept in %s; start it again with: %s", d.flags.dir,
			repair.CommandLine([]string{"rewardctl", "demo", "--dir", d.flags.dir, "--keep"}))
		return errors.Join(problems...)
	}
	for _, name := range []string{demoConfig, demoPassFile} {
		if err := os.Remove(filepath.Join(d.flags.dir, name)); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	if d.madeDir {
		problems = append(problems, os.Remove(d.flags.dir))
	}
	return errors.Join(problems...)
}
