package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant"
)

// exitCode is what the process ends with. Scripts may rely on each number.
type exitCode int

// The codes. The README lists them in the same order.
const (
	exitOK           exitCode = 0   // done; for a grant: applied, or replayed
	exitFailure      exitCode = 1   // something else went wrong
	exitUsage        exitCode = 2   // command line, configuration or input is not valid
	exitNotFound     exitCode = 3   // the named thing does not exist
	exitPrecondition exitCode = 4   // what the command relied on has changed: owner, token, plan
	exitDenied       exitCode = 5   // not allowed: read-only, not confirmed
	exitFindings     exitCode = 6   // a check ran and found something
	exitApproval     exitCode = 7   // accepted, and waits for somebody else's approval
	exitUnavailable  exitCode = 8   // PostgreSQL or Redis does not answer
	exitPartial      exitCode = 9   // some of many were done
	exitMismatch     exitCode = 10  // the id is posted with other content
	exitHeld         exitCode = 11  // another owner holds the lease
	exitUnknown      exitCode = 12  // whether the grant was posted is not known
	exitInterrupted  exitCode = 130 // stopped by a signal
)

// word returns the code's name in JSON output.
func (c exitCode) word() string {
	switch c {
	case exitOK:
		return "ok"
	case exitFailure:
		return "failure"
	case exitUsage:
		return "invalid"
	case exitNotFound:
		return "not_found"
	case exitPrecondition:
		return "precondition"
	case exitDenied:
		return "denied"
	case exitFindings:
		return "findings"
	case exitApproval:
		return "awaits_approval"
	case exitUnavailable:
		return "backend_unavailable"
	case exitPartial:
		return "partial"
	case exitMismatch:
		return "mismatch"
	case exitHeld:
		return "lease_held"
	case exitUnknown:
		return "outcome_unknown"
	case exitInterrupted:
		return "interrupted"
	}
	return fmt.Sprintf("exit_%d", int(c))
}

// problem is an error as the person and the script shall see it.
type problem struct {
	exit    exitCode
	message string   // what went wrong; empty when the command has said it already
	field   string   // the flag, argument, setting or column that is wrong, when there is one
	value   string   // its value
	wayOut  string   // what to do about it
	backend string   // the server that does not answer, when it is one
	more    []string // further problems of the same command, a message each
	shown   bool     // the command printed a result of its own; no error object follows
	cause   error
}

// Error returns the message.
func (p *problem) Error() string { return p.message }

// Unwrap returns the error behind it.
func (p *problem) Unwrap() error { return p.cause }

// failureJSON is what a command that failed prints under -o json.
type failureJSON struct {
	Error errorJSON `json:"error"`
}

type errorJSON struct {
	Code    string `json:"code"`
	Exit    int    `json:"exit"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Value   string `json:"value,omitempty"`
	WayOut  string `json:"way_out,omitempty"`
	Backend string `json:"backend,omitempty"`

	More []string `json:"more,omitempty"` // further problems, a message each
}

func (p *problem) json() errorJSON {
	return errorJSON{
		Code: p.exit.word(), Exit: int(p.exit), Message: p.message, Field: p.field,
		Value: p.value, WayOut: p.wayOut, Backend: p.backend, More: p.more,
	}
}

// usage says that the command line is not valid, and what to write instead.
func usage(field, wayOut, format string, args ...any) *problem {
	return &problem{
		exit: exitUsage, field: field, wayOut: wayOut, message: fmt.Sprintf(format, args...),
	}
}

// denied says that the command is not allowed here, and what would allow it.
func denied(field, wayOut, format string, args ...any) *problem {
	return &problem{
		exit: exitDenied, field: field, wayOut: wayOut, message: fmt.Sprintf(format, args...),
	}
}

// notFound says that the named thing does not exist.
func notFound(field, value, wayOut, format string, args ...any) *problem {
	return &problem{
		exit: exitNotFound, field: field, value: value, wayOut: wayOut,
		message: fmt.Sprintf(format, args...),
	}
}

// ended gives an exit code to a command that has printed its result already.
func ended(code exitCode) error {
	if code == exitOK {
		return nil
	}
	return &problem{exit: code, shown: true}
}

// rule is one row of the table: it knows one kind of error.
type rule func(err error) (problem, bool)

// rules returns the table from error to exit code and words; the first that knows the error
// wins. It is used for messages and for JSON alike.
func rules() []rule {
	return []rule{
		ruleProblem, ruleRejection, ruleGate, ruleConfig, ruleDomain, rulePlan, ruleBackend,
		ruleInterrupted, ruleServer, ruleTimeout, ruleFile,
	}
}

// classify finds an error in the table. An error that no rule knows is a plain failure.
func classify(err error) problem {
	for _, r := range rules() {
		if p, ok := r(err); ok {
			return p
		}
	}
	return problem{exit: exitFailure, message: err.Error(), cause: err}
}

func ruleProblem(err error) (problem, bool) {
	var p *problem
	if !errors.As(err, &p) {
		return problem{}, false
	}
	return *p, true
}

func ruleRejection(err error) (problem, bool) {
	var r *grant.Rejection
	if !errors.As(err, &r) {
		return problem{}, false
	}
	return problem{
		exit: exitUsage, message: fmt.Sprintf("%s %q: %s", r.Field, r.Value, r.Problem),
		field: r.Field, value: r.Value, wayOut: r.WayOut, cause: err,
	}, true
}

func ruleGate(err error) (problem, bool) {
	var g *grant.GateError
	if !errors.As(err, &g) {
		return problem{}, false
	}
	return problem{
		exit: exitPrecondition, message: "granting is refused: " + g.Problem,
		wayOut: g.WayOut, cause: err,
	}, true
}

func ruleBackend(err error) (problem, bool) {
	var b *grant.BackendError
	if !errors.As(err, &b) {
		return problem{}, false
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return refusedBy(answer, b.Op, err), true
	}
	return unavailable(b.Backend, b.Op, b.Err), true
}

// ruleServer knows the drivers' own errors for a server that answers no or not at all.
func ruleServer(err error) (problem, bool) {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return refusedBy(answer, "ask", err), true
	}
	var c *pgconn.ConnectError
	if errors.As(err, &c) {
		return unavailable(grant.PostgreSQL, "connect", c.Unwrap()), true
	}
	var n *net.OpError
	if errors.As(err, &n) || errors.Is(err, syscall.ECONNREFUSED) {
		return problem{
			exit: exitUnavailable, message: "a server does not answer: " + err.Error(),
			wayOut: "see which one with: rewardctl doctor", cause: err,
		}, true
	}
	return problem{}, false
}

// refusedBy tells apart why PostgreSQL answered with an error, by the code of the answer.
func refusedBy(answer *pgconn.PgError, op string, err error) problem {
	p := problem{
		exit: exitFailure, backend: string(grant.PostgreSQL), cause: err,
		message: fmt.Sprintf("PostgreSQL refused (%s): %s (%s)", op, answer.Message, answer.Code),
		wayOut:  answer.Hint,
	}
	switch class := answer.Code[:min(2, len(answer.Code))]; {
	case contains([]string{"42P01", "42883", "3F000", "42703"}, answer.Code):
		p.exit = exitPrecondition
		p.wayOut = "the tables are not there or too old; run: rewardctl migrate up"
	case class == "28" || answer.Code == "3D000":
		p.exit = exitUsage
		p.wayOut = "check user, password and database with: rewardctl config show"
	case answer.Code == "42501":
		p.exit = exitDenied
		p.wayOut = "the database account may not do this; use another one"
	case answer.Code == "55P03":
		p.exit = exitPrecondition
		p.wayOut = "another session is at work on the same rows; give the same command again"
	case class == "08", class == "53", class == "57", answer.Code == "25006":
		p.exit = exitUnavailable
		p.wayOut = "the same command can be given again safely"
	}
	return p
}

func unavailable(backend grant.Backend, op string, err error) problem {
	name := "PostgreSQL"
	if backend == grant.Redis {
		name = "Redis"
	}
	return problem{
		exit: exitUnavailable, backend: string(backend), cause: err,
		message: fmt.Sprintf("%s does not answer (%s): %v", name, op, err),
		wayOut: "check the server and the context's address with: rewardctl config show; " +
			"the same command can then be given again safely",
	}
}

func ruleInterrupted(err error) (problem, bool) {
	if !errors.Is(err, context.Canceled) {
		return problem{}, false
	}
	return problem{exit: exitInterrupted, message: "interrupted", cause: err}, true
}

func ruleTimeout(err error) (problem, bool) {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return problem{}, false
	}
	return problem{
		exit: exitUnavailable, message: "a server did not answer in time: " + err.Error(),
		wayOut: "see which one with: rewardctl doctor", cause: err,
	}, true
}

func ruleFile(err error) (problem, bool) {
	var f *fs.PathError
	if !errors.As(err, &f) {
		return problem{}, false
	}
	p := problem{
		exit: exitFailure, field: f.Op, value: f.Path, cause: err,
		message: fmt.Sprintf("%s: %v", f.Path, f.Err),
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.exit, p.wayOut = exitNotFound, "check the spelling of the path"
	}
	return p, true
}

// outcomeExit is the exit code of one grant.
func outcomeExit(o grant.Outcome) exitCode {
	switch o {
	case grant.Applied, grant.Replayed:
		return exitOK
	case grant.Rejected:
		return exitUsage
	case grant.StaleToken, grant.TokenCollision:
		return exitPrecondition
	case grant.Mismatch:
		return exitMismatch
	case grant.LeaseHeld:
		return exitHeld
	case grant.Unknown:
		return exitUnknown
	case grant.Failed:
		return exitFailure
	}
	return exitFailure
}
