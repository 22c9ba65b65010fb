package inspect

// State is how a lease stands.
type State string

// The states, in order of precedence: the first that applies is the verdict, the others that
// apply are listed beside it.
const (
	// Foreign: other data under the key, such as another library's lock. Never ours to judge.
	Foreign State = "foreign"
	// Superseded: the fence is above the lease's token, or has the same token under another
	// owner. The holder can no longer write.
	Superseded State = "superseded"
	// NoExpiry: the lock will never end by itself.
	NoExpiry State = "no_expiry"
	// OrphanSuspect: the owner's heartbeat is gone.
	OrphanSuspect State = "orphan_suspect"
	// LongerThanTTL: more time left than a lease ever gets: the server's clock jumped.
	LongerThanTTL State = "longer_than_ttl"
	// CannotTell: evidence is missing. Verdict.Likely says what the rest suggests.
	CannotTell State = "cannot_tell"
	// Expiring: little time is left.
	Expiring State = "expiring"
	// OverdueRenewal: the heartbeat is alive, but the keeper should have renewed by now.
	OverdueRenewal State = "overdue_renewal"
	// Held: the owner's heartbeat is alive and nothing speaks against it.
	Held State = "held"
)

// States returns all states in order of precedence.
func States() []State {
	return []State{
		Foreign, Superseded, NoExpiry, OrphanSuspect, LongerThanTTL, CannotTell, Expiring,
		OverdueRenewal, Held,
	}
}

// Verdict is the judgement of one lease, with its reasons. A process id is never among them.
type Verdict struct {
	State    State
	Also     []State // what applies besides, in order of precedence
	Likely   State   // with CannotTell: what the evidence at hand suggests; else empty
	Evidence []Evidence
}
