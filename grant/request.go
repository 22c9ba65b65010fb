package grant

import (
	"encoding/json"
	"time"
)

// Request asks for one reward posting.
type Request struct {
	PlayerID string // who receives it; any non-empty text without invisible characters
	EventID  string // reward_event_id: what it is for. Made from meaning, never random per try
	Kind     string // what is given, such as "gems"
	Amount   int64  // how many, above zero
	Actor    string // who asks: a worker or an operator, recorded in the ledger
	Reason   string // why, recorded in the ledger

	// Resource is what the lease protects. Empty means the player's own: ResourceFor(PlayerID).
	Resource string
	// Held is a lease that the caller holds already. The engine then neither acquires nor
	// releases; the fence alone decides whether the token is still good. Nil means that the
	// engine takes a lease of its own.
	Held *Lease
	// Deed is the row of the operator log to be written in the transaction of the grant, as
	// reward_grant_logged in the migrations completes it; its arguments.deed must be different for
	// every call. Nil writes none, as for workers.
	Deed json.RawMessage `json:",omitempty"`
	// Line is where the request stands in the caller's file, counted from 1; 0 means nowhere.
	// It is only echoed, in messages such as "duplicate of line 2".
	Line int
}

// Result is the answer to one Request.
type Result struct {
	Outcome  Outcome
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64
	Actor    string
	Resource string

	// Token and Owner are the lease under which the answer was reached; zero when none was held.
	Token int64
	Owner string

	// LedgerID is the posting made now (Applied) or found (Replayed, Mismatch); 0 when none.
	LedgerID int64
	// ReplayOf is the original posting of a replay; 0 otherwise.
	ReplayOf int64
	// DuplicateOf is the line of the same key earlier in the same batch; 0 otherwise.
	DuplicateOf int
	// At is the database's time of the posting, now or then; zero when nothing is posted.
	At time.Time
	// ActionID is the row of the operator log that Request.Deed became, in the transaction that
	// reached this answer; 0 when no transaction wrote one.
	ActionID int64

	Differs  []Difference // Mismatch: each differing field, as posted and as asked
	Existing *Posting     // Mismatch, Replayed: what is there
	Holder   *Holder      // LeaseHeld: who, which token, how long
	Fence    *Fence       // StaleToken, TokenCollision: what was accepted instead
	Rejected *Rejection   // Rejected: the field, the value, the way out
	Err      error        // Failed: why nothing was written
}

// Difference names one field whose value differs between what is posted and what was asked.
type Difference struct {
	Field string // "kind" or "amount", or a file's line for keys that one batch names twice
	Have  string // what is posted or claimed
	Want  string // what was asked
}

// Posting is one row of the ledger. ID 0 marks a claim that differs but is not posted yet.
type Posting struct {
	ID       int64
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64
	Token    int64
	Owner    string
	Actor    string
	Reason   string
	At       time.Time // the database's time
}

// Fence is the highest token that PostgreSQL has accepted for a resource.
type Fence struct {
	Resource string
	Token    int64
	Owner    string
}

// ResourceFor returns the resource that protects a player's rewards.
func ResourceFor(playerID string) string { return "reward:" + playerID }
