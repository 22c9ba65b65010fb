package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// stopPlan stops the plan for all processes, because too many rows were refused.
func (w *planWork) stopPlan(ctx context.Context, refused int64) error {
	why := fmt.Sprintf("%s refused or given up, %d allowed", plural(int(refused), "row"),
		w.run.MaxErrors-1)
	ctx = context.WithoutCancel(ctx)
	err := w.o.writeWaiting(ctx, "stop the plan", planLockWait,
		func(ctx context.Context, tx pgx.Tx) error {
			held, err := lockPlan(ctx, tx, w.plan.ID)
			if err != nil || held == nil || held.State != string(PlanRunning) {
				return err
			}
			return movePlan(ctx, tx, w.o, w.plan.ID, PlanStopped, false)
		})
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrPlanStopped, why)
}

// finish ends the run: the last process to end one that is complete marks the plan done. stop
// says why this process ended early.
func (w *planWork) finish(ctx context.Context, stop error) error {
	w.run.OnStep(PlanStepFinish)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), planEndFor)
	defer cancel()
	err := w.o.writeWaiting(ending, "end the run", planEndFor,
		func(ctx context.Context, tx pgx.Tx) error { return w.finishIn(ctx, tx, stop) })
	if err != nil {
		w.report.LogProblem = err.Error()
		if stop == nil {
			stop = err
		}
	}
	w.run.OnStep(PlanStepFinished)
	w.report.Elapsed = w.o.opts.Now().Sub(w.began)
	plan, err := w.o.Plan(ending, w.plan.ID)
	if err == nil {
		w.report.Plan = plan
		w.report.Counts, err = w.o.PlanOutcomes(context.WithoutCancel(ctx), w.plan.ID)
	}
	if stop == nil {
		stop = err
	}
	w.report.GoOn = goOnPlan(&w.report.Plan)
	if stop == nil && w.report.Plan.State == PlanDone {
		return nil
	}
	if stop == nil {
		stop = fmt.Errorf("%w: it is %s", ErrPlanStopped, w.report.Plan.State)
	}
	var tampered *PlanTamperedError
	if errors.As(stop, &tampered) {
		return stop
	}
	return &StoppedError{
		w.report.Plan.Name(), int(w.report.Plan.Decided), int(w.report.Plan.Due), w.report.GoOn,
		stop,
	}
}

// finishIn moves a plan on whose parts are all decided or given up, and writes the result row.
func (w *planWork) finishIn(ctx context.Context, tx pgx.Tx, stop error) error {
	held, err := lockPlan(ctx, tx, w.plan.ID)
	if err != nil || held == nil {
		return err
	}
	now, err := w.progressIn(ctx, tx)
	if err != nil {
		return err
	}
	state := PlanState(held.State)
	if state == PlanRunning && value(now).Open == 0 {
		state = PlanDone
		if value(now).LeftOver > 0 {
			state = PlanStopped
		}
		if err := movePlan(ctx, tx, w.o, w.plan.ID, state, false); err != nil {
			return err
		}
	}
	outcome := "the plan is " + string(state)
	if stop != nil {
		outcome = "ended early: " + cutText(stop.Error(), problemMax)
	}
	after := map[string]string{
		"state":   string(state),
		"decided": strconv.FormatInt(value(now).Decided, 10),
		"refused": strconv.FormatInt(value(now).Errors, 10),
		"mine":    strconv.Itoa(w.report.Mine.Sum()),
		"lost":    strconv.Itoa(w.report.Lost),
	}
	row, err := w.o.log(ctx, tx, entry{
		action: w.deed(), phase: phaseResult, intent: w.report.IntentID,
		arguments: w.arguments(), after: after, reason: w.plan.Reason, outcome: outcome,
		approval: w.approval(),
	})
	w.report.ResultID = row.ID
	return err
}
