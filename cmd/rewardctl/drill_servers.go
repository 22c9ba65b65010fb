package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"rewardctl/config"
	"rewardctl/config/embedded"
	"rewardctl/grant/drill"
)

const (
	drillContext = "drill"
	drillConfig  = "drill.yaml"
)

// drillServers is where drills are played.
type drillServers struct {
	app     *app
	wiring  *wiring
	base    drill.Options
	globals []string // the flags with which a worker's process finds the same servers
	private *privateServers
}

// privateServers are servers that live for one command.
type privateServers struct {
	postgres *embedded.Postgres
	redis    *embedded.Redis // nil when the machine has no redis-server
	mini     *embedded.Mini  // instead of it
	replica  *drillReplica   // of redis

	redisPort int             // where redis listens, also after a failover
	lasting   context.Context // of the servers
	end       context.CancelFunc
}

// namesServers reports whether the command line or the environment name servers.
func (a *app) namesServers() bool {
	return a.context != "" || a.configFile != "" || a.env("REWARDCTL_CONTEXT") != "" ||
		a.env("REWARDCTL_CONFIG") != ""
}

// drillServers opens the servers of the context that was named, or starts private ones.
func (a *app) drillServers(ctx context.Context) (*drillServers, error) {
	s := &drillServers{app: a}
	if err := s.open(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *drillServers) open(ctx context.Context) error {
	var err error
	if s.app.namesServers() {
		if s.wiring, err = s.app.wire(); err == nil {
			err = s.wiring.mayDrill()
		}
		s.globals = []string{"--config", s.app.configFile, "--context", s.app.context}
	} else {
		err = s.startPrivate(ctx)
	}
	if err != nil {
		return err
	}
	s.base, err = s.wiring.drillOptions(ctx, s.globals)
	if s.private != nil && s.private.redis != nil {
		s.base.RestartRedis = s.private.restartRedis
		s.private.replica = &drillReplica{servers: s.private}
		s.base.Replica = s.private.replica
	}
	return err
}

// mayDrill refuses contexts in which nothing is played.
func (w *wiring) mayDrill() error {
	const wayOut = "use another context, or none: drills then start private servers"
	switch {
	case w.conf.ReadOnly:
		return denied("context", wayOut, "context %s is read-only: it may not run a drill",
			w.conf.Name)
	case w.conf.Protected:
		return denied("context", wayOut, "context %s is protected: no drill is played there",
			w.conf.Name)
	case w.conf.Postgres.Pooler:
		return usage("context", "use a context that reaches PostgreSQL itself, or none: drills then "+
			"start private servers", "context %s goes through a pooler: a drill makes a schema of its "+
			"own, which a pooler's connections cannot ask for", w.conf.Name)
	}
	return nil
}

// drillOptions are what every drill on these servers is played with.
func (w *wiring) drillOptions(ctx context.Context, globals []string) (drill.Options, error) {
	pool, err := w.openPool(ctx)
	if err != nil {
		return drill.Options{}, err
	}
	client, err := w.openRedis()
	if err != nil {
		return drill.Options{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return drill.Options{}, err
	}
	args := append([]string{"rewardctl"}, globals...)
	return drill.Options{
		Pool: pool, Redis: client, Now: w.app.now, NewID: newID,
		Spawn: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, self)
			cmd.Args = append(args[:len(args):len(args)], "drill", drillWorker)
			endWithUs(cmd)
			return cmd
		},
	}, nil
}

// with gives a drill its servers.
func (s *drillServers) with(opt drill.Options) drill.Options {
	opt.Pool, opt.Redis, opt.RestartRedis = s.base.Pool, s.base.Redis, s.base.RestartRedis
	opt.Replica = s.base.Replica
	opt.Spawn, opt.Now, opt.NewID = s.base.Spawn, s.base.Now, s.base.NewID
	return opt
}

// startPrivate starts servers and writes the configuration by which worker processes find them.
// They outlive ctx: drills tidy up after they were stopped.
func (s *drillServers) startPrivate(ctx context.Context) error {
	s.app.say("starting a private PostgreSQL and Redis ...")
	p := &privateServers{}
	s.private = p
	p.lasting, p.end = context.WithCancel(context.WithoutCancel(ctx))
	path, err := p.start(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // a start that was cut short
		}
		return err
	}
	s.globals = []string{"--config", path, "--context", drillContext}
	c, err := config.Load(config.Source{File: path, Context: drillContext, Environ: []string{}})
	if err != nil {
		return err
	}
	s.wiring = s.app.newWiring(c.Active())
	return nil
}

// start brings both servers up and returns the configuration file that names them. A start that is
// cut short is stopped; a server that runs no longer hears of ctx.
func (p *privateServers) start(ctx context.Context) (string, error) {
	starting, cancel := context.WithCancel(p.lasting)
	unhook := context.AfterFunc(ctx, cancel)
	var err error
	// What the drills write is thrown away, so nothing has to survive a power cut.
	p.postgres, err = embedded.StartPostgres(starting, embedded.PostgresOptions{Fast: true})
	if err != nil {
		cancel()
		return "", err
	}
	if !unhook() {
		return "", ctx.Err()
	}
	addr, err := p.startRedis()
	if err != nil {
		return "", err
	}
	dsn, err := url.Parse(p.postgres.URL())
	if err != nil {
		return "", err
	}
	dsn.User = url.User(dsn.User.Username())
	var c config.Context
	c.Name, c.Environment = drillContext, drillContext
	c.Postgres.URL, c.Postgres.PasswordFile = dsn.String(), p.postgres.PasswordFile()
	c.Redis.Addrs = []string{addr}
	path := filepath.Join(p.postgres.Dir(), drillConfig) // it disappears with the server
	return path, config.Write(path, drillContext, c)
}

// startRedis starts a real server, or, where the machine has none, one inside this process.
func (p *privateServers) startRedis() (addr string, err error) {
	p.redis, err = embedded.StartRedis(p.lasting, embedded.RedisOptions{})
	if err == nil {
		p.redisPort = p.redis.Port()
		return p.redis.Addr(), nil
	}
	if !errors.Is(err, exec.ErrNotFound) {
		return "", err
	}
	if p.mini, err = embedded.StartMini(p.lasting); err != nil {
		return "", err
	}
	return p.mini.Addr(), nil
}

// restartRedis stops Redis and starts it again on the same port, without data.
func (p *privateServers) restartRedis(context.Context) error {
	if err := p.redis.Stop(); err != nil {
		return err
	}
	var err error
	p.redis, err = embedded.StartRedis(p.lasting, embedded.RedisOptions{Port: p.redisPort})
	return err
}

// stop ends what was started; servers of a context go on.
func (s *drillServers) stop() {
	if s.wiring != nil {
		s.wiring.close()
	}
	p := s.private
	if p == nil {
		return
	}
	if p.replica != nil {
		p.replica.stop()
	}
	if p.redis != nil {
		_ = p.redis.Stop()
	}
	if p.mini != nil {
		_ = p.mini.Stop()
	}
	if p.postgres != nil {
		_ = p.postgres.Stop()
	}
	p.end()
}

// drillWorker is the hidden command of a worker's process.
const drillWorker = "worker"

// drillWorkerCommand plays a worker in a process of its own: drills start it, people do not. What
// it says on stdout is for the drill alone.
func (a *app) drillWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: drillWorker, Short: "Play a worker for a drill", Hidden: true, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.wire()
			if err != nil {
				return err
			}
			pool, err := w.openPool(cmd.Context())
			if err != nil {
				return err
			}
			client, err := w.openRedis()
			if err != nil {
				return err
			}
			return drill.Work(cmd.Context(), drill.WorkOptions{
				In: a.stdin, Out: a.stdout, Pool: pool, Redis: client, Now: a.now, NewID: newID,
			})
		},
	}
}
