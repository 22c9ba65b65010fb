package grant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// sending is a wave laid out for the database: parallel arrays, sorted, so that every batch takes
// its locks in the same order.
type sending struct {
	wave  wave
	items []*item // in the order of the arrays
	args  []any   // the arguments of grant_batch.sql but the last
	// deeds are rows of the operator log, per item; nil when no item has one.
	deeds []*string
}

func layOut(w wave) *sending {
	type placed struct {
		it    *item
		lease int32
	}
	var all []placed
	for i, items := range w.items {
		for _, it := range items {
			all = append(all, placed{it, int32(i + 1)})
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(
			strings.Compare(a.it.req.PlayerID, b.it.req.PlayerID),
			strings.Compare(a.it.req.EventID, b.it.req.EventID),
		)
	})
	n := len(all)
	s := &sending{wave: w, items: make([]*item, n)}
	lease, lead, resources := make([]int32, n), make([]bool, n), make([]string, n)
	tokens, owners := make([]int64, n), make([]string, n)
	players, events, kinds := make([]string, n), make([]string, n), make([]string, n)
	amounts, actors, reasons := make([]int64, n), make([]string, n), make([]string, n)
	led := make([]bool, len(w.leases))
	for i, p := range all {
		l, r := w.leases[p.lease-1], p.it.req
		s.items[i] = p.it
		lease[i], lead[i], led[p.lease-1] = p.lease, !led[p.lease-1], true
		resources[i], tokens[i], owners[i] = l.Resource, l.Token, l.Owner
		players[i], events[i], kinds[i] = r.PlayerID, r.EventID, r.Kind
		amounts[i], actors[i], reasons[i] = r.Amount, r.Actor, r.Reason
		p.it.res.Token, p.it.res.Owner = l.Token, l.Owner
		if r.Deed != nil {
			s.note(i, string(r.Deed))
		}
	}
	s.args = []any{
		lease, lead, resources, tokens, owners, players, events, kinds, amounts, actors, reasons,
	}
	return s
}

// note adds a row of the operator log to an item.
func (s *sending) note(i int, deed string) {
	if s.deeds == nil {
		s.deeds = make([]*string, len(s.items))
	}
	s.deeds[i] = &deed
}

// queue adds the batch to a pipeline. Only a batch in which operators act takes the statement that
// writes their rows.
func (s *sending) queue(pipeline *pgx.Batch, again bool) {
	args := append(s.args[:len(s.args):len(s.args)], again)
	if s.deeds == nil {
		pipeline.Queue(grantBatchSQL, args...)
		return
	}
	pipeline.Queue(grantLoggedSQL, append(args, s.deeds)...)
}

// send runs the wave's transaction until its outcome is known or proved absent.
func (e *Engine) send(ctx context.Context, w wave) {
	s := layOut(w)
	trusted, cancel := e.sendContext(ctx, w.trustedUntil())
	defer cancel()
	if err := trusted.Err(); err != nil {
		failAll(s.items, fmt.Errorf("grant: not sent: %w", context.Cause(trusted)))
		return
	}
	for try := 1; ; try++ {
		answers, v, err := e.transact(trusted, s, false)
		if err == nil {
			s.deliver(answers)
			return
		}
		switch {
		case v == doubt:
			e.resolve(ctx, s)
			return
		case v == retry && try < sendTries && e.opt.Wait(trusted, sendPause) == nil:
			continue
		case v == poison && len(s.items) > 1:
			first, second := w.split()
			e.send(ctx, first)
			e.send(ctx, second)
			return
		case v == wrongSchema:
			e.gate.Store(nil)
			if gate := e.checkGate(ctx); gate != nil {
				err = gate
			}
		}
		failAll(s.items, refusal(err, v))
		return
	}
}

// split halves a wave, so that one item that the database refuses cannot hold up the others.
// The leases stay whole: the caller releases them.
func (w wave) split() (first, second wave) {
	total := 0
	for _, items := range w.items {
		total += len(items)
	}
	half := total / 2
	for i, items := range w.items {
		n := min(half, len(items))
		half -= n
		first.add(w.leases[i], items[:n])
		second.add(w.leases[i], items[n:])
	}
	return first, second
}

func (w *wave) add(lease Lease, items []*item) {
	if len(items) > 0 {
		w.leases = append(w.leases, lease)
		w.items = append(w.items, items)
	}
}

// resolve learns what became of a batch whose answer was lost. Only sending the same batch under
// the same leases again can tell: it waits for an in-flight twin. That no row is visible proves
// nothing, since a dead client's statement can still commit. If a newer holder has advanced the
// fence meanwhile, the twin has ended, and the function answers by the ledger row's owner.
func (e *Engine) resolve(ctx context.Context, s *sending) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), resolveFor,
		errors.New("the answer of PostgreSQL was lost and it could not be reached again"))
	defer cancel()
	// What cut this connection may have cut the pool's idle ones without a word, and each of them
	// would cost a try.
	e.pool.Reset()
	pause := resolvePause
	for {
		e.opt.OnStep(StepResolve)
		answers, err := e.transactAgain(ctx, s)
		if err == nil {
			s.deliver(answers)
			return
		}
		if e.opt.Wait(ctx, pause) != nil {
			for _, it := range s.items {
				it.res.Outcome = Unknown
				it.res.Err = &BackendError{
					Backend: PostgreSQL, Op: "grant", Doubt: true, Err: err,
				}
			}
			return
		}
		pause = min(2*pause, resolvePauseMax)
	}
}

// transactAgain is one try to learn a lost answer. Its own bound leaves time for another.
func (e *Engine) transactAgain(ctx context.Context, s *sending) ([]answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, resolveTryFor,
		errors.New("PostgreSQL did not answer in time"))
	defer cancel()
	answers, _, err := e.transact(ctx, s, true)
	return answers, err
}

// answer is one row of reward_grant.
type answer struct {
	ord        int64
	outcome    *string
	ledgerID   *int64
	kind       *string
	amount     *int64
	token      *int64
	owner      *string
	actor      *string
	reason     *string
	at         *time.Time
	fenceToken *int64
	fenceOwner *string
	actionID   *int64 // only of a batch in which operators act
}

// errUnsettled: a claim changed between the posting and the classification. Sending again, with a
// newer snapshot, settles it; what was posted answers as posted.
var errUnsettled = errors.New("an item could not be classified")

// transact sends the transaction in one network round trip: BEGIN, the batch and COMMIT in one
// pipeline.
func (e *Engine) transact(ctx context.Context, s *sending, again bool) ([]answer, verdict, error) {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, noEffect, err
	}
	defer conn.Release()
	pipeline := &pgx.Batch{}
	pipeline.Queue(grantBeginSQL)
	s.queue(pipeline, again)
	pipeline.Queue(grantCommitSQL)
	replies := conn.SendBatch(ctx, pipeline)
	answers, err := readAnswers(replies, len(s.items), s.deeds != nil)
	if closeErr := replies.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		if conn.Conn().PgConn().TxStatus() == txFailed {
			// The error skipped the COMMIT. A connection that is still inside a transaction
			// would be thrown away, and the next try would have to open a new one.
			_, _ = conn.Exec(ctx, grantRollbackSQL)
		}
		return nil, judge(err), err
	}
	return answers, noEffect, nil
}

// txFailed is the protocol's sign for a session inside a failed transaction.
const txFailed = 'E'

func readAnswers(replies pgx.BatchResults, n int, logged bool) ([]answer, error) {
	if _, err := replies.Exec(); err != nil {
		return nil, err
	}
	rows, err := replies.Query()
	if err != nil {
		return nil, err
	}
	answers := make([]answer, 0, n)
	var a answer
	into := []any{
		&a.ord, &a.outcome, &a.ledgerID, &a.kind, &a.amount, &a.token, &a.owner, &a.actor,
		&a.reason, &a.at, &a.fenceToken, &a.fenceOwner,
	}
	if logged {
		into = append(into, &a.actionID)
	}
	_, err = pgx.ForEachRow(rows, into, func() error {
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
	for _, a := range answers {
		if a.outcome == nil {
			return nil, errUnsettled
		}
	}
	if len(answers) != n {
		return nil, fmt.Errorf("%d answers for %d items: %w", len(answers), n, errUnsettled)
	}
	return answers, nil
}
