package grant

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// granting is a wave of grants laid out for the database.
type granting struct {
	items []*item // in the order of the arrays
	args  []any   // the arguments of grant_batch.sql but the last
	// deeds are rows of the operator log, per item; nil when no item has one.
	deeds   []*string
	answers []answer
	told    *answered
	since   time.Time // told before this was sent
}

// layOutGrants lays out a wave. It is a layOutFunc that always succeeds.
func (e *Engine) layOutGrants(w wave) (transmission, error) {
	items, columns := w.place(func(a, b *item) int {
		return cmp.Or(
			strings.Compare(a.req.PlayerID, b.req.PlayerID),
			strings.Compare(a.req.EventID, b.req.EventID),
		)
	})
	n := len(items)
	g := &granting{items: items, told: &e.told, since: e.told.latest()}
	players, events, kinds := make([]string, n), make([]string, n), make([]string, n)
	amounts, actors, reasons := make([]int64, n), make([]string, n), make([]string, n)
	for i, it := range items {
		r := it.req
		players[i], events[i], kinds[i] = r.PlayerID, r.EventID, r.Kind
		amounts[i], actors[i], reasons[i] = r.Amount, r.Actor, r.Reason
		if r.Deed != nil {
			g.note(i, string(r.Deed))
		}
	}
	g.args = append(columns.args(), players, events, kinds, amounts, actors, reasons)
	return g, nil
}

// note adds a row of the operator log to an item.
func (g *granting) note(i int, deed string) {
	if g.deeds == nil {
		g.deeds = make([]*string, len(g.items))
	}
	g.deeds[i] = &deed
}

func (g *granting) op() string { return "grant" }

// queue: only a batch in which operators act takes the statement that writes their rows.
func (g *granting) queue(pipeline *pgx.Batch, again bool) {
	args := append(g.args[:len(g.args):len(g.args)], again)
	if g.deeds == nil {
		pipeline.Queue(grantBatchSQL, args...)
		return
	}
	pipeline.Queue(grantLoggedSQL, append(args, g.deeds)...)
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

func (g *granting) read(rows pgx.Rows) error {
	g.answers = make([]answer, 0, len(g.items))
	var a answer
	into := []any{
		&a.ord, &a.outcome, &a.ledgerID, &a.kind, &a.amount, &a.token, &a.owner, &a.actor,
		&a.reason, &a.at, &a.fenceToken, &a.fenceOwner,
	}
	if g.deeds != nil {
		into = append(into, &a.actionID)
	}
	_, err := pgx.ForEachRow(rows, into, func() error {
		g.answers = append(g.answers, a)
		return nil
	})
	return err
}

func (g *granting) settled() error {
	for _, a := range g.answers {
		if a.outcome == nil {
			return errUnsettled
		}
	}
	return answersMissing(len(g.answers), len(g.items))
}

func (g *granting) fail(err error) { failAll(g.items, err) }

func (g *granting) lost(err error) {
	for _, it := range g.items {
		it.res.Outcome = Unknown
		it.res.Err = err
	}
}

func (g *granting) deliver() {
	for i, it := range g.items {
		a := g.answers[i]
		it.take(a)
		if it.res.Outcome != Applied {
			continue
		}
		if it.req.Held != nil && !it.res.At.After(g.since) {
			it.replay(a)
		}
		g.told.note(it.res.At)
	}
}

// take turns one row of reward_grant into the item's result.
func (it *item) take(a answer) {
	outcome, err := ParseOutcome(*a.outcome)
	if err != nil {
		// The function is part of the schema that the gate checked, so this is a bug; the row
		// was committed, so it must not look like a failure without effect.
		it.res.Outcome = Unknown
		it.res.Err = fmt.Errorf("grant: reward_grant answered %q: %w", *a.outcome, err)
		return
	}
	it.res.Outcome, it.res.ActionID = outcome, value(a.actionID)
	switch outcome {
	case Applied:
		it.res.LedgerID = value(a.ledgerID)
		it.res.At = value(a.at)
	case Replayed:
		it.replay(a)
	case Mismatch:
		it.found(a)
		it.res.Differs = it.res.Existing.Differences(it.req)
	case StaleToken, TokenCollision:
		it.res.Fence = &Fence{it.res.Resource, value(a.fenceToken), value(a.fenceOwner)}
	}
}

// replay answers that the posting was there before.
func (it *item) replay(a answer) {
	it.found(a)
	it.res.Outcome, it.res.ReplayOf = Replayed, it.res.LedgerID
}

// found records what the id is posted or claimed with.
func (it *item) found(a answer) {
	it.res.LedgerID = value(a.ledgerID)
	it.res.At = value(a.at)
	it.res.Existing = &Posting{
		ID: value(a.ledgerID), PlayerID: it.req.PlayerID, EventID: it.req.EventID,
		Kind: value(a.kind), Amount: value(a.amount), Token: value(a.token),
		Owner: value(a.owner), Actor: value(a.actor), Reason: value(a.reason), At: value(a.at),
	}
}

// value reads a nullable column; null is the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
