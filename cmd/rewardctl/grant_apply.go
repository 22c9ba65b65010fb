package main

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// applyGCPercent trades a little time for a flat memory while a file is applied.
const applyGCPercent = 40

// applyFlags are the flags of "grant apply".
type applyFlags struct {
	campaign, reason, result, rest, confirm string

	version     int
	skipInvalid bool
	dryRun      bool
}

func (a *app) grantApplyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply FILE.csv --campaign C --reason WHY",
		Short: "Grant a file of rewards; applying it again grants nothing new",
		Long: "Grants every row of a CSV file: player_id, kind, amount and, if there, subject or" +
			" event. The\nwhole file is checked first; a bad row refuses it, unless --skip-invalid." +
			" Ctrl-C stops after\nthe batch in hand. The same file again, also under another name," +
			" grants only what is left.\n\nIt ends with 0 when every row is granted, now or before;" +
			" 2 when the file is refused; 9 when\nsome rows are not granted; 12 when the answer to" +
			" some is not known; 130 after Ctrl-C.",
		Example: "  rewardctl grant apply players.csv --campaign outage-2026-11-30 --reason " +
			"\"outage on 30 November\" --dry-run\n" +
			"  rewardctl grant apply players.csv --campaign outage-2026-11-30 --reason \"outage\" " +
			"\\\n      --result result.csv --rest rest.csv\n" +
			"  zcat players.csv.gz | rewardctl grant apply - --campaign c --reason why",
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&f.result, "result", "", "write a CSV with the answer to each row")
	flags.StringVar(&f.rest, "rest", "", "write a CSV with the rows that are not granted")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "grant the good rows of a file with bad ones")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

// applyFile checks a file, asks where the context wants it, and grants it.
func (a *app) applyFile(ctx context.Context, path string, f applyFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if w.conf.ReadOnly && !f.dryRun {
		return a.mayChange(ctx, w.conf, "", "", "grant a file")
	}
	// The index of a million rows lives long; letting garbage grow to its size again would double
	// what the process takes.
	debug.SetGCPercent(applyGCPercent)
	bar := a.newProgress()
	file, err := batchfile.Open(ctx, path, batchfile.Options{
		Campaign: f.campaign, Version: f.version, Actor: w.conf.Operator, Reason: f.reason,
		Limits: w.limits(), Stdin: a.stdin, OnProgress: bar.checking,
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
	if !f.dryRun && (check.Refused == 0 || f.skipInvalid) {
		want := number(int64(check.Good)).text + "-grant"
		deed := "grant " + number(int64(check.Good)).text + " rows"
		if err := a.mayChange(ctx, w.conf, f.confirm, want, deed); err != nil {
			return err
		}
	}
	return a.runFile(ctx, w, file, f, bar)
}

// runFile grants a checked file and prints the report.
func (a *app) runFile(
	ctx context.Context, w *wiring, file *batchfile.File, f applyFlags, bar *progress,
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
		HeldRounds: heldRounds(w.conf.Lease.TTL),
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
	report, err := repair.ApplyFile(ctx, operator.Known(engine), file, opt)
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

// heldRounds is how often rows are tried again whose lease another owner holds: long enough for
// the leases of a run that was killed to end, so that the same file can be given again at once.
// The first six rounds take up to six seconds, and each one more takes up to three.
func heldRounds(ttl time.Duration) int {
	const first, firstFor, more = 6, 6 * time.Second, 3 * time.Second
	if ttl <= firstFor {
		return first
	}
	return first + int((ttl-firstFor)/more) + 1
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
