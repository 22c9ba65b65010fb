package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var errTooSlow = errors.New("the server took too long")

const lockNotAvailable = "55P03" // SQLSTATE: lock_timeout ended a wait

// write runs fn in a READ COMMITTED transaction whose waits for locks are bounded. The error is a
// *grant.BackendError that says whether the transaction may have committed all the same.
func (o *Operator) write(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.opts.Timeout+o.opts.LockTimeout, errTooSlow)
	defer cancel()
	return o.writeWaiting(ctx, op, o.opts.LockTimeout, fn)
}

// writeWaiting is write for work whose length depends on its size: only the context and the wait
// for locks bound it.
func (o *Operator) writeWaiting(
	ctx context.Context, op string, lockTimeout time.Duration,
	fn func(context.Context, pgx.Tx) error,
) error {
	if err := o.writable(op); err != nil {
		return err
	}
	return o.transact(ctx, op, lockTimeout, fn)
}

// transact is writeWaiting without the question whether this operator may write: by itself it
// serves only what is undone in any case.
func (o *Operator) transact(
	ctx context.Context, op string, lockTimeout time.Duration,
	fn func(context.Context, pgx.Tx) error,
) error {
	committing, err := o.attempt(ctx, lockTimeout, fn)
	if err == nil {
		return nil
	}
	err = grant.Answered(o.pool, err)
	if cause := context.Cause(ctx); errors.Is(cause, errTooSlow) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return &grant.BackendError{
		Backend: grant.PostgreSQL, Op: op, Doubt: committing && !refused(err), Err: err,
	}
}

// attempt runs fn in a transaction and says whether it came to the commit. Its error is then that
// of the commit itself: the driver's helper returns what the rollback behind it says, which proves
// nothing about the commit.
func (o *Operator) attempt(
	ctx context.Context, lockTimeout time.Duration, fn func(context.Context, pgx.Tx) error,
) (committing bool, err error) {
	tx, err := o.pool.BeginTx(ctx, pgx.TxOptions{
		IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite,
	})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	_, err = tx.Exec(ctx, deedGuardSQL, pgx.StrictStructArgs(struct {
		LockTimeout string `db:"lock_timeout"`
	}{fmt.Sprintf("%dms", lockTimeout.Milliseconds())}))
	if err != nil {
		return false, err
	}
	if err := fn(ctx, tx); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}

// refused reports whether an error proves that a commit had no effect.
func refused(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.SeverityUnlocalized == "ERROR" || answer.Severity == "ERROR"
	}
	if errors.Is(err, pgconn.ErrConnClosed) {
		return false // the driver says so of a commit, too, whose answer did not come
	}
	return errors.Is(err, pgx.ErrTxCommitRollback) || pgconn.SafeToRetry(err)
}

// read runs fn in a READ ONLY transaction that sees one moment.
func (o *Operator) read(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.opts.Timeout, errTooSlow)
	defer cancel()
	return o.readIn(ctx, op, fn)
}

// readAll is read for work whose length depends on its size: only the context bounds it.
func (o *Operator) readAll(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	return o.readIn(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, readWideSQL); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (o *Operator) readIn(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	err := pgx.BeginTxFunc(ctx, o.pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) error { return fn(ctx, tx) })
	if err != nil {
		return &grant.BackendError{
			Backend: grant.PostgreSQL, Op: op, Err: grant.Answered(o.pool, err),
		}
	}
	return nil
}

// collect runs a statement with named arguments and returns its rows.
func collect[T any](ctx context.Context, tx pgx.Tx, sql string, args any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, pgx.StrictStructArgs(args))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// first returns the first row, or nil when there is none.
func first[T any](rows []T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
