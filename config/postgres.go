package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// pingLimit bounds the check of a connection that was idle.
	pingLimit = 2 * time.Second
	// cancelGrace is how long a cancelled statement may take to end before its connection is
	// given up. An answer to the cancel request tells more than a broken connection.
	cancelGrace = 2 * time.Second
	// connLife and connIdle renew connections now and then, so that moved servers are noticed.
	connLife = 30 * time.Minute
	connIdle = 5 * time.Minute
)

// ErrNoPostgres says that the context names no PostgreSQL.
var ErrNoPostgres = errors.New("no PostgreSQL is configured: set postgres.url in the " +
	"configuration, or REWARDCTL_POSTGRES_URL; `rewardctl demo` needs neither")

// PoolConfig returns the settings of a pool for reading and writing. It fails with ErrNoPostgres,
// or with an *Error if the password file cannot be used. Nothing is sent.
func (c Context) PoolConfig() (*pgxpool.Config, error) {
	config, err := c.poolConfig(c.Postgres.URL)
	if err != nil {
		return nil, err
	}
	// Several hosts may be given, and a standby would refuse to write.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	return config, nil
}

// ReadPoolConfig returns the settings of a pool for reading: read_url if there is one.
func (c Context) ReadPoolConfig() (*pgxpool.Config, error) {
	if c.Postgres.ReadURL == "" {
		return c.PoolConfig()
	}
	return c.poolConfig(c.Postgres.ReadURL)
}

func (c Context) poolConfig(url string) (*pgxpool.Config, error) {
	p := c.Postgres
	if url == "" {
		return nil, ErrNoPostgres
	}
	password, err := resolve("postgres.password_file", p.Password, p.PasswordFile)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres.url: %w", err) // the driver masks passwords
	}
	if password.Set() {
		config.ConnConfig.Password = password.Reveal()
	}
	config.MaxConns = int32(max(p.PoolMax, 1))
	config.PingTimeout = pingLimit
	config.MaxConnLifetime, config.MaxConnIdleTime = connLife, connIdle
	config.MaxConnLifetimeJitter = connLife / 10
	conn := config.ConnConfig
	conn.ConnectTimeout = p.ConnectTimeout
	conn.BuildContextWatcherHandler = func(pg *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: pg, DeadlineDelay: cancelGrace}
	}
	if _, given := conn.RuntimeParams["application_name"]; !given {
		conn.RuntimeParams["application_name"] = applicationName(c.Operator)
	}
	if p.Pooler {
		// A pooler hands out another server connection each time: nothing prepared survives,
		// and it refuses settings it does not know.
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn.StatementCacheCapacity, conn.DescriptionCacheCapacity = 0, 0
		return config, nil
	}
	conn.RuntimeParams["search_path"] = p.Schema
	return config, nil
}

// applicationName shows in pg_stat_activity who is at work. The server takes 63 ASCII characters.
func applicationName(operator string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, "rewardctl "+operator)
	return name[:min(len(name), 63)]
}
