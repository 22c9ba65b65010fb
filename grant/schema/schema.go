// Package schema migrates the database: it embeds the migrations and runs them with goose.
package schema

import (
	"context"
	"embed"
	"fmt"
	"hash/fnv"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sql/*.sql
var migrations embed.FS

// Step is one migration and whether it was applied.
type Step struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero while it is pending
}

// Up applies all pending migrations in the first schema of the connection's search_path, and
// returns those it applied now. It is idempotent, and safe when several processes run it at
// once: a session-level advisory lock lets one of them work while the others wait.
func Up(ctx context.Context, conn *pgx.ConnConfig) ([]Step, error) {
	provider, done, err := open(conn)
	if err != nil {
		return nil, err
	}
	defer done()
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	steps := make([]Step, 0, len(results))
	for _, r := range results {
		steps = append(steps, Step{Version: r.Source.Version, Name: r.Source.Path})
	}
	return steps, nil
}

// Status lists all migrations that this program knows, in order.
func Status(ctx context.Context, conn *pgx.ConnConfig) ([]Step, error) {
	provider, done, err := open(conn)
	if err != nil {
		return nil, err
	}
	defer done()
	statuses, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	steps := make([]Step, 0, len(statuses))
	for _, s := range statuses {
		steps = append(steps, Step{
			Version: s.Source.Version, Name: s.Source.Path, AppliedAt: s.AppliedAt,
		})
	}
	return steps, nil
}

// A waiting migration looks for the lock every lockEvery seconds, lockTries times.
const (
	lockEvery = 1
	lockTries = 300
)

// lockID names the advisory lock of the schema that conn migrates, so that the migration of one
// schema does not wait for that of another.
func lockID(conn *pgx.ConnConfig) int64 {
	h := fnv.New32a()
	h.Write([]byte("rewardctl migrations of " + conn.RuntimeParams["search_path"]))
	return int64(h.Sum32())
}

func open(conn *pgx.ConnConfig) (*goose.Provider, func(), error) {
	files, err := fs.Sub(migrations, "sql")
	if err != nil {
		return nil, nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(lockID(conn)),
		lock.WithLockTimeout(lockEvery, lockTries))
	if err != nil {
		return nil, nil, err
	}
	db := stdlib.OpenDB(*conn)
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithTableName("rewardctl_migration"))
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return provider, func() { _ = provider.Close() }, nil
}
