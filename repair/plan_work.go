package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rewardctl/grant"
)

// planWork is one process's run of a plan.
type planWork struct {
	o        *Operator
	engine   Granter
	run      PlanRun
	plan     Plan
	claimant string // unique for this run
	began    time.Time
	chunks   map[int][sha256.Size]byte
	pace     pace

	freed news         // told when a worker of this process is through with a part
	busy  atomic.Int32 // workers with a part in hand

	mu     sync.Mutex
	report PlanReport
	looked time.Time // when the progress was read last
	// held is what the parts wait for that this process tried and gave back, by part.
	held   map[int]*holds
	holder string // the owner of a lease that was waited for last
}

// planProgress is one row of plan_progress.sql.
type planProgress struct {
	State    string `db:"state"`
	Due      int64  `db:"due"`
	Decided  int64  `db:"decided"`
	Errors   int64  `db:"errors"`
	Open     int    `db:"open"`
	LeftOver int    `db:"left_over"`
	NextIn   *int64 `db:"next_in"`
	// Rows that wait for leases, until the last of these ends, in milliseconds; and parts that
	// other processes have in hand.
	HeldRows  int64 `db:"held_rows"`
	HeldFor   int64 `db:"held_for"`
	Elsewhere int   `db:"elsewhere"`
}

// work runs the workers until nothing is left to claim. It returns why it ended early.
func (w *planWork) work(ctx context.Context) error {
	// The claims are renewed until the last worker has written down what it did.
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRenewing()
	var renewer sync.WaitGroup
	renewer.Go(func() { w.renew(renewing) })
	var workers sync.WaitGroup
	stops := make([]error, w.run.Workers)
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	for i := range w.run.Workers {
		workers.Go(func() {
			if stops[i] = w.worker(working); stops[i] != nil {
				end(stops[i]) // the others end after the batch in hand
			}
		})
	}
	workers.Wait()
	stopRenewing()
	renewer.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, stop := range stops {
		if stop != nil && !errors.Is(stop, context.Canceled) {
			return stop
		}
	}
	return nil
}

// worker takes part after part.
func (w *planWork) worker(ctx context.Context) error {
	pause := planPollMin
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.run.Gate(ctx); err != nil {
			return err
		}
		freed := w.freed.next() // before the claim, so that none is missed
		part, err := w.claim(ctx)
		if err != nil {
			return err
		}
		if part != nil {
			w.busy.Add(1)
			err := w.part(ctx, part)
			w.busy.Add(-1)
			w.freed.tell()
			if err != nil {
				return err
			}
			pause = planPollMin
			continue
		}
		next, err := w.progress(ctx)
		if err != nil {
			return err
		}
		switch {
		case next.State != string(PlanRunning) && next.State != string(PlanDone):
			return fmt.Errorf("%w: it is %s", ErrPlanStopped, next.State)
		case next.Open == 0:
			w.tell(next, nil)
			return nil
		}
		if err := w.idle(ctx, freed, next, pause); err != nil {
			return err
		}
		pause = min(2*pause, planPollMax)
	}
}

// part grants the rows of a claimed part and writes down what became of them.
func (w *planWork) part(ctx context.Context, p *planPart) error {
	w.run.OnStep(PlanStepClaimed)
	if err := w.check(ctx, p); err != nil {
		w.giveBack(ctx, p)
		return err
	}
	stop := w.grantPart(ctx, p)
	w.run.OnStep(PlanStepGranted)
	if err := w.record(ctx, p, stop != nil); err != nil {
		return err
	}
	w.run.OnStep(PlanStepRecorded)
	if stop != nil || !w.lookNow() {
		return stop
	}
	next, err := w.progress(ctx)
	if err != nil {
		return err
	}
	w.tell(next, nil)
	refused := next.Errors - w.plan.Errors
	most := w.run.MaxErrors
	if most > 0 && refused >= most && next.State == string(PlanRunning) {
		return w.stopPlan(ctx, refused)
	}
	return nil
}

// lookNow reports whether to read how far the plan is: after each part when errors are counted,
// else as often as people look.
func (w *planWork) lookNow() bool {
	now := w.o.opts.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run.MaxErrors == 0 && now.Sub(w.looked) < planLookEvery {
		return false
	}
	w.looked = now
	return true
}

// grantPart grants the open rows of a part, a batch at a time. A stop means that nothing more
// should be asked now.
func (w *planWork) grantPart(ctx context.Context, p *planPart) (stop error) {
	for len(p.open) > p.asked {
		batch := p.open[p.asked:min(p.asked+w.pace.batch(), len(p.open))]
		if err := w.pace.wait(ctx, w.o.opts.Now(), len(batch), w.run.Wait); err != nil {
			return err
		}
		if p.asked > 0 {
			if err := w.run.Gate(ctx); err != nil {
				return err
			}
		}
		results, err := w.ask(ctx, p.requests(w, batch))
		p.take(results)
		if err != nil {
			return err
		}
		if cause := stopCause(results); cause != nil && !errors.Is(cause, ErrAnswerLost) {
			return cause
		}
	}
	return nil
}

// ask sends one batch and always answers one result per request.
func (w *planWork) ask(
	ctx context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	ask := applyRun{opt: ApplyOptions{BatchFor: w.run.BatchFor}, engine: w.engine}
	return ask.ask(ctx, requests)
}

// renew holds the claims of this process while it works.
func (w *planWork) renew(ctx context.Context) {
	for w.run.Wait(ctx, w.run.ClaimFor/planRenewals) == nil {
		w.renewNow(ctx)
	}
}

// pace spreads rows over time.
type pace struct {
	rate float64 // rows per second; 0 is no limit

	mu   sync.Mutex
	free time.Time // when the next row may go
}

// batch is how many rows go at once: about half a second's.
func (p *pace) batch() int {
	if p.rate <= 0 {
		return planChunkRows
	}
	return min(max(int(p.rate/2), 1), planChunkRows)
}

// wait waits for n rows' turn.
func (p *pace) wait(
	ctx context.Context, now time.Time, n int, wait func(context.Context, time.Duration) error,
) error {
	if p.rate <= 0 {
		return nil
	}
	p.mu.Lock()
	if p.free.Before(now) {
		p.free = now
	}
	pause := p.free.Sub(now)
	p.free = p.free.Add(time.Duration(float64(n) / p.rate * float64(time.Second)))
	p.mu.Unlock()
	if pause <= 0 {
		return ctx.Err()
	}
	return wait(ctx, pause)
}
