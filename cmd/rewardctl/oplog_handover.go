package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type shiftJSON struct {
	From       *string        `json:"from"`
	To         *string        `json:"to"`
	Actor      *string        `json:"actor"` // whose deeds; null for everybody's
	Sums       []shiftSumJSON `json:"sums"`
	Unfinished []logEntryJSON `json:"unfinished"`
	Glass      []glassJSON    `json:"broken_glass"`
	Refused    []logEntryJSON `json:"refused"`
	Deeds      []logEntryJSON `json:"deeds"`
	Cut        bool           `json:"cut"`
	HeadID     *string        `json:"head_id"`
	HeadHash   string         `json:"head_hash"`
}

// glassJSON is a run without a second person that waits for one.
type glassJSON struct {
	Plan     *string `json:"plan"`
	State    string  `json:"state"`
	Operator string  `json:"operator"`
	Reason   string  `json:"reason"`
	At       *string `json:"at"`
}

type shiftSumJSON struct {
	Operator string `json:"operator"`
	Action   string `json:"action"`
	Phase    string `json:"phase"`
	Outcome  string `json:"outcome"`
	Deeds    int64  `json:"deeds"`
}

func (a *app) oplogHandoverCommand() *cobra.Command {
	var since, until, actor string
	cmd := &cobra.Command{
		Use:   "handover --since 4h",
		Short: "Write a report of a shift in Markdown: what was done, refused and left unfinished",
		Example: "  rewardctl oplog handover --since 8h > handover.md\n" +
			"  rewardctl oplog handover --since 2026-11-30T06:00 --until 2026-11-30T14:00\n" +
			"  rewardctl oplog handover --since 8h --actor mara",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := demand(cmd, "since"); err != nil {
				return err
			}
			to, err := parseTime("until", until)
			if err != nil {
				return err
			}
			to = orElse(to, a.now())
			from, err := spanBegin(since, to)
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			shift, err := reader.Shift(cmd.Context(), from, to, actor)
			if err != nil {
				return err
			}
			return a.printShift(shift)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "how long ago the shift began, or when")
	cmd.Flags().StringVar(&until, "until", "", "when it ended; now unless given")
	cmd.Flags().StringVar(&actor, "actor", "", "only deeds of this operator or database user")
	return cmd
}

// spanBegin reads how long before the end something began, or when.
func spanBegin(since string, to time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(since); err == nil && d > 0 {
		return to.Add(-d), nil
	}
	from, err := parseTime("since", since)
	if err != nil || from.IsZero() {
		return from, usage("since", "write 4h, or 2026-11-30T14:00", "--since %q is no time", since)
	}
	return from, nil
}

func (a *app) printShift(s inspect.LogShift) error {
	doc := shiftJSON{
		From: jsonTime(s.From), To: jsonTime(s.To), Actor: jsonText(s.Actor), Sums: []shiftSumJSON{},
		Unfinished: logEntriesJSON(s.Unfinished), Refused: logEntriesJSON(s.Refused),
		Deeds: logEntriesJSON(s.Deeds), Cut: s.Cut, HeadID: jsonID(s.Head.ID),
		HeadHash: hex.EncodeToString(s.Head.Hash), Glass: []glassJSON{},
	}
	for _, g := range s.Glass {
		doc.Glass = append(doc.Glass, glassJSON{
			jsonID(g.Plan), g.State, g.Operator, g.Reason, jsonTime(g.At),
		})
	}
	l := listing{document: doc, columns: columns("operator", "action", "phase", "outcome", "deeds")}
	for _, sum := range s.Sums {
		value := shiftSumJSON{
			sum.Operator, sum.Action, string(sum.Phase), sum.Outcome, sum.Deeds,
		}
		doc.Sums = append(doc.Sums, value)
		l.values = append(l.values, value)
		l.rows = append(l.rows, []cell{
			text(sum.Operator), text(sum.Action), text(string(sum.Phase)), text(sum.Outcome),
			number(sum.Deeds),
		})
	}
	l.document = doc
	if a.output != string(formatTable) {
		return a.print(l)
	}
	w := bufio.NewWriter(a.stdout)
	writeShift(w, s)
	return w.Flush()
}

func logEntriesJSON(entries []inspect.LogEntry) []logEntryJSON {
	list := make([]logEntryJSON, len(entries))
	for i, e := range entries {
		list[i] = newLogEntryJSON(e)
	}
	return list
}

// writeShift writes the report. A failed write comes back from the flush.
func writeShift(w *bufio.Writer, s inspect.LogShift) {
	fmt.Fprintf(w, "# Handover %s to %s (UTC)\n\n", s.From.UTC().Format("2006-01-02 15:04"),
		s.To.UTC().Format("2006-01-02 15:04"))
	if s.Actor != "" {
		fmt.Fprintf(w, "Deeds of %s; what is unfinished is of everybody.\n\n", markdown(s.Actor))
	}
	fmt.Fprint(w, "## Left unfinished\n\n")
	if len(s.Unfinished) == 0 {
		fmt.Fprint(w, "Nothing.\n\n")
	} else {
		fmt.Fprint(w, "Cut off between intent and result. Give the same command again: it "+
			"finishes, or refuses.\n\n")
		writeEntries(w, s.Unfinished, true)
	}
	writeGlass(w, s)
	fmt.Fprint(w, "## Sums\n\n")
	if len(s.Sums) == 0 {
		fmt.Fprint(w, "No deed was logged.\n\n")
	}
	for _, sum := range s.Sums {
		fmt.Fprintf(w, "* %d x %s by %s: %s\n", sum.Deeds, markdown(sum.Action),
			markdown(sum.Operator), markdown(sum.Outcome))
	}
	if len(s.Sums) > 0 {
		fmt.Fprintln(w)
	}
	if len(s.Refused) > 0 {
		fmt.Fprint(w, "## Denied and failed\n\n")
		writeEntries(w, s.Refused, false)
	}
	if len(s.Deeds) > 0 {
		fmt.Fprint(w, "## Deeds\n\n")
		if s.Cut {
			fmt.Fprint(w, "The newest only; see all with `rewardctl oplog list --all`.\n\n")
		}
		writeEntries(w, s.Deeds, false)
	}
	fmt.Fprintf(w, "The log ends at row %d, hash `%x`.\n", s.Head.ID, s.Head.Hash)
}

// writeGlass lists what ran without a second person and waits for one.
func writeGlass(w *bufio.Writer, s inspect.LogShift) {
	if len(s.Glass) == 0 {
		return
	}
	fmt.Fprint(w, "## Broken glass, not reviewed\n\nRan in an emergency without a second person. "+
		"Somebody else than who made the plan or broke\nthe glass looks at it, then signs with "+
		"`rewardctl grant approve PLAN`.\n\n")
	for _, g := range s.Glass {
		fmt.Fprintf(w, "* plan %d, %s: began %s, broken by %s, for %s at the end of the shift. "+
			"Reason: %s\n", g.Plan, markdown(g.State), when(g.At), markdown(g.Operator),
			span(s.To.Sub(g.At).Round(time.Minute)), markdown(g.Reason))
	}
	fmt.Fprintln(w)
}

func writeEntries(w *bufio.Writer, entries []inspect.LogEntry, command bool) {
	for _, e := range entries {
		fmt.Fprintf(w, "* %s row %d: %s %s by %s: %s. Reason: %s", when(e.At), e.ID,
			markdown(e.Action), markdown(e.Target), markdown(e.Operator), markdown(e.Outcome),
			markdown(e.Reason))
		if e.Ticket != "" {
			fmt.Fprintf(w, ", ticket %s", markdown(e.Ticket))
		}
		if e.Approval != 0 {
			fmt.Fprintf(w, ", approval %d", e.Approval)
		}
		if command {
			fmt.Fprintf(w, "\n  %s", markdown(e.Command))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// markdown makes a text from outside a code span: no link, picture, mention, heading or HTML in it
// takes effect, and it stays on its line. The fence is longer than any run of backticks inside.
func markdown(s string) string {
	s = safeText(s)
	if strings.TrimSpace(s) == "" {
		return "(empty)"
	}
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 || strings.TrimSpace(s) != s {
		s = " " + s + " " // one blank on each side belongs to the fence
	}
	return fence + s + fence
}
