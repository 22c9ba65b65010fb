package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// BrokenGlass is a run that began without a second person, by breaking the glass, and that nobody
// else has looked at since.
type BrokenGlass struct {
	Plan     int64     `db:"plan_id"`
	State    string    `db:"state"` // of the plan
	Operator string    `db:"operator"`
	Reason   string    `db:"reason"`
	At       time.Time `db:"used_at"` // when the run began under it
}

// glassMax is how many are listed.
const glassMax = 100

type glassArgs struct {
	Before *time.Time `db:"before"` // nil for all
	Limit  int64      `db:"limit"`
}

// glassBefore lists the broken glass of before a time, oldest first. The error is a
// *grant.BackendError.
func (r *Reader) glassBefore(
	ctx context.Context, before time.Time,
) (glass []BrokenGlass, err error) {
	type row struct {
		BrokenGlass
		Plans int64 `db:"plans"`
	}
	err = r.read(ctx, "list broken glass", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[row](ctx, tx, doctorGlassSQL, glassArgs{&before, glassMax})
		for _, one := range rows {
			glass = append(glass, one.BrokenGlass)
		}
		return err
	})
	return glass, err
}

// examineGlass looks for plans that ran without a second person and that wait for his signature.
func (r *Reader) examineGlass(ctx context.Context, d *Diagnosis) {
	type row struct {
		BrokenGlass
		Plans int64 `db:"plans"`
	}
	check := Check{
		Name: "broken glass", Level: Warning,
		Why: "a plan that ran in an emergency without a second person has to be looked at by one",
	}
	rows, err := examine[row](ctx, r, doctorGlassSQL, glassArgs{Limit: 1})
	switch {
	case err != nil:
		d.unseen(check, err)
		return
	case len(rows) == 0:
		check.Value = "no plan waits for a review"
		d.add(check, true)
		return
	}
	oldest := rows[0]
	check.Value = fmt.Sprintf("%d to be reviewed; the oldest for %s: plan %d by %s: %s", oldest.Plans,
		d.At.Sub(oldest.At).Round(time.Minute), oldest.Plan, oldest.Operator, oldest.Reason)
	check.Fix = fmt.Sprintf("somebody else than who made the plan or broke the glass runs: "+
		"rewardctl grant approve %d --reason WHY; list all with: rewardctl grant list --unreviewed",
		oldest.Plan)
	d.add(check, false)
}
