package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	errNoPool  = errors.New("no connection is configured")
	errTooSlow = errors.New("the question took too long")
)

// read runs fn inside a READ ONLY transaction that sees one moment. An error of the database comes
// back as a *grant.BackendError.
func (r *Reader) read(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	return r.readFrom(ctx, r.pool, op, fn)
}

// history is the pool that histories are read from: the replica, when there is one.
func (r *Reader) history() *pgxpool.Pool {
	if r.opts.Replica != nil {
		return r.opts.Replica
	}
	return r.pool
}

func (r *Reader) readFrom(
	ctx context.Context, pool *pgxpool.Pool, op string,
	fn func(context.Context, pgx.Tx) error,
) error {
	if pool == nil {
		return &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: errNoPool}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.Timeout, errTooSlow)
	defer cancel()
	return transact(ctx, pool, op, fn)
}

// readLong is read for a question in parts, of which each may take as long as a whole one else: a
// busy server that answers part after part is not one that is down. fn calls heard after each part.
func (r *Reader) readLong(
	ctx context.Context, op string, fn func(ctx context.Context, tx pgx.Tx, heard func()) error,
) error {
	if r.pool == nil {
		return &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: errNoPool}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(r.opts.Timeout, func() { cancel(errTooSlow) })
	defer silence.Stop()
	return transact(ctx, r.pool, op, func(ctx context.Context, tx pgx.Tx) error {
		return fn(ctx, tx, func() { silence.Reset(r.opts.Timeout) })
	})
}

func transact(
	ctx context.Context, pool *pgxpool.Pool, op string,
	fn func(context.Context, pgx.Tx) error,
) error {
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) error { return fn(ctx, tx) })
	return backendError(ctx, grant.PostgreSQL, op, grant.Answered(pool, err))
}

// backendError names the server and the question in an error that does not yet do so.
func backendError(ctx context.Context, backend grant.Backend, op string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || grant.Unavailable(err) {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errTooSlow) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return &grant.BackendError{Backend: backend, Op: op, Err: err}
}

// collect runs a statement with named arguments and returns its rows.
func collect[T any](ctx context.Context, tx pgx.Tx, sql string, args any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, pgx.StrictStructArgs(args))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// value returns what p points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// storable reports whether PostgreSQL can hold a text. Redis holds any bytes: a resource of others
// has no fence and no claims, and asking for it would fail the question for all the rest.
func storable(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// playerOf returns the player whose own resource it is.
func playerOf(resource string) (string, bool) {
	player, ok := strings.CutPrefix(resource, grant.ResourceFor(""))
	return player, ok && player != "" && storable(player)
}

type fenceRow struct {
	Resource  string    `db:"resource"`
	Token     int64     `db:"token"`
	Owner     string    `db:"owner"`
	UpdatedAt time.Time `db:"updated_at"`
}

func (f fenceRow) seen() FenceSeen {
	return FenceSeen{
		Fence: grant.Fence{Resource: f.Resource, Token: f.Token, Owner: f.Owner},
		At:    f.UpdatedAt, Burned: grant.Burned(f.Owner),
	}
}

type claimRow struct {
	PlayerID  string    `db:"player_id"`
	EventID   string    `db:"reward_event_id"`
	Kind      string    `db:"kind"`
	Amount    int64     `db:"amount"`
	Token     int64     `db:"fence_token"`
	Status    string    `db:"status"`
	UpdatedAt time.Time `db:"updated_at"`
}

func (c claimRow) claim() Claim {
	return Claim{
		PlayerID: c.PlayerID, EventID: c.EventID, Kind: c.Kind, Amount: c.Amount,
		Token: c.Token, Status: c.Status, At: c.UpdatedAt,
	}
}

type deliveryRow struct {
	State       *string    `db:"delivery_state"`
	Attempts    *int       `db:"attempts"`
	NextAttempt *time.Time `db:"next_attempt_at"`
	Delivered   *time.Time `db:"delivered_at"`
	LastError   *string    `db:"last_error"`
}

func (d deliveryRow) delivery() *Delivery {
	if d.State == nil {
		return nil
	}
	return &Delivery{
		State: *d.State, Attempts: value(d.Attempts), NextAttempt: value(d.NextAttempt),
		Delivered: value(d.Delivered), LastError: value(d.LastError),
	}
}

type actionRow struct {
	ID        int64     `db:"id"`
	Operator  string    `db:"operator"`
	DBUser    string    `db:"db_user"`
	Action    string    `db:"action"`
	Target    string    `db:"target"`
	Arguments []byte    `db:"arguments"`
	Observed  []byte    `db:"observed"`
	Reason    string    `db:"reason"`
	Outcome   string    `db:"outcome"`
	Command   string    `db:"command"`
	CreatedAt time.Time `db:"created_at"`
}

// argument returns one argument of the deed as text; empty when it has none of that name.
func (a actionRow) argument(name string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.Arguments, &fields) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(fields[name], &text) != nil {
		return string(fields[name])
	}
	return text
}
