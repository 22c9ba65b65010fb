package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// AuditRun is a run as it was written down.
type AuditRun struct {
	ID          int64
	State       string // running, done, stopped or failed
	Checks      []string
	Options     map[string]string
	Origin      string
	Parts       int
	Incremental bool
	Operator    string
	DBUser      string
	Command     string
	Problem     string // why it failed
	Started     time.Time
	Seen        time.Time // its last sign of life
	Ended       time.Time // zero while it runs
	// UnitsDone is how many parts were read to their end; ChecksDone names the checks that were.
	UnitsDone  int64
	ChecksDone []string
	Findings   int64 // kept
	Critical   int64 // of them
	// Acknowledged counts the findings that somebody has looked at; CriticalAcknowledged those of
	// them that are critical.
	Acknowledged, CriticalAcknowledged int64
}

type auditRunRow struct {
	ID          int64      `db:"run_id"`
	State       string     `db:"state"`
	Checks      []string   `db:"checks"`
	Options     []byte     `db:"options"`
	Origin      string     `db:"origin"`
	Parts       int        `db:"parts"`
	Incremental bool       `db:"incremental"`
	Operator    string     `db:"requested_by"`
	DBUser      string     `db:"db_user"`
	Command     string     `db:"command"`
	Problem     *string    `db:"problem"`
	Started     time.Time  `db:"started_at"`
	Seen        time.Time  `db:"seen_at"`
	Ended       *time.Time `db:"ended_at"`
	UnitsDone   int64      `db:"units_done"`
	ChecksDone  []string   `db:"checks_done"`
	Findings    int64      `db:"findings"`
	Critical    int64      `db:"critical"`

	Acknowledged         int64 `db:"acknowledged"`
	CriticalAcknowledged int64 `db:"critical_acknowledged"`
}

func (r auditRunRow) run() (AuditRun, error) {
	out := AuditRun{
		ID: r.ID, State: r.State, Checks: r.Checks, Origin: r.Origin, Parts: r.Parts,
		Incremental: r.Incremental, Operator: r.Operator, DBUser: r.DBUser, Command: r.Command,
		Problem: value(r.Problem), Started: r.Started, Seen: r.Seen, Ended: value(r.Ended),
		UnitsDone: r.UnitsDone, ChecksDone: r.ChecksDone, Findings: r.Findings, Critical: r.Critical,
		Acknowledged: r.Acknowledged, CriticalAcknowledged: r.CriticalAcknowledged,
	}
	err := json.Unmarshal(r.Options, &out.Options)
	return out, err
}

// NoAuditTablesError says that runs are not kept here: the tables for them are missing. Audits
// can run all the same.
type NoAuditTablesError struct{ Err error }

// Error says what to do.
func (e *NoAuditTablesError) Error() string {
	return "the tables that keep audits are missing; run: rewardctl migrate up"
}

// Unwrap returns the database's error.
func (e *NoAuditTablesError) Unwrap() error { return e.Err }

// stored runs a question about kept runs.
func (r *Reader) stored(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	err := r.read(ctx, op, fn)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42P01" { // undefined table
		return &NoAuditTablesError{err}
	}
	return err
}

// AuditRuns returns the latest runs, newest first.
func (r *Reader) AuditRuns(ctx context.Context, limit int) ([]AuditRun, error) {
	return r.auditRuns(ctx, 0, limit)
}

// AuditRun returns one run. Its error is a *NotFoundError when there is none of that number.
func (r *Reader) AuditRun(ctx context.Context, id int64) (AuditRun, error) {
	runs, err := r.auditRuns(ctx, id, 1)
	if err != nil {
		return AuditRun{}, err
	}
	if len(runs) == 0 {
		return AuditRun{}, &NotFoundError{What: "audit run", Name: fmt.Sprint(id)}
	}
	return runs[0], nil
}

func (r *Reader) auditRuns(ctx context.Context, id int64, limit int) ([]AuditRun, error) {
	sql, err := statement("runs")
	if err != nil {
		return nil, err
	}
	var runs []AuditRun
	err = r.stored(ctx, "list the audits", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[auditRunRow](ctx, tx, sql, struct {
			Run   int64 `db:"run"`
			Limit int   `db:"limit"`
		}{id, limit})
		if err != nil {
			return err
		}
		for _, row := range rows {
			run, err := row.run()
			if err != nil {
				return err
			}
			runs = append(runs, run)
		}
		return nil
	})
	return runs, err
}

// AuditDone returns the parts of a run that were read to their end, for a run that goes on.
func (r *Reader) AuditDone(ctx context.Context, run int64) (map[string]map[string]int64, error) {
	sql, err := statement("parts_done")
	if err != nil {
		return nil, err
	}
	done := map[string]map[string]int64{}
	err = r.stored(ctx, "read the audit", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"run": run})
		if err != nil {
			return err
		}
		var check, unit string
		var mark int64
		_, err = pgx.ForEachRow(rows, []any{&check, &unit, &mark}, func() error {
			if done[check] == nil {
				done[check] = map[string]int64{}
			}
			done[check][unit] = mark
			return nil
		})
		return err
	})
	return done, err
}

// AuditSince returns, per check, the mark at which an incremental run begins, and the origin that
// the marks belong to. Checks that were never read to their end are missing.
func (r *Reader) AuditSince(ctx context.Context) (map[string]int64, string, error) {
	sql, err := statement("marks")
	if err != nil {
		return nil, "", err
	}
	marks, origin := map[string]int64{}, ""
	err = r.stored(ctx, "read the last audit", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		var check, of string
		var mark int64
		_, err = pgx.ForEachRow(rows, []any{&check, &mark, &of}, func() error {
			if origin == "" || of == origin {
				marks[check], origin = mark, of
			}
			return nil
		})
		return err
	})
	return marks, origin, err
}

// Stopped reports whether a run that counts as running gives no sign of life any more.
func (r AuditRun) Stopped(now time.Time) bool {
	return r.State == "running" && now.Sub(r.Seen) > silentAfter
}

// silentAfter is how long a living run may take for one part.
const silentAfter = 10 * time.Minute
