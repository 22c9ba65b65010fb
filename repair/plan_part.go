package repair

import (
	"context"
	"fmt"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// planPart is a part of a plan in the hands of this process.
type planPart struct {
	Chunk   int    `db:"chunk"`
	First   int64  `db:"first_line"`
	Last    int64  `db:"last_line"`
	ClaimNo int    `db:"claim_no"`
	Tries   int    `db:"tries"`
	From    string `db:"taken_from"` // whose claim expired; empty for nobody's

	rows    []storedRow
	decided int // rows with a final answer, also from earlier tries
	refused int // of these, those that were not granted
	open    []planRow
	asked   int // of the open ones
	results []grant.Result
}

// claim claims the next part; nil when there is none now.
func (w *planWork) claim(ctx context.Context) (*planPart, error) {
	var part *planPart
	err := w.o.write(ctx, "claim rows of the plan", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		part, err = first(collect[planPart](ctx, tx, planClaimSQL, struct {
			Plan     int64  `db:"plan"`
			Claimant string `db:"claimant"`
			ClaimFor int64  `db:"claim_for"`
		}{w.plan.ID, w.claimant, w.run.ClaimFor.Milliseconds()}))
		if err != nil || part == nil {
			return err
		}
		part.rows, err = collect[storedRow](ctx, tx, planRowsSQL, struct {
			Plan  int64 `db:"plan"`
			First int64 `db:"first_line"`
			Last  int64 `db:"last_line"`
		}{w.plan.ID, part.First, part.Last})
		return err
	})
	return part, err
}

// storedRow is a row of a plan with what became of it so far.
type storedRow struct {
	planRow
	Outcome *string `db:"outcome"`
}

// check compares the rows of a part with what was planned, and tells which are open.
func (w *planWork) check(ctx context.Context, p *planPart) error {
	plain := make([]planRow, len(p.rows))
	for i, row := range p.rows {
		plain[i] = row.planRow
		outcome, err := grant.ParseOutcome(value(row.Outcome))
		switch {
		case !row.runs():
		case err == nil && outcome.Final():
			p.decided++
			if outcome != grant.Applied && outcome != grant.Replayed {
				p.refused++
			}
		default:
			p.open = append(p.open, row.planRow)
		}
	}
	if planned, known := w.chunks[p.Chunk]; !known || planned != hashRows(plain) {
		return w.tampered(ctx, fmt.Sprintf("lines %d to %d", p.First, p.Last))
	}
	return nil
}

// requests are what the engine is asked for some rows.
func (p *planPart) requests(w *planWork, rows []planRow) []grant.Request {
	requests := make([]grant.Request, len(rows))
	for i, r := range rows {
		requests[i] = grant.Request{
			PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind, Amount: r.Amount,
			Actor: w.plan.RequestedBy, Reason: w.plan.Reason, Line: int(r.Line),
		}
	}
	return requests
}

// take keeps the answers to the next rows.
func (p *planPart) take(results []grant.Result) {
	p.results = append(p.results, results...)
	p.asked += len(results)
}

type recordArgs struct {
	Plan      int64    `db:"plan"`
	Chunk     int      `db:"chunk"`
	Claimant  string   `db:"claimant"`
	ClaimNo   int      `db:"claim_no"`
	First     int64    `db:"first_line"`
	Last      int64    `db:"last_line"`
	Lines     []int64  `db:"lines"`
	Outcomes  []string `db:"outcomes"`
	LedgerIDs []int64  `db:"ledger_ids"`
	Details   []string `db:"details"`
	State     string   `db:"state"`
	RetryIn   int64    `db:"retry_in"`
	HeldFor   int64    `db:"held_for"`
	Decided   int      `db:"decided"`
	Errors    int      `db:"errors"`
	Uncounted bool     `db:"uncounted"`
}

// record writes down what became of the rows of a part. A cancelled context does not keep it from
// that: the rows are granted. interrupted means that the run stops, so that this try does not
// count.
func (w *planWork) record(ctx context.Context, p *planPart, interrupted bool) error {
	args := p.outcomes(w)
	args.Uncounted = interrupted
	w.settle(p, &args)
	var kept bool
	ctx = context.WithoutCancel(ctx)
	err := w.o.write(ctx, "write down outcomes", func(ctx context.Context, tx pgx.Tx) error {
		row, err := first(collect[struct {
			Chunk int `db:"chunk"`
		}](ctx, tx, planRecordSQL, args))
		kept = row != nil
		return err
	})
	if err != nil {
		return err
	}
	w.count(p, kept)
	return nil
}

// outcomes lays the answers out for the database.
func (p *planPart) outcomes(w *planWork) recordArgs {
	args := recordArgs{
		Plan: w.plan.ID, Chunk: p.Chunk, Claimant: w.claimant, ClaimNo: p.ClaimNo,
		First: p.First, Last: p.Last, Decided: p.decided, Errors: p.refused,
		Lines: []int64{}, Outcomes: []string{}, LedgerIDs: []int64{}, Details: []string{},
	}
	for i, res := range p.results {
		args.Lines = append(args.Lines, p.open[i].Line)
		args.Outcomes = append(args.Outcomes, res.Outcome.String())
		args.LedgerIDs = append(args.LedgerIDs, res.LedgerID)
		args.Details = append(args.Details, storable(cutText(resultDetail(res), problemMax)))
		if !res.Outcome.Final() {
			continue
		}
		args.Decided++
		if res.Outcome != grant.Applied && res.Outcome != grant.Replayed {
			args.Errors++
		}
	}
	return args
}

// count counts the rows of a part for the report.
func (w *planWork) count(p *planPart, kept bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !kept {
		w.report.Lost++
		return
	}
	for _, res := range p.results {
		if res.Outcome.Final() {
			w.report.Mine.by[res.Outcome]++
		}
	}
}

// giveBack ends a claim under which nothing was granted. It is an attempt: the claim expires.
func (w *planWork) giveBack(ctx context.Context, p *planPart) {
	p.open, p.results = nil, nil
	args := p.outcomes(w)
	args.State, args.Uncounted = "open", true
	args.Decided, args.Errors = p.decided, p.refused
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), planEndFor)
	defer cancel()
	_ = w.o.write(ctx, "give rows back", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, planRecordSQL, pgx.StrictStructArgs(args))
		return err
	})
}

// renewNow holds the claims of this process for longer. It is an attempt: a claim that is lost is
// noticed when its outcomes are written down.
func (w *planWork) renewNow(ctx context.Context) {
	_ = w.o.write(ctx, "hold rows of the plan", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, planRenewSQL, pgx.StrictStructArgs(struct {
			Plan     int64  `db:"plan"`
			Claimant string `db:"claimant"`
			ClaimFor int64  `db:"claim_for"`
		}{w.plan.ID, w.claimant, w.run.ClaimFor.Milliseconds()}))
		return err
	})
}

// progress reads how far the plan is.
func (w *planWork) progress(ctx context.Context) (planProgress, error) {
	ctx = context.WithoutCancel(ctx)
	var now *planProgress
	err := w.o.read(ctx, "see how far the plan is", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		now, err = w.progressIn(ctx, tx)
		return err
	})
	return value(now), err
}

// progressIn is progress inside a transaction; nil when there is no such plan.
func (w *planWork) progressIn(ctx context.Context, tx pgx.Tx) (*planProgress, error) {
	return first(collect[planProgress](ctx, tx, planProgressSQL, struct {
		Plan     int64  `db:"plan"`
		Claimant string `db:"claimant"`
	}{w.plan.ID, w.claimant}))
}

// tell reports the progress, and what is waited for; nil for nothing. The counts are those of this
// process.
func (w *planWork) tell(now planProgress, wait *ApplyWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wait != nil && wait.Rows > 0 {
		wait.Owner = w.holder
	}
	p := ApplyProgress{
		Done: int(now.Decided), Total: int(now.Due), Counts: w.report.Mine,
		Elapsed: w.o.opts.Now().Sub(w.began), Waiting: wait,
	}
	mine := w.report.Mine.Sum()
	if mine > 0 && p.Elapsed > 0 {
		p.Rate = float64(mine) / p.Elapsed.Seconds()
		p.Left = time.Duration(float64(p.Total-p.Done) / p.Rate * float64(time.Second))
	}
	w.run.OnProgress(p)
}
