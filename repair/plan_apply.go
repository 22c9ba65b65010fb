package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"
)

// PlanRun says how a plan is applied. The zero value of a field means its default.
type PlanRun struct {
	// Plan names the plan as the operator saw it.
	Plan PlanRef
	// AcceptDrift begins although balances, limits or what is granted elsewhere are not as they
	// were when the plan was previewed. Without it that is a *DriftError.
	AcceptDrift bool
	// Seen is a later preview that the operator has agreed to; drift is then measured from it.
	Seen *PlanPreview

	// Rate is how many rows per second this process grants at most; 0 means as fast as it can.
	Rate float64
	// MaxErrors stops the plan, for all processes, once so many rows were refused or given up
	// since this process began, by whichever; 0 means never.
	MaxErrors int64

	// Workers is how many parts of the plan this process has in hand at once, 3 by default:
	// while one is granted, another is claimed or written down.
	Workers int
	// ClaimFor is how long a part stays claimed without renewal, 15 s by default: what a process
	// held that was killed is taken over after that.
	ClaimFor time.Duration
	// HeldTries is how often a part is tried whose rows have no final answer; 12 by default, with
	// growing pauses of about 45 seconds in all. Rows whose lease another owner holds are not
	// counted so; see HeldFor.
	HeldTries int
	// HeldFor bounds how long a lease that another owner holds is waited for: until it ends by
	// itself, as that of a process that was killed does, but not longer than this and a tenth
	// more. 30 s by default; give the TTL of the leases.
	HeldFor time.Duration
	// BatchFor bounds one batch, two minutes by default. Cancelling does not cut a batch short.
	BatchFor time.Duration

	// OnProgress is told after each batch how far the plan is, other processes' work included.
	OnProgress func(ApplyProgress)
	// Gate is asked before each batch and may block, which pauses this process. Nil lets all pass.
	Gate func(context.Context) error
	// OnStep is called as the run passes each step. Drills and tests use it; nil does nothing.
	OnStep func(PlanStep)

	// Wait pauses, and returns early with the context's error. A timer by default.
	Wait func(context.Context, time.Duration) error
}

// PlanStep is a point of a deed about a plan.
type PlanStep string

// The steps of applying and deciding, in order.
const (
	PlanStepBegin    PlanStep = "begin"    // before the transaction that begins or joins the run
	PlanStepBegun    PlanStep = "begun"    // after it
	PlanStepClaimed  PlanStep = "claimed"  // a part is claimed, nothing granted
	PlanStepGranted  PlanStep = "granted"  // its rows are granted, nothing written down
	PlanStepRecorded PlanStep = "recorded" // its outcomes are written down
	PlanStepFinish   PlanStep = "finish"   // before the transaction that ends the run
	PlanStepFinished PlanStep = "finished" // after it
	PlanStepDecide   PlanStep = "decide"   // before the transaction of a decision
	PlanStepWritten  PlanStep = "written"  // within it, before the log row
	PlanStepLogged   PlanStep = "logged"   // within it, before the commit
	PlanStepDecided  PlanStep = "decided"  // after it
)

const (
	planWorkers   = 3
	planClaimFor  = 15 * time.Second
	planHeldTries = 12
	planHeldPause = 100 * time.Millisecond // after the first try; doubles with each
	planHeldMin   = 50 * time.Millisecond  // when a lease is about to end
	planHeldMax   = 6 * time.Second
	planPollMin   = 20 * time.Millisecond
	planPollMax   = time.Second
	planRenewals  = 3 // renewals within ClaimFor
	planLookEvery = 250 * time.Millisecond
	// planLockWait bounds the wait for somebody else's decision about the same plan: for a large
	// one its rows are hashed meanwhile.
	planLockWait = 2 * time.Minute
	// planEndFor bounds what is written down at the end, whatever ended the run, and the wait for
	// somebody's decision about a large plan before it.
	planEndFor = 15 * time.Second
)

func (r PlanRun) withDefaults() PlanRun {
	if r.Workers <= 0 {
		r.Workers = planWorkers
	}
	if r.ClaimFor <= 0 {
		r.ClaimFor = planClaimFor
	}
	if r.HeldTries <= 0 {
		r.HeldTries = planHeldTries
	}
	if r.HeldFor <= 0 {
		r.HeldFor = heldForDefault
	}
	if r.BatchFor <= 0 {
		r.BatchFor = applyBatchFor
	}
	if r.OnProgress == nil {
		r.OnProgress = func(ApplyProgress) {}
	}
	if r.Gate == nil {
		r.Gate = func(context.Context) error { return nil }
	}
	if r.OnStep == nil {
		r.OnStep = func(PlanStep) {}
	}
	if r.Wait == nil {
		r.Wait = applyWait
	}
	return r
}

// PlanReport says what a run did.
type PlanReport struct {
	Plan    Plan        // as it is at the end
	Counts  ApplyCounts // all rows of the plan, whoever ran them
	Mine    ApplyCounts // the rows that this process decided
	Joined  bool        // the plan was running already
	Elapsed time.Duration
	// Lost counts parts whose claim another process took over: it wrote down what became of them.
	Lost  int
	GoOn  string // how to go on; empty when nothing is left to do
	Notes []string
	// IntentID and ResultID are the rows of operator_action; LogProblem says why the latter could
	// not be written.
	IntentID, ResultID int64
	LogProblem         string
}

// Complete reports whether every row has its final answer.
func (r *PlanReport) Complete() bool { return r.Plan.State == PlanDone }

// DriftError says that things are not as they were when a plan was previewed. Nothing was
// granted. Who has seen Now and agrees sets PlanRun.Seen to it.
type DriftError struct {
	Plan       Plan
	Now        PlanPreview
	Drift      []Drift
	DenialID   int64
	LogProblem string
}

// Error lists what changed.
func (e *DriftError) Error() string {
	text := e.Plan.Name() + " is not as it was previewed: "
	for i, d := range e.Drift {
		if i > 0 {
			text += "; "
		}
		text += d.String()
	}
	return text
}

// ApplyPlan grants the rows of a plan. Any number of processes may run the same plan at once, and
// one that was killed is continued by the others or by the next. Applying a plan again grants
// nothing new.
//
// The report is true whatever the error: nil when the plan is done, or was found done; *DriftError,
// *ApprovalNeededError, *PlanChangedError, *PlanTamperedError and *PlanNotFoundError as they say;
// *StoppedError when the run ended early, whose Cause is the context's, a server's, or
// ErrPlanStopped when an operator or MaxErrors stopped the plan.
func (o *Operator) ApplyPlan(
	ctx context.Context, engine Granter, run PlanRun,
) (PlanReport, error) {
	w := &planWork{
		o: o, engine: engine, run: run.withDefaults(), began: o.opts.Now(),
		claimant: o.opts.Operator + "/" + o.opts.NewID(), held: make(map[int]*holds),
	}
	w.pace.rate = run.Rate
	done, err := w.begin(ctx)
	if err != nil {
		return w.report, err
	}
	if done {
		w.report.Counts, err = o.PlanOutcomes(ctx, w.plan.ID)
		return w.report, err
	}
	w.run.OnStep(PlanStepBegun)
	w.engine = underIntent(w.engine, w.report.IntentID)
	stop := w.hashes(ctx)
	if stop == nil {
		stop = w.work(ctx)
	}
	return w.report, w.finish(ctx, stop)
}

// ErrPlanStopped is the cause of a run that ended because the plan was paused, cancelled, rejected
// or stopped meanwhile, by an operator or because too many rows were refused.
var ErrPlanStopped = errors.New("the plan was stopped")

// PlanOutcomes counts the rows of a plan by their outcome.
func (o *Operator) PlanOutcomes(ctx context.Context, id int64) (ApplyCounts, error) {
	var counts ApplyCounts
	rows, err := readRows[struct {
		Outcome    string `db:"outcome"`
		Rows       int    `db:"rows"`
		Duplicates int    `db:"duplicates"`
	}](ctx, o, "count the rows of the plan", planCountsSQL, planArgs{id})
	for _, row := range rows {
		counts.Duplicates += row.Duplicates
		switch outcome, err := grant.ParseOutcome(row.Outcome); {
		case err == nil:
			counts.by[outcome] += row.Rows
		case row.Outcome == grant.Failed.String():
			counts.by[grant.Failed] += row.Rows
		default:
			counts.NotRun += row.Rows
		}
	}
	return counts, err
}

// goOnPlan says how to go on with a plan that is not done.
func goOnPlan(p *Plan) string {
	switch p.State {
	case PlanRunning, PlanPaused, PlanStopped:
		return fmt.Sprintf("apply %s again for the %s left: what is granted is not granted twice",
			p.Name(), plural(int(p.Left()), "row"))
	case PlanReady, PlanWaiting, PlanApproved, PlanRejected, PlanCancelled, PlanDone:
	}
	return ""
}
