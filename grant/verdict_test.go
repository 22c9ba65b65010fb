package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func pgError(severity, code string) error {
	return fmt.Errorf("exec: %w", &pgconn.PgError{SeverityUnlocalized: severity, Code: code})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		err  error
		want verdict
	}{
		{"deadlock", pgError("ERROR", "40P01"), retry},
		{"serialization", pgError("ERROR", "40001"), retry},
		{"lock timeout", pgError("ERROR", "55P03"), retry},
		{"plan outdated by a migration", pgError("ERROR", "0A000"), retry},
		{"another timeline", pgError("ERROR", "RWT01"), wrongSchema},
		{"statement cancelled", pgError("ERROR", "57014"), noEffect},
		{"disk full", pgError("ERROR", "53100"), noEffect},
		{"read only", pgError("ERROR", "25006"), noEffect},
		{"no privilege", pgError("ERROR", "42501"), noEffect},
		{"number out of range", pgError("ERROR", "22003"), poison},
		{"check violated", pgError("ERROR", "23514"), poison},
		{"raised by a trigger", pgError("ERROR", "P0001"), poison},
		{"no arbiter index", pgError("ERROR", "42P10"), wrongSchema},
		{"no table", pgError("ERROR", "42P01"), wrongSchema},
		{"no function", pgError("ERROR", "42883"), wrongSchema},
		{"deferrable arbiter", pgError("ERROR", "55000"), wrongSchema},
		{"shut down", pgError("FATAL", "57P01"), doubt},
		{"crash", pgError("PANIC", "XX000"), doubt},
		{"fatal data error", pgError("FATAL", "22003"), doubt},
		{"commit turned into rollback", pgx.ErrTxCommitRollback, noEffect},
		{"connection closed", io.EOF, doubt},
		{"closed, and called safe to retry", closedError{pgconn.ErrConnClosed}, doubt},
		{"not sent, and safe to retry", closedError{io.EOF}, noEffect},
		{"half a message", io.ErrUnexpectedEOF, doubt},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, doubt},
		{"deadline", context.DeadlineExceeded, doubt},
		{"empty code", pgError("ERROR", ""), noEffect},
		{"anything else", errors.New("conn closed"), doubt},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := judge(c.err); got != c.want {
				t.Errorf("judge(%v) = %d, want %d", c.err, got, c.want)
			}
		})
	}
}

// closedError is an error that the driver calls safe to retry.
type closedError struct{ error }

func (e closedError) SafeToRetry() bool { return true }

func (e closedError) Unwrap() error { return e.error }

// No code of any severity but ERROR may ever count as proof that nothing happened.
func FuzzJudge(f *testing.F) {
	f.Add("ERROR", "40001")
	f.Add("FATAL", "57P01")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, severity, code string) {
		got := judge(pgError(severity, code))
		if severity != "ERROR" && got != doubt {
			t.Errorf("severity %q code %q: verdict %d", severity, code, got)
		}
	})
}
