package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"
)

// applyRun is one run of ApplyFile.
type applyRun struct {
	opt    ApplyOptions
	engine Granter
	file   *batchfile.File
	report *ApplyReport
	result *resultFile // nil without one
	begun  time.Time

	held  *holds
	heads map[int]headAnswer // by line: the answers of rows that later rows repeat
	stop  error              // why the run stops; nil while it goes on

	unwritten error // the first failure to write the result; nothing is written after it
}

// headAnswer is what the duplicates of a row answer too.
type headAnswer struct {
	outcome  grant.Outcome
	ledgerID int64
	detail   string
}

// readBatch is what the reader hands over: rows, or why there are no more.
type readBatch struct {
	rows []batchfile.Row
	err  error
}

// rows applies the file. While one batch is granted the next one is read. After a stop the rest
// is still read, so that the result has a line for every row.
func (r *applyRun) rows(ctx context.Context) error {
	r.progress()
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	batches := make(chan readBatch, 1)
	go r.read(reading, batches)
	defer func() {
		cancel()
		for range batches { // the reader has ended, and the file may be closed
		}
	}()
	for b := range batches {
		if b.err != nil {
			if r.stop == nil {
				r.stop = b.err
			}
			return r.stop
		}
		if r.stop == nil {
			r.stop = ctx.Err()
		}
		if r.stop != nil && r.result == nil && r.opt.OnLine == nil {
			return r.stop // nobody wants to know about rows that are not run
		}
		r.batch(ctx, b.rows)
	}
	return r.stop
}

func (r *applyRun) read(ctx context.Context, out chan<- readBatch) {
	defer close(out)
	send := func(b readBatch) bool {
		select {
		case out <- b:
			return b.err == nil
		case <-ctx.Done():
			return false
		}
	}
	rows := make([]batchfile.Row, 0, r.opt.BatchMax)
	for row, err := range r.file.Rows(ctx) {
		if err != nil {
			// What was read before stands: its rows are as they were validated.
			if len(rows) == 0 || send(readBatch{rows: rows}) {
				send(readBatch{err: err})
			}
			return
		}
		rows = append(rows, row)
		if len(rows) == r.opt.BatchMax {
			if !send(readBatch{rows: rows}) {
				return
			}
			rows = make([]batchfile.Row, 0, r.opt.BatchMax)
		}
	}
	if len(rows) > 0 {
		send(readBatch{rows: rows})
	}
}

// batch decides the rows of one batch and writes their lines. Why the run must stop after it is
// noted in r.stop; the lines of the batch are counted all the same.
func (r *applyRun) batch(ctx context.Context, rows []batchfile.Row) {
	var results []grant.Result
	if r.stop == nil {
		var requests []grant.Request
		for _, row := range rows {
			if runs(row) {
				requests = append(requests, row.Request)
			}
		}
		results, r.stop = r.answers(ctx, requests)
	}
	next := 0
	for _, row := range rows {
		var answer *grant.Result
		if runs(row) && results != nil {
			answer = &results[next]
			next++
		}
		r.line(r.judge(row, answer))
	}
	if r.result != nil && r.unwritten == nil {
		r.unwritten = r.result.flush()
	}
	if r.stop == nil {
		r.stop = r.unwritten
	}
	r.progress()
}

// runs reports whether the row goes to the engine.
func runs(row batchfile.Row) bool { return len(row.Problems) == 0 && row.DuplicateOf == 0 }

// answers asks the engine, again for rows that may end differently. stop says why nothing should
// be asked after this batch.
func (r *applyRun) answers(
	ctx context.Context, requests []grant.Request,
) (results []grant.Result, stop error) {
	if len(requests) == 0 {
		return []grant.Result{}, nil
	}
	if r.opt.DryRun {
		results, err := r.opt.Preview.Preview(ctx, requests)
		if err == nil {
			err = sameLength(requests, results)
		}
		if err != nil {
			return nil, err
		}
		return results, nil
	}
	results, stop = r.ask(ctx, requests)
	for round := 0; stop == nil; round++ {
		open := openItems(results)
		if len(open) == 0 || !r.goesOn(results, round) {
			break
		}
		pause := roundPause(results, open, round)
		if stop = r.opt.Wait(ctx, pause); stop != nil {
			break
		}
		r.held.passed(pause)
		again := make([]grant.Request, len(open))
		for i, at := range open {
			again[i] = requests[at]
		}
		var answers []grant.Result
		answers, stop = r.ask(ctx, again)
		for i, at := range open {
			// A lost answer is known only when the item is found posted, or refused for good.
			if results[at].Outcome != grant.Unknown || answers[i].Outcome.Final() {
				results[at] = answers[i]
			}
		}
	}
	if cause := stopCause(results); stop == nil || errors.Is(cause, ErrAnswerLost) {
		stop = joinCause(cause, stop)
	}
	return results, stop
}

// goesOn reports whether another round is worth it, and tells what it waits for.
func (r *applyRun) goesOn(results []grant.Result, round int) bool {
	wait := r.held.waitFor(results)
	if r.held.tired() || r.opt.HeldRounds < 0 {
		wait = ApplyWait{}
	}
	if round >= r.opt.HeldRounds && wait.Rows == 0 {
		return false
	}
	if wait.Rows > 0 {
		r.progressWaiting(&wait)
	}
	return true
}

// ask sends one batch and always answers one result per request. Cancelling does not cut it
// short: an answer that nobody waits for would be a doubt later.
func (r *applyRun) ask(
	ctx context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), r.opt.BatchFor,
		fmt.Errorf("a batch took longer than %s", r.opt.BatchFor))
	defer cancel()
	results, err := r.engine.GrantMany(ctx, requests)
	if wrong := sameLength(requests, results); wrong != nil {
		if err == nil {
			err = wrong
		}
		results = make([]grant.Result, len(requests))
		for i := range results {
			results[i].Err = err
		}
	}
	return results, err
}

func sameLength(requests []grant.Request, results []grant.Result) error {
	if len(requests) == len(results) {
		return nil
	}
	return fmt.Errorf("repair: %d requests were answered with %d results", len(requests),
		len(results))
}

// openItems are the items worth another try: a lease that will end, and a lost answer. A lock
// without expiry or with foreign data waits for an operator, not for time.
func openItems(results []grant.Result) []int {
	var open []int
	for i, res := range results {
		h := res.Holder
		ends := h == nil || (!h.Foreign && h.Left >= 0)
		if (res.Outcome == grant.LeaseHeld && ends) || res.Outcome == grant.Unknown {
			open = append(open, i)
		}
	}
	return open
}

// roundPause grows with each round, but is no longer than until the first lease ends.
func roundPause(results []grant.Result, open []int, round int) time.Duration {
	pause := min(applyHeldPause<<min(round, 10), applyPauseMax)
	for _, i := range open {
		if h := results[i].Holder; h != nil {
			pause = min(pause, h.Left)
		}
	}
	return max(pause, applyPauseMin)
}

// stopCause says why a batch is the last one: a server is gone, or answers were lost. An item
// that failed because of its own content does not stop the others.
func stopCause(results []grant.Result) error {
	for _, res := range results {
		if res.Outcome == grant.Unknown {
			return ErrAnswerLost
		}
	}
	for _, res := range results {
		var gate *grant.GateError
		if res.Outcome == grant.Failed && (res.Err == nil || grant.Unavailable(res.Err) ||
			errors.As(res.Err, &gate) || errors.Is(res.Err, context.DeadlineExceeded)) {
			return errorOf(res)
		}
	}
	return nil
}

// joinCause keeps why the answer was lost beside the fact that it was.
func joinCause(cause, earlier error) error {
	if cause == nil || earlier == nil {
		return cause
	}
	return fmt.Errorf("%w: %w", cause, earlier)
}

func errorOf(res grant.Result) error {
	if res.Err != nil {
		return res.Err
	}
	return errors.New("the engine gave no reason")
}

// judge makes the line of one row. answer is nil when the engine was not asked.
func (r *applyRun) judge(row batchfile.Row, answer *grant.Result) ApplyLine {
	line := ApplyLine{
		Line: row.Line, Request: row.Request, AmountText: row.AmountText,
		DuplicateOf: row.DuplicateOf, Problems: row.Problems,
	}
	head, known := r.heads[row.DuplicateOf]
	switch {
	case len(row.Problems) > 0:
		line.Outcome = grant.Rejected
	case row.DuplicateOf > 0 && known:
		line.echo(head)
	case answer == nil:
		line.NotRun = true
	default:
		line.Outcome, line.LedgerID, line.Result = answer.Outcome, answer.LedgerID, answer
	}
	line.Detail = line.detail(r.opt.DryRun)
	if row.Repeated && !line.NotRun {
		r.heads[row.Line] = headAnswer{line.Outcome, line.LedgerID, line.Detail}
	}
	return line
}

// line counts and writes one line.
func (r *applyRun) line(line ApplyLine) {
	r.report.take(line, r.opt.KeepMax)
	if r.opt.OnLine != nil {
		r.opt.OnLine(line)
	}
	if r.result != nil && r.unwritten == nil {
		r.unwritten = r.result.write(line)
	}
}

func (r *applyRun) progress() { r.progressWaiting(nil) }

// progressWaiting tells how far the run is; wait is what it waits for now, nil for nothing.
func (r *applyRun) progressWaiting(wait *ApplyWait) {
	c := r.report.Counts
	p := ApplyProgress{
		Done: r.report.Done(), Total: r.report.Check.Rows, Counts: c,
		Elapsed: r.opt.Now().Sub(r.begun), Waiting: wait,
	}
	if p.Done > 0 && p.Elapsed > 0 {
		p.Rate = float64(p.Done) / p.Elapsed.Seconds()
		p.Left = time.Duration(float64(p.Total-p.Done) / p.Rate * float64(time.Second))
	}
	r.opt.OnProgress(p)
}

// close ends the result file and completes the report. stop says why the run ended early.
func (r *applyRun) close(stop error) error {
	r.report.Elapsed = r.opt.Now().Sub(r.begun)
	r.report.Complete = stop == nil
	if r.result != nil {
		path, err := r.result.close(stop == nil)
		r.report.ResultPath = path
		if err != nil {
			stop = errors.Join(stop, err)
			r.report.Complete = false
		}
	}
	r.report.GoOn = r.report.goOn()
	if stop == nil {
		return nil
	}
	return &StoppedError{
		r.report.Name, r.report.Done(), r.report.Check.Rows, r.report.GoOn, stop,
	}
}
