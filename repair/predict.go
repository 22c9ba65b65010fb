package repair

import (
	"fmt"
	"time"

	"rewardctl/grant"
)

// previewRow is one row of grant_preview.sql.
type previewRow struct {
	ID           *int64     `db:"id"`
	PostedKind   *string    `db:"posted_kind"`
	PostedAmount *int64     `db:"posted_amount"`
	PostedToken  *int64     `db:"posted_token"`
	LeaseOwner   *string    `db:"lease_owner"`
	Actor        *string    `db:"actor"`
	Reason       *string    `db:"reason"`
	CreatedAt    *time.Time `db:"created_at"`
	ClaimKind    *string    `db:"claim_kind"`
	ClaimAmount  *int64     `db:"claim_amount"`
	ClaimStatus  *string    `db:"claim_status"`
	ClaimToken   *int64     `db:"claim_token"`
	Balance      int64      `db:"balance"`
	LastToken    *int64     `db:"last_token"`
	LastOwner    *string    `db:"last_owner"`
}

// found keeps what was read about a grant.
func (p *GrantPreview) found(row previewRow) {
	p.BalanceBefore = row.Balance
	p.ClaimStatus = value(row.ClaimStatus)
	if row.LastToken != nil {
		p.Fence = &grant.Fence{
			Resource: p.Result.Resource, Token: *row.LastToken, Owner: value(row.LastOwner),
		}
	}
	there := &grant.Posting{PlayerID: p.Request.PlayerID, EventID: p.Request.EventID}
	switch {
	case row.ID != nil:
		there.ID, there.Kind, there.Amount = *row.ID, *row.PostedKind, *row.PostedAmount
		there.Token, there.Owner = *row.PostedToken, *row.LeaseOwner
		there.Actor, there.Reason, there.At = *row.Actor, *row.Reason, *row.CreatedAt
	case row.ClaimKind != nil:
		there.Kind, there.Amount, there.Token = *row.ClaimKind, *row.ClaimAmount, *row.ClaimToken
	default:
		return
	}
	p.Result.Existing = there
}

// rehearsal predicts outcomes in order, remembering what earlier ones would have done.
type rehearsal struct {
	first    map[rewardKey]*GrantPreview
	balances map[rewardKey]int64 // by player and kind
}

func newRehearsal(previews []GrantPreview) *rehearsal {
	return &rehearsal{
		first:    make(map[rewardKey]*GrantPreview, len(previews)),
		balances: make(map[rewardKey]int64),
	}
}

// predict sets the outcome, in the order of the closed list, and the balances.
func (r *rehearsal) predict(p *GrantPreview) {
	if p.Result.Rejected != nil {
		p.Then = grant.Rejected
		p.BalanceAfter = p.BalanceBefore
		return
	}
	purse := rewardKey{p.Request.PlayerID, p.Request.Kind}
	if sum, ok := r.balances[purse]; ok {
		p.BalanceBefore = sum
	}
	p.BalanceAfter = p.BalanceBefore
	if earlier := r.first[p.key()]; earlier != nil {
		p.repeat(earlier)
		return
	}
	r.first[p.key()] = p
	p.decide()
	if p.Then == grant.Applied {
		p.BalanceAfter += p.Request.Amount
	}
	r.balances[purse] = p.BalanceAfter
}

// repeat answers a key that an earlier request of the same call names too.
func (p *GrantPreview) repeat(earlier *GrantPreview) {
	p.Result = earlier.Result
	p.Then = earlier.Then
	if p.Then == grant.Applied {
		p.Then = grant.Replayed
	}
	if p.Result.Outcome == grant.Applied {
		p.Result.Outcome = grant.Replayed
	}
	p.Result.DuplicateOf = earlier.Request.Line
}

func (p *GrantPreview) decide() {
	p.Then = p.content()
	if held := p.Request.Held; held != nil && p.Fence != nil {
		switch {
		case p.Fence.Token > held.Token:
			p.Then = grant.StaleToken
		case p.Fence.Token == held.Token && p.Fence.Owner != held.Owner:
			p.Then = grant.TokenCollision
		}
	}
	p.Result.Outcome = p.Then
	if p.Request.Held == nil && p.Holder != nil {
		p.Result.Outcome, p.Result.Holder = grant.LeaseHeld, p.Holder
	}
	switch p.Then {
	case grant.StaleToken, grant.TokenCollision:
		p.Result.Fence = p.Fence
		p.Result.Existing = nil
	case grant.Mismatch:
		there := p.Result.Existing
		p.Result.Differs = there.Differences(p.Request)
		p.Result.LedgerID, p.Result.At = there.ID, there.At
	case grant.Replayed:
		there := p.Result.Existing
		p.Result.LedgerID, p.Result.ReplayOf, p.Result.At = there.ID, there.ID, there.At
	default:
		p.Result.Existing = nil
	}
}

// content decides by what is posted or claimed under the id.
func (p *GrantPreview) content() grant.Outcome {
	there := p.Result.Existing
	switch {
	case there == nil:
		return grant.Applied
	case there.Kind != p.Request.Kind || there.Amount != p.Request.Amount:
		return grant.Mismatch
	case there.ID != 0:
		return grant.Replayed
	case p.ClaimStatus == "applied":
		return grant.Mismatch // the claim is done, but its posting is missing: refused
	}
	return grant.Applied
}

// sentence says in words what would happen.
func (p *GrantPreview) sentence() string {
	what := p.then()
	if p.Result.Outcome != grant.LeaseHeld {
		return "Would " + what + "."
	}
	h := p.Result.Holder
	left := "for another " + h.Left.Round(time.Millisecond).String()
	if h.Left < 0 {
		left = "without expiry"
	}
	if h.Foreign {
		return fmt.Sprintf("Would have to wait: other data is under the lock's key, %s. Then it "+
			"would %s.", left, what)
	}
	return fmt.Sprintf("Would have to wait: %s holds the lease under token %d %s. Then it would %s.",
		h.Owner, h.Token, left, what)
}

func (p *GrantPreview) then() string {
	switch p.Then {
	case grant.Applied:
		return fmt.Sprintf("give %d %s: the balance goes from %d to %d", p.Request.Amount,
			p.Request.Kind, p.BalanceBefore, p.BalanceAfter)
	case grant.Replayed:
		if p.Result.LedgerID == 0 {
			return fmt.Sprintf("give nothing: line %d asks for the same", p.Result.DuplicateOf)
		}
		return fmt.Sprintf("give nothing: posting %d of %s gave the same", p.Result.LedgerID,
			p.Result.At.UTC().Format(time.DateTime))
	case grant.Mismatch:
		there := p.Result.Existing
		return fmt.Sprintf("be refused: %d %s is posted or due under this id", there.Amount,
			there.Kind)
	case grant.StaleToken, grant.TokenCollision:
		return "be refused: the fence has passed this token"
	case grant.Rejected:
		return "be rejected: " + p.Result.Rejected.Error()
	case grant.Failed, grant.LeaseHeld, grant.Unknown:
	}
	return "not be decided"
}
