package grant

import (
	"errors"
	"fmt"
)

// Backend names a server that rewardctl depends on.
type Backend string

// The two servers.
const (
	PostgreSQL Backend = "postgresql"
	Redis      Backend = "redis"
)

// BackendError says that a server could not be reached or refused the call.
type BackendError struct {
	Backend Backend
	Op      string // what was tried, such as "acquire" or "grant"
	// Doubt is true when the call may have taken effect although no answer arrived. An error
	// without doubt proves that nothing happened.
	Doubt bool
	Err   error
}

// Error reads "redis: acquire: connection refused".
func (e *BackendError) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Backend, e.Op, e.Err)
	if e.Doubt {
		s += " (may have taken effect)"
	}
	return s
}

// Unwrap returns the driver's error.
func (e *BackendError) Unwrap() error { return e.Err }

// Unavailable reports whether err says that a server could not be reached or could not serve.
func Unavailable(err error) bool {
	var b *BackendError
	return errors.As(err, &b)
}

// Rejection says why a request is invalid: the field, its value and the way out.
type Rejection struct {
	Field   string
	Value   string
	Problem string // such as "is empty"
	WayOut  string // such as "name the player with --player"
}

// Error reads `amount "0": is not above zero; give a whole number from 1`.
func (r *Rejection) Error() string {
	return fmt.Sprintf("%s %q: %s; %s", r.Field, r.Value, r.Problem, r.WayOut)
}

// GateError says that the schema does not protect the ledger, so the engine refuses to grant.
// Reads and audits stay usable.
type GateError struct {
	Problem string
	WayOut  string
}

// Error reads "granting is refused: ...; ...".
func (g *GateError) Error() string {
	return "granting is refused: " + g.Problem + "; " + g.WayOut
}
