package grant

import "fmt"

// deliver hands the database's answers to their items.
func (s *sending) deliver(answers []answer) {
	for i, it := range s.items {
		it.take(answers[i])
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
		it.found(a)
		it.res.ReplayOf = it.res.LedgerID
	case Mismatch:
		it.found(a)
		it.res.Differs = it.res.Existing.Differences(it.req)
	case StaleToken, TokenCollision:
		it.res.Fence = &Fence{it.res.Resource, value(a.fenceToken), value(a.fenceOwner)}
	}
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
