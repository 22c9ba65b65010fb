package inspect

import (
	"time"
)

// TokenEvent is what happened to a token.
type TokenEvent string

// The events of a token.
const (
	TokenIssued    TokenEvent = "issued"
	TokenRenewed   TokenEvent = "renewed"           // concluded: it lived longer than one TTL
	TokenReleased  TokenEvent = "released"          // by its owner
	TokenAbandoned TokenEvent = "abandoned"         // dropped: its owner never got the reply
	TokenFreed     TokenEvent = "operator_released" // the lock was taken away by an operator
	TokenExpired   TokenEvent = "expired"           // concluded: the next was issued, no end seen
	TokenUsed      TokenEvent = "used"              // PostgreSQL accepted a posting under it
	TokenRefused   TokenEvent = "refused"           // PostgreSQL refused a posting under it
	TokenBurned    TokenEvent = "burned"            // an operator ended its right to write
	TokenOther     TokenEvent = "other"             // see TokenEntry.Detail
)

// Source says which server an entry comes from.
type Source string

// The sources of an entry. Concluded entries are drawn from the others.
const (
	FromRedis      Source = "redis"
	FromPostgreSQL Source = "postgresql"
	Concluded      Source = "concluded"
)

// TokenEntry is one event of a resource's history.
type TokenEntry struct {
	At       time.Time // the clock of the Source
	Source   Source
	Event    TokenEvent
	Token    int64
	Owner    string
	PlayerID string // used, refused
	EventID  string // used, refused
	Outcome  string // refused: the word of the closed list
	Detail   string // one sentence
	LedgerID int64  // used
	ActionID int64  // burned, operator_released
}

// MarkKind names what is wrong, or merely odd, about a token.
type MarkKind string

// The marks of a token.
const (
	MarkGap        MarkKind = "gap"        // tokens in between were never seen
	MarkRegression MarkKind = "regression" // issued below one that was issued or accepted before
	MarkTwoOwners  MarkKind = "two_owners" // issued or used under two owners
	MarkLateWrite  MarkKind = "late_write" // used after a higher token had been used
	MarkFencedOff  MarkKind = "fenced_off" // a late write was refused: the fence did its work
)

// TokenMark explains one anomaly.
type TokenMark struct {
	Kind  MarkKind
	Token int64
	Why   string // one or two sentences: what was seen and what it means
}

// TokenUse sums up one token of a resource under one owner.
type TokenUse struct {
	Token    int64
	Owner    string
	Issued   time.Time // zero when Redis has no record of it
	Ended    time.Time // zero while it is held, or when not known
	End      TokenEvent
	Accepted int // postings under it
	Refused  int // refusals under it
	Marks    []MarkKind
}

// TokenHistory is the merged history of a resource.
type TokenHistory struct {
	Resource string
	Lease    *Lease       // who holds it now; nil when nobody does, or Redis could not be asked
	Fence    *FenceSeen   // nil when no token was accepted yet
	Tokens   []TokenUse   // lowest token first
	Entries  []TokenEntry // oldest first, by the clocks of their sources
	Marks    []TokenMark
	// Lost says in a sentence what Redis no longer has; empty when its history is complete.
	Lost    string
	Cut     bool // more postings or refusals exist than were read; the newest were
	Missing []Missing
}

// Fenced reports whether the fence stands at or above token, so that a lower one is refused.
func (h TokenHistory) Fenced(token int64) bool {
	return h.Fence != nil && h.Fence.Token >= token
}
