package main

import (
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// printPlan prints one plan with its preview. counts may be nil.
func (a *app) printPlan(
	p repair.Plan, preview *repair.PlanPreview, dry bool, counts *repair.ApplyCounts,
) error {
	j := newPlanJSON(&p, preview)
	j.DryRun = dry
	fields := planFields(&p, dry)
	if preview != nil {
		fields = append(fields, previewFields(preview)...)
	}
	if dry {
		j.Plan = nil
	}
	if counts != nil {
		j.Counts = countsJSON(counts)
		fields = append(fields, countFields(counts)...)
	}
	return a.printOne(j, fields)
}

func countsJSON(c *repair.ApplyCounts) map[string]int {
	counts := map[string]int{"not_run": c.NotRun}
	for _, o := range applyWords() {
		counts[o.String()] = c.Of(o)
	}
	return counts
}

func countFields(c *repair.ApplyCounts) []field {
	var fields []field
	for _, o := range applyWords() {
		n := c.Of(o)
		if n > 0 || o == grant.Applied || o == grant.Replayed {
			fields = append(fields, field{o.String(), toned(strconv.Itoa(n), outcomeTone(o.String()))})
		}
	}
	if c.NotRun > 0 {
		fields = append(fields, field{"not_run", toned(strconv.Itoa(c.NotRun), notice)})
	}
	return fields
}

func planTone(s repair.PlanState) tone {
	switch s {
	case repair.PlanDone, repair.PlanReady, repair.PlanApproved:
		return good
	case repair.PlanWaiting, repair.PlanRunning, repair.PlanPaused, repair.PlanStopped:
		return notice
	case repair.PlanRejected, repair.PlanCancelled:
		return bad
	}
	return plain
}

func planFields(p *repair.Plan, dry bool) []field {
	title, name := "plan", digits(p.ID)
	if dry {
		title, name = "dry_run_of", p.Source
	}
	rows := fmt.Sprintf("%d: %d to grant", p.Rows, p.Due)
	if p.Duplicates > 0 {
		rows += fmt.Sprintf(", %d repeat an earlier row", p.Duplicates)
	}
	if p.Invalid > 0 {
		rows += fmt.Sprintf(", %d invalid", p.Invalid)
	}
	state := toned(string(p.State), planTone(p.State))
	fields := []field{
		{title, text(name)},
		{"state", state},
		{"version", text(digits(p.Version))},
		{"hash", text(p.Hash)},
		{"file", text(p.Source)},
		{"campaign", text(p.Campaign)},
		{"reason", text(p.Reason)},
		{"requested_by", text(fmt.Sprintf("%s (database user %s)", p.RequestedBy, p.DBUser))},
		{"rows", text(rows)},
	}
	if !p.StartedAt.IsZero() {
		fields = append(fields, field{"decided", text(fmt.Sprintf("%d of %d, %d refused", p.Decided,
			p.Due, p.Errors))})
	}
	for _, o := range p.Over {
		fields = append(fields, field{"over_limit", toned(o.String(), notice)})
	}
	for _, d := range p.Decisions {
		fields = append(fields, field{"decision", decisionCell(d, p.ReadAt)})
	}
	return append(fields, field{"created", instant(p.CreatedAt)},
		field{"started", instant(p.StartedAt)}, field{"ended", instant(p.EndedAt)})
}

func decisionCell(d repair.Decision, now time.Time) cell {
	word, t := "rejected", bad
	switch {
	case d.BreakGlass:
		word, t = "BREAK-GLASS, approved without a second person", bad
	case d.Approve:
		word, t = "approved", good
	case d.Review:
		word, t = "reviewed", good
	}
	line := fmt.Sprintf("%s by %s (%s) at %s: %s", word, d.Operator, d.DBUser, when(d.At), d.Reason)
	switch {
	case !d.Approve:
	case !d.Used.IsZero():
		line += "; a run began under it at " + when(d.Used)
		if d.AwaitsReview {
			line += "; NOT REVIEWED for " + span(now.Sub(d.Used))
		}
	case d.InForce(now):
		line += "; until " + when(d.Expires)
	default:
		line, t = line+"; expired at "+when(d.Expires), notice
	}
	return toned(line, t)
}

func previewFields(p *repair.PlanPreview) []field {
	fields := []field{
		{"players", text(fmt.Sprintf("%d, %d of them more than once", p.Players, p.PlayersTwice))},
		{"fresh", toned(digits(p.Fresh), good)},
		{"already_granted", countCell(p.Granted, notice)},
		{"mismatches", countCell(p.Mismatches, bad)},
	}
	for _, k := range p.Kinds {
		line := fmt.Sprintf("%s: %d in %d rows, the largest %d on line %d; balances %d -> %d, the "+
			"highest %d", k.Kind, k.Total, k.Rows, k.Largest, k.LargestLine, k.BalanceBefore,
			k.BalanceAfter, k.HighestAfter)
		fields = append(fields, field{"kind", text(line)})
		if k.Overflows > 0 {
			fields = append(fields, field{"overflow", toned(fmt.Sprintf(
				"%d balances of %s cannot hold it: these rows will fail", k.Overflows, k.Kind), bad)})
		}
	}
	for i, t := range p.Top {
		if i == topShown {
			break
		}
		fields = append(fields, field{"top", text(fmt.Sprintf("%s: %d %s, balance %d -> %d", t.PlayerID,
			t.Plus, t.Kind, t.Before, t.After))})
	}
	for _, o := range p.Odd {
		fields = append(fields, field{"mismatch", toned(fmt.Sprintf(
			"line %d: %s %s is %d %s there, %d %s here", o.Line, o.PlayerID, o.EventID, o.HaveAmount,
			o.HaveKind, o.Amount, o.Kind), bad)})
	}
	return fields
}

// topShown is how many of those who receive most a table names; JSON has ten.
const topShown = 3

func countCell(n int64, t tone) cell {
	if n == 0 {
		return text("0")
	}
	return toned(digits(n), t)
}
