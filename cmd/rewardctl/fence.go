package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rewardctl/repair"
)

func (a *app) fenceCommand() *cobra.Command {
	return a.group("fence", "Compare token counters in Redis with the fences in PostgreSQL",
		a.fenceDoctorCommand(), a.fenceReseedCommand())
}

type fenceReportJSON struct {
	Checked  int                `json:"checked"`
	Counts   map[string]int     `json:"counts"` // by state
	Findings []fenceFindingJSON `json:"findings"`
}

type fenceFindingJSON struct {
	Resource string     `json:"resource"`
	State    string     `json:"state"`
	Fence    *fenceJSON `json:"fence"`
	Counter  *string    `json:"counter"` // its text; null when there is none
	Lock     *string    `json:"lock"`
	Why      string     `json:"why"`
}

func newFenceFindingJSON(f repair.FenceFinding) fenceFindingJSON {
	return fenceFindingJSON{
		Resource: f.Resource, State: string(f.State), Fence: newFenceJSON(f.Fence),
		Counter: jsonText(f.Counter), Lock: jsonText(f.Lock), Why: f.Why,
	}
}

func (a *app) fenceDoctorCommand() *cobra.Command {
	var scan bool
	cmd := &cobra.Command{
		Use:   "doctor [RESOURCE]",
		Short: "Find counters that went back, were lost or are damaged, and tokens issued twice",
		Long: "Compares the token counter of each resource in Redis with its fence in PostgreSQL and" +
			" with its\nlock. It ends with 6 when something needs attention. A counter that is ahead" +
			" of its fence, or\nmissing while nobody holds the resource, is in order.",
		Example: "  rewardctl fence doctor\n  rewardctl fence doctor reward:p-1001",
		Args:    optionalArgument("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.wire()
			if err != nil {
				return err
			}
			operator, err := w.operator(cmd.Context(), 0)
			if err != nil {
				return err
			}
			bar := a.newProgress()
			query := repair.FenceQuery{Scan: scan, OnProgress: bar.comparing}
			if len(args) == 1 {
				query.Resource = args[0]
			}
			report, err := operator.CheckFences(cmd.Context(), query)
			bar.clear()
			if err != nil {
				return err
			}
			return a.printFenceReport(report)
		},
	}
	cmd.Flags().BoolVar(&scan, "scan", false,
		"also the counters that PostgreSQL knows nothing of; walks all keys of Redis")
	return cmd
}

// comparing is told how many resources were compared.
func (p *progress) comparing(checked int) {
	p.draw(fmt.Sprintf("comparing  %d resources", checked), false)
}

func (a *app) printFenceReport(r repair.FenceReport) error {
	j := fenceReportJSON{
		Checked: r.Checked, Counts: map[string]int{}, Findings: []fenceFindingJSON{},
	}
	for state, n := range r.Counts {
		j.Counts[string(state)] = n
	}
	l := listing{
		columns: columns("resource", "state", "counter", "fence", "lock", "why"),
		empty:   fmt.Sprintf("all in order: %d resources", r.Checked),
	}
	for _, f := range r.Findings {
		one := newFenceFindingJSON(f)
		j.Findings = append(j.Findings, one)
		l.values = append(l.values, one)
		l.rows = append(l.rows, fenceCells(f))
	}
	l.document = j
	if err := a.print(l); err != nil {
		return err
	}
	wrong := r.Wrong()
	if wrong == 0 {
		return nil
	}
	if a.output == string(formatTable) {
		a.say("%d of %d resources need attention; rewardctl fence reseed raises counters",
			wrong, r.Checked)
	}
	return ended(exitFindings)
}

func fenceCells(f repair.FenceFinding) []cell {
	tone := good
	switch f.State {
	case repair.CounterBad, repair.CounterBack, repair.TokenShared:
		tone = bad
	case repair.CounterLost:
		tone = notice
	case repair.FenceFits, repair.FenceIdle, repair.CounterAhead:
	}
	fence := cell{number: true}
	if f.Fence != nil {
		fence = number(f.Fence.Token)
	}
	return []cell{
		text(f.Resource), toned(string(f.State), tone), text(f.Counter), fence, text(f.Lock),
		text(f.Why),
	}
}

type reseedJSON struct {
	DryRun   bool             `json:"dry_run"`
	Raise    string           `json:"raise"` // counters or fences
	Checked  int              `json:"checked"`
	Counts   map[string]int   `json:"counts"` // by answer
	Items    []reseedItemJSON `json:"items"`
	IntentID *string          `json:"intent_id"`
	ResultID *string          `json:"result_id"`
	Timeline *timelineJSON    `json:"timeline"` // what was accepted; null when it never changed
	Command  string           `json:"command"`
	Exit     int              `json:"exit"`
}

// timelineJSON is a change of the pair server/timeline.
type timelineJSON struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type reseedItemJSON struct {
	fenceFindingJSON
	To     *string `json:"to"`
	Answer string  `json:"answer"`
	Error  *string `json:"error"`
}

func (a *app) fenceReseedCommand() *cobra.Command {
	var r repair.ReseedRequest
	var all bool
	var confirm string
	cmd := &cobra.Command{
		Use:   "reseed (RESOURCE | --all) --reason WHY",
		Short: "Raise token counters to their fences, never down; after a failover, the other way",
		Long: "Raises the counters that fell behind their fence, and repairs damaged ones, each only" +
			" if it is\nas it was seen. With --fences it raises the fences to the counters instead:" +
			" after a failover of\nPostgreSQL that lost rows, nobody knows which of the issued tokens" +
			" were accepted. Every lease\nheld then is void: its holder is refused and takes a new one." +
			" With --all it also accepts the\ntimeline that the database is on, so that grants go on.",
		Example: "  rewardctl fence reseed --all --reason \"redis lost counters, INC-77\" --dry-run\n" +
			"  rewardctl fence reseed --all --fences --reason \"failover, INC-78\" --confirm void-leases",
		Args: optionalArgument("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := demand(cmd, "reason"); err != nil {
				return err
			}
			if (len(args) == 1) == all {
				return usage("resource", "name one resource, or give --all",
					"which resources is missing, or said twice")
			}
			if len(args) == 1 {
				r.Resource = args[0]
			}
			return a.reseed(cmd, confirm, r)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&all, "all", false, "all resources")
	flags.BoolVar(&r.Fences, "fences", false, "raise fences to the counters; voids all leases held")
	flags.StringVar(&r.Reason, "reason", "", "why, for the records")
	flags.BoolVar(&r.DryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&confirm, "confirm", "",
		"void-leases with --fences; the words that a protected context asks for")
	return cmd
}

func (a *app) reseed(cmd *cobra.Command, confirm string, r repair.ReseedRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if err := a.mayReseed(cmd, w, confirm, r); err != nil {
		return err
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	bar := a.newProgress()
	r.OnProgress = bar.comparing
	done, err := operator.Reseed(cmd.Context(), r)
	bar.clear()
	if err != nil {
		return err
	}
	if done.LogProblem != "" {
		a.say("warning: the counters are raised, but the result could not be logged: %s",
			done.LogProblem)
	}
	return a.printReseed(r, done)
}

// mayReseed asks for words where leases are voided, in any context.
func (a *app) mayReseed(
	cmd *cobra.Command, w *wiring, confirm string, r repair.ReseedRequest,
) error {
	if r.DryRun {
		return nil
	}
	a.attempts(w, r, r.Reason, nil)
	if r.Fences {
		return a.mustConfirm(cmd.Context(), w.conf, confirm, "void-leases",
			"raise fences and void the leases that are held")
	}
	want := "reseed"
	if r.Resource != "" {
		want = lastFour(r.Resource) + "-reseed"
	}
	return a.mayChange(cmd.Context(), w.conf, confirm, want, "raise counters")
}

// reseedExit is the exit code: partial when something was left, and a changed state when that is
// all there was.
func reseedExit(done repair.Reseed) exitCode {
	left := done.Counts[repair.ReseedChanged] + done.Counts[repair.ReseedFailed]
	switch {
	case left == 0:
		return exitOK
	case done.Counts[repair.Reseeded] > 0:
		return exitPartial
	case done.Counts[repair.ReseedFailed] > 0:
		return exitUnavailable
	}
	return exitPrecondition
}

func (a *app) printReseed(r repair.ReseedRequest, done repair.Reseed) error {
	code := reseedExit(done)
	j := reseedJSON{
		DryRun: r.DryRun, Raise: "counters", Checked: done.Checked, Counts: map[string]int{},
		Items: []reseedItemJSON{}, IntentID: jsonID(done.IntentID),
		ResultID: jsonID(done.ResultID), Command: a.commandLine(r.CLI()), Exit: int(code),
	}
	if r.Fences {
		j.Raise = "fences"
	}
	if change := done.Timeline; change != (repair.Timeline{}) {
		j.Timeline = &timelineJSON{change.From, change.To}
	}
	for answer, n := range done.Counts {
		j.Counts[string(answer)] = n
	}
	l := listing{
		columns: columns("resource", "state", "counter", "fence", "to", "answer"),
		empty:   fmt.Sprintf("nothing to raise: %d resources", done.Checked),
	}
	for _, item := range done.Items {
		one := reseedItemJSON{
			fenceFindingJSON: newFenceFindingJSON(item.FenceFinding), To: jsonID(item.To),
			Answer: string(item.Answer),
		}
		answer := toned(plainWords(one.Answer), good)
		if item.Answer == repair.ReseedChanged || item.Answer == repair.ReseedFailed {
			answer.tone = bad
		}
		if item.Err != nil {
			one.Error = jsonText(item.Err.Error())
			answer.text += ": " + item.Err.Error()
		}
		j.Items = append(j.Items, one)
		l.values = append(l.values, one)
		cells := fenceCells(item.FenceFinding)
		l.rows = append(l.rows, append(cells[:4:4], number(item.To), answer))
	}
	l.document = j
	if j.Timeline != nil && r.DryRun {
		a.say("timeline %s would be accepted, after %s", j.Timeline.To, j.Timeline.From)
	} else if j.Timeline != nil {
		a.say("timeline %s is accepted, after %s: grants go on", j.Timeline.To, j.Timeline.From)
	}
	return errors.Join(a.print(l), ended(code))
}
