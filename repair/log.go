package repair

import (
	"context"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// The phases of a deed that one transaction cannot hold.
const (
	phaseIntent = "intent"
	phaseResult = "result"
	phaseDenied = "denied"
)

// entry is one row of operator_action to be written. All values are text, tokens included, so
// that no reader takes a 64-bit number for a float.
type entry struct {
	action    Action
	phase     string
	intent    string // the id of the intent row; results only
	arguments map[string]string
	observed  map[string]string
	reason    string
	outcome   string
}

type actionArgs struct {
	Operator  string            `db:"operator"`
	Action    string            `db:"action"`
	Target    string            `db:"target"`
	Arguments map[string]string `db:"arguments"`
	Observed  map[string]string `db:"observed"`
	Reason    string            `db:"reason"`
	Outcome   string            `db:"outcome"`
	Command   string            `db:"command"`
}

// logged is the row that was written.
type logged struct {
	ID int64     `db:"id"`
	At time.Time `db:"created_at"`
}

// log writes one row inside a transaction.
func (o *Operator) log(ctx context.Context, tx pgx.Tx, e entry) (logged, error) {
	arguments := map[string]string{"phase": e.phase}
	for name, text := range e.arguments {
		arguments[name] = text
	}
	if e.intent != "" {
		arguments["intent"] = e.intent
	}
	observed := e.observed
	if observed == nil {
		observed = map[string]string{}
	}
	row, err := first(collect[logged](ctx, tx, actionAddSQL, actionArgs{
		Operator: o.opts.Operator, Action: e.action.Word(), Target: e.action.Target(),
		Arguments: arguments, Observed: observed, Reason: e.reason, Outcome: e.outcome,
		Command: CommandLine(e.action.CLI()),
	}))
	return value(row), err
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
