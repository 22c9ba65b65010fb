package inspect

import "rewardctl/grant"

// Explanation answers "was this reward granted, and why or why not".
type Explanation struct {
	PlayerID string
	EventID  string
	Summary  string // one paragraph for people
	Evidence []Evidence

	Granted   bool
	Posting   *grant.Posting // nil when it was not granted
	Reversal  *grant.Posting // the posting that compensates it; nil when none does
	Claim     *Claim         // nil when none is due or was
	Delivery  *Delivery      // nil without a posting, or when the outbox row is missing
	Refusals  []PlayerEntry  // newest first, at most 50
	Actions   []PlayerEntry  // operator deeds about it, newest first, at most 50
	Fence     *FenceSeen     // of the player's resource
	Lease     *Lease         // who holds the player's resource now
	IfGranted Prediction
	Missing   []Missing
}

// Prediction says what the engine would answer now. It is a read: the answer may have changed
// by the time somebody grants.
type Prediction struct {
	Outcome grant.Outcome
	Why     string
}
