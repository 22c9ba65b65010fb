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
	r.examinePosters(ctx, d)
}

// examinePosters looks for operators who can post past the log, and whether this one can post.
func (r *Reader) examinePosters(ctx context.Context, d *Diagnosis) {
	type row struct {
		Workers    int64  `db:"workers"`
		First      string `db:"first_worker"`
		CannotPost bool   `db:"cannot_post"`
	}
	check := Check{
		Name: "operators' accounts", Level: Warning, Value: "post only with a row of the log",
		Why: "an operator whose account is a worker's as well can post by hand, and nothing tells " +
			"who did it",
		Fix: "give a person the role operator alone, then run: rewardctl migrate roles",
	}
	rows, err := examine[row](ctx, r, doctorPosterSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	switch seen := rows[0]; {
	case seen.CannotPost:
		check.Value = "this account may write the log, but not call reward_grant_logged"
		check.Why = "its grants and reversals are refused: the roles are older than the tables"
		check.Fix = "as an account that may make roles, run: rewardctl migrate roles"
	case seen.Workers > 0:
		check.Value = fmt.Sprintf("%d can post without a row of the log, %s among them",
			seen.Workers, seen.First)
	default:
		d.add(check, true)
		return
	}
	d.add(check, false)
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
