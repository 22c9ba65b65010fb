package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/repair"
)

// decideFlags are the flags of the commands that decide about a plan.
type decideFlags struct {
	reason, breakGlass, hash, confirm string

	ifVersion int64
	dryRun    bool
}

// decideWord is one of these commands.
type decideWord struct {
	word, short, long, example string

	do func(*repair.Operator, context.Context, repair.DecideRequest) (repair.Plan, error)
}

func (a *app) decideCommands() []*cobra.Command {
	words := []decideWord{
		{
			"approve", "Approve somebody else's plan that is over a limit",
			"Approves a plan: exactly its rows, by their hash, for a limited time (approval.within)," +
				" for one\nrun. The approver must be another operator and another database user than" +
				" who made the plan;\nthe database checks it. Approving shows the plan as it would" +
				" run now.\n\n--break-glass approves one's own plan, where the context allows it; the" +
				" log and every list say so,\nuntil somebody else approves the plan, also after it" +
				" has run: that is then its review. Neither who\nmade the plan nor who broke the" +
				" glass can give it.",
			"  rewardctl grant approve 12 --reason \"checked with ticket 5519\"",
			(*repair.Operator).ApprovePlan,
		},
		{
			"reject", "Reject a plan for good; one denial is a veto",
			"Rejects a plan for good, also one that was approved. If it is running, its processes end" +
				" after the\nbatch in hand.",
			"  rewardctl grant reject 12 --reason \"wrong week\"",
			(*repair.Operator).RejectPlan,
		},
		{
			"pause", "Pause a running plan; apply goes on",
			"Has all processes that run the plan end after the batch in hand. Applying it again goes" +
				" on.",
			"  rewardctl grant pause 12 --reason \"database is busy\"",
			(*repair.Operator).PausePlan,
		},
		{
			"cancel", "End a plan for good; what it granted stays granted",
			"Ends a plan for good. What it granted stays granted; take it back with ledger reverse.",
			"  rewardctl grant cancel 12 --reason \"replaced by plan 13\"",
			(*repair.Operator).CancelPlan,
		},
	}
	commands := make([]*cobra.Command, len(words))
	for i, w := range words {
		commands[i] = a.decideCommand(w)
	}
	return commands
}

func (a *app) decideCommand(word decideWord) *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use: word.word + " PLAN --reason WHY", Short: word.short, Long: word.long,
		Example: word.example, Args: arguments("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parsePlan(args[0])
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("break-glass") {
				if err := demand(cmd, "reason"); err != nil {
					return err
				}
			} else if f.reason == "" {
				f.reason = f.breakGlass
			}
			return a.decide(cmd, word, id, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	if word.word == "approve" {
		flags.StringVar(&f.breakGlass, "break-glass", "",
			"why one's own plan is approved in an emergency")
	}
	flags.Int64Var(&f.ifVersion, "if-version", 0, "only if the plan has still this version")
	flags.StringVar(&f.hash, "hash", "", "only if the plan's hash begins so (8 characters or more)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the plan, decide nothing")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

// look reads a plan, and what it would do now where that matters: whoever has a run stopped, as the
// database is busy perhaps, does not wait until all its rows are looked up.
func (w decideWord) look(
	ctx context.Context, operator *repair.Operator, id int64,
) (repair.Plan, *repair.PlanPreview, error) {
	plan, err := operator.Plan(ctx, id)
	if err != nil || w.word != "approve" && !plan.StartedAt.IsZero() {
		return plan, nil, err
	}
	plan, preview, err := operator.PreviewPlan(ctx, id)
	return plan, &preview, err
}

// decide shows the plan as it is, asks where the context wants it, and decides.
func (a *app) decide(cmd *cobra.Command, word decideWord, id int64, f decideFlags) error {
	ctx := cmd.Context()
	w, err := a.wire()
	if err != nil {
		return err
	}
	if f.hash != "" && len(f.hash) < 8 {
		return usage("hash", "give at least 8 characters of it", "--hash %q is too short", f.hash)
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return err
	}
	plan, preview, err := word.look(ctx, operator, id)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.printPlan(plan, preview, false, nil)
	}
	a.say("%s of %s: %d rows, %s", plan.Name(), plan.RequestedBy, plan.Due, plan.State)
	if preview != nil {
		a.sayPreview(preview)
	}
	if preview != nil && plan.StartedAt.IsZero() {
		for _, d := range preview.DriftFrom(&plan.Preview) {
			a.say("  since it was made: %s", d)
		}
	}
	ask := repair.DecideRequest{
		Plan:   repair.PlanRef{ID: id, Version: orElse(f.ifVersion, plan.Version), Hash: f.hash},
		Reason: strings.TrimSpace(f.reason), BreakGlass: f.breakGlass != "", Seen: preview,
	}
	a.attempts(w, ask.Action(word.word), ask.Reason, map[string]string{
		"state": string(plan.State), "hash": plan.Hash,
	})
	want := digits(id) + "-" + word.word
	if err := a.mayChange(ctx, w.conf, f.confirm, want, word.word+" "+plan.Name()); err != nil {
		return err
	}
	glass := plan.BrokenGlass() != nil
	plan, err = word.do(operator, ctx, ask)
	if err != nil {
		return err
	}
	if glass && plan.BrokenGlass() == nil {
		a.say("the broken glass of %s is reviewed", plan.Name())
	}
	if f.breakGlass != "" {
		a.say("BREAK-GLASS: %s was approved without a second person; the log says so", plan.Name())
	}
	return a.printPlan(plan, nil, false, nil)
}
