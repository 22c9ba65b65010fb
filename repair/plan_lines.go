package repair

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"rewardctl/grant"
)

// planLinesPage is how many rows are read at once.
const planLinesPage = 5000

type planLine struct {
	Line        int64  `db:"line"`
	PlayerID    string `db:"player_id"`
	EventID     string `db:"reward_event_id"`
	Kind        string `db:"kind"`
	Amount      int64  `db:"amount"`
	AmountText  string `db:"amount_text"`
	DuplicateOf int64  `db:"duplicate_of"`
	Outcome     string `db:"outcome"`
	LedgerID    int64  `db:"ledger_id"`
	Detail      string `db:"detail"`
}

// PlanLines gives what became of each row of a plan, in the order of the file: all of them, or
// only those that are neither granted now nor before. It ends early with one error.
func (o *Operator) PlanLines(
	ctx context.Context, id int64, ungranted bool,
) iter.Seq2[ApplyLine, error] {
	return func(yield func(ApplyLine, error) bool) {
		after := int64(-1)
		for {
			rows, err := readRows[planLine](ctx, o, "read what became of the rows", planLinesSQL,
				struct {
					Plan      int64 `db:"plan"`
					After     int64 `db:"after"`
					Limit     int64 `db:"limit"`
					Ungranted bool  `db:"ungranted"`
				}{id, after, planLinesPage, ungranted})
			if err != nil {
				yield(ApplyLine{}, err)
				return
			}
			for i := range rows {
				if !yield(rows[i].line(), nil) {
					return
				}
			}
			if len(rows) < planLinesPage {
				return
			}
			after = rows[len(rows)-1].Line
		}
	}
}

// line is the row as the result of a file shows it.
func (r *planLine) line() ApplyLine {
	l := ApplyLine{
		Line: int(r.Line), AmountText: r.AmountText, DuplicateOf: int(r.DuplicateOf),
		LedgerID: r.LedgerID, Detail: r.Detail,
		Request: grant.Request{
			PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind, Amount: r.Amount, Line: int(r.Line),
		},
	}
	if l.AmountText == "" {
		l.AmountText = strconv.FormatInt(r.Amount, 10)
	}
	if r.Outcome != grant.Failed.String() {
		var err error
		l.Outcome, err = grant.ParseOutcome(r.Outcome)
		l.NotRun = err != nil
	}
	if l.NotRun && l.Detail == "" {
		l.Detail = "not run yet"
	}
	if l.DuplicateOf > 0 {
		duplicate := fmt.Sprintf("duplicate of line %d", l.DuplicateOf)
		if l.Detail != "" {
			duplicate += ": " + l.Detail
		}
		l.Detail = duplicate
	}
	return l
}

// WritePlanResult writes the result file of a plan: one line per data row, in the order of the
// file, whichever process granted it. While rows are left it is called PATH.partial. It returns
// its name; the error is a *ResultPathError, a *grant.BackendError or the system's.
func (o *Operator) WritePlanResult(
	ctx context.Context, plan *Plan, path string,
) (string, error) {
	result, err := createResult(path)
	if err != nil {
		return "", err
	}
	for line, err := range o.PlanLines(ctx, plan.ID, false) {
		if err == nil {
			err = result.write(line)
		}
		if err != nil {
			name, _ := result.close(false) // the first error says why
			return name, err
		}
	}
	return result.close(plan.State == PlanDone)
}
