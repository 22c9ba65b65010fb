package grant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// reversing is one reversal on its way through the engine. Its item carries it through what
// reversals and grants share: leases and waves.
type reversing struct {
	in  Reversal
	it  *item
	out Reversed
}

func newReversing(in Reversal) *reversing {
	if in.Policy == "" {
		in.Policy = PolicyRefuse
	}
	it := newItem(Request{
		PlayerID: in.PlayerID, EventID: ReversalID(in.Posting, in.Part), Held: in.Held,
	})
	r := &reversing{in: in, it: it, out: Reversed{
		Reversal: in, Resource: it.resource(), EventID: it.req.EventID,
	}}
	it.rev = r
	return r
}

func (r *reversing) fail(err error) {
	r.out.Outcome, r.out.Err, r.out.Holder = ReverseFailed, err, nil
}

func failReversals(all []*reversing, err error) {
	for _, r := range all {
		r.fail(err)
	}
}

// reverseMany decides a lane's part of the reversals in chunks, in turn with its grants.
func (l *lane) reverseMany(ctx context.Context, all []*reversing, deed DeedFunc) {
	for part := range slices.Chunk(all, l.engine.opt.BatchMax) {
		if err := ctx.Err(); err != nil {
			failReversals(part, err)
			continue
		}
		l.work.Lock()
		l.engine.reverseBatch(ctx, part, deed)
		l.work.Unlock()
	}
}

// reverseBatch decides every reversal of a chunk. A refused token is tried once more under a lease
// with a fresh floor, as for grants.
func (e *Engine) reverseBatch(ctx context.Context, all []*reversing, deed DeedFunc) {
	if err := e.checkGate(ctx); err != nil {
		failReversals(all, err)
		return
	}
	e.reverseWaves(ctx, all, deed)
	var again []*reversing
	for _, r := range all {
		refused := r.out.Outcome == ReverseStale || r.out.Outcome == ReverseCollision
		if refused && r.in.Held == nil {
			again = append(again, r)
		}
	}
	if len(again) > 0 {
		e.reverseWaves(ctx, again, deed)
	}
}

func (e *Engine) reverseWaves(ctx context.Context, all []*reversing, deed DeedFunc) {
	items := make([]*item, len(all))
	for i, r := range all {
		r.it.reset()
		items[i] = r.it
	}
	e.opt.OnStep(StepFloors)
	leased := e.acquire(ctx, items)
	for _, r := range all {
		if r.it.res.Outcome == LeaseHeld {
			r.out.Outcome, r.out.Holder = ReverseHeld, r.it.res.Holder
		} else if r.it.res.Err != nil {
			r.fail(r.it.res.Err)
		}
	}
	for len(leased) > 0 {
		var w wave
		w, leased = nextWave(leased)
		e.opt.OnStep(StepSend)
		e.sendReversals(ctx, w, deed)
		e.opt.OnStep(StepAnswered)
		e.release(ctx, w)
		e.opt.OnStep(StepReleased)
	}
}

// reverseSending is a wave of reversals laid out for the database.
type reverseSending struct {
	all  []*reversing // in the order of the arrays
	args []any        // the arguments of reverse_batch.sql but the last two
	deed json.RawMessage
}

func layOutReversals(w wave) *reverseSending {
	type placed struct {
		r     *reversing
		lease int32
	}
	var all []placed
	for i, items := range w.items {
		for _, it := range items {
			all = append(all, placed{it.rev, int32(i + 1)})
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(
			strings.Compare(a.r.in.PlayerID, b.r.in.PlayerID),
			strings.Compare(a.r.in.Kind, b.r.in.Kind),
			cmp.Compare(a.r.in.Posting, b.r.in.Posting),
		)
	})
	n := len(all)
	s := &reverseSending{all: make([]*reversing, n)}
	lease, lead, led := make([]int32, n), make([]bool, n), make([]bool, len(w.leases))
	resources, owners := make([]string, n), make([]string, n)
	tokens, postings, posted := make([]int64, n), make([]int64, n), make([]int64, n)
	players, kinds, parts := make([]string, n), make([]string, n), make([]int32, n)
	amounts, expect, policies := make([]int64, n), make([]int64, n), make([]string, n)
	actors, reasons := make([]string, n), make([]string, n)
	for i, p := range all {
		l, in := w.leases[p.lease-1], p.r.in
		s.all[i] = p.r
		lease[i], lead[i], led[p.lease-1] = p.lease, !led[p.lease-1], true
		resources[i], tokens[i], owners[i] = l.Resource, l.Token, l.Owner
		postings[i], players[i], kinds[i] = in.Posting, in.PlayerID, in.Kind
		posted[i], parts[i], amounts[i] = in.Posted, int32(in.Part), in.Amount
		expect[i], policies[i] = in.Expect, string(in.Policy)
		actors[i], reasons[i] = in.Actor, in.Reason
		p.r.out.Token, p.r.out.Owner = l.Token, l.Owner
	}
	s.args = []any{
		lease, lead, resources, tokens, owners, postings, players, kinds, posted, parts, amounts,
		expect, policies, actors, reasons,
	}
	return s
}

// sendReversals runs the wave's transaction until its outcome is known or proved absent.
func (e *Engine) sendReversals(ctx context.Context, w wave, deed DeedFunc) {
	s := layOutReversals(w)
	if err := s.describe(deed); err != nil {
		failReversals(s.all, err)
		return
	}
	trusted, cancel := e.sendContext(ctx, w.trustedUntil())
	defer cancel()
	if trusted.Err() != nil {
		failReversals(s.all, fmt.Errorf("grant: not sent: %w", context.Cause(trusted)))
		return
	}
	for try := 1; ; try++ {
		answers, v, err := e.reverseOnce(trusted, s, false)
		if err == nil {
			s.deliver(answers)
			return
		}
		switch {
		case v == doubt:
			e.resolveReversals(ctx, s)
			return
		case v == retry && try < sendTries && e.opt.Wait(trusted, sendPause) == nil:
			continue
		case v == poison && len(s.all) > 1:
			first, second := w.split()
			e.sendReversals(ctx, first, deed)
			e.sendReversals(ctx, second, deed)
			return
		case v == wrongSchema:
			e.gate.Store(nil)
			if gate := e.checkGate(ctx); gate != nil {
				err = gate
			}
		}
		failReversals(s.all, refusal(err, v))
		return
	}
}

// describe asks for the log row of this transaction.
func (s *reverseSending) describe(deed DeedFunc) error {
	if deed == nil {
		return nil
	}
	part := make([]Reversal, len(s.all))
	for i, r := range s.all {
		part[i] = r.in
	}
	var err error
	s.deed, err = deed(part)
	return err
}

// resolveReversals learns what became of a batch whose answer was lost, by sending the same batch
// under the same leases again; see resolve.
func (e *Engine) resolveReversals(ctx context.Context, s *reverseSending) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), resolveFor,
		errors.New("the answer of PostgreSQL was lost and it could not be reached again"))
	defer cancel()
	e.pool.Reset()
	for pause := resolvePause; ; pause = min(2*pause, resolvePauseMax) {
		e.opt.OnStep(StepResolve)
		try, end := context.WithTimeoutCause(ctx, resolveTryFor,
			errors.New("PostgreSQL did not answer in time"))
		answers, _, err := e.reverseOnce(try, s, true)
		end()
		if err == nil {
			s.deliver(answers)
			return
		}
		if e.opt.Wait(ctx, pause) != nil {
			for _, r := range s.all {
				r.out.Outcome = ReverseUnknown
				r.out.Err = &BackendError{
					Backend: PostgreSQL, Op: "reverse", Doubt: true, Err: err,
				}
			}
			return
		}
	}
}

// reverseOnce sends the transaction in one network round trip.
func (e *Engine) reverseOnce(
	ctx context.Context, s *reverseSending, again bool,
) ([]reverseAnswer, verdict, error) {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, noEffect, err
	}
	defer conn.Release()
	var deed any
	if s.deed != nil {
		deed = string(s.deed)
	}
	pipeline := &pgx.Batch{}
	pipeline.Queue(grantBeginSQL)
	pipeline.Queue(reverseBatchSQL, append(s.args[:len(s.args):len(s.args)], again, deed)...)
	pipeline.Queue(grantCommitSQL)
	replies := conn.SendBatch(ctx, pipeline)
	answers, err := readReverseAnswers(replies, len(s.all))
	if closeErr := replies.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		if conn.Conn().PgConn().TxStatus() == txFailed {
			_, _ = conn.Exec(ctx, grantRollbackSQL)
		}
		return nil, judge(err), err
	}
	return answers, noEffect, nil
}

// reverseAnswer is one row of reward_reverse.
type reverseAnswer struct {
	ord           int64
	outcome       string
	ledgerID      *int64
	taken         int64
	parts         int32
	rest          int64
	balanceBefore *int64
	balanceAfter  *int64
	event         *string
	token         *int64
	owner         *string
	actor         *string
	reason        *string
	at            *time.Time
	fenceToken    *int64
	fenceOwner    *string
}

func readReverseAnswers(replies pgx.BatchResults, n int) ([]reverseAnswer, error) {
	if _, err := replies.Exec(); err != nil {
		return nil, err
	}
	rows, err := replies.Query()
	if err != nil {
		return nil, err
	}
	answers := make([]reverseAnswer, 0, n)
	var a reverseAnswer
	_, err = pgx.ForEachRow(rows, []any{
		&a.ord, &a.outcome, &a.ledgerID, &a.taken, &a.parts, &a.rest, &a.balanceBefore,
		&a.balanceAfter, &a.event, &a.token, &a.owner, &a.actor, &a.reason, &a.at,
		&a.fenceToken, &a.fenceOwner,
	}, func() error {
		answers = append(answers, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	tag, err := replies.Exec()
	if err != nil {
		return nil, err
	}
	if tag.String() != "COMMIT" {
		return nil, pgx.ErrTxCommitRollback
	}
	if len(answers) != n {
		return nil, fmt.Errorf("%d answers for %d reversals: %w", len(answers), n, errUnsettled)
	}
	return answers, nil
}

func (s *reverseSending) deliver(answers []reverseAnswer) {
	for i, r := range s.all {
		r.take(answers[i])
	}
}

// take turns one row of reward_reverse into the result.
func (r *reversing) take(a reverseAnswer) {
	outcome, err := ParseReverseOutcome(a.outcome)
	if err != nil {
		// The row was committed, so it must not look like a failure without effect.
		r.out.Outcome = ReverseUnknown
		r.out.Err = fmt.Errorf("grant: reward_reverse answered %q: %w", a.outcome, err)
		return
	}
	r.out.Outcome, r.out.Err, r.out.Holder, r.out.Fence = outcome, nil, nil, nil
	r.out.LedgerID, r.out.Taken = value(a.ledgerID), a.taken
	r.out.Parts, r.out.Left = int(a.parts), a.rest
	r.out.BalanceBefore, r.out.BalanceAfter = value(a.balanceBefore), value(a.balanceAfter)
	r.out.PostedFor, r.out.At = value(a.event), value(a.at)
	r.out.Actor, r.out.Reason = value(a.actor), value(a.reason)
	if outcome == ReverseStale || outcome == ReverseCollision {
		r.out.Fence = &Fence{r.out.Resource, value(a.fenceToken), value(a.fenceOwner)}
	}
}
