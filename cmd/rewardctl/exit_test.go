package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

func TestEveryOutcomeHasItsExitCode(t *testing.T) {
	t.Parallel()
	want := map[grant.Outcome]exitCode{
		grant.Rejected: 2, grant.LeaseHeld: 11, grant.StaleToken: 4, grant.TokenCollision: 4,
		grant.Mismatch: 10, grant.Replayed: 0, grant.Applied: 0, grant.Unknown: 12,
	}
	for _, o := range grant.Outcomes() {
		code, known := want[o]
		if !known {
			t.Errorf("%s has no exit code in the contract", o)
		}
		if got := outcomeExit(o); got != code {
			t.Errorf("%s ends with %d, want %d", o, got, code)
		}
	}
}

func TestErrorsAndTheirExitCodes(t *testing.T) {
	t.Parallel()
	down := &grant.BackendError{Backend: grant.Redis, Op: "acquire", Err: syscall.ECONNREFUSED}
	changed := &repair.PreconditionError{Resource: "r", Have: "2:b", Want: "1:a"}
	for name, c := range map[string]struct {
		err  error
		exit exitCode
		says string
	}{
		"backend":      {down, 8, "Redis does not answer"},
		"wrapped":      {fmt.Errorf("x: %w", down), 8, "Redis does not answer"},
		"rejection":    {&grant.Rejection{Field: "amount", Value: "0"}, 2, `amount "0"`},
		"gate":         {&grant.GateError{Problem: "no key"}, 4, "granting is refused"},
		"player":       {&inspect.NotFoundError{What: "player", Name: "p"}, 3, "not known"},
		"precondition": {changed, 4, "r has 2:b, not 1:a"},
		"busy":         {&repair.BusyError{Resource: "r"}, 4, "being written"},
		"file changed": {fmt.Errorf("f.csv: %w", batchfile.ErrChanged), 4, "changed after"},
		"file":         {&batchfile.FileError{Name: "f.csv", Line: 3}, 2, "f.csv, line 3"},
		"interrupted":  {fmt.Errorf("x: %w", context.Canceled), 130, "interrupted"},
		"timeout":      {context.DeadlineExceeded, 8, "in time"},
		"no file":      {&fs.PathError{Op: "open", Path: "f", Err: os.ErrNotExist}, 3, "f: "},
		"other file":   {&fs.PathError{Op: "open", Path: "f", Err: os.ErrPermission}, 1, "f: "},
		"usage":        {usage("x", "do y", "bad %s", "z"), 2, "bad z"},
		"denied":       {denied("x", "do y", "no"), 5, "no"},
		"unknown":      {errors.New("surprise"), 1, "surprise"},
		"no table":     {answered("42P01"), 4, "PostgreSQL refused"},
		"no login":     {answered("28P01"), 2, "PostgreSQL refused"},
		"no right":     {answered("42501"), 5, "PostgreSQL refused"},
		"shutting":     {answered("57P01"), 8, "PostgreSQL refused"},
		"no postgres":  {config.ErrNoPostgres, 2, "no PostgreSQL is configured"},
		"config": {errors.Join(&config.Error{Key: "a", Problem: "is bad"},
			&config.Error{Key: "b", Problem: "is bad"}), 2, "a is bad"},
	} {
		p := classify(c.err)
		if p.exit != c.exit || !strings.Contains(p.message, c.says) {
			t.Errorf("%s: exit %d, %q", name, p.exit, p.message)
		}
	}
}

// answered is a PostgreSQL that answers with an error code.
func answered(code string) error {
	return &grant.BackendError{
		Backend: grant.PostgreSQL, Op: "grant", Err: &pgconn.PgError{Code: code, Message: "no"},
	}
}

// A failed command prints JSON on stdout when JSON was asked for, and people read stderr.
func TestFailuresAreJSONToo(t *testing.T) {
	t.Parallel()
	a, out, messages := testApp("json")
	a.args = []string{"lease", "list", "-o", "json"}
	err := &grant.BackendError{Backend: grant.PostgreSQL, Op: "grant", Err: syscall.ECONNREFUSED}
	if code := a.report(err); code != exitUnavailable {
		t.Errorf("exit %d", code)
	}
	var got failureJSON
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if got.Error.Code != "backend_unavailable" || got.Error.Exit != 8 ||
		got.Error.Backend != "postgresql" || got.Error.WayOut == "" {
		t.Errorf("%+v", got.Error)
	}
	if !strings.Contains(messages.String(), "PostgreSQL does not answer") {
		t.Errorf("stderr says %q", messages.String())
	}
	out.Reset()
	if code := a.report(ended(exitMismatch)); code != exitMismatch || out.Len() > 0 {
		t.Errorf("a result that was shown is followed by %q, exit %d", out.String(), code)
	}
}

func TestExitWordsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]exitCode{}
	for _, c := range []exitCode{
		exitOK, exitFailure, exitUsage, exitNotFound, exitPrecondition, exitDenied, exitFindings,
		exitUnavailable, exitPartial, exitMismatch, exitHeld, exitUnknown, exitInterrupted,
	} {
		if other, twice := seen[c.word()]; twice || strings.HasPrefix(c.word(), "exit_") {
			t.Errorf("%d and %d are both %q", c, other, c.word())
		}
		seen[c.word()] = c
	}
}
