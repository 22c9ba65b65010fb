package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// States of a row after an attempt.
const (
	stateDelivered = "delivered"
	statePending   = "pending"
	stateDead      = "dead"
)

// result is what became of one claimed row.
type result struct {
	row    row
	report Report
	probed bool
	unsent bool // it was not tried and goes back as it was
	// excused is set when no answer came, and none comes to others either.
	excused bool

	began, ended time.Time

	state  string
	wait   time.Duration
	strike bool
}

// settle decides what a report makes of the row.
func (r *Relay) settle(res *result) {
	n := res.row.strikes + 1
	switch res.report.Verdict {
	case Delivered, Repeated:
		res.state = stateDelivered
		return
	case Refused:
		res.state, res.strike = stateDead, true
		return
	case NotNow:
		res.excused = true
	case Failed, Unknown, Absent:
	}
	if res.excused {
		res.state = statePending
		res.wait = max(res.report.RetryAfter, r.rest.wait())
		return
	}
	res.strike = true
	res.state = statePending
	res.wait = max(res.report.RetryAfter,
		backoff(r.opts.BackoffMin, r.opts.BackoffMax, res.row.id, n))
	if n >= r.opts.StrikesMax {
		res.state = stateDead
	}
}

// doubt reports whether the row may have arrived although it was not marked as delivered.
func (res *result) doubt() bool {
	switch res.report.Verdict {
	case Delivered, Repeated, Refused:
		return false
	case Unknown:
		return true
	case Failed, Absent:
		return res.report.Doubt
	case NotNow:
		// It was not sent now; what was in doubt before still is, unless the receiver said no.
		return res.report.Doubt || res.row.doubt && !res.probed
	}
	return true
}

const markMax = 500 // rows marked in one transaction

// marks writes down results until the channel is closed. Results gather while a write is under
// way, so a busy relay needs few transactions.
func (r *Relay) marks(ctx context.Context, results <-chan result) {
	for first := range results {
		batch := []result{first}
	gather:
		for len(batch) < markMax {
			select {
			case next, open := <-results:
				if !open {
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		r.write(ctx, batch)
		r.free(len(batch))
	}
}

// write marks a batch and gives back what was not sent.
func (r *Relay) write(ctx context.Context, batch []result) {
	var sent []result
	var unsentIDs []int64
	var unsentClaims []string
	for _, res := range batch {
		if res.unsent {
			unsentIDs = append(unsentIDs, res.row.id)
			unsentClaims = append(unsentClaims, res.row.claim)
			continue
		}
		sent = append(sent, res)
	}
	if len(unsentIDs) > 0 {
		err := r.insist(ctx, batch[0].row.until, func(ctx context.Context) error {
			_, err := r.pool.Exec(ctx, unclaimSQL, unsentIDs, unsentClaims)
			return err
		})
		r.troubled(ctx, "give rows back", err)
	}
	if len(sent) == 0 {
		return
	}
	r.opts.OnStep(StepMark, idsOf(sent))
	var kept map[int64]bool
	err := r.insist(ctx, latest(sent), func(ctx context.Context) error {
		var err error
		kept, err = r.mark(ctx, sent)
		return err
	})
	r.troubled(ctx, "mark rows", err)
	r.opts.OnStep(StepMarked, idsOf(sent))
	for _, res := range sent {
		r.count(res, kept[res.row.id])
	}
}

// insist repeats a write until it is done or the claims are over anyway; then whoever takes the
// rows over finds out what is known.
func (r *Relay) insist(
	ctx context.Context, until time.Time, write func(context.Context) error,
) error {
	for n := 1; ; n++ {
		err := write(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !r.opts.Now().Before(until) {
			return err
		}
		r.opts.Logger.Warn("the database does not answer; trying again", "error", err.Error())
		if !sleep(ctx, backoff(backoffFirst, time.Second, 0, n)) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// mark runs the statement and tells which rows the claim still had.
func (r *Relay) mark(ctx context.Context, batch []result) (map[int64]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	n := len(batch)
	ids, waits := make([]int64, n), make([]int64, n)
	claims, states := make([]string, n), make([]string, n)
	verdicts, details := make([]string, n), make([]string, n)
	strikes, doubts, probed := make([]bool, n), make([]bool, n), make([]bool, n)
	began, ended := make([]time.Time, n), make([]time.Time, n)
	for i, res := range batch {
		ids[i], claims[i], states[i] = res.row.id, res.row.claim, res.state
		waits[i], strikes[i], doubts[i] = res.wait.Milliseconds(), res.strike, res.doubt()
		verdicts[i], details[i] = string(res.verdict()), res.report.Detail
		probed[i], began[i], ended[i] = res.probed, res.began, res.ended
	}
	found, err := r.pool.Query(ctx, markSQL, ids, claims, states, waits, strikes, doubts, verdicts,
		details, probed, began, ended, r.opts.Name, r.sink.Name())
	if err != nil {
		return nil, err
	}
	kept := make(map[int64]bool, n)
	var id int64
	var have bool
	_, err = pgx.ForEachRow(found, []any{&id, &have}, func() error {
		kept[id] = have
		return nil
	})
	return kept, err
}

// verdict is the word that the attempt is recorded under.
func (res *result) verdict() Verdict {
	if res.report.Verdict == Absent { // asked, and then not sent
		return NotNow
	}
	return res.report.Verdict
}

// latest is the time until which the youngest of the claims is trusted.
func latest(batch []result) time.Time {
	var at time.Time
	for _, res := range batch {
		if res.row.until.After(at) {
			at = res.row.until
		}
	}
	return at
}

func idsOf(batch []result) []int64 {
	ids := make([]int64, len(batch))
	for i, res := range batch {
		ids[i] = res.row.id
	}
	return ids
}
