package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The codes by which the triggers of 00006_plan.sql refuse.
const (
	codeState    = "RW001" // the plan is not in a state for it
	codeApproval = "RW002" // no approval is in force
	codeRows     = "RW003" // the rows are not those that were shown
	codeOwn      = "RW004" // one's own plan
)

// refusalCode returns which of them an error is; "" for none.
func refusalCode(err error) string {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return ""
	}
	switch answer.Code {
	case codeState, codeApproval, codeRows, codeOwn:
		return answer.Code
	}
	return ""
}

// begin begins or joins the run. done means that there is nothing to do.
func (w *planWork) begin(ctx context.Context) (done bool, err error) {
	if w.plan, err = w.o.Plan(ctx, w.run.Plan.ID); err != nil {
		return false, err
	}
	w.report.Plan = w.plan
	if refusal := w.o.checkRef(ctx, w.deed(), &w.plan, w.run.Plan); refusal != nil {
		return false, refusal
	}
	if w.plan.State == PlanDone {
		return true, nil
	}
	if err := w.runnable(ctx); err != nil {
		return false, err
	}
	if err := w.drift(ctx); err != nil {
		return false, err
	}
	w.run.OnStep(PlanStepBegin)
	err = w.o.writeWaiting(ctx, "begin the plan", planLockWait, w.beginIn)
	if code := refusalCode(err); code != "" {
		return false, w.refused(ctx, code)
	}
	if err == nil {
		w.plan, err = w.o.Plan(ctx, w.run.Plan.ID)
		w.report.Plan = w.plan
	}
	return w.plan.State == PlanDone, err
}

// runnable refuses what the state of the plan does not allow, in words. The database decides
// again.
func (w *planWork) runnable(ctx context.Context) error {
	switch w.plan.State {
	case PlanReady, PlanRunning, PlanPaused, PlanStopped, PlanDone:
		return nil
	case PlanApproved:
		if a := w.plan.Approval(); a == nil || !a.InForce(w.plan.ReadAt) {
			return w.refused(ctx, codeApproval)
		}
		return nil
	case PlanWaiting:
		return w.refused(ctx, codeApproval)
	case PlanRejected, PlanCancelled:
	}
	return w.refused(ctx, codeState)
}

// refused turns a refusal into an error for people, and logs it.
func (w *planWork) refused(ctx context.Context, code string) error {
	if again, err := w.o.Plan(ctx, w.plan.ID); err == nil {
		w.plan, w.report.Plan = again, again
	}
	return w.o.planRefusal(ctx, w.deed(), w.plan.Reason, &w.plan, code)
}

// drift compares with what was previewed, when the run has not begun yet. A plan that is over a
// limit by now waits for approval.
func (w *planWork) drift(ctx context.Context) error {
	if !w.plan.StartedAt.IsZero() {
		return nil
	}
	plan, now, err := w.o.PreviewPlan(ctx, w.plan.ID)
	if err != nil {
		return err
	}
	was := &plan.Preview
	if w.run.Seen != nil {
		was = w.run.Seen
	}
	drift := now.DriftFrom(was)
	// Another process may have begun meanwhile: then its grants are the drift.
	if plan, err = w.o.Plan(ctx, plan.ID); err != nil || !plan.StartedAt.IsZero() {
		return err
	}
	if len(now.Over) > 0 && !plan.NeedsApproval {
		return w.mustWait(ctx, now.Over)
	}
	if w.run.AcceptDrift || len(drift) == 0 {
		return nil
	}
	refusal := &DriftError{Plan: plan, Now: now, Drift: drift}
	words := make([]string, len(drift))
	for i, d := range drift {
		words[i] = d.String()
	}
	refusal.DenialID, refusal.LogProblem = w.o.logDenied(ctx, w.deed(), plan.Reason,
		"denied: it is not as it was previewed", map[string]string{
			"drift": cutText(strings.Join(words, "; "), problemMax),
		})
	return refusal
}

// mustWait has a plan wait for approval that was within the limits when it was made.
func (w *planWork) mustWait(ctx context.Context, over []OverLimit) error {
	err := w.o.write(ctx, "have the plan wait", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, planWaitSQL, pgx.StrictStructArgs(struct {
			Plan int64       `db:"plan"`
			Over []OverLimit `db:"over"`
		}{w.plan.ID, over}))
		return err
	})
	if err != nil {
		return err
	}
	return w.refused(ctx, codeApproval)
}

// beginIn begins or joins the run inside a transaction that holds the plan.
func (w *planWork) beginIn(ctx context.Context, tx pgx.Tx) error {
	held, err := lockPlan(ctx, tx, w.plan.ID)
	if err != nil || held == nil {
		return err
	}
	outcome := "begun"
	state := PlanState(held.State)
	switch {
	case state == PlanDone:
		return nil
	case state == PlanRunning && held.NeedsApproval && held.Idle:
		// It lay still for longer than an approval lasts: the trigger looks for one again.
		if err := movePlan(ctx, tx, w.o, w.plan.ID, PlanStopped, false); err != nil {
			return err
		}
		outcome = "gone on"
	case state == PlanRunning:
		w.report.Joined, outcome = true, "joined"
	case state == PlanPaused || state == PlanStopped:
		outcome = "gone on"
	}
	if !w.report.Joined {
		if err := movePlan(ctx, tx, w.o, w.plan.ID, PlanRunning, false); err != nil {
			return err
		}
	}
	if state == PlanStopped {
		_, err := tx.Exec(ctx, planReopenSQL, pgx.StrictStructArgs(planArgs{w.plan.ID}))
		if err != nil {
			return err
		}
	}
	row, err := w.o.log(ctx, tx, entry{
		action: w.deed(), phase: phaseIntent, arguments: w.arguments(),
		observed: map[string]string{"state": held.State, "hash": w.plan.Hash},
		reason:   w.plan.Reason, outcome: outcome, approval: w.approval(),
	})
	w.report.IntentID = row.ID
	return err
}

func (w *planWork) approval() int64 {
	if a := w.plan.Approval(); w.plan.NeedsApproval && a != nil {
		return a.ID
	}
	return 0
}

func (w *planWork) arguments() map[string]string {
	args := map[string]string{"claimant": w.claimant}
	if w.run.Rate > 0 {
		args["rate"] = strconv.FormatFloat(w.run.Rate, 'g', -1, 64)
	}
	if w.run.MaxErrors > 0 {
		args["max_errors"] = strconv.FormatInt(w.run.MaxErrors, 10)
	}
	if w.run.AcceptDrift {
		args["accept_drift"] = "yes"
	}
	return args
}

// Action returns the run as an Action, for its command line.
func (r PlanRun) Action() Action { return r.deed() }

func (r PlanRun) deed() planDeed {
	argv := []string{"grant", "apply", strconv.FormatInt(r.Plan.ID, 10)}
	if r.Rate > 0 {
		argv = append(argv, "--rate", strconv.FormatFloat(r.Rate, 'g', -1, 64))
	}
	if r.MaxErrors > 0 {
		argv = append(argv, "--max-errors", strconv.FormatInt(r.MaxErrors, 10))
	}
	if r.AcceptDrift {
		argv = append(argv, "--accept-drift")
	}
	return planDeed{"grant apply", r.Plan.ID, argv}
}

// deed is this run as an Action.
func (w *planWork) deed() planDeed { return w.run.deed() }

// hashes remembers the hash of every part, and compares all of them with the plan's: what a part
// holds when it is claimed is compared with what was approved, whatever the database says then.
func (w *planWork) hashes(ctx context.Context) error {
	rows, err := readRows[struct {
		Chunk int    `db:"chunk"`
		Hash  []byte `db:"hash"`
	}](ctx, w.o, "read the hashes of the plan", planHashesSQL, planArgs{w.plan.ID})
	if err != nil {
		return err
	}
	content := sha256.New()
	w.chunks = make(map[int][sha256.Size]byte, len(rows))
	for _, row := range rows {
		content.Write(row.Hash)
		if len(row.Hash) == sha256.Size {
			w.chunks[row.Chunk] = [sha256.Size]byte(row.Hash)
		}
	}
	now := planHash(w.plan.Campaign, w.plan.Reason, w.plan.RequestedBy, content.Sum(nil))
	if hexHash(now) == w.plan.Hash {
		return nil
	}
	return w.tampered(ctx, "")
}

func (w *planWork) tampered(ctx context.Context, where string) error {
	refusal := &PlanTamperedError{Plan: w.plan, Where: where}
	refusal.DenialID, _ = w.o.logDenied(ctx, w.deed(), w.plan.Reason,
		"denied: rows were changed in the database", map[string]string{"where": where})
	return refusal
}

type planHeld struct {
	State         string `db:"state"`
	Version       int64  `db:"version"`
	NeedsApproval bool   `db:"needs_approval"`
	Idle          bool   `db:"idle"`
}

// lockPlan holds the plan until the transaction ends; nil when there is none.
func lockPlan(ctx context.Context, tx pgx.Tx, id int64) (*planHeld, error) {
	return first(collect[planHeld](ctx, tx, planLockSQL, planArgs{id}))
}

// movePlan brings the plan into another state.
func movePlan(
	ctx context.Context, tx pgx.Tx, o *Operator, id int64, state PlanState, person bool,
) error {
	_, err := tx.Exec(ctx, planMoveSQL, pgx.StrictStructArgs(struct {
		Plan     int64  `db:"plan"`
		State    string `db:"state"`
		Operator string `db:"operator"`
		Person   bool   `db:"person"`
	}{id, string(state), o.opts.Operator, person}))
	return err
}

// checkRef refuses a plan that is not as the operator saw it.
func (o *Operator) checkRef(ctx context.Context, deed planDeed, plan *Plan, ref PlanRef) error {
	refusal := &PlanChangedError{Plan: *plan, WayOut: "look again before you decide"}
	switch {
	case ref.Version != 0 && ref.Version != plan.Version:
		refusal.Have = fmt.Sprintf("version %d, %s", plan.Version, plan.State)
		refusal.Want = fmt.Sprintf("version %d", ref.Version)
	case ref.Hash != "" && (len(ref.Hash) < 8 || !strings.HasPrefix(plan.Hash, ref.Hash)):
		refusal.Have, refusal.Want = "hash "+plan.Hash[:12], "hash "+ref.Hash
	default:
		return nil
	}
	refusal.DenialID, refusal.LogProblem = o.logDenied(ctx, deed, plan.Reason,
		"denied: it has changed", map[string]string{"have": refusal.Have, "want": refusal.Want})
	return refusal
}

// logDenied writes the row of a refusal.
func (o *Operator) logDenied(
	ctx context.Context, deed planDeed, reason, outcome string, observed map[string]string,
) (id int64, problem string) {
	row, err := o.logAlone(ctx, entry{
		action: deed, phase: phaseDenied, observed: observed, reason: reason, outcome: outcome,
	})
	if err != nil {
		problem = err.Error()
	}
	return row.ID, problem
}

// planRefusal turns a refusal of the database into an error for people, and logs it.
func (o *Operator) planRefusal(
	ctx context.Context, deed planDeed, reason string, plan *Plan, code string,
) error {
	switch code {
	case codeApproval:
		e := &ApprovalNeededError{Plan: *plan, Problem: approvalProblem(plan)}
		e.DenialID, _ = o.logDenied(ctx, deed, reason, "denied: "+e.Problem, nil)
		return e
	case codeRows:
		e := &PlanTamperedError{Plan: *plan}
		e.DenialID, _ = o.logDenied(ctx, deed, reason,
			"denied: rows were changed in the database", nil)
		return e
	case codeOwn:
		e := ownPlan(plan)
		e.DenialID, e.LogProblem = o.logDenied(ctx, deed, reason, "denied: own plan", nil)
		return e
	}
	e := &PlanChangedError{
		Plan: *plan, Have: string(plan.State), Want: "in a state for " + deed.word,
		WayOut: "see: rewardctl grant status " + strconv.FormatInt(plan.ID, 10),
	}
	e.DenialID, e.LogProblem = o.logDenied(ctx, deed, reason, "denied: it is "+e.Have, nil)
	return e
}

// ownPlan says who cannot sign for a plan.
func ownPlan(plan *Plan) *PlanDeniedError {
	e := &PlanDeniedError{
		Plan: *plan, Problem: fmt.Sprintf("it was made by %s as database user %s; nobody "+
			"approves his own plan", plan.RequestedBy, plan.DBUser),
		WayOut: "have somebody else approve it, under another name and database user",
	}
	if glass := plan.BrokenGlass(); glass != nil {
		e.Problem += fmt.Sprintf(", nor reviews the glass that he broke, as %s did (database user %s)",
			glass.Operator, glass.DBUser)
	}
	return e
}

// approvalProblem says why no approval is in force.
func approvalProblem(plan *Plan) string {
	a := plan.Approval()
	switch {
	case a == nil:
		return "it is over a limit: " + overWords(plan.Over)
	case !a.Used.IsZero():
		return fmt.Sprintf("approval %d began a run that lay still for more than %s; approve it again",
			a.ID, plan.ApproveWithin)
	case !plan.ReadAt.Before(a.Expires):
		return fmt.Sprintf("approval %d expired at %s; approve it again", a.ID,
			a.Expires.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("approval %d by %s is no longer good: its login is gone or its hash is "+
		"another", a.ID, a.Operator)
}
