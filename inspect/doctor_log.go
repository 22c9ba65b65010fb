package inspect

import (
	"context"
	"fmt"
	"time"
)

// intentAgeMax is how long a deed may take before it counts as cut off.
const intentAgeMax = time.Minute

// examineLog looks at the operator log: is it chained, does its end fit, was a deed cut off?
func (r *Reader) examineLog(ctx context.Context, d *Diagnosis) {
	type row struct {
		HasHead bool  `db:"has_head"`
		Fits    bool  `db:"fits"`
		HeadID  int64 `db:"head_id"`
		LastID  int64 `db:"last_id"`
		Chained bool  `db:"chained"`
	}
	check := Check{
		Name: "operator log", Level: Warning,
		Why: "a log whose chain is broken proves nothing about what operators did",
	}
	rows, err := examine[row](ctx, r, doctorLogSQL, none{})
	switch {
	case err != nil:
		d.unseen(check, err)
	default:
		seen := rows[0]
		check.Fix = "run: rewardctl oplog verify"
		switch {
		case !seen.Chained:
			check.Value = "the trigger that chains rows is gone or does not fire for everybody"
			check.Fix = "ALTER TABLE operator_action ENABLE ALWAYS TRIGGER operator_action_chained"
		case !seen.HasHead:
			check.Value = "the head is gone: no deed can be written down"
		case !seen.Fits:
			check.Value = fmt.Sprintf("ends at row %d, its head says %d", seen.LastID, seen.HeadID)
		default:
			check.Value = fmt.Sprintf("chained up to row %d, which fits its head", seen.LastID)
		}
		d.add(check, seen.Chained && seen.HasHead && seen.Fits)
	}
	r.examineIntents(ctx, d)
	r.examineGlass(ctx, d)
}

// examineIntents looks for deeds that were cut off between intent and result.
func (r *Reader) examineIntents(ctx context.Context, d *Diagnosis) {
	type row struct {
		Intents  int64     `db:"intents"`
		ID       int64     `db:"id"`
		Action   string    `db:"action"`
		Target   string    `db:"target"`
		Operator string    `db:"operator"`
		At       time.Time `db:"created_at"`
	}
	check := Check{
		Name: "unfinished deeds", Level: Warning,
		Why: "a deed with an intent and no result was cut off: its effect may be half there",
		Fix: "look with: rewardctl oplog list --unfinished; then give the same command again, which " +
			"finishes the deed or refuses",
	}
	rows, err := examine[row](ctx, r, doctorIntentSQL, struct {
		Before time.Time `db:"before"`
	}{r.opts.Now().Add(-intentAgeMax)})
	if err != nil {
		d.unseen(check, err)
		return
	}
	if len(rows) == 0 {
		check.Value = "none"
		d.add(check, true)
		return
	}
	oldest := rows[0]
	check.Value = fmt.Sprintf("%d without a result; the oldest is row %d: %s %s by %s at %s",
		oldest.Intents, oldest.ID, oldest.Action, oldest.Target, oldest.Operator,
		oldest.At.UTC().Format(time.RFC3339))
	d.add(check, false)
}
