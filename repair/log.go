package repair

import (
	"context"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// The phases of a row. A deed whose effect is the row's own transaction has one row, its result; a
// deed that one transaction cannot hold has an intent row before and a result row after.
const (
	phaseIntent = "intent"
	phaseResult = "result"
	phaseDenied = "denied" // refused: nothing was changed
	phaseFailed = "failed" // tried, and nothing was changed
)

// entry is one row of operator_action to be written. All values are text, tokens included, so
// that no reader takes a 64-bit number for a float. Action, phase, reason and outcome are
// required.
type entry struct {
	action    Action
	phase     string
	intent    int64 // the id of the intent row; only of a result that has one
	arguments map[string]string
	observed  map[string]string // what the operator saw, and the deed relied on
	before    map[string]string // what the deed changed, as it was
	after     map[string]string // and as it is now
	reason    string
	approval  int64 // the approval that allowed it; 0 for none
	outcome   string
}

// argsVersion is the form in which arguments, observed, before and after are written. Raise it
// when a name in them changes its meaning.
const argsVersion = 1

type actionArgs struct {
	Operator    string            `db:"operator"`
	Host        string            `db:"host"`
	Action      string            `db:"action"`
	Target      string            `db:"target"`
	ArgsVersion int               `db:"args_version"`
	Arguments   map[string]string `db:"arguments"`
	Observed    map[string]string `db:"observed"`
	Before      map[string]string `db:"before"`
	After       map[string]string `db:"after"`
	Reason      string            `db:"reason"`
	Ticket      *string           `db:"ticket"`
	Approval    *int64            `db:"approval"`
	Phase       string            `db:"phase"`
	Intent      *int64            `db:"intent"`
	Outcome     string            `db:"outcome"`
	Command     string            `db:"command"`
}

// logged is the row that was written.
type logged struct {
	ID int64     `db:"id"`
	At time.Time `db:"created_at"`
}

// log writes one row inside a transaction. It locks the head of the log until that transaction
// ends, so it comes last, after all other locks.
func (o *Operator) log(ctx context.Context, tx pgx.Tx, e entry) (logged, error) {
	row, err := first(collect[logged](ctx, tx, actionAddSQL, o.row(e)))
	if err == nil {
		o.logged.Add(1)
	}
	return value(row), err
}

// row lays an entry out for the database.
func (o *Operator) row(e entry) actionArgs {
	args := actionArgs{
		Operator: o.opts.Operator, Host: o.opts.Host, Action: e.action.Word(),
		Target: e.action.Target(), ArgsVersion: argsVersion, Arguments: e.arguments,
		Observed: e.observed, Before: e.before, After: e.after, Reason: e.reason, Phase: e.phase,
		Outcome: e.outcome, Command: o.command(e.action),
	}
	if args.Arguments == nil {
		args.Arguments = map[string]string{}
	}
	if args.Observed == nil {
		args.Observed = map[string]string{}
	}
	if o.opts.Ticket != "" {
		args.Ticket = &o.opts.Ticket
	}
	if e.approval != 0 {
		args.Approval = &e.approval
	}
	if e.intent != 0 {
		args.Intent = &e.intent
	}
	return args
}

// command is the command line that does the same, with the ticket of this run.
func (o *Operator) command(action Action) string {
	argv := action.CLI()
	if o.opts.Ticket != "" && len(argv) > 0 {
		argv = append([]string{argv[0], "--ticket", o.opts.Ticket}, argv[1:]...)
	}
	return CommandLine(argv)
}

// logAlone writes one row in a transaction of its own.
func (o *Operator) logAlone(ctx context.Context, e entry) (logged, error) {
	var row logged
	err := o.write(ctx, "log the deed", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		row, err = o.log(ctx, tx, e)
		return err
	})
	return row, err
}

// checkReason refuses a deed without a reason.
func checkReason(reason string) error {
	switch {
	case reason == "":
		return &grant.Rejection{
			Field: "reason", Problem: "is empty", WayOut: "say why: every deed is logged",
		}
	case len(reason) > reasonMax:
		return &grant.Rejection{
			Field: "reason", Value: reason[:40] + "...", Problem: "is longer than 500 bytes",
			WayOut: "say it shorter and name a ticket",
		}
	}
	return nil
}
