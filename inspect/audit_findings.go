package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// AuditFindings hands on the kept findings of a run, worst first, each with what was decided about
// it.
func (r *Reader) AuditFindings(ctx context.Context, run int64, take func(Finding) error) error {
	var own error
	err := r.stored(ctx, "read the findings", func(ctx context.Context, tx pgx.Tx) error {
		return eachFinding(ctx, tx, run, 0, func(f Finding) error {
			own = take(f)
			return own
		})
	})
	if own != nil {
		return own
	}
	return err
}

// AuditFinding returns one kept finding of a run. Its error is a *NotFoundError when there is none
// of that number.
func (r *Reader) AuditFinding(ctx context.Context, run, id int64) (Finding, error) {
	var found *Finding
	err := r.stored(ctx, "read the finding", func(ctx context.Context, tx pgx.Tx) error {
		return eachFinding(ctx, tx, run, id, func(f Finding) error {
			found = &f
			return nil
		})
	})
	if err != nil {
		return Finding{}, err
	}
	if found == nil {
		return Finding{}, &NotFoundError{What: "finding", Name: fmt.Sprint(id)}
	}
	return *found, nil
}

// eachFinding reads findings of a run: one, or all when id is 0.
func eachFinding(
	ctx context.Context, tx pgx.Tx, run, id int64, take func(Finding) error,
) error {
	sql, err := statement("findings")
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"run": run, "finding": id})
	if err != nil {
		return err
	}
	var s scannedFinding
	_, err = pgx.ForEachRow(rows, s.targets(), func() error {
		f, err := s.finding()
		if err != nil {
			return err
		}
		return take(f)
	})
	return err
}

// AuditChange says what became of a finding from one run to a later one.
type AuditChange string

// What can become of a finding.
const (
	FindingNew   AuditChange = "new"
	FindingStill AuditChange = "still" // both runs have it
	FindingGone  AuditChange = "gone"
	// FindingUnread: it cannot be told, because one of the runs did not read the check to its end,
	// or the later one read only what was new.
	FindingUnread AuditChange = "unread"
)

// AuditChanges is a comparison of two runs.
type AuditChanges struct {
	Older, Newer AuditRun
	Counts       map[AuditChange]int
	// Changes are by the number of the finding, of the newer run where both have it.
	Changes map[int64]AuditChange
}

// AuditPrevious returns the number of the run that a run is compared with: the newest before it
// that read one of its checks to the end. It is 0 when there is none.
func (r *Reader) AuditPrevious(ctx context.Context, run int64) (int64, error) {
	sql, err := statement("previous")
	if err != nil {
		return 0, err
	}
	type row struct {
		Run int64 `db:"run_id"`
	}
	var found []row
	err = r.stored(ctx, "find the audit before", func(ctx context.Context, tx pgx.Tx) error {
		found, err = collect[row](ctx, tx, sql, struct {
			Run int64 `db:"run"`
		}{run})
		return err
	})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].Run, nil
}

// AuditCompare compares the findings of two runs. Its error is a *NotFoundError when one of the
// runs does not exist.
func (r *Reader) AuditCompare(ctx context.Context, older, newer int64) (AuditChanges, error) {
	out := AuditChanges{Counts: map[AuditChange]int{}, Changes: map[int64]AuditChange{}}
	var err error
	if out.Older, err = r.AuditRun(ctx, older); err != nil {
		return out, err
	}
	if out.Newer, err = r.AuditRun(ctx, newer); err != nil {
		return out, err
	}
	sql, err := statement("compare")
	if err != nil {
		return out, err
	}
	type row struct {
		Finding int64  `db:"finding_id"`
		Run     int64  `db:"run_id"`
		Change  string `db:"change"`
	}
	err = r.stored(ctx, "compare two audits", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[row](ctx, tx, sql, struct {
			Older int64 `db:"older"`
			Newer int64 `db:"newer"`
		}{older, newer})
		for _, one := range rows {
			out.Changes[one.Finding] = AuditChange(one.Change)
			out.Counts[AuditChange(one.Change)]++
		}
		return err
	})
	return out, err
}
