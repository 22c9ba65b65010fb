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

const insufficientPrivilege = "42501" // SQLSTATE

// Denied returns err as a *DeniedError when the database refused it for lack of a privilege, by
// its SQLSTATE, and as it is otherwise. pool is where it was asked.
func Denied(pool *pgxpool.Pool, err error) error {
	var answer *pgconn.PgError
	var already *DeniedError
	if !errors.As(err, &answer) || answer.Code != insufficientPrivilege || errors.As(err, &already) {
		return err
	}
	conn := pool.Config().ConnConfig
	role := conn.User
	if set := conn.RuntimeParams["role"]; set != "" {
		role = set
	}
	return &DeniedError{Role: role, Err: err}
}
