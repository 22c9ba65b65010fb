package main

import (
	"context"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// planPolicy says in the words of repair what needs a second person.
func planPolicy(a config.Approval) repair.PlanPolicy {
	limits := func(a config.Approval) repair.PlanLimits {
		return repair.PlanLimits{
			Amount: a.Amount, PlayerDay: a.PlayerDay, Rows: a.Rows, Total: a.Total,
		}
	}
	policy := repair.PlanPolicy{
		Limits: limits(a), ApproveWithin: a.Within, BreakGlass: a.BreakGlass,
	}
	for _, rule := range a.Rules {
		policy.Rules = append(policy.Rules, repair.LimitRule{
			Operator: rule.Operator, Role: rule.Role, Limits: limits(a.For(rule)),
		})
	}
	return policy
}

// planFlags are the flags of "grant plan".
type planFlags struct {
	campaign, reason, sheet string

	columns     columnFlags
	version     int
	skipInvalid bool
	dryRun      bool
}

func (a *app) grantPlanCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan FILE --campaign C --reason WHY",
		Short: "Freeze a file of rewards as a plan, preview it, grant nothing",
		Long: "Checks every line of a CSV, JSONL or XLSX file (- reads standard input), keeps the" +
			" rows as a plan and\nsays what it would do: players, totals, what is granted already, what" +
			" would be refused, balances\nafterwards. The same rows again, also under another name," +
			" answer the plan there is.\n\nIt ends with 0 when the plan may be applied, 7 when it is" +
			" over a limit and awaits approval, 2 when\nthe file is refused.",
		Example: "  rewardctl grant plan players.csv --campaign outage-2026-11-30 --reason " +
			"\"outage on 30 November\"\n" +
			"  rewardctl grant plan season.xlsx --sheet Winners --column player_id=Spieler \\\n" +
			"      --column amount=Menge --campaign season-34 --reason season\n" +
			"  rewardctl grant approve 12 --reason \"checked with ticket 5519\"\n" +
			"  rewardctl grant apply 12 --result result.csv",
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := demand(cmd, "reason"); err != nil {
				return err
			}
			if f.version < 1 {
				return usage("version", "count from 1", "--version %d is below 1", f.version)
			}
			return a.makePlan(cmd.Context(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.campaign, "campaign", "", "what the rewards are part of: builds the event ids")
	flags.IntVar(&f.version, "version", 1, "2 or more repeats the same rewards on purpose")
	flags.StringVar(&f.sheet, "sheet", "", "the sheet of a workbook, when several hold anything")
	f.columns.add(flags)
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "plan the good rows of a file with bad ones")
	flags.BoolVar(&f.dryRun, "dry-run", false, "preview the plan, keep nothing")
	return cmd
}

// makePlan plans a file and prints the plan.
func (a *app) makePlan(ctx context.Context, path string, f planFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !f.dryRun {
		a.attempts(w, repair.PlanRequest{
			Campaign: f.campaign, Version: f.version, Sheet: f.sheet, Reason: f.reason,
			SkipInvalid: f.skipInvalid, Columns: f.columns.known(),
		}.Action(path), f.reason, nil)
	}
	if w.conf.ReadOnly && !f.dryRun {
		return a.mayChange(ctx, w.conf, "", "", "plan grants")
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return err
	}
	bar := a.newProgress()
	file, err := a.openGrants(ctx, w, path, f, bar)
	if err != nil {
		return err
	}
	defer file.Close()
	plan, preview, err := a.planFile(ctx, operator, file, f, bar)
	if err != nil {
		return err
	}
	if err := a.printPlan(plan, &preview, f.dryRun, nil); err != nil {
		return err
	}
	return ended(a.sayPlanned(&plan, f.dryRun))
}

// openGrants opens a file of grants and checks it.
func (a *app) openGrants(
	ctx context.Context, w *wiring, path string, f planFlags, bar *progress,
) (*batchfile.File, error) {
	// The index of a million rows lives long; letting garbage grow to its size again would double
	// what the process takes.
	debug.SetGCPercent(applyGCPercent)
	columns, err := f.columns.parse()
	if err != nil {
		return nil, err
	}
	file, err := batchfile.Open(ctx, path, batchfile.Options{
		Campaign: f.campaign, Version: f.version, Sheet: f.sheet, Actor: w.conf.Operator,
		Reason: f.reason, Limits: w.limits(), Stdin: a.stdin, OnProgress: bar.checking,
		Columns: columns,
	})
	if err != nil {
		return nil, err
	}
	check, err := file.Validate(ctx)
	bar.clear()
	if err != nil {
		_ = file.Close() // the first error says why
		return nil, err
	}
	a.sayCheck(check)
	return file, nil
}

// planFile plans a file that is checked.
func (a *app) planFile(
	ctx context.Context, operator *repair.Operator, file *batchfile.File, f planFlags,
	bar *progress,
) (repair.Plan, repair.PlanPreview, error) {
	defer bar.clear()
	return operator.MakePlan(ctx, file, repair.PlanRequest{
		Campaign: f.campaign, Version: f.version, Reason: strings.TrimSpace(f.reason),
		SkipInvalid: f.skipInvalid, DryRun: f.dryRun, OnRows: bar.storing,
	})
}

// sayPlanned says what became of a file that was planned, and gives the exit code.
func (a *app) sayPlanned(p *repair.Plan, dry bool) exitCode {
	if dry {
		return exitOK
	}
	if p.Existing {
		a.say("these rows are planned already: %s of %s, which is %s", p.Name(), p.RequestedBy,
			p.State)
	}
	if p.DoneBefore != 0 {
		a.say("the same rows were granted by plan %d: granting them again gives nothing new",
			p.DoneBefore)
	}
	id := planNumber(p.ID)
	switch p.State {
	case repair.PlanWaiting:
		for _, over := range p.Over {
			a.say("over a limit: %s", over)
		}
		a.say("it awaits approval; somebody else, as another database user: rewardctl grant approve "+
			"%s --reason WHY", id)
		return exitApproval
	case repair.PlanReady, repair.PlanApproved, repair.PlanRunning, repair.PlanPaused,
		repair.PlanStopped:
		a.say("to grant it: rewardctl grant apply %s", id)
	case repair.PlanRejected, repair.PlanCancelled, repair.PlanDone:
	}
	return exitOK
}

// planOne makes a plan of a single grant that is over a limit.
func (a *app) planOne(
	ctx context.Context, operator *repair.Operator, r grant.Request,
) error {
	plan, preview, err := operator.PlanOne(ctx, r)
	if err != nil {
		return err
	}
	if err := a.printPlan(plan, &preview, false, nil); err != nil {
		return err
	}
	return ended(a.sayPlanned(&plan, false))
}

// columnFlags are the texts of the flag --column.
type columnFlags []string

func (c *columnFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar((*[]string)(c), "column", nil, "read a column of the file as another: "+
		"`player_id=NAME`; repeat it for more")
}

// parse reads the flags, or says which of them cannot be meant.
func (c columnFlags) parse() ([]batchfile.Column, error) { return batchfile.ParseColumns(c) }

// known is what could be read of the flags, for the log of an attempt.
func (c columnFlags) known() []batchfile.Column {
	columns, _ := batchfile.ParseColumns(c) // whoever reads the file says what is wrong
	return columns
}

// parsePlan reads the number of a plan.
func parsePlan(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 || strings.Trim(text, "0123456789") != "" {
		return 0, usage("plan", "copy the number from: rewardctl grant list",
			"%q is not a plan", text)
	}
	return id, nil
}
