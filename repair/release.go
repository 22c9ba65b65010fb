package repair

import (
	"time"

	"rewardctl/grant"
)

// ReleaseRequest asks for the release of the lease that the operator saw.
type ReleaseRequest struct {
	Resource string
	Owner    string // the full owner text, as listed
	Token    int64  // above zero
	// Value releases a foreign lock: its exact value, as listed, instead of Owner and Token.
	// There is then no token to burn.
	Value  string
	Reason string
	DryRun bool // tell what would happen, change and log nothing
}

// Freeing is what became of the lock.
type Freeing string

// What can become of a lock.
const (
	Released     Freeing = "released"
	AlreadyGone  Freeing = "already_gone"
	WouldRelease Freeing = "would_release" // dry run
)

// Burning is what became of the token's right to write.
type Burning string

// What can become of a token.
const (
	Burned        Burning = "burned"         // now
	AlreadyBurned Burning = "already_burned" // by an earlier release
	FenceAbove    Burning = "fence_above"    // a higher token was accepted before: nothing to do
	WouldBurn     Burning = "would_burn"     // dry run
	NotBurned     Burning = "not_burned"     // see Release.Note
)

// Seen is a lock as it stood when it was looked at.
type Seen struct {
	Value    string // exact; empty when there was no lock
	Token    int64
	Owner    string
	Left     time.Duration // by the Redis server's clock; negative without expiry
	NoExpiry bool
	Foreign  string // the kind of foreign data; empty when ours
}

// Release is the answer to a ReleaseRequest.
type Release struct {
	Resource    string
	Seen        Seen
	Freeing     Freeing
	Burning     Burning
	FenceBefore *grant.Fence // nil when no token had been accepted
	FenceAfter  *grant.Fence
	IntentID    int64 // rows of operator_action; 0 on a dry run
	ResultID    int64 // 0 also when the result could not be written; Note then says so
	At          time.Time
	Note        string // one sentence for people, always set
}
