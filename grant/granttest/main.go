// Package granttest gives tests of the grant engine real servers, a world of their own in them,
// and faults: it is imported by _test files only.
//
// A package's tests call Main from TestMain once, and New in each test. A world is a migrated
// PostgreSQL schema and a Redis key prefix, so tests can run at once without seeing each other,
// and nothing is ever flushed.
package granttest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"rewardctl/config/embedded"
)

// The environment variables that name the servers for tests: a PostgreSQL URL, and an address or
// URL of a Redis. Main sets those that are missing, so that child processes find the servers too.
const (
	PostgresVariable = "REWARDCTL_TEST_POSTGRES"
	RedisVariable    = "REWARDCTL_TEST_REDIS"
)

// Main runs a package's tests with a PostgreSQL and a Redis at hand. It starts private ones,
// unless the environment names some, and stops what it started. Call it last in TestMain.
func Main(m *testing.M) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop, err := startServers(ctx)
	defer stop()
	if err != nil {
		// The tests that need a server say so; see New.
		fmt.Fprintln(os.Stderr, "granttest:", err)
	}
	m.Run() // the test program exits with its result when TestMain returns
}

// startServers starts what the environment does not name. The returned function stops it.
func startServers(ctx context.Context) (func(), error) {
	var stops []func() error
	stop := func() {
		for _, f := range stops {
			if err := f(); err != nil {
				fmt.Fprintln(os.Stderr, "granttest:", err)
			}
		}
	}
	if os.Getenv(PostgresVariable) == "" {
		pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{
			Settings: map[string]string{"max_connections": "500"},
		})
		if err != nil {
			return stop, err
		}
		stops = append(stops, pg.Stop)
		if err := os.Setenv(PostgresVariable, pg.URL()); err != nil {
			return stop, err
		}
	}
	if os.Getenv(RedisVariable) == "" {
		rd, err := embedded.StartRedis(ctx, embedded.RedisOptions{})
		if err != nil {
			return stop, err
		}
		stops = append(stops, rd.Stop)
		if err := os.Setenv(RedisVariable, rd.Addr()); err != nil {
			return stop, err
		}
	}
	return stop, nil
}
