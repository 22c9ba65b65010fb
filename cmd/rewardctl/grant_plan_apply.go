package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// isPlan reports whether the argument of "grant apply" is the number of a plan. A file whose name
// is a number is written ./12.
func isPlan(arg string) bool { return strings.Trim(arg, "0123456789") == "" }

// applyPlanArgument applies a plan by its number.
func (a *app) applyPlanArgument(cmd *cobra.Command, arg string, f applyFlags) error {
	for _, name := range []string{"campaign", "version", "sheet", "column", "reason", "skip-invalid"} {
		if cmd.Flags().Changed(name) {
			return usage(name, "leave it out; for a file whose name is a number write ./"+arg,
				"--%s is part of the plan already", name)
		}
	}
	id, err := parsePlan(arg)
	if err != nil {
		return err
	}
	w, err := a.wire()
	if err != nil {
		return err
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	plan, err := operator.Plan(cmd.Context(), id)
	if err != nil {
		return err
	}
	if f.dryRun || plan.StartedAt.IsZero() { // one that has begun is not as it was by itself
		var preview repair.PlanPreview
		if plan, preview, err = operator.PreviewPlan(cmd.Context(), id); err != nil {
			return err
		}
		if f.dryRun {
			return a.rehearsePlan(&plan, &preview)
		}
		a.sayPreview(&preview)
	}
	return a.applyPlan(cmd.Context(), w, operator, plan, f)
}

// rehearsePlan says what applying a plan would do now.
func (a *app) rehearsePlan(plan *repair.Plan, preview *repair.PlanPreview) error {
	var drift []repair.Drift
	if plan.StartedAt.IsZero() {
		drift = preview.DriftFrom(&plan.Preview)
	}
	j := newPlanJSON(plan, preview)
	j.DryRun = true
	fields := append(planFields(plan, false), previewFields(preview)...)
	for _, d := range drift {
		j.Drift = append(j.Drift, d.String())
		fields = append(fields, field{"drift", toned(d.String(), notice)})
	}
	if err := a.printOne(j, fields); err != nil {
		return err
	}
	switch {
	case plan.State == repair.PlanWaiting:
		return ended(exitApproval)
	case plan.State.Final() && plan.State != repair.PlanDone:
		return ended(exitPrecondition)
	}
	return nil
}

// sayPreview tells what a plan amounts to before it runs.
func (a *app) sayPreview(p *repair.PlanPreview) {
	a.say("%d rows to grant, %d granted already, %d would be refused; %d players", p.Fresh, p.Granted,
		p.Mismatches, p.Players)
	for _, k := range p.Kinds {
		a.say("  %s: %d in %d rows, the largest %d on line %d; balances %d -> %d", k.Kind, k.Total,
			k.Rows, k.Largest, k.LargestLine, k.BalanceBefore, k.BalanceAfter)
	}
}

// applyPlan asks where the context wants it, and grants the rows of a plan.
func (a *app) applyPlan(
	ctx context.Context, w *wiring, operator *repair.Operator, plan repair.Plan, f applyFlags,
) error {
	want := digits(plan.Due) + "-grant"
	deed := "grant " + digits(plan.Due) + " rows of " + plan.Name()
	run := repair.PlanRun{
		Plan: repair.PlanRef{ID: plan.ID, Hash: plan.Hash}, AcceptDrift: f.acceptDrift, Rate: f.rate,
		MaxErrors: f.maxErrors, HeldFor: w.conf.Lease.TTL,
	}
	a.attempts(w, run.Action(), plan.Reason, map[string]string{
		"state": string(plan.State), "hash": plan.Hash, "due": digits(plan.Due),
	})
	if err := a.mayChange(ctx, w.conf, f.confirm, want, deed); err != nil {
		return err
	}
	if err := f.writable(); err != nil {
		return err
	}
	engine, err := w.newEngine(ctx, w.identity(), 0)
	if err != nil {
		return err
	}
	w.beat(ctx)
	bar := a.newProgress()
	told := context.AfterFunc(ctx, func() {
		bar.clear()
		a.say("stopping after the batch in hand; Ctrl-C again ends at once")
	})
	run.OnProgress = bar.applying
	report, err := operator.ApplyPlan(ctx, operator.Known(engine), run)
	var drift *repair.DriftError
	if errors.As(err, &drift) && a.interactive() {
		bar.clear()
		if err := a.agreeToDrift(ctx, w, drift, want); err != nil {
			return err
		}
		run.Seen = &drift.Now
		report, err = operator.ApplyPlan(ctx, operator.Known(engine), run)
	}
	told()
	bar.clear()
	var stopped *repair.StoppedError
	if err != nil && !errors.As(err, &stopped) {
		return err
	}
	// Only now: a run that is refused must not take away the rest that an earlier one left.
	lines, lineErr := a.newLines(f.rest)
	if lineErr != nil {
		return lineErr
	}
	return a.reportPlan(ctx, operator, report, lines, f, err)
}

// writable refuses files that could not be written after the rows are granted.
func (f applyFlags) writable() error {
	if f.result != "" {
		if err := repair.CheckResultPath(f.result); err != nil {
			return err
		}
	}
	if f.rest == "" {
		return nil
	}
	_, err := os.Stat(f.rest)
	absent := errors.Is(err, fs.ErrNotExist)
	out, err := os.OpenFile(f.rest, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = out.Close()
	}
	if err == nil && absent {
		err = os.Remove(f.rest)
	}
	if err != nil {
		return usage("rest", "name another file", "the rest cannot be written: %v", err)
	}
	return nil
}

// agreeToDrift shows what changed since the preview and has a person agree.
func (a *app) agreeToDrift(
	ctx context.Context, w *wiring, drift *repair.DriftError, want string,
) error {
	a.say("%s is not as it was previewed:", drift.Plan.Name())
	for _, d := range drift.Drift {
		a.say("  %s", d)
	}
	a.sayPreview(&drift.Now)
	return a.ask(ctx, w.conf, want, "grant it all the same")
}

// reportPlan writes the files and prints the report about a run.
func (a *app) reportPlan(
	ctx context.Context, operator *repair.Operator, r repair.PlanReport, lines *applyLines,
	f applyFlags, stop error,
) error {
	ctx = context.WithoutCancel(ctx)
	var failed error
	resultPath := ""
	if f.result != "" {
		resultPath, failed = operator.WritePlanResult(ctx, &r.Plan, f.result)
	}
	if take := lines.hook(); take != nil && failed == nil {
		ungranted := lines.rows == nil && a.output != string(formatJSONL)
		for line, err := range operator.PlanLines(ctx, r.Plan.ID, ungranted) {
			if failed = err; err != nil {
				break
			}
			take(line)
		}
	}
	if failed = errors.Join(failed, lines.close()); failed != nil {
		return failed
	}
	code := planExit(r, stop)
	if err := a.printRun(r, resultPath, f, stop, code); err != nil {
		return err
	}
	return ended(code)
}

// planExit decides the exit code of a run.
func planExit(r repair.PlanReport, stop error) exitCode {
	granted := r.Counts.Of(grant.Applied) + r.Counts.Of(grant.Replayed)
	switch {
	case r.Counts.Of(grant.Unknown) > 0:
		return exitUnknown
	case errors.Is(stop, context.Canceled):
		return exitInterrupted
	case errors.Is(stop, repair.ErrPlanStopped):
		return exitPartial
	case stop != nil && granted == 0:
		return classify(errors.Unwrap(stop)).exit
	case stop != nil, r.Counts.Refused() > 0, r.Counts.Of(grant.Failed) > 0:
		return exitPartial
	}
	return exitOK
}

// planRunJSON is the report about a run.
type planRunJSON struct {
	planJSON
	Complete  bool           `json:"complete"`
	Mine      map[string]int `json:"mine"` // rows that this process decided
	Joined    bool           `json:"joined"`
	Lost      int            `json:"lost"` // parts that another process took over
	ElapsedMS int64          `json:"elapsed_ms"`
	Result    *string        `json:"result"`
	Rest      *string        `json:"rest"`
	Stopped   *string        `json:"stopped"`
	GoOn      *string        `json:"go_on"`
	Exit      int            `json:"exit"`
}

// printRun prints the report. As JSON lines and CSV the rows themselves were the data.
func (a *app) printRun(
	r repair.PlanReport, resultPath string, f applyFlags, stop error, code exitCode,
) error {
	if r.LogProblem != "" {
		a.say("warning: the grants stand, but the run's log row could not be written: %s",
			r.LogProblem)
	}
	var stopped *repair.StoppedError
	if errors.As(stop, &stopped) {
		a.say("stopped after %d of %d rows: %s", stopped.Done, stopped.Rows,
			classify(stopped.Cause).message)
	}
	var err error
	switch a.output {
	case string(formatJSON):
		j := planRunJSON{
			planJSON: newPlanJSON(&r.Plan, nil), Complete: r.Complete(), Mine: countsJSON(&r.Mine),
			Joined: r.Joined, Lost: r.Lost, ElapsedMS: r.Elapsed.Milliseconds(),
			Result: jsonText(resultPath), Rest: jsonText(f.rest), GoOn: jsonText(r.GoOn),
			Exit: int(code),
		}
		j.Counts = countsJSON(&r.Counts)
		if stop != nil {
			j.Stopped = jsonText(stop.Error())
		}
		err = writeJSON(a.stdout, j, true)
	case string(formatTable):
		fields := append(planFields(&r.Plan, false), countFields(&r.Counts)...)
		err = a.printFields(append(fields, field{"took", text(span(r.Elapsed))},
			field{"result", text(resultPath)}, field{"rest", text(f.rest)}))
	}
	if err != nil {
		return err
	}
	if r.Counts.Refused()+r.Counts.Of(grant.Failed) > 0 {
		a.say("%d rows were not granted; --rest FILE lists them", r.Counts.Refused()+
			r.Counts.Of(grant.Failed))
	}
	if r.GoOn != "" {
		a.say("to go on, %s", r.GoOn)
	}
	return nil
}

// planAndApply grants a file by way of a plan, which waits when it is over a limit. The same file
// again goes on with the same plan.
func (a *app) planAndApply(
	ctx context.Context, w *wiring, file *batchfile.File, f applyFlags, bar *progress,
) error {
	if w.conf.ReadOnly {
		return a.mayChange(ctx, w.conf, "", "", "grant a file")
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return err
	}
	plan, preview, err := a.planFile(ctx, operator, file, planFlags{
		campaign: f.campaign, version: f.version, sheet: f.sheet, reason: f.reason,
		skipInvalid: f.skipInvalid, columns: f.columns,
	}, bar)
	if err != nil {
		return err
	}
	if plan.State == repair.PlanWaiting {
		if err := a.printPlan(plan, &preview, false, nil); err != nil {
			return err
		}
		return ended(a.sayPlanned(&plan, false))
	}
	a.say("it is %s", plan.Name())
	return a.applyPlan(ctx, w, operator, plan, f)
}
