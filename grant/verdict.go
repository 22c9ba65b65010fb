package grant

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// verdict says what an error of the grant transaction proves.
type verdict uint8

const (
	// doubt: the transaction may have committed, or may still commit.
	doubt verdict = iota
	// noEffect: nothing was written and the same call would fail again.
	noEffect
	// retry: nothing was written and the same call may succeed.
	retry
	// poison: nothing was written because of the content of some item.
	poison
	// wrongSchema: nothing was written because the schema is not what the engine needs.
	wrongSchema
)

// SQLSTATE codes that the verdict depends on, by the names of PostgreSQL's appendix A.
const (
	serializationFailure     = "40001"
	deadlockDetected         = "40P01"
	lockNotAvailable         = "55P03"
	featureNotSupported      = "0A000" // a cached plan whose result type a migration changed
	invalidColumnReference   = "42P10" // no unique index fits ON CONFLICT
	undefinedTable           = "42P01"
	undefinedColumn          = "42703"
	undefinedFunction        = "42883"
	objectNotInPrerequisites = "55000" // a deferrable key cannot arbitrate
	timelineChanged          = "RWT01" // ours: see the function reward_timeline_check
)

// judge is the one place that turns an error of PostgreSQL or its driver into a verdict. It goes
// by types and codes, never by text: the same text stands for both ends of a lost answer.
func judge(err error) verdict {
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return noEffect
	case errors.As(err, &pg):
		return judgeCode(pg)
	case errors.Is(err, pgconn.ErrConnClosed):
		// The driver calls it safe to retry. But where it reads an answer in several results, as it
		// does when nothing is prepared, it says the same of a connection that broke after
		// everything had been sent.
		return doubt
	case pgconn.SafeToRetry(err):
		return noEffect
	}
	return doubt
}

func judgeCode(pg *pgconn.PgError) verdict {
	severity := pg.SeverityUnlocalized
	if severity == "" {
		severity = pg.Severity
	}
	if severity != "ERROR" {
		return doubt // FATAL and PANIC end the session; what it was doing is not told
	}
	switch pg.Code {
	case serializationFailure, deadlockDetected, lockNotAvailable, featureNotSupported:
		return retry
	case invalidColumnReference, undefinedTable, undefinedColumn, undefinedFunction,
		objectNotInPrerequisites, timelineChanged:
		return wrongSchema
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "22", "23", "P0": // data, constraint, raised by a trigger
		return poison
	}
	return noEffect
}

// refusal is the error of items that PostgreSQL proved not to have written.
func refusal(op string, err error, v verdict) error {
	if v == poison {
		return fmt.Errorf("grant: %w", err)
	}
	return &BackendError{Backend: PostgreSQL, Op: op, Err: err}
}
