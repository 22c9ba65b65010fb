package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

// auditFlags are the flags of "audit run".
type auditFlags struct {
	all, sinceLast, noStore, open bool

	resume      int64
	window      time.Duration
	stuckAfter  time.Duration
	maxFindings int

	receiver receiverFlags
}

// What an audit looks at when nothing else is said.
const (
	auditWindow      = 12 * time.Hour
	auditStuckAfter  = time.Hour
	auditFindingsMax = 10_000
)

func (a *app) auditCommand() *cobra.Command {
	return a.group("audit", "Look for rewards paid twice and everything else that must not be",
		a.auditListCommand(), a.auditRunCommand(), a.auditShowCommand(), a.auditDiffCommand(),
		a.auditAckCommand())
}

func (a *app) auditRunCommand() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "run [CHECK...]",
		Short: "Carry out checks; they only read, and never trust an index",
		Long: "Carries out checks and prints what each finds: the rule, the rows side by side, SQL" +
			" that\nproves it, and what to do. It only reads. Findings are kept: see audit show." +
			" Ctrl-C stops\nwithin a second, and --resume goes on from there.\n\nWith --receiver the" +
			" check outbox asks the item server about every posting, one question each:\nwhat is" +
			" missing there, what has another amount, and, where it lists its keys, what was never" +
			"\nposted. A receiver that forgets old keys needs --since.\n\nIt ends with 0 when all is" +
			" well, 6 when there are findings, 130 after Ctrl-C. What was\nacknowledged before (audit" +
			" ack) is found again and counts: 6 says what is in the database. A\nschedule that shall" +
			" only call for what nobody has looked at adds --open: it then ends with 0\nwhen every" +
			" finding is acknowledged.",
		Example: "  rewardctl audit run --all\n" +
			"  rewardctl audit run duplicate-key near-duplicate\n" +
			"  rewardctl audit run --all --since-last -o jsonl\n" +
			"  rewardctl audit run --all --open\n" +
			"  rewardctl audit run outbox --receiver --since 2026-11-01 --rate 200",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return a.runAudit(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.all, "all", false, "all checks")
	flags.BoolVar(&f.sinceLast, "since-last", false,
		"only what is new since each check was last read to its end; rows that were deleted since"+
			" are not noticed")
	flags.Int64Var(&f.resume, "resume", 0, "go on with a run that was cut off")
	flags.DurationVar(&f.window, "window", auditWindow,
		"near-duplicate: how close in time postings must be")
	flags.DurationVar(&f.stuckAfter, "stuck-after", auditStuckAfter,
		"expected-sum: how long a claim may wait")
	flags.IntVar(&f.maxFindings, "max-findings", auditFindingsMax,
		"print and keep so many findings per check; the rest is only counted")
	flags.BoolVar(&f.receiver.ask, "receiver", false,
		"outbox: ask the item server what it has, posting by posting")
	flags.StringVar(&f.receiver.since, "since", "",
		"with --receiver: about what was posted from this time on, such as 2026-11-01 (UTC)")
	flags.IntVar(&f.receiver.rate, "rate", receiverRate,
		"with --receiver: questions per second at most; 0 for no bound")
	flags.IntVar(&f.receiver.concurrency, "concurrency", receiverConcurrency,
		"with --receiver: questions on their way at once")
	flags.BoolVar(&f.noStore, "no-store", false, "do not keep the run; it can then not be resumed")
	flags.BoolVar(&f.open, "open", false,
		"end with 6 only for findings that nobody has acknowledged")
	return cmd
}

// check refuses a command line that does not say what to do.
func (f auditFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case f.resume != 0 && (f.all || len(args) > 0 || f.sinceLast || f.noStore || f.receiver.ask):
		return usage("resume", "write: rewardctl audit run --resume RUN",
			"--resume goes on with what the run was started with; nothing else can be given")
	case f.open && f.noStore:
		return usage("open", "leave --no-store out",
			"--open needs a run that is kept: what was acknowledged is told by what is kept")
	case f.resume < 0:
		return usage("resume", "see: rewardctl audit list", "--resume %d is no run", f.resume)
	case f.resume == 0 && f.all == (len(args) > 0):
		return usage("check", "write: rewardctl audit run --all, or see: rewardctl audit list",
			"name the checks, or ask for --all")
	case f.window < time.Second || f.window > 366*24*time.Hour:
		return usage("window", "give 1s to 8784h", "--window %s is out of bounds", f.window)
	case f.stuckAfter < time.Second:
		return usage("stuck-after", "give 1s or more", "--stuck-after %s is too short", f.stuckAfter)
	case f.maxFindings < 1 || f.maxFindings > 100_000:
		return usage("max-findings", "give 1 to 100000", "--max-findings %d is out of bounds",
			f.maxFindings)
	}
	return f.receiver.check(args, f.all, f.sinceLast, cmd.Flags().Changed)
}

// auditRunner is one run of "audit run".
type auditRunner struct {
	app    *app
	reader *inspect.Reader
	keeper *auditKeeper // nil: nothing is kept
	bar    *progress
	shape  format

	began    time.Time
	kept     inspect.AuditRun // the run that goes on; zero when a new one begins
	found    []findingJSON    // -o json only
	checks   []auditCheckJSON
	counts   map[inspect.Severity]int64
	total    int64
	dropped  int64
	headed   bool // the heading of a CSV was written
	receiver string
	findings int64
	open     bool  // only what nobody has acknowledged ends it with 6
	looked   int64 // the findings that somebody has acknowledged, as far as they are kept
}

func (a *app) runAudit(ctx context.Context, checks []string, f auditFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	reader, err := w.newReader(ctx)
	if err != nil {
		return err
	}
	shape, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	r := &auditRunner{
		app: a, reader: reader, bar: a.newProgress(), shape: shape, began: a.now(), open: f.open,
		counts: map[inspect.Severity]int64{},
	}
	plan, err := r.plan(ctx, w, checks, &f)
	if err != nil {
		return err
	}
	if f.receiver.ask {
		var hangUp func()
		if plan.Receiver, hangUp, err = w.receiverPlan(f.receiver); err != nil {
			return err
		}
		defer hangUp()
	}
	r.receiver = receiverWord(plan)
	if !f.noStore {
		if r.keeper, err = a.newAuditKeeper(ctx, w, plan, r.kept); err != nil {
			return err
		}
		r.keeper.options(f.receiver.options)
	}
	err = reader.Audit(ctx, plan, r.sink(ctx))
	r.bar.clear()
	return r.end(ctx, err)
}

// plan says what is looked at: what the command line asks for, or what the run that goes on was
// started with.
func (r *auditRunner) plan(
	ctx context.Context, w *wiring, checks []string, f *auditFlags,
) (inspect.AuditPlan, error) {
	plan := inspect.AuditPlan{
		Checks: checks, Window: f.window, StuckAfter: f.stuckAfter, FindingsMax: f.maxFindings,
	}
	for _, l := range w.conf.Audit.Ledgers {
		plan.Ledgers = append(plan.Ledgers, inspect.LedgerTable(l))
	}
	var err error
	if f.resume != 0 {
		if plan, err = r.resume(ctx, plan, f.resume); err != nil {
			return plan, err
		}
		if f.receiver, err = readReceiverOptions(r.kept.Options); err != nil {
			return plan, err
		}
	}
	for _, name := range checks {
		if err := knownCheck(name); err != nil {
			return plan, err
		}
		if name == "foreign-ledger" && len(plan.Ledgers) == 0 {
			return plan, usage("audit.ledgers", "add the tables to the context, such as: audit: "+
				"{ledgers: [{table: reward_log, player: user_id, event: reward_key, amount: qty, "+
				"kind: item, at: created}]}", "foreign-ledger has nothing to look at: audit.ledgers "+
				"is empty")
		}
	}
	if f.sinceLast {
		plan.Since, plan.Origin, err = r.reader.AuditSince(ctx)
	}
	return plan, err
}

func knownCheck(name string) error {
	var names []string
	for _, c := range inspect.AuditChecks() {
		if c.Name == name {
			return nil
		}
		names = append(names, c.Name)
	}
	p := usage("check", "there are: "+strings.Join(names, ", "), "there is no check %q", name)
	p.value = name
	return p
}

// resume fills a plan with what a run was started with and what it has read.
func (r *auditRunner) resume(
	ctx context.Context, plan inspect.AuditPlan, id int64,
) (inspect.AuditPlan, error) {
	run, err := r.app.auditRunOf(ctx, r.reader, id)
	if err != nil {
		return plan, err
	}
	if run.State == "done" {
		return plan, usage("resume", "start a new one, or see: rewardctl audit show "+
			strconv.FormatInt(id, 10), "run %d was read to its end", id)
	}
	done, err := r.reader.AuditDone(ctx, id)
	if err != nil {
		return plan, err
	}
	r.kept = run
	plan.Checks, plan.Parts, plan.Origin, plan.Done = run.Checks, run.Parts, run.Origin, done
	return plan, readAuditOptions(run.Options, &plan)
}

// auditRunOf reads one kept run.
func (a *app) auditRunOf(
	ctx context.Context, reader *inspect.Reader, id int64,
) (inspect.AuditRun, error) {
	run, err := reader.AuditRun(ctx, id)
	if errors.Is(err, inspect.ErrNotFound) {
		return run, notFound("run", strconv.FormatInt(id, 10), "see: rewardctl audit list",
			"there is no audit run %d", id)
	}
	return run, err
}

func (r *auditRunner) sink(ctx context.Context) inspect.AuditSink {
	return inspect.AuditSink{
		Start: func(s inspect.AuditStart) error {
			r.sayFull(s)
			return r.keeper.start(ctx, s)
		},
		Finding: func(f inspect.Finding) error {
			if err := r.keeper.finding(ctx, f); err != nil {
				return err
			}
			return r.print(f)
		},
		Unit: func(u inspect.AuditUnit) error { return r.keeper.unit(ctx, u) },
		Check: func(c inspect.AuditCheckDone) error {
			one := auditCheckJSON{
				Name: c.Check, Findings: c.Findings, Dropped: c.Dropped, SinceLast: c.Since > 0,
			}
			if c.Check == "outbox" {
				one.Receiver = jsonText(r.receiver)
			}
			r.checks = append(r.checks, one)
			r.total += c.Findings
			r.dropped += c.Dropped
			return r.keeper.check(ctx, c)
		},
		Progress: r.progress,
		Note: func(check, text string) error {
			r.bar.clear()
			r.app.say("%s: %s", check, text)
			return nil
		},
	}
}

// sayFull says which checks read everything although only what is new was asked for.
func (r *auditRunner) sayFull(s inspect.AuditStart) {
	for _, name := range s.Checks {
		if why := s.Full[name]; why != "" {
			r.app.say("%s reads everything: %s", name, why)
		}
	}
}

// progress draws how far the run is.
func (r *auditRunner) progress(p inspect.AuditProgress) {
	line := fmt.Sprintf("%s  %d of %d parts", p.Check, p.UnitsDone, p.Units)
	if p.Rate > 0 {
		line += fmt.Sprintf("  %s rows/s", strconv.FormatFloat(p.Rate, 'f', 0, 64))
	}
	if p.Left > 0 {
		line += "  " + span(p.Left.Round(time.Second)) + " left"
	}
	if p.Findings > 0 {
		line += "  " + findingWords(p.Findings)
	}
	r.bar.draw(line, false)
}
