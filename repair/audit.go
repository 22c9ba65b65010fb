package repair

import (
	"context"
	"encoding/json"
	"fmt"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// AuditState is what became of a run of audits.
type AuditState string

// The states of a run. A run that was killed stays running, and can go on like a stopped one.
const (
	AuditRunning AuditState = "running"
	AuditDone    AuditState = "done"
	AuditStopped AuditState = "stopped" // by whoever started it
	AuditFailed  AuditState = "failed"
)

// AuditRecord is what is written down when a run begins.
type AuditRecord struct {
	Checks      []string
	Options     map[string]string // what the run was asked for, in words
	Origin      string            // the server and tables that its marks belong to
	Parts       int
	Incremental bool
	Command     string // the command line that does the same
}

// AuditUnit is a part of a check that was read to its end.
type AuditUnit struct {
	Check, Unit string
	Mark        int64 // transactions below it were all seen
	Rows        int64
	Findings    int64
}

// AuditCheck is a check that was read to its end.
type AuditCheck struct {
	Check    string
	Since    int64 // the mark it began at; 0 when it read everything
	Mark     int64
	Findings int64
}

// AuditFinding is one finding as it is kept.
type AuditFinding struct {
	Check, Word, Severity, Rule, What, Table string

	PlayerID, EventID string // empty when it concerns no single one
	Count             int64  // rows it concerns
	Columns           []string
	Rows              [][]*string // some of them, side by side; nil is null
	Differs           []string    // the columns in which they differ
	Proof, Remedy     string
	Fingerprint       string // the same finding in the same run is kept once
}

// StartAudit writes down that a run begins and returns its number.
func (o *Operator) StartAudit(ctx context.Context, r AuditRecord) (int64, error) {
	type args struct {
		Checks      []string          `db:"checks"`
		Options     map[string]string `db:"options"`
		Origin      string            `db:"origin"`
		Parts       int               `db:"parts"`
		Incremental bool              `db:"incremental"`
		Operator    string            `db:"operator"`
		Command     string            `db:"command"`
	}
	type row struct {
		RunID int64 `db:"run_id"`
	}
	if r.Options == nil {
		r.Options = map[string]string{}
	}
	var started *row
	err := o.write(ctx, "start the audit", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		started, err = first(collect[row](ctx, tx, auditStartSQL, args{
			r.Checks, r.Options, r.Origin, r.Parts, r.Incremental, o.opts.Operator, r.Command,
		}))
		return err
	})
	return value(started).RunID, err
}

// ResumeAudit writes down that a run goes on. It returns a *grant.Rejection when there is no such
// run, or it was read to its end.
func (o *Operator) ResumeAudit(ctx context.Context, run int64) error {
	type row struct {
		State string `db:"state"`
	}
	return o.write(ctx, "go on with the audit", func(ctx context.Context, tx pgx.Tx) error {
		found, err := first(collect[row](ctx, tx, auditResumeSQL, runArgs{run}))
		if err == nil && found == nil {
			return &grant.Rejection{
				Field: "run", Value: fmt.Sprint(run), Problem: "cannot go on: it does not exist, or " +
					"was read to its end", WayOut: "see: rewardctl audit list",
			}
		}
		return err
	})
}

type runArgs struct {
	Run int64 `db:"run"`
}

// RecordAuditUnit writes down that a part was read, so that a run that goes on leaves it out.
// Writing the same part again changes nothing.
func (o *Operator) RecordAuditUnit(ctx context.Context, run int64, u AuditUnit) error {
	return o.record(ctx, auditUnitSQL, struct {
		Run      int64  `db:"run"`
		Check    string `db:"check_name"`
		Unit     string `db:"unit"`
		Mark     int64  `db:"mark"`
		Rows     int64  `db:"rows_read"`
		Findings int64  `db:"findings"`
	}{run, u.Check, u.Unit, u.Mark, u.Rows, u.Findings})
}

// RecordAuditCheck writes down that a check was read to its end: the next incremental run begins
// at its mark.
func (o *Operator) RecordAuditCheck(ctx context.Context, run int64, c AuditCheck) error {
	var since *int64
	if c.Since > 0 {
		since = &c.Since
	}
	return o.record(ctx, auditCheckSQL, struct {
		Run   int64  `db:"run"`
		Check string `db:"check_name"`
		Since *int64 `db:"since"`
		Mark  int64  `db:"mark"`
	}{run, c.Check, since, c.Mark})
}

// RecordAuditFindings keeps findings, each once per run.
func (o *Operator) RecordAuditFindings(ctx context.Context, run int64, all []AuditFinding) error {
	if len(all) == 0 {
		return nil
	}
	type item struct {
		Check       string          `json:"check_name"`
		Word        string          `json:"word"`
		Severity    string          `json:"severity"`
		Rule        string          `json:"rule"`
		What        string          `json:"what"`
		Relation    string          `json:"relation"`
		PlayerID    string          `json:"player_id"`
		EventID     string          `json:"reward_event_id"`
		Count       int64           `json:"row_count"`
		Evidence    json.RawMessage `json:"evidence"`
		Proof       string          `json:"proof"`
		Remedy      string          `json:"remedy"`
		Fingerprint string          `json:"fingerprint"`
	}
	items := make([]item, 0, len(all))
	for _, f := range all {
		evidence, err := json.Marshal(map[string]any{
			"columns": f.Columns, "rows": f.Rows, "differs": f.Differs,
		})
		if err != nil {
			return err
		}
		items = append(items, item{
			f.Check, f.Word, f.Severity, f.Rule, f.What, f.Table, f.PlayerID, f.EventID, f.Count,
			evidence, f.Proof, f.Remedy, f.Fingerprint,
		})
	}
	text, err := json.Marshal(items)
	if err != nil {
		return err
	}
	return o.record(ctx, auditFindingSQL, struct {
		Run      int64  `db:"run"`
		Findings string `db:"findings"`
	}{run, string(text)})
}

// EndAudit writes down what became of a run, and why if it failed.
func (o *Operator) EndAudit(
	ctx context.Context, run int64, state AuditState, problem string,
) error {
	return o.record(ctx, auditEndSQL, struct {
		Run     int64  `db:"run"`
		State   string `db:"state"`
		Problem string `db:"problem"`
	}{run, string(state), problem})
}

// record runs one statement that writes down a piece of a run.
func (o *Operator) record(ctx context.Context, sql string, args any) error {
	return o.write(ctx, "record the audit", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql, pgx.StrictStructArgs(args))
		return err
	})
}
