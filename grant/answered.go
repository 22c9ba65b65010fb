package grant

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DeniedError says that the database role may not do or see what was asked. It stands inside a
// *BackendError whose Op says what that was: the server answered, and nothing happened.
type DeniedError struct {
	Role string // the role of the session
	Err  error  // the database's answer
}

// Error reads "role reward_view may not do this: permission denied for table reward_ledger".
func (e *DeniedError) Error() string {
	return fmt.Sprintf("role %s may not do this: %v", e.Role, e.Err)
}

// Unwrap returns the database's answer.
func (e *DeniedError) Unwrap() error { return e.Err }

// SchemaError says that tables, columns or functions that were asked about are not there. It stands
// inside a *BackendError: the server answered, and nothing happened.
type SchemaError struct {
	Err error // the database's answer
}

// Error says what to do.
func (e *SchemaError) Error() string {
	return "the tables are not there or too old; run: rewardctl migrate up"
}

// Unwrap returns the database's answer.
func (e *SchemaError) Unwrap() error { return e.Err }

// More SQLSTATEs that are told apart; the others are listed with the verdicts.
const (
	insufficientPrivilege = "42501"
	invalidSchemaName     = "3F000"
)

// Answered returns err as a *DeniedError when the database refused it for lack of a privilege, as a
// *SchemaError when what was asked about is not there, by its SQLSTATE, and as it is otherwise.
// pool is where it was asked.
func Answered(pool *pgxpool.Pool, err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || Answers(err) {
		return err
	}
	switch answer.Code {
	case insufficientPrivilege:
		conn := pool.Config().ConnConfig
		role := conn.User
		if set := conn.RuntimeParams["role"]; set != "" {
			role = set
		}
		return &DeniedError{Role: role, Err: err}
	case undefinedTable, undefinedColumn, undefinedFunction, invalidSchemaName:
		return &SchemaError{Err: err}
	}
	return err
}

// Answers reports whether err is an answer of a server that works: a *DeniedError or a
// *SchemaError. Whatever else a *BackendError holds tells of a server in trouble.
func Answers(err error) bool {
	var denied *DeniedError
	var schema *SchemaError
	return errors.As(err, &denied) || errors.As(err, &schema)
}
