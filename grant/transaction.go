package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// answered is the latest time of the database that this engine has told in an answer. What was
// told is at that time or older; what is sent from now on posts later. So it tells a posting whose
// answer was lost from one of an earlier call, where both are made under one lease: of a caller
// that holds its lease for longer than one request. If the server's clock was set back, the former
// is taken for the latter, which is answered as Replayed.
type answered struct {
	mu sync.Mutex
	at time.Time
}

func (a *answered) note(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at.After(a.at) {
		a.at = at
	}
}

func (a *answered) latest() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

// transmission is a wave laid out for one transaction, of grants or of reversals, and the answers
// that came back.
type transmission interface {
	// op names what the transaction does, for errors.
	op() string
	// queue adds the one statement to a pipeline. again says that the very same transaction was
	// sent before and its answer was lost.
	queue(pipeline *pgx.Batch, again bool)
	// read keeps the statement's rows as the answers, instead of those read before.
	read(rows pgx.Rows) error
	// settled returns why the answers kept cannot be handed out, nil when they can.
	settled() error
	// deliver hands out the answers kept.
	deliver()
	// fail answers every item that nothing was written; lost, that nobody knows.
	fail(err error)
	lost(err error)
}

// layOutFunc lays out a wave. With an error, the transmission is good for fail alone.
type layOutFunc func(w wave) (transmission, error)

// leaseColumns are the parallel arrays with which each statement begins: one entry per item.
type leaseColumns struct {
	lease     []int32 // the number of the item's lease in the wave, from 1
	lead      []bool  // true for the first item of each lease
	resources []string
	tokens    []int64
	owners    []string
}

// args are the columns as arguments of a statement.
func (c leaseColumns) args() []any {
	return []any{c.lease, c.lead, c.resources, c.tokens, c.owners}
}

// place sorts the items of the wave, so that every transaction takes its locks in the same order,
// and lays out their leases.
func (w wave) place(order func(a, b *item) int) ([]*item, leaseColumns) {
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
	slices.SortFunc(all, func(a, b placed) int { return order(a.it, b.it) })
	n := len(all)
	items := make([]*item, n)
	c := leaseColumns{
		make([]int32, n), make([]bool, n), make([]string, n), make([]int64, n), make([]string, n),
	}
	led := make([]bool, len(w.leases))
	for i, p := range all {
		l := w.leases[p.lease-1]
		items[i] = p.it
		c.lease[i], c.lead[i], led[p.lease-1] = p.lease, !led[p.lease-1], true
		c.resources[i], c.tokens[i], c.owners[i] = l.Resource, l.Token, l.Owner
		p.it.res.Token, p.it.res.Owner = l.Token, l.Owner
	}
	return items, c
}

// send runs the wave's transaction until its outcome is known or proved absent.
func (e *Engine) send(ctx context.Context, w wave, layOut layOutFunc) {
	t, err := layOut(w)
	if err != nil {
		t.fail(err)
		return
	}
	trusted, cancel := e.sendContext(ctx, w.trustedUntil())
	defer cancel()
	if trusted.Err() != nil {
		t.fail(fmt.Errorf("grant: not sent: %w", context.Cause(trusted)))
		return
	}
	for try := 1; ; try++ {
		v, err := e.transact(trusted, t, false)
		if err == nil {
			t.deliver()
			return
		}
		switch {
		case v == doubt:
			e.resolve(ctx, w, t)
			return
		case v == retry && try < sendTries && e.opt.Wait(trusted, sendPause) == nil:
			continue
		case v == poison && w.size() > 1:
			first, second := w.split()
			e.send(ctx, first, layOut)
			e.send(ctx, second, layOut)
			return
		case v == wrongSchema:
			e.gate.Store(nil)
			if gate := e.checkGate(ctx); gate != nil {
				err = gate
			}
		}
		t.fail(refusal(t.op(), err, v))
		return
	}
}

// resolve learns what became of a transaction whose answer was lost. Only sending the same one
// under the same leases again can tell: it waits for an in-flight twin. That no row is visible
// proves nothing, since a dead client's statement can still commit. If a newer holder has advanced
// the fence meanwhile, the twin has ended, and the function answers by the ledger row's owner.
func (e *Engine) resolve(ctx context.Context, w wave, t transmission) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), resolveFor,
		errors.New("the answer of PostgreSQL was lost and it could not be reached again"))
	defer cancel()
	// What cut this connection may have cut the pool's idle ones without a word, and each of them
	// would cost a try.
	e.pool.Reset()
	pause := resolvePause
	for {
		e.opt.OnStep(StepResolve)
		err := e.transactAgain(ctx, t)
		if err == nil {
			t.deliver()
			return
		}
		if e.opt.Wait(ctx, pause) != nil {
			t.lost(&BackendError{Backend: PostgreSQL, Op: t.op(), Doubt: true, Err: err})
			return
		}
		pause = min(2*pause, resolvePauseMax)
	}
}

// transactAgain is one try to learn a lost answer. Its own bound leaves time for another.
func (e *Engine) transactAgain(ctx context.Context, t transmission) error {
	ctx, cancel := context.WithTimeoutCause(ctx, resolveTryFor,
		errors.New("PostgreSQL did not answer in time"))
	defer cancel()
	_, err := e.transact(ctx, t, true)
	return err
}

// errUnsettled: a claim changed between the posting and the classification. Sending again, with a
// newer snapshot, settles it; what was posted answers as posted.
var errUnsettled = errors.New("an item could not be classified")

// transact sends the transaction in one network round trip, BEGIN, the statement and COMMIT in one
// pipeline, and keeps its answers. The verdict counts with an error only.
func (e *Engine) transact(ctx context.Context, t transmission, again bool) (verdict, error) {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return noEffect, err
	}
	defer conn.Release()
	pipeline := &pgx.Batch{}
	pipeline.Queue(grantBeginSQL)
	t.queue(pipeline, again)
	pipeline.Queue(grantCommitSQL)
	replies := conn.SendBatch(ctx, pipeline)
	err = readReplies(replies, t)
	if closeErr := replies.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		if conn.Conn().PgConn().TxStatus() == txFailed {
			// The error skipped the COMMIT. A connection that is still inside a transaction
			// would be thrown away, and the next try would have to open a new one.
			_, _ = conn.Exec(ctx, grantRollbackSQL)
		}
		return judge(err), err
	}
	return noEffect, nil
}

// txFailed is the protocol's sign for a session inside a failed transaction.
const txFailed = 'E'

func readReplies(replies pgx.BatchResults, t transmission) error {
	if _, err := replies.Exec(); err != nil {
		return err
	}
	rows, err := replies.Query()
	if err != nil {
		return err
	}
	if err := t.read(rows); err != nil {
		return err
	}
	tag, err := replies.Exec()
	if err != nil {
		return err
	}
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return t.settled()
}

// answersMissing is the error of a statement that answered too few rows or too many; nil if it did
// not.
func answersMissing(answers, items int) error {
	if answers == items {
		return nil
	}
	return fmt.Errorf("%d answers for %d items: %w", answers, items, errUnsettled)
}
