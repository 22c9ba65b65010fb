package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/repair"
)

func (a *app) grantStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [PLAN]",
		Short: "Tell how far a plan is, or all plans that are open",
		Long: "With the number of a plan: what it is, who decided what about it, and how many of its" +
			" rows have\nwhich answer. Without: the plans that are not over, and" +
			" those that ran under broken glass and\nthat nobody else has reviewed yet.",
		Example: "  rewardctl grant status\n  rewardctl grant status 12 -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return arguments("PLAN")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.wire()
			if err != nil {
				return err
			}
			operator, err := w.operator(cmd.Context(), 0)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listPlans(cmd.Context(), operator, repair.PlanFilter{
					States: openStates(), Unreviewed: true,
				}, "no plan is open")
			}
			id, err := parsePlan(args[0])
			if err != nil {
				return err
			}
			plan, err := operator.Plan(cmd.Context(), id)
			if err != nil {
				return err
			}
			counts, err := operator.PlanOutcomes(cmd.Context(), id)
			if err != nil {
				return err
			}
			preview := &plan.Preview
			if !plan.StartedAt.IsZero() {
				preview = nil // the counts tell more by now
			}
			return a.printPlan(plan, preview, false, &counts)
		},
	}
}

// openStates are the states of plans to which something can happen still.
func openStates() []repair.PlanState {
	return []repair.PlanState{
		repair.PlanWaiting, repair.PlanReady, repair.PlanApproved, repair.PlanRunning,
		repair.PlanPaused, repair.PlanStopped,
	}
}

func (a *app) grantListCommand() *cobra.Command {
	var states []string
	limit, unreviewed := 20, false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List plans, the newest first",
		Example: "  rewardctl grant list\n  rewardctl grant list --state waiting -o json\n" +
			"  rewardctl grant list --unreviewed",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 1000 {
				return usage("limit", "give 1 to 1000", "--limit %d is out of bounds", limit)
			}
			filter := repair.PlanFilter{Limit: limit, Unreviewed: unreviewed}
			for _, s := range states {
				state, err := parsePlanState(s)
				if err != nil {
					return err
				}
				filter.States = append(filter.States, state)
			}
			w, err := a.wire()
			if err != nil {
				return err
			}
			operator, err := w.operator(cmd.Context(), 0)
			if err != nil {
				return err
			}
			return a.listPlans(cmd.Context(), operator, filter, "there are no such plans")
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only these states, such as waiting")
	cmd.Flags().BoolVar(&unreviewed, "unreviewed", false,
		"those that ran under broken glass and that nobody else has reviewed")
	cmd.Flags().IntVar(&limit, "limit", limit, "how many plans at most")
	return cmd
}

func parsePlanState(s string) (repair.PlanState, error) {
	all := append(openStates(), repair.PlanRejected, repair.PlanCancelled, repair.PlanDone)
	words := make([]string, len(all))
	for i, state := range all {
		if s == string(state) {
			return state, nil
		}
		words[i] = string(state)
	}
	return "", usage("state", "choose from: "+strings.Join(words, ", "),
		"--state %q is not a state", s)
}

// listPlans prints plans as a table.
func (a *app) listPlans(
	ctx context.Context, operator *repair.Operator, filter repair.PlanFilter, empty string,
) error {
	plans, err := operator.Plans(ctx, filter)
	if err != nil {
		return err
	}
	l := listing{
		columns: columns("plan", "state", "rows", "decided", "refused", "requested_by", "created",
			"approval", "file", "reason"),
		empty: empty,
	}
	for i := range plans {
		p := &plans[i]
		l.values = append(l.values, newPlanJSON(p, nil))
		l.rows = append(l.rows, []cell{
			text(digits(p.ID)), toned(string(p.State), planTone(p.State)), number(p.Due),
			number(p.Decided), number(p.Errors), text(p.RequestedBy), instant(p.CreatedAt),
			approvalCell(p), text(p.Source), text(p.Reason),
		})
	}
	return a.print(l)
}

// approvalCell says in a word who approved a plan.
func approvalCell(p *repair.Plan) cell {
	d := p.Approval()
	glass := p.BrokenGlass()
	switch {
	case glass != nil:
		return toned("BREAK-GLASS "+glass.Operator+", not reviewed for "+
			span(p.ReadAt.Sub(glass.Used)), bad)
	case !p.NeedsApproval:
		return text("not needed")
	case d == nil:
		return toned("missing", notice)
	case d.BreakGlass:
		word := "BREAK-GLASS " + d.Operator
		if !d.Used.IsZero() {
			return toned(word+", reviewed", notice)
		}
		return toned(word, bad)
	case d.Used.IsZero() && !d.InForce(p.ReadAt):
		return toned("expired", notice)
	}
	return text(d.Operator)
}
