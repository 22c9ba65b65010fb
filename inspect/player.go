package inspect

import "time"

// EntryType says what a line of a player's timeline is.
type EntryType string

// The types of a timeline entry.
const (
	EntryPosting EntryType = "posting" // a row of the ledger
	EntryClaim   EntryType = "claim"   // a reward that is due and has no posting
	EntryRefusal EntryType = "refusal" // a grant that PostgreSQL refused
	EntryAction  EntryType = "action"  // an operator's deed that names the player
	// EntryDelivery is an attempt to deliver a posting. It is among the entries only when it is
	// asked for by its type: attempts come with their postings as well.
	EntryDelivery EntryType = "delivery"
)

// PlayerQuery selects a part of a player's timeline. Zero fields select everything.
type PlayerQuery struct {
	PlayerID string
	From, To time.Time // from From up to but not including To, in the database's time
	Types    []EntryType
	Kind     string // such as "gems"
	Event    string // one reward_event_id
	Campaign string // events that begin with this campaign and ':'
	// Outcome selects entries with this outcome: "applied" (postings), "stale_token",
	// "token_collision", "mismatch" (refusals), "pending", "processing" (claims), the verdict of
	// an attempt to deliver such as "unknown", or the outcome word of an operator action.
	Outcome string
	Limit   int // entries per page; 0 means 100, at most 10,000
	// Cursor continues where a page ended: PlayerPage.Next or PlayerPage.Prev; empty means the
	// newest page. It is only good for the same query.
	Cursor string
}

// PlayerEntry is one line of a player's timeline. Which fields are set depends on Type.
type PlayerEntry struct {
	Type     EntryType
	ID       int64 // of the ledger row (deliveries too), claim, refusal or operator action
	At       time.Time
	EventID  string
	Kind     string
	Amount   int64
	Outcome  string // see PlayerQuery.Outcome
	Resource string // refusals and actions
	Token    int64
	Owner    string // of the lease
	Actor    string // who granted, asked or acted; of a delivery the relay
	Reason   string
	Reverses int64 // the posting that this one compensates; 0 otherwise

	// BalanceBefore and BalanceAfter are the player's balance of Kind around a posting, counted
	// back from the balance as it is kept. They are nil for other types. A grant that began before
	// the newest page was read and was committed after it is missing from older pages' balances.
	BalanceBefore *int64
	BalanceAfter  *int64
	Delivery      *Delivery // postings: nil when the outbox row is missing
	// Attempts are the tries to deliver a posting, oldest first.
	Attempts []OutboxAttempt

	FenceToken int64  // refusals: the accepted token
	FenceOwner string // refusals: its owner
	HaveKind   string // mismatch: what is there
	HaveAmount int64
	Detail     string // one sentence for people
	Command    string // actions: the equivalent command line
}

// Delivery is the outbox state of a posting.
type Delivery struct {
	State       string // "pending", "claimed", "delivered", "dead" or "parked"
	Attempts    int
	NextAttempt time.Time // zero when none is planned
	Delivered   time.Time // zero until it was delivered
	LastError   string
}

// Balance is what a player has of one kind.
type Balance struct {
	Kind   string
	Amount int64
	// Ledger is the sum of the ledger, on the newest page; it differs from Amount only when
	// something is broken. Further pages do not sum, nor does any page of a player with more than
	// 10,000 postings, whom the audit's check balance compares: it is nil.
	Ledger *int64
}

// Broken reports whether the ledger sums to something else than the balance that is kept.
func (b Balance) Broken() bool { return b.Ledger != nil && *b.Ledger != b.Amount }

// PlayerPage is one page of a timeline, newest first.
type PlayerPage struct {
	PlayerID string
	Balances []Balance // by kind
	Entries  []PlayerEntry
	Next     string // cursor of the next older page; empty at the end
	Prev     string // cursor of the next newer page; empty at the newest
}
