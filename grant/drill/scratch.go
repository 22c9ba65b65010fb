package drill

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/schema"
)

// scratch is the schema of one drill, with a pool of its own in it.
type scratch struct {
	base *pgxpool.Pool
	name string
	pool *pgxpool.Pool
}

// scratchName stands in the SQL files for the name of the run's schema.
const scratchName = "drill_scratch"

const dropFor = 10 * time.Second // removing the schema may take so long after the drill ended

// newScratch makes a migrated schema. The caller drops it.
func newScratch(ctx context.Context, base *pgxpool.Pool, name string) (*scratch, error) {
	s := &scratch{base: base, name: name}
	if _, err := base.Exec(ctx, s.named(scratchCreateSQL)); err != nil {
		return nil, postgresError("make the drill's schema", err)
	}
	if err := s.fill(ctx); err != nil {
		return nil, errors.Join(err, s.drop(ctx))
	}
	return s, nil
}

func (s *scratch) fill(ctx context.Context) error {
	if _, err := schema.Up(ctx, configIn(s.base, s.name).ConnConfig); err != nil {
		return postgresError("migrate the drill's schema", err)
	}
	var err error
	s.pool, err = poolIn(ctx, s.base, s.name)
	return err
}

// configIn is the configuration of a pool that works in a schema.
func configIn(base *pgxpool.Pool, schema string) *pgxpool.Config {
	config := base.Config()
	config.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	config.MinConns, config.MinIdleConns, config.MaxConns = 0, 0, 4
	return config
}

// poolIn opens a pool that works in a schema.
func poolIn(ctx context.Context, base *pgxpool.Pool, schema string) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, configIn(base, schema))
	if err != nil {
		return nil, postgresError("open the drill's schema", err)
	}
	return pool, nil
}

// drop removes the schema, also when the drill was stopped.
func (s *scratch) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), dropFor,
		errors.New("removing the drill's schema "+s.name+" took too long"))
	defer cancel()
	if s.pool != nil {
		s.pool.Close()
	}
	if _, err := s.base.Exec(ctx, s.named(scratchDropSQL)); err != nil {
		return postgresError("remove the drill's schema "+s.name, err)
	}
	return nil
}

func (s *scratch) named(statement string) string {
	return strings.ReplaceAll(statement, scratchName, pgx.Identifier{s.name}.Sanitize())
}

func postgresError(op string, err error) error {
	return &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: err}
}
