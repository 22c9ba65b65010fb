package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type auditListJSON struct {
	Checks []checkAboutJSON `json:"checks"`
	Runs   []auditKeptJSON  `json:"runs"`
}

type checkAboutJSON struct {
	Name  string `json:"name"`
	Rule  string `json:"rule"`
	Reads string `json:"reads"`
}

type auditKeptJSON struct {
	Run        *string           `json:"run"`
	State      string            `json:"state"`
	Checks     []string          `json:"checks"`
	ChecksDone []string          `json:"checks_done"`
	SinceLast  bool              `json:"since_last"`
	Options    map[string]string `json:"options"`
	Operator   string            `json:"operator"`
	Command    string            `json:"command"`
	Problem    *string           `json:"problem"`
	Started    *string           `json:"started"`
	Ended      *string           `json:"ended"`
	Findings   int64             `json:"findings"`
	Critical   int64             `json:"critical"`
	// Acknowledged are the findings that somebody has looked at.
	Acknowledged int64 `json:"acknowledged"`
}

func newAuditKeptJSON(r inspect.AuditRun, state string) auditKeptJSON {
	return auditKeptJSON{
		Run: jsonID(r.ID), State: state, Checks: emptyNotNull(r.Checks),
		ChecksDone: emptyNotNull(r.ChecksDone), SinceLast: r.Incremental, Options: r.Options,
		Operator: r.Operator, Command: r.Command, Problem: jsonText(r.Problem),
		Started: jsonTime(r.Started), Ended: jsonTime(r.Ended), Findings: r.Findings,
		Critical: r.Critical, Acknowledged: r.Acknowledged,
	}
}

// auditState is the state of a run in a word. A run that was killed still counts as running.
func (a *app) auditState(r inspect.AuditRun) string {
	if r.Stopped(a.now()) {
		return "cut off"
	}
	return r.State
}

func (a *app) auditListCommand() *cobra.Command {
	limit := 10
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the checks that there are, and the latest runs",
		Long:    "Lists the checks and the latest runs. With -o jsonl or csv only the runs.",
		Example: "  rewardctl audit list\n  rewardctl audit list -o json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 1000 {
				return usage("limit", "give 1 to 1000", "--limit %d is out of bounds", limit)
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			runs, err := reader.AuditRuns(cmd.Context(), limit)
			var missing *inspect.NoAuditTablesError
			if err != nil && !errors.As(err, &missing) {
				return err
			}
			if missing != nil {
				a.say("%v", missing)
			}
			return a.printAudits(runs)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "how many runs")
	return cmd
}

func (a *app) printAudits(runs []inspect.AuditRun) error {
	doc := auditListJSON{Runs: []auditKeptJSON{}}
	checks := listing{columns: columns("check", "what_must_hold")}
	for _, c := range inspect.AuditChecks() {
		doc.Checks = append(doc.Checks, checkAboutJSON(c))
		checks.rows = append(checks.rows, []cell{text(c.Name), text(c.Rule)})
	}
	l := listing{
		columns: columns("run", "state", "started", "operator", "findings", "critical", "checks"),
		empty:   "no runs yet; start one with: rewardctl audit run --all",
	}
	for _, r := range runs {
		kept := newAuditKeptJSON(r, a.auditState(r))
		doc.Runs = append(doc.Runs, kept)
		l.values = append(l.values, kept)
		words := fmt.Sprintf("%d of %d: %s", len(r.ChecksDone), len(r.Checks),
			strings.Join(r.Checks, ", "))
		if r.Incremental {
			words += " (since last)"
		}
		l.rows = append(l.rows, []cell{
			number(r.ID), toned(kept.State, auditTone(kept.State)), instant(r.Started),
			text(r.Operator), number(r.Findings), number(r.Critical), text(words),
		})
	}
	l.document = doc
	if a.output == string(formatTable) {
		if err := a.printTable(checks); err != nil {
			return err
		}
		a.gap()
	}
	return a.print(l)
}

func auditTone(state string) tone {
	switch state {
	case "done":
		return good
	case "failed", "cut off":
		return bad
	}
	return notice
}

func (a *app) auditShowCommand() *cobra.Command {
	open := false
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run found: rules, rows side by side, proofs and what to do",
		Long: "Shows a kept run and its findings, worst first. It ends with 0 when there are none" +
			" and 6 when\nthere are some, acknowledged ones too, as audit run does: what was found is" +
			" still in the\ndatabase. With --open only what nobody has acknowledged is shown, and it" +
			" ends with 0 when that\nis nothing.",
		Example: "  rewardctl audit show 7\n  rewardctl audit show 7 --open\n" +
			"  rewardctl audit show 7 -o jsonl",
		Args: arguments("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return usage("run", "see: rewardctl audit list", "RUN %q is no number of a run", args[0])
			}
			return a.showAudit(cmd.Context(), id, open)
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "only findings that nobody has acknowledged")
	return cmd
}

// showAudit prints a kept run. With open the findings that were acknowledged are left out.
func (a *app) showAudit(ctx context.Context, id int64, open bool) error {
	reader, err := a.reader(ctx)
	if err != nil {
		return err
	}
	run, err := a.auditRunOf(ctx, reader, id)
	if err != nil {
		return err
	}
	var found []findingJSON
	first := true
	err = reader.AuditFindings(ctx, id, func(f inspect.Finding) error {
		if open && f.Acknowledged() {
			return nil
		}
		if a.output == string(formatJSON) {
			found = append(found, newFindingJSON(id, f))
			return nil
		}
		defer func() { first = false }()
		return a.printFinding(id, f, first)
	})
	if err != nil {
		return err
	}
	return a.endShow(run, found, open)
}

func (a *app) endShow(run inspect.AuditRun, found []findingJSON, open bool) error {
	state := a.auditState(run)
	if a.output == string(formatJSON) {
		err := writeJSON(a.stdout, struct {
			auditKeptJSON
			List []findingJSON `json:"list"`
		}{newAuditKeptJSON(run, state), emptyNotNull(found)}, true)
		if err != nil {
			return err
		}
	}
	a.say("run %d of %s by %s: %s, %s, %d critical%s", run.ID, when(run.Started), run.Operator,
		state, findingWords(run.Findings), run.Critical,
		acknowledgedWords(run.Findings, run.Acknowledged))
	if run.Problem != "" {
		a.say("it failed: %s", run.Problem)
	}
	if state != "done" && state != "running" {
		a.say("go on with: rewardctl audit run --resume %d", run.ID)
	}
	if run.Findings > run.Acknowledged || run.Findings > 0 && !open {
		return ended(exitFindings)
	}
	return nil
}

// acknowledgedWords says how many of all findings somebody has looked at; nothing for none.
func acknowledgedWords(all, acknowledged int64) string {
	switch {
	case acknowledged == 0:
		return ""
	case acknowledged == all:
		return ", all acknowledged"
	}
	return fmt.Sprintf(", %d acknowledged", acknowledged)
}
