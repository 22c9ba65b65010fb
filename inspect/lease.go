package inspect

import (
	"time"

	"rewardctl/grant"
)

// Claims counts the rewards under a resource that are due and not posted yet.
type Claims struct {
	Pending    int
	Processing int
	More       bool // counting stopped at 200: there may be more
}

// Lease is one lock as it stood in Redis when it was read, with the verdict on it.
type Lease struct {
	Resource string
	Value    string // the exact value of the lock key, TOKEN:OWNER; empty for data of another type
	Token    int64  // 0 when foreign
	Owner    string // empty when foreign
	Worker   string // whose heartbeat counts: the part of the owner before '#'
	// Left is the time left by the Redis server's clock; 0 when there is no expiry. It is true
	// at At, and is never computed from this machine's clock.
	Left     time.Duration
	At       time.Time // when Left was read, by this machine's clock, for a countdown only
	NoExpiry bool
	Foreign  string // the kind of foreign data under the key, such as "hash"; empty when ours

	Heartbeat Heartbeat    // of Worker
	Fence     *grant.Fence // nil when none was accepted yet, or when it could not be read
	Claims    *Claims      // nil when not read
	Verdict   Verdict

	// What the verdict went by, when its evidence was left out.
	ttl       time.Duration
	fenceSeen bool
}

// Reasons returns the evidence of the verdict, also when the list was terse.
func (l *Lease) Reasons() []Evidence {
	if l.ttl == 0 {
		return l.Verdict.Evidence
	}
	return append(l.facts(l.ttl, l.Fence, l.fenceSeen).evidence(), l.Verdict.Evidence...)
}

// LeaseSort names the order of a list.
type LeaseSort string

// The orders of a list. Each breaks ties by resource.
const (
	SortResource LeaseSort = "resource" // the default
	SortLeft     LeaseSort = "left"     // least time left first, no expiry last
	SortOwner    LeaseSort = "owner"
	SortToken    LeaseSort = "token"
	SortState    LeaseSort = "state" // what needs attention first
)

// LeaseFilter selects leases. Zero fields select everything.
type LeaseFilter struct {
	// Owner selects the leases of a full owner text, of one worker identity (the part before
	// '#') or of all processes of a worker's name (the part before '@').
	Owner string
	// Resource selects one resource, literally; with Glob it is a pattern in which * stands
	// for any text, ? for one character, [a-z] for one of a set, and \ takes the next literally.
	Resource string
	Glob     bool
	// Resources selects these, literally, whatever Resource says; none means all.
	Resources []string
	States    []State // any of these, as the state or among Verdict.Also
	// ExpiringWithin selects leases with at most this time left; 0 means all.
	ExpiringWithin time.Duration
	Sort           LeaseSort
	Reverse        bool
	Limit          int // at most so many; 0 means all
	// Terse is for who reads all leases again and again, and sorts them: they come in no order,
	// whatever Sort and Limit say, and without the evidence of their verdicts, which Lease.Reasons
	// writes for the one that is looked at. With SortState, fences and leases are read at once.
	Terse bool
}

// LeaseList is the answer to a LeaseFilter.
type LeaseList struct {
	At      time.Time // this machine's clock
	Leases  []Lease
	Total   int // leases in Redis, before the filter
	Matched int // leases that the filter selected, before the limit
	// Fences stands in for the leases when Redis could not be asked: what PostgreSQL accepted
	// last, newest first, at most 100. It does not say who holds a lease now.
	Fences  []FenceSeen
	Missing []Missing
}

// FenceSeen is a fence with the database's time of its last advance.
type FenceSeen struct {
	grant.Fence
	At     time.Time
	Burned bool // an operator burned the token: its holder can never write again
}

// LeaseDetail is everything known about one resource.
type LeaseDetail struct {
	Resource string
	Lease    *Lease // nil when nobody holds it, or when Redis could not be asked
	Fence    *FenceSeen
	Claims   *Claims
	Due      []Claim      // at most 20 of the claims that are due, by event
	History  []TokenEntry // the last entries of the resource's history, newest first
	Missing  []Missing
}

// Claim is a reward that is due.
type Claim struct {
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64
	Token    int64  // the token it was applied under; 0 before
	Status   string // "pending", "processing" or "applied"
	At       time.Time
}

// ChangeKind says what happened to a lease between two looks.
type ChangeKind string

// The kinds of change.
const (
	Added   ChangeKind = "added"   // a lease that was not there before
	Changed ChangeKind = "changed" // another owner or token, or another state
	Gone    ChangeKind = "gone"    // no longer there, or no longer selected (see Change.What)
	Blind   ChangeKind = "blind"   // Redis can no longer be asked; nothing is called gone
	Seeing  ChangeKind = "seeing"  // Redis answers again
)

// Change is one difference between two looks at the leases.
type Change struct {
	Kind    ChangeKind
	At      time.Time
	Lease   Lease   // as it is now; for Gone as it was last seen
	Before  *Lease  // Changed only
	What    string  // one sentence: what differs
	Missing Missing // Blind only
}

// WatchOptions say what to watch and when to look.
type WatchOptions struct {
	Filter LeaseFilter // Sort and Limit have no effect
	// Look is received from before each look after the first, such as a ticker's channel. Watch
	// ends when it is closed.
	Look <-chan time.Time
	// OnlyChanges leaves out the leases that are there at the first look.
	OnlyChanges bool
}
