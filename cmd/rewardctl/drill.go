package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant/drill"
	"rewardctl/tui/safetext"
)

type drillJSON struct {
	Drill    string             `json:"drill"`
	Defence  string             `json:"defence"`
	TTLMS    int64              `json:"ttl_ms"`
	PauseMS  int64              `json:"pause_ms"`
	Started  *string            `json:"started"`
	PlayerID string             `json:"player_id"`
	EventID  string             `json:"reward_event_id"`
	Expected int64              `json:"expected"`
	Timeline []drillRowJSON     `json:"timeline"`
	Refusals []drillRefusalJSON `json:"refusals"`
	Checks   []drillCheckJSON   `json:"checks"`
	OK       bool               `json:"ok"`
}

type drillRowJSON struct {
	AtMS    int64  `json:"at_ms"`
	WorkerA string `json:"worker_a"`
	Lease   string `json:"redis_lease"`
	WorkerB string `json:"worker_b"`
}

type drillRefusalJSON struct {
	Worker  string `json:"worker"`
	Line    string `json:"line"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

type drillCheckJSON struct {
	Name  string `json:"name"`
	Want  string `json:"want"`
	Have  string `json:"have"`
	Holds bool   `json:"holds"`
}

type drillDescriptionJSON struct {
	Name     string   `json:"name"`
	Plays    string   `json:"plays"`
	Defences []string `json:"defences"`
}

func (a *app) drillCommand() *cobra.Command {
	return a.group("drill", "Play a failure on purpose and see which defence stops it",
		a.drillListCommand(), a.drillRunCommand())
}

func (a *app) drillListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the drills", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			l := listing{columns: columns("name", "defences", "plays")}
			for _, d := range drill.List() {
				j := drillDescriptionJSON{Name: d.Name, Plays: d.Plays}
				for _, one := range d.Defences {
					j.Defences = append(j.Defences, string(one))
				}
				l.values = append(l.values, j)
				l.rows = append(l.rows, []cell{
					text(d.Name), text(strings.Join(j.Defences, " ")), text(d.Plays),
				})
			}
			return a.print(l)
		},
	}
}

func (a *app) drillRunCommand() *cobra.Command {
	var (
		ttl, pause time.Duration
		defence    string
	)
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run a drill on the context's servers, in a scratch schema and key space of its own",
		Long: "Runs a drill and prints its timeline, then the invariants. It ends with 0 only when" +
			" the\ninvariants hold, else with 6. --defence none shows the double payment that the" +
			" defences stop.",
		Example: "  rewardctl drill run paused-holder\n" +
			"  rewardctl drill run paused-holder --ttl 1s --pause 1100ms --defence none",
		Args:      arguments("NAME"),
		ValidArgs: []string{drill.PausedHolder},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := drill.ParseDefence(defence)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("pause") {
				pause = 0 // the drill's own: a little longer than the TTL
			}
			return a.runDrill(cmd, drill.Options{
				Name: args[0], Defence: d, TTL: ttl, Pause: pause,
			})
		},
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 5*time.Second, "time to live of the lease")
	cmd.Flags().DurationVar(&pause, "pause", 5100*time.Millisecond,
		"how long worker A stalls; by default 100ms longer than --ttl")
	cmd.Flags().StringVar(&defence, "defence", string(drill.All), "none, fence, unique or all")
	return cmd
}

func (a *app) runDrill(cmd *cobra.Command, opt drill.Options) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if w.conf.ReadOnly {
		return a.mayChange(cmd.Context(), w.conf, "", "", "run a drill")
	}
	if opt.Pool, err = w.openPool(cmd.Context()); err != nil {
		return err
	}
	if opt.Redis, err = w.openRedis(); err != nil {
		return err
	}
	opt.Now, opt.NewID = a.now, newID
	live := a.output == string(formatTable)
	if live {
		if err := a.drillHead(opt); err != nil {
			return err
		}
		opt.OnRow = func(r drill.Row) { _ = a.drillRow(r) }
	}
	report, err := drill.Run(cmd.Context(), opt)
	if err != nil {
		return err
	}
	if live {
		err = a.printDrill(report)
	} else {
		err = a.printDrillData(report)
	}
	if err != nil || report.OK {
		return err
	}
	return ended(exitFindings)
}

// The widths of the timeline. Rows appear as they happen, so no column can wait for its widest.
const (
	drillColumnA     = 44
	drillColumnLease = 34
)

func (a *app) drillHead(opt drill.Options) error {
	if err := a.line(fmt.Sprintf("drill %s, lease TTL %s, defence %s", safeText(opt.Name), opt.TTL,
		opt.Defence)); err != nil {
		return err
	}
	a.gap()
	return a.drillLine("TIME", "WORKER A", "REDIS LEASE", "WORKER B", faint)
}

func (a *app) drillRow(r drill.Row) error {
	at := fmt.Sprintf("%.3fs", r.At.Seconds())
	return a.drillLine(at, r.WorkerA, r.Lease, r.WorkerB, plain)
}

func (a *app) drillLine(at, workerA, lease, workerB string, t tone) error {
	paint := a.painter(a.stdout)
	one := safetext.Wrap(safeText(workerA), drillColumnA)
	two := safetext.Wrap(safeText(lease), drillColumnLease)
	three := safetext.Wrap(safeText(workerB), drillColumnA)
	for i := range max(len(one), len(two), len(three)) {
		line := safetext.FitRight(pick(at, i), 8, "") + "  " +
			safetext.Fit(at0(one, i), drillColumnA, "…") + "  " +
			safetext.Fit(at0(two, i), drillColumnLease, "…") + "  " + at0(three, i)
		if err := a.line(paint(strings.TrimRight(line, " "), t)); err != nil {
			return err
		}
	}
	return nil
}

// pick gives the text on the first line only.
func pick(s string, line int) string {
	if line == 0 {
		return s
	}
	return ""
}

// at0 is the line at i, or nothing when the text has fewer.
func at0(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func (a *app) printDrill(r drill.Report) error {
	a.gap()
	if len(r.Refusals) == 0 {
		if err := a.line("nothing was refused"); err != nil {
			return err
		}
	}
	for _, f := range r.Refusals {
		if err := a.line(safeText(fmt.Sprintf("worker %s was refused by the %s: %s", f.Worker,
			lineWords(f.Line), f.Detail))); err != nil {
			return err
		}
	}
	a.gap()
	l := listing{columns: columns("invariant", "want", "have", "holds")}
	for _, c := range r.Checks {
		holds := toned("yes", good)
		if !c.Holds {
			holds = toned("BROKEN", bad)
		}
		l.rows = append(l.rows, []cell{text(c.Name), text(c.Want), text(c.Have), holds})
	}
	if err := a.print(l); err != nil {
		return err
	}
	if !r.OK {
		a.say("the invariants are broken: this is what happens without all defences")
	}
	return nil
}

// lineWords names a line of defence in a sentence.
func lineWords(d drill.Defence) string {
	if d == drill.Unique {
		return "unique key"
	}
	return string(d)
}

// printDrillData prints the report for scripts; as CSV it is the timeline.
func (a *app) printDrillData(r drill.Report) error {
	j := drillJSON{
		Drill: r.Name, Defence: string(r.Defence), TTLMS: r.TTL.Milliseconds(),
		PauseMS: r.Pause.Milliseconds(), Started: jsonTime(r.Started), PlayerID: r.PlayerID,
		EventID: r.EventID, Expected: r.Expected, Timeline: []drillRowJSON{},
		Refusals: []drillRefusalJSON{}, Checks: []drillCheckJSON{}, OK: r.OK,
	}
	l := listing{columns: columns("at_ms", "worker_a", "redis_lease", "worker_b")}
	for _, row := range r.Timeline {
		ms := row.At.Milliseconds()
		j.Timeline = append(j.Timeline, drillRowJSON{ms, row.WorkerA, row.Lease, row.WorkerB})
		l.rows = append(l.rows, []cell{
			number(ms), text(row.WorkerA), text(row.Lease),
			text(row.WorkerB),
		})
	}
	for _, f := range r.Refusals {
		j.Refusals = append(j.Refusals, drillRefusalJSON{
			f.Worker, string(f.Line), f.Outcome.String(), f.Detail,
		})
	}
	for _, c := range r.Checks {
		j.Checks = append(j.Checks, drillCheckJSON(c))
	}
	if a.output == string(formatCSV) {
		return a.print(l)
	}
	return a.printOne(j, nil)
}
