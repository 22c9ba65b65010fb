package repair

import "rewardctl/grant"

// GrantPreview says what a grant would do now. It is a read: nothing is held or written.
type GrantPreview struct {
	Request grant.Request
	// Result is the predicted answer, with the same details as a real one. Its LedgerID is set
	// only for a posting that exists.
	Result grant.Result
	// BalanceBefore and BalanceAfter are the player's balance of the kind. They are equal unless
	// the predicted outcome is applied.
	BalanceBefore int64
	BalanceAfter  int64
	ClaimStatus   string       // "pending", "processing", "applied"; empty without a claim
	Fence         *grant.Fence // nil when no token was accepted for the resource
	// Holder is who holds the lease now; the engine would wait a little and then answer
	// lease_held. Nil when nobody does.
	Holder *grant.Holder
	// Warnings are remarks that do not stop the grant, such as an event id that looks random.
	Warnings []string
	Note     string // one sentence for people: what would happen
}

// GrantDeed is a grant by hand and its rows in operator_action.
type GrantDeed struct {
	grant.Result
	IntentID int64
	ResultID int64
	// LogProblem says why the result row could not be written; the grant stands all the same,
	// and the ledger row carries actor and reason. Empty when all went well.
	LogProblem string
}
