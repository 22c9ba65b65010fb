package main

import (
	"context"
	"errors"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// applyGCPercent trades a little time for a flat memory while a file is applied.
const applyGCPercent = 40

// applyFlags are the flags of "grant apply".
type applyFlags struct {
	campaign, reason, sheet, result, rest, confirm string

	columns     columnFlags
	version     int
	skipInvalid bool
	dryRun      bool

	rate        float64
	maxErrors   int64
	acceptDrift bool
}

func (a *app) grantApplyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply PLAN | FILE --campaign C --reason WHY",
		Short: "Grant a plan or a file of rewards; applying it again grants nothing new",
		Long: "Grants the rows of a plan by its number, or every row of a CSV, JSONL or XLSX file:" +
			" player_id, kind,\namount and, if there, subject or event. A file is checked first; a" +
			" bad row refuses it, unless\n--skip-invalid. Ctrl-C stops after the batch in hand." +
			" The same plan or file again, also under\nanother name, grants only what is left. Any" +
			" number of processes may apply one plan at once.\n\nIn a context with limits (approval)" +
			" a file becomes a plan first; over a limit it waits.\n\nIt ends with 0 when every row" +
			" is granted, now or before; 2 when the file is refused; 4 when the\nplan is not as it" +
			" was previewed; 7 when it awaits approval; 9 when some rows are not granted;\n12 when" +
			" the answer to some is not known; 130 after Ctrl-C.",
		Example: "  rewardctl grant apply 12 --result result.csv --rest rest.csv\n" +
			"  rewardctl grant apply players.csv --campaign outage-2026-11-30 --reason " +
			"\"outage on 30 November\" --dry-run\n" +
			"  rewardctl grant apply players.csv --campaign outage-2026-11-30 --reason \"outage\" " +
			"\\\n      --result result.csv --rest rest.csv\n" +
			"  zcat players.csv.gz | rewardctl grant apply - --campaign c --reason why",
		Args: arguments("PLAN or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.rate < 0 || f.maxErrors < 0 {
				return usage("rate", "leave it out for no bound",
					"--rate and --max-errors cannot be below zero")
			}
			if isPlan(args[0]) {
				return a.applyPlanArgument(cmd, args[0], f)
			}
			if err := demand(cmd, "reason"); err != nil {
				return err
			}
			if f.version < 1 {
				return usage("version", "count from 1", "--version %d is below 1", f.version)
			}
			return a.applyFile(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.campaign, "campaign", "", "what the rewards are part of: builds the event ids")
	flags.IntVar(&f.version, "version", 1, "2 or more repeats the same rewards on purpose")
	flags.StringVar(&f.sheet, "sheet", "", "the sheet of a workbook, when several hold anything")
	f.columns.add(flags)
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&f.result, "result", "", "write a CSV with the answer to each row")
	flags.StringVar(&f.rest, "rest", "", "write a CSV with the rows that are not granted")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "grant the good rows of a file with bad ones")
	flags.Float64Var(&f.rate, "rate", 0, "rows per second at most, for this process")
	flags.Int64Var(&f.maxErrors, "max-errors", 0, "stop once so many rows were refused")
	flags.BoolVar(&f.acceptDrift, "accept-drift", false,
		"grant a plan although balances or grants are not as it was previewed")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

// deed is the grant of a file as a deed.
func (f applyFlags) deed(path string) repair.FileRequest {
	return repair.FileRequest{
		Path: path, Campaign: f.campaign, Version: f.version, Sheet: f.sheet, Reason: f.reason,
		SkipInvalid: f.skipInvalid, Columns: f.columns.known(),
	}
}

// applyFile checks a file, asks where the context wants it, and grants it.
func (a *app) applyFile(ctx context.Context, path string, f applyFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !f.dryRun {
		a.attempts(w, f.deed(path), f.reason, nil)
	}
	if w.conf.ReadOnly && !f.dryRun {
		return a.mayChange(ctx, w.conf, "", "", "grant a file")
	}
	// The index of a million rows lives long; letting garbage grow to its size again would double
	// what the process takes.
	debug.SetGCPercent(applyGCPercent)
	bar := a.newProgress()
	columns, err := f.columns.parse()
	if err != nil {
		return err
	}
	file, err := batchfile.Open(ctx, path, batchfile.Options{
		Campaign: f.campaign, Version: f.version, Sheet: f.sheet, Actor: w.conf.Operator,
		Reason: f.reason, Limits: w.limits(), Stdin: a.stdin, OnProgress: bar.checking,
		Columns: columns,
	})
	if err != nil {
		return err
	}
	defer file.Close()
	check, err := file.Validate(ctx)
	bar.clear()
	if err != nil {
		return err
	}
	a.sayCheck(check)
	if !f.dryRun && (w.conf.Approval.Any() || f.rate > 0 || f.maxErrors > 0) {
		return a.planAndApply(ctx, w, file, f, bar)
	}
	if !f.dryRun && (check.Refused == 0 || f.skipInvalid) {
		want := number(int64(check.Good)).text + "-grant"
		deed := "grant " + number(int64(check.Good)).text + " rows"
		a.attempts(w, f.deed(path), f.reason, map[string]string{
			"rows": strconv.Itoa(check.Rows), "good": strconv.Itoa(check.Good),
		})
		if err := a.mayChange(ctx, w.conf, f.confirm, want, deed); err != nil {
			return err
		}
	}
	return a.runFile(ctx, w, file, path, f, bar)
}

// runFile grants a checked file and prints the report.
func (a *app) runFile(
	ctx context.Context, w *wiring, file *batchfile.File, path string, f applyFlags, bar *progress,
) error {
	engine, err := w.newEngine(ctx, w.identity(), 0)
	if err != nil {
		return err
	}
	lines, err := a.newLines(f.rest)
	if err != nil {
		return err
	}
	opt := repair.ApplyOptions{
		SkipInvalid: f.skipInvalid, DryRun: f.dryRun, ResultPath: f.result, Now: a.now,
		OnProgress: bar.applying, OnLine: lines.hook(), BatchMax: w.conf.Limits.BatchMax,
		HeldFor: w.conf.Lease.TTL,
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return errors.Join(err, lines.close())
	}
	if f.dryRun {
		opt.Preview = operator
	} else {
		w.beat(ctx)
	}
	told := context.AfterFunc(ctx, func() {
		bar.clear()
		a.say("stopping after the batch in hand; Ctrl-C again ends at once")
	})
	report, err := operator.ApplyFile(ctx, operator.Known(engine), file, repair.FileRequest{
		Path: path, Campaign: f.campaign, Version: f.version, Reason: f.reason,
	}, opt)
	told()
	bar.clear()
	err = errors.Join(err, lines.close())
	var refused *repair.InvalidRowsError
	var stopped *repair.StoppedError
	if err != nil && !errors.As(err, &refused) && !errors.As(err, &stopped) {
		return err
	}
	return a.printApply(report, f, err)
}

// applyExit decides the exit code of an applied file.
func applyExit(r repair.ApplyReport, err error) exitCode {
	var refused *repair.InvalidRowsError
	switch {
	case errors.As(err, &refused):
		return exitUsage
	case r.Counts.Of(grant.Unknown) > 0:
		return exitUnknown
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case err != nil && r.Counts.Of(grant.Applied)+r.Counts.Of(grant.Replayed) == 0:
		return classify(err).exit
	case err != nil, r.Counts.Refused() > 0, r.Counts.Of(grant.Failed) > 0:
		return exitPartial
	}
	return exitOK
}

// sayCheck tells about a file before it is granted: what it amounts to, and what is odd.
func (a *app) sayCheck(c *batchfile.Check) {
	a.say("%d rows: %d good, %d repeat an earlier row, %d invalid; %d players", c.Rows, c.Good,
		c.Duplicates, c.Refused, c.Players)
	for _, k := range c.Kinds {
		a.say("  %s: %d in %d rows, the largest %d on line %d", k.Kind, k.Total, k.Rows, k.Largest,
			k.LargestLine)
	}
	for _, w := range c.Warnings {
		a.say("note: %s", w)
	}
	if more := c.WarningCount - len(c.Warnings); more > 0 {
		a.say("note: and %d more", more)
	}
	for _, p := range c.Problems {
		a.say("%s", p)
	}
	if more := c.ProblemCount - len(c.Problems); more > 0 {
		a.say("and %d more problems", more)
	}
}
