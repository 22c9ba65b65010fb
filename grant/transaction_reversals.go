package grant

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// reversals is a wave of reversals laid out for the database.
type reversals struct {
	all     []*reversing // in the order of the arrays
	args    []any        // the arguments of reverse_batch.sql but the last two
	deed    *string      // the transaction's row of the operator log; nil: none
	answers []reverseAnswer
	told    *answered
	since   time.Time // told before this was sent
}

// layOutReversals lays out a wave. Its error is deed's, which says what the log shall hold.
func (e *Engine) layOutReversals(w wave, deed DeedFunc) (transmission, error) {
	items, columns := w.place(func(a, b *item) int {
		return cmp.Or(
			strings.Compare(a.rev.in.PlayerID, b.rev.in.PlayerID),
			strings.Compare(a.rev.in.Kind, b.rev.in.Kind),
			cmp.Compare(a.rev.in.Posting, b.rev.in.Posting),
		)
	})
	n := len(items)
	s := &reversals{all: make([]*reversing, n), told: &e.told, since: e.told.latest()}
	postings, posted, amounts := make([]int64, n), make([]int64, n), make([]int64, n)
	players, kinds, parts := make([]string, n), make([]string, n), make([]int32, n)
	expect, policies := make([]int64, n), make([]string, n)
	actors, reasons := make([]string, n), make([]string, n)
	for i, it := range items {
		r := it.rev
		in := r.in
		s.all[i] = r
		postings[i], players[i], kinds[i] = in.Posting, in.PlayerID, in.Kind
		posted[i], parts[i], amounts[i] = in.Posted, int32(in.Part), in.Amount
		expect[i], policies[i] = in.Expect, string(in.Policy)
		actors[i], reasons[i] = in.Actor, in.Reason
		r.out.Token, r.out.Owner = it.res.Token, it.res.Owner
	}
	s.args = append(columns.args(),
		postings, players, kinds, posted, parts, amounts, expect, policies, actors, reasons)
	return s, s.describe(deed)
}

// describe asks for the log row of this transaction.
func (s *reversals) describe(deed DeedFunc) error {
	if deed == nil {
		return nil
	}
	part := make([]Reversal, len(s.all))
	for i, r := range s.all {
		part[i] = r.in
	}
	row, err := deed(part)
	if err != nil {
		return err
	}
	s.deed = new(string)
	*s.deed = string(row)
	return nil
}

func (s *reversals) op() string { return "reverse" }

func (s *reversals) queue(pipeline *pgx.Batch, again bool) {
	pipeline.Queue(reverseBatchSQL, append(s.args[:len(s.args):len(s.args)], again, s.deed)...)
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

func (s *reversals) read(rows pgx.Rows) error {
	s.answers = make([]reverseAnswer, 0, len(s.all))
	var a reverseAnswer
	_, err := pgx.ForEachRow(rows, []any{
		&a.ord, &a.outcome, &a.ledgerID, &a.taken, &a.parts, &a.rest, &a.balanceBefore,
		&a.balanceAfter, &a.event, &a.token, &a.owner, &a.actor, &a.reason, &a.at,
		&a.fenceToken, &a.fenceOwner,
	}, func() error {
		s.answers = append(s.answers, a)
		return nil
	})
	return err
}

func (s *reversals) settled() error { return answersMissing(len(s.answers), len(s.all)) }

func (s *reversals) fail(err error) { failReversals(s.all, err) }

func (s *reversals) lost(err error) {
	for _, r := range s.all {
		r.out.Outcome, r.out.Err = ReverseUnknown, err
	}
}

func (s *reversals) deliver() {
	for i, r := range s.all {
		r.take(s.answers[i])
		if r.out.Outcome != ReverseDone {
			continue
		}
		if r.in.Held != nil && !r.out.At.After(s.since) {
			r.out.Outcome = AlreadyReversed
		}
		s.told.note(r.out.At)
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
