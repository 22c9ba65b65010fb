package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type auditDiffJSON struct {
	Older    *string          `json:"older"`
	Newer    *string          `json:"newer"`
	Counts   map[string]int   `json:"counts"` // by change
	Findings []findingChanged `json:"findings"`
	Exit     int              `json:"exit"`
}

// findingChanged is a finding with what became of it.
type findingChanged struct {
	Change string `json:"change"` // new, still, gone or unread
	findingJSON
}

func (a *app) auditDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff RUN [OLDER]",
		Short: "Compare what two runs found: new, still there, gone",
		Long: "Compares a run with an older one, by default the newest before it that read the same" +
			" check\nto the end. What cannot be told, because one of the two did not read everything" +
			" of a check,\nis called unread. It ends with 6 when there is something new, else with 0.",
		Example: "  rewardctl audit diff 12\n  rewardctl audit diff 12 7 -o json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return arguments("RUN", "OLDER")(cmd, args)
			}
			return arguments("RUN")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := make([]int64, len(args))
			for i, arg := range args {
				id, err := strconv.ParseInt(arg, 10, 64)
				if err != nil || id < 1 {
					return usage("run", "see: rewardctl audit list", "%q is no number of a run", arg)
				}
				ids[i] = id
			}
			return a.auditDiff(cmd.Context(), ids)
		},
	}
}

func (a *app) auditDiff(ctx context.Context, ids []int64) error {
	reader, err := a.reader(ctx)
	if err != nil {
		return err
	}
	if len(ids) == 1 {
		if _, err := a.auditRunOf(ctx, reader, ids[0]); err != nil {
			return err
		}
		older, err := reader.AuditPrevious(ctx, ids[0])
		if err != nil {
			return err
		}
		if older == 0 {
			return &inspect.NotFoundError{What: "audit run to compare with", Name: fmt.Sprint(ids[0])}
		}
		ids = append(ids, older)
	}
	got, err := reader.AuditCompare(ctx, ids[1], ids[0])
	if err != nil {
		return err
	}
	j := auditDiffJSON{
		Older: jsonID(got.Older.ID), Newer: jsonID(got.Newer.ID), Counts: map[string]int{},
		Findings: []findingChanged{},
	}
	for change, n := range got.Counts {
		j.Counts[string(change)] = n
	}
	for _, run := range []int64{got.Newer.ID, got.Older.ID} {
		err := reader.AuditFindings(ctx, run, func(f inspect.Finding) error {
			if change, ok := got.Changes[f.ID]; ok {
				j.Findings = append(j.Findings, findingChanged{string(change), newFindingJSON(run, f)})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return a.printDiff(got, j)
}

func (a *app) printDiff(got inspect.AuditChanges, j auditDiffJSON) error {
	code := exitOK
	if got.Counts[inspect.FindingNew] > 0 {
		code = exitFindings
	}
	j.Exit = int(code)
	l := listing{
		document: j,
		columns:  columns("change", "id", "severity", "check", "what", "ack"),
		empty:    "neither run found anything",
	}
	for _, f := range j.Findings {
		l.values = append(l.values, f)
		mark := notice
		switch inspect.AuditChange(f.Change) {
		case inspect.FindingNew:
			mark = bad
		case inspect.FindingGone:
			mark = good
		case inspect.FindingStill, inspect.FindingUnread:
		}
		ack := ""
		if f.Ack != nil {
			ack = f.Ack.State + " by " + f.Ack.Operator
		}
		id := ""
		if f.ID != nil {
			id = *f.ID
		}
		l.rows = append(l.rows, []cell{
			toned(f.Change, mark), text(id), text(f.Severity), text(f.Check), text(f.What), text(ack),
		})
	}
	if err := a.print(l); err != nil {
		return err
	}
	a.say("run %d compared with run %d: %d new, %d still there, %d gone, %d unread", got.Newer.ID,
		got.Older.ID, got.Counts[inspect.FindingNew], got.Counts[inspect.FindingStill],
		got.Counts[inspect.FindingGone], got.Counts[inspect.FindingUnread])
	return ended(code)
}
