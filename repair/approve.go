package repair

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// DecideRequest is an answer of a person to a plan.
type DecideRequest struct {
	Plan   PlanRef // as the person saw it
	Reason string
	// BreakGlass approves one's own plan in an emergency, where the policy allows it. It is
	// marked in the log and in every list of plans.
	BreakGlass bool
	// Seen is the preview that the person decided by; nil for the one of the plan.
	Seen *PlanPreview
	// OnStep is called as the deed passes each step. Tests use it; nil does nothing.
	OnStep func(PlanStep)
}

// Action returns the decision as an Action, for its command line. The word is approve, reject,
// pause or cancel.
func (r DecideRequest) Action(word string) Action { return r.of(word) }

func (r DecideRequest) of(word string) planDeed {
	argv := []string{"grant", word, strconv.FormatInt(r.Plan.ID, 10)}
	if r.BreakGlass && word == "approve" {
		argv = append(argv, "--break-glass", r.Reason)
	} else {
		argv = append(argv, "--reason", r.Reason)
	}
	if r.Plan.Version != 0 {
		argv = append(argv, "--if-version", strconv.FormatInt(r.Plan.Version, 10))
	}
	if r.Plan.Hash != "" {
		argv = append(argv, "--hash", r.Plan.Hash)
	}
	return planDeed{"grant " + word, r.Plan.ID, argv}
}

// ApprovePlan approves a plan: its rows as they are now, for as long as the policy says. The
// approver must be another operator and another database user than whoever made the plan; the
// database checks it by the session.
//
// A plan that ran under broken glass and has ended gets a review in place of an approval: the
// second signature, by neither whoever made the plan nor whoever broke the glass. While it is not
// over, an approval counts as that too.
//
// Nothing is changed when the error is a *PlanNotFoundError, a *PlanChangedError (it is not as it
// was seen, needs no approval, or was rejected), a *PlanDeniedError (one's own plan or glass), a
// *PlanTamperedError or a *grant.Rejection. All but the first and the last are logged.
func (o *Operator) ApprovePlan(ctx context.Context, req DecideRequest) (Plan, error) {
	d := &decision{o: o, req: req, deed: req.of("approve"), word: "approve"}
	return d.run(ctx)
}

// RejectPlan rejects a plan for good: one denial is a veto, approvals before it included. Of a
// plan that is running, the processes end after the batch in hand. Its errors are those of
// ApprovePlan.
func (o *Operator) RejectPlan(ctx context.Context, req DecideRequest) (Plan, error) {
	d := &decision{o: o, req: req, deed: req.of("reject"), word: "reject", to: PlanRejected}
	return d.run(ctx)
}

// PausePlan has the processes that run a plan end after the batch in hand. Applying it goes on.
// Its errors are those of ApprovePlan.
func (o *Operator) PausePlan(ctx context.Context, req DecideRequest) (Plan, error) {
	d := &decision{o: o, req: req, deed: req.of("pause"), to: PlanPaused}
	return d.run(ctx)
}

// CancelPlan ends a plan for good. What it granted stays granted. Its errors are those of
// ApprovePlan.
func (o *Operator) CancelPlan(ctx context.Context, req DecideRequest) (Plan, error) {
	d := &decision{o: o, req: req, deed: req.of("cancel"), to: PlanCancelled}
	return d.run(ctx)
}

// decision is one decision about a plan.
type decision struct {
	o    *Operator
	req  DecideRequest
	deed planDeed
	word string    // what grant_approval calls it; empty when it gets no row there
	to   PlanState // the state that it leads to; empty for an approval, where it depends

	plan Plan
}

func (d *decision) run(ctx context.Context) (Plan, error) {
	d.req.Reason = strings.TrimSpace(d.req.Reason)
	if err := checkReason(d.req.Reason); err != nil {
		return Plan{}, err
	}
	if d.req.OnStep == nil {
		d.req.OnStep = func(PlanStep) {}
	}
	var err error
	if d.plan, err = d.o.Plan(ctx, d.req.Plan.ID); err != nil {
		return Plan{}, err
	}
	if err := d.o.checkRef(ctx, d.deed, &d.plan, d.req.Plan); err != nil {
		return d.plan, err
	}
	if d.req.BreakGlass && !d.o.opts.Plans.BreakGlass {
		return d.plan, d.noBreakGlass(ctx)
	}
	if !d.possible() {
		return d.plan, d.o.planRefusal(ctx, d.deed, d.req.Reason, &d.plan, codeState)
	}
	if d.word == "approve" && d.plan.State.Final() {
		d.word, d.to = "review", d.plan.State
	}
	d.req.OnStep(PlanStepDecide)
	changed := false
	err = d.o.writeWaiting(ctx, "decide about the plan", planLockWait,
		func(ctx context.Context, tx pgx.Tx) error {
			var err error
			changed, err = d.decide(ctx, tx)
			return err
		})
	if code := refusalCode(err); code != "" || changed {
		return d.again(ctx, code)
	}
	if err != nil {
		return d.plan, err
	}
	d.req.OnStep(PlanStepDecided)
	return d.o.Plan(ctx, d.plan.ID)
}

// possible reports whether the decision fits the state of the plan.
func (d *decision) possible() bool {
	switch d.plan.State {
	case PlanReady:
		return d.word != "approve" && d.to != PlanPaused // nothing to approve, nothing to pause
	case PlanWaiting, PlanApproved:
		return d.to != PlanPaused
	case PlanRunning:
		return d.word != "approve" || d.plan.NeedsApproval
	case PlanPaused, PlanStopped:
		return d.to != PlanPaused && (d.word != "approve" || d.plan.NeedsApproval)
	case PlanRejected, PlanCancelled, PlanDone:
		return d.word == "approve" && !d.req.BreakGlass && d.plan.BrokenGlass() != nil
	}
	return false
}

// again says why the database refused, by what the plan is now.
func (d *decision) again(ctx context.Context, code string) (Plan, error) {
	was := d.plan
	plan, err := d.o.Plan(ctx, d.plan.ID)
	if err != nil {
		return d.plan, err
	}
	if plan.Version != was.Version {
		ref := PlanRef{ID: plan.ID, Version: was.Version}
		return plan, d.o.checkRef(ctx, d.deed, &plan, ref)
	}
	return plan, d.o.planRefusal(ctx, d.deed, d.req.Reason, &plan, code)
}

func (d *decision) noBreakGlass(ctx context.Context) error {
	e := &PlanDeniedError{
		Plan: d.plan, Problem: "this context does not allow --break-glass",
		WayOut: "have somebody else approve it, or allow approval.break_glass in the context",
	}
	e.DenialID, e.LogProblem = d.o.logDenied(ctx, d.deed, d.req.Reason,
		"denied: BREAK-GLASS is not allowed", nil)
	return e
}

// decide writes the decision, while it holds the plan. changed means that somebody else decided
// in between, so that nothing was written.
func (d *decision) decide(ctx context.Context, tx pgx.Tx) (changed bool, err error) {
	held, err := lockPlan(ctx, tx, d.plan.ID)
	if err != nil {
		return false, err
	}
	if held == nil || held.Version != d.plan.Version {
		return true, nil
	}
	after := map[string]string{}
	var approval int64
	if d.word != "" {
		row, err := d.add(ctx, tx)
		if err != nil {
			return false, err
		}
		after["decision"] = strconv.FormatInt(row.ID, 10)
		if d.word == "approve" {
			approval = row.ID
			after["expires"] = row.Expires.UTC().Format(time.RFC3339)
		}
	}
	to := d.to
	if to == "" {
		if to = PlanState(held.State); to == PlanWaiting {
			to = PlanApproved
		}
	}
	if err := d.move(ctx, tx, to); err != nil {
		return false, err
	}
	after["state"] = string(to)
	d.req.OnStep(PlanStepWritten)
	_, err = d.o.log(ctx, tx, entry{
		action: d.deed, phase: phaseResult, reason: d.req.Reason, approval: approval,
		observed: map[string]string{
			"state": held.State, "version": strconv.FormatInt(held.Version, 10),
			"hash": d.plan.Hash,
		},
		before: map[string]string{"state": held.State}, after: after, outcome: d.outcome(to),
	})
	d.req.OnStep(PlanStepLogged)
	return false, err
}

// move brings the plan to its new state; a review leaves it where it is.
func (d *decision) move(ctx context.Context, tx pgx.Tx, to PlanState) error {
	if d.word != "review" {
		return movePlan(ctx, tx, d.o, d.plan.ID, to, true)
	}
	_, err := tx.Exec(ctx, planReviewedSQL, pgx.StrictStructArgs(planArgs{d.plan.ID}))
	return err
}

func (d *decision) outcome(to PlanState) string {
	switch {
	case d.req.BreakGlass:
		return "BREAK-GLASS: approved without a second person"
	case d.word == "review":
		return "BREAK-GLASS reviewed"
	case d.word == "approve" && d.plan.BrokenGlass() != nil:
		return "approved; BREAK-GLASS reviewed"
	case d.word == "approve":
		return "approved"
	}
	return string(to)
}

type decidedRow struct {
	ID      int64     `db:"approval_id"`
	Expires time.Time `db:"expires_at"`
}

func (d *decision) add(ctx context.Context, tx pgx.Tx) (decidedRow, error) {
	hash, err := hex.DecodeString(d.plan.Hash)
	if err != nil {
		return decidedRow{}, err
	}
	seen := d.plan.Preview
	if d.req.Seen != nil {
		seen = *d.req.Seen
	}
	row, err := first(collect[decidedRow](ctx, tx, planDecideSQL, struct {
		Plan       int64       `db:"plan"`
		Decision   string      `db:"decision"`
		Hash       []byte      `db:"hash"`
		Operator   string      `db:"operator"`
		BreakGlass bool        `db:"break_glass"`
		Reason     string      `db:"reason"`
		Preview    PlanPreview `db:"preview"`
	}{
		d.plan.ID, d.word, hash, d.o.opts.Operator, d.req.BreakGlass, d.req.Reason, seen,
	}))
	return value(row), err
}
