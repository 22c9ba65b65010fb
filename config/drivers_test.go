package config_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rewardctl/config"
)

func TestPoolConfig(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, inA("operator: Zoë\n    postgres:\n"+
		"      url: postgres://app@db-1.example.com,db-2.example.com/x\n      schema: rewards\n"+
		"      read_url: postgres://app@db-3.example.com/x"))
	pool, err := c.PoolConfig()
	if err != nil {
		t.Fatal(err)
	}
	conn := pool.ConnConfig
	if got := conn.RuntimeParams["search_path"]; got != "rewards" {
		t.Errorf("search_path %q", got)
	}
	if got := conn.RuntimeParams["application_name"]; got != "rewardctl Zo?" {
		t.Errorf("application_name %q", got)
	}
	if conn.ConnectTimeout != 2*time.Second || pool.PingTimeout <= 0 || pool.MaxConns != 10 {
		t.Errorf("timeouts %v, %v, connections %d", conn.ConnectTimeout, pool.PingTimeout, pool.MaxConns)
	}
	if conn.TLSConfig == nil || conn.TLSConfig.InsecureSkipVerify ||
		conn.TLSConfig.ServerName != "db-1.example.com" {
		t.Errorf("the server is not verified: %+v", conn.TLSConfig)
	}
	if len(conn.Fallbacks) != 1 || conn.Fallbacks[0].TLSConfig == nil {
		t.Errorf("fallbacks %+v", conn.Fallbacks)
	}
	watcher := conn.BuildContextWatcherHandler(nil)
	if _, is := watcher.(*pgconn.CancelRequestContextWatcherHandler); !is {
		t.Error("a cancelled statement would cost its connection")
	}
	if conn.ValidateConnect == nil {
		t.Error("a standby would be accepted")
	}
	read, err := c.ReadPoolConfig()
	if err != nil {
		t.Fatal(err)
	}
	if read.ConnConfig.Host != "db-3.example.com" || read.ConnConfig.ValidateConnect != nil {
		t.Errorf("reading goes to %s", read.ConnConfig.Host)
	}
}

func TestPoolConfigForAPooler(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, inA("postgres: {url: \"postgres://app@localhost/x\", pooler: true}"))
	pool, err := c.PoolConfig()
	if err != nil {
		t.Fatal(err)
	}
	conn := pool.ConnConfig
	if conn.DefaultQueryExecMode != pgx.QueryExecModeExec || conn.StatementCacheCapacity != 0 ||
		conn.DescriptionCacheCapacity != 0 {
		t.Errorf("statements would be prepared: %v", conn.DefaultQueryExecMode)
	}
	if _, given := conn.RuntimeParams["search_path"]; given {
		t.Error("search_path would be refused by a pooler")
	}
}

func TestRedisOptions(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, inA("redis: {addrs: \"s-1:26379, s-2:26379\", master_name: m, "+
		"username: u, password: "+canary+", sentinel_password: s, db: 2, tls: true, "+
		"tls_server_name: cache}"))
	o, err := c.RedisOptions()
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Addrs) != 2 || o.MasterName != "m" || o.Username != "u" || o.Password != canary ||
		o.SentinelPassword != "s" || o.DB != 2 {
		t.Error("the addresses or names differ")
	}
	if o.TLSConfig == nil || o.TLSConfig.MinVersion != tls.VersionTLS12 ||
		o.TLSConfig.ServerName != "cache" || o.TLSConfig.InsecureSkipVerify {
		t.Errorf("TLS %+v", o.TLSConfig)
	}
	if !o.ContextTimeoutEnabled || !o.DisableIdentity ||
		o.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled {
		t.Error("the driver's extras are on")
	}
	if o.ReadOnly || o.RouteByLatency || o.RouteRandomly {
		t.Error("leases would be read from replicas")
	}
	client := redis.NewUniversalClient(o)
	defer client.Close()
	if _, is := client.(*redis.Client); !is {
		t.Errorf("with a master name the client is a %T", client)
	}
}

func TestNoServers(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, inA("{}"))
	if _, err := c.PoolConfig(); !errors.Is(err, config.ErrNoPostgres) {
		t.Errorf("PostgreSQL: %v", err)
	}
	if _, err := c.ReadPoolConfig(); !errors.Is(err, config.ErrNoPostgres) {
		t.Errorf("PostgreSQL for reading: %v", err)
	}
	if _, err := c.RedisOptions(); !errors.Is(err, config.ErrNoRedis) {
		t.Errorf("Redis: %v", err)
	}
}

// silent listens and never answers: a server behind a network that swallows everything.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestServersThatAreDownAnswerWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, addr := range map[string]string{"refusing": refusing, "silent": silent(t)} {
		c := mustLoad(t, inA("postgres: {url: \"postgres://app@"+addr+"/x?sslmode=disable\"}\n"+
			"    redis: {addrs: [\""+addr+"\"]}"))
		t.Run(name+" PostgreSQL", func(t *testing.T) {
			t.Parallel()
			settings, err := c.PoolConfig()
			if err != nil {
				t.Fatal(err)
			}
			inTime(t, func(ctx context.Context) error {
				pool, err := pgxpool.NewWithConfig(ctx, settings)
				if err != nil {
					return err
				}
				defer pool.Close()
				return pool.Ping(ctx)
			})
		})
		t.Run(name+" Redis", func(t *testing.T) {
			t.Parallel()
			options, err := c.RedisOptions()
			if err != nil {
				t.Fatal(err)
			}
			client := redis.NewUniversalClient(options)
			defer client.Close()
			inTime(t, func(ctx context.Context) error { return client.Ping(ctx).Err() })
		})
	}
}

func inTime(t *testing.T, ask func(context.Context) error) {
	t.Helper()
	begin := time.Now()
	if err := ask(t.Context()); err == nil {
		t.Error("a server that is down answers")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the answer took %v", took)
	}
}

func TestWriteIsReadBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	demo := mustLoad(t, inA("operator: \"true\"\n    read_only: true\n"+
		"    postgres: {url: \"postgres://app@localhost:7/x\", password: \"p: #1\", pool_max: 3}\n"+
		"    redis: {addrs: [\"localhost:1\", \"localhost:2\"]}\n    lease: {ttl: 5s}"))
	demo.Name = "demo"
	bare := config.Context{
		Name: "bare", Postgres: config.Postgres{URL: "postgres://app:" + canary + "@localhost/x"},
	}
	if err := config.Write(path, "demo", demo, bare); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"demo": "p: #1", "bare": canary} {
		c, err := config.Load(config.Source{File: path, Context: name, Environ: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := password(t, c.Active()); got != want {
			t.Errorf("%s: the password is %q", name, got)
		}
		if name == "demo" {
			got := c.Active()
			got.Environment = demo.Environment
			if !reflect.DeepEqual(got, demo) {
				t.Errorf("read back\n%+v\nwant\n%+v", got, demo)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}
