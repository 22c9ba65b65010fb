package inspect

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"rewardctl/grant"
)

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

// Is reports whether s is the state of the verdict or applies besides.
func (v Verdict) Is(s State) bool {
	return v.State == s || slices.Contains(v.Also, s)
}

// Heartbeat is what is known of the heartbeat of a lease's owner.
type Heartbeat uint8

// What can be known of a heartbeat.
const (
	HeartbeatUnseen Heartbeat = iota // it could not be asked for
	HeartbeatAlive
	HeartbeatGone
)

// Facts are what Judge knows of one lease.
type Facts struct {
	Token     int64
	Owner     string
	Foreign   string // the kind of foreign data; empty when ours
	NoExpiry  bool
	Left      time.Duration // meaningless with NoExpiry
	Heartbeat Heartbeat
	Fence     *grant.Fence // nil when no token was accepted, or not seen
	FenceSeen bool         // PostgreSQL was asked and answered
	TTL       time.Duration
}

// A keeper renews every third of the TTL, so between renewals two thirds or more are left. At
// half, a renewal was missed with time to spare; at a fifth, two were.
const (
	overdueShare  = 2
	expiringShare = 5
	longerShare   = 10 // slack above the TTL before a clock jump is suspected
)

// Judge is the verdict on a lease. It is a pure function of the facts.
func Judge(f Facts) Verdict {
	v := f.verdict()
	v.Evidence = f.evidence()
	return v
}

// verdict judges without writing down the evidence.
func (f Facts) verdict() Verdict {
	var v Verdict
	applies := f.applies()
	for rank, state := range States() {
		switch {
		case !applies.has(rank):
		case v.State == "":
			v.State = state
		case v.State == CannotTell && v.Likely == "":
			v.Likely = state
		default:
			v.Also = append(v.Also, state)
		}
	}
	return v
}

// stateSet is a set of states: the bit of a state is its place in States. A list of very many
// leases is judged by sets, and only what is shown gets a verdict with words.
type stateSet uint16

// The places of the states in States.
const (
	rankForeign = iota
	rankSuperseded
	rankNoExpiry
	rankOrphanSuspect
	rankLongerThanTTL
	rankCannotTell
	rankExpiring
	rankOverdueRenewal
	rankHeld
)

func (s stateSet) has(rank int) bool { return s&(1<<rank) != 0 }

// rank is the place of the state that comes first: that of the verdict.
func (s stateSet) rank() int { return bits.TrailingZeros16(uint16(s)) }

// told is the set without the state that a verdict calls only likely.
func (s stateSet) told() stateSet {
	if s.rank() != rankCannotTell {
		return s
	}
	rest := s &^ (1 << rankCannotTell)
	return s &^ (rest & -rest)
}

// setOf returns the set of some states.
func setOf(states []State) stateSet {
	var set stateSet
	for rank, s := range States() {
		if slices.Contains(states, s) {
			set |= 1 << rank
		}
	}
	return set
}

// applies is the set of the states that apply. Held stands only alone, or beside CannotTell.
func (f *Facts) applies() stateSet {
	var set stateSet
	add := func(rank int, applies bool) {
		if applies {
			set |= 1 << rank
		}
	}
	if f.Foreign != "" {
		add(rankForeign, true)
		add(rankNoExpiry, f.NoExpiry)
		return set
	}
	timed := f.TTL > 0 && !f.NoExpiry
	superseded := f.superseded()
	add(rankSuperseded, superseded)
	add(rankNoExpiry, f.NoExpiry)
	add(rankOrphanSuspect, f.Heartbeat == HeartbeatGone)
	add(rankLongerThanTTL, timed && f.Left > f.TTL+f.TTL/longerShare)
	add(rankCannotTell, !superseded && (f.Heartbeat == HeartbeatUnseen || !f.FenceSeen))
	add(rankExpiring, timed && f.Left <= f.TTL/expiringShare)
	add(rankOverdueRenewal,
		timed && f.Heartbeat == HeartbeatAlive && f.Left <= f.TTL/overdueShare)
	doubtOnly := set&^(1<<rankCannotTell) == 0
	add(rankHeld, f.Heartbeat == HeartbeatAlive && doubtOnly)
	return set
}

func (f *Facts) superseded() bool {
	if !f.FenceSeen || f.Fence == nil {
		return false
	}
	return f.Fence.Token > f.Token || (f.Fence.Token == f.Token && f.Fence.Owner != f.Owner)
}

func (f Facts) evidence() []Evidence {
	if f.Foreign != "" {
		return []Evidence{
			{"value", fmt.Sprintf("other data (%s), not TOKEN:OWNER: not a lease of ours", f.Foreign)},
			f.timeEvidence(),
		}
	}
	return []Evidence{f.heartbeatEvidence(), f.timeEvidence(), f.fenceEvidence()}
}

func (f Facts) heartbeatEvidence() Evidence {
	switch f.Heartbeat {
	case HeartbeatAlive:
		return Evidence{"heartbeat", "alive"}
	case HeartbeatGone:
		return Evidence{"heartbeat", "gone: the owner stopped, lost its connection, or keeps none"}
	default:
		return Evidence{"heartbeat", "not seen: Redis did not tell"}
	}
}

func (f Facts) timeEvidence() Evidence {
	switch {
	case f.NoExpiry:
		return Evidence{"time left", "no expiry: it will not end by itself"}
	case f.TTL <= 0:
		return Evidence{"time left", f.Left.String()}
	case f.Left > f.TTL+f.TTL/longerShare:
		return Evidence{"time left", fmt.Sprintf("%s, more than the TTL of %s: "+
			"the Redis server's clock jumped, or the owner uses another TTL", f.Left, f.TTL)}
	default:
		return Evidence{"time left", fmt.Sprintf("%s of %s", f.Left, f.TTL)}
	}
}

func (f Facts) fenceEvidence() Evidence {
	finding := "at its token: it has written under this lease"
	switch {
	case !f.FenceSeen:
		finding = "not seen: PostgreSQL did not tell, so a newer holder cannot be excluded"
	case f.Fence == nil:
		finding = "none: no token was accepted yet"
	case f.Fence.Token > f.Token:
		finding = fmt.Sprintf("%d of %s, above its token %d: it can no longer write",
			f.Fence.Token, f.Fence.Owner, f.Token)
	case f.Fence.Token == f.Token && grant.Burned(f.Fence.Owner):
		finding = fmt.Sprintf("%d, burned by an operator: it can no longer write", f.Fence.Token)
	case f.Fence.Token == f.Token && f.Fence.Owner != f.Owner:
		finding = fmt.Sprintf("%d of another owner, %s: two owners had one token, "+
			"which happens when Redis lost its counter; it can no longer write",
			f.Fence.Token, f.Fence.Owner)
	case f.Fence.Token < f.Token:
		finding = fmt.Sprintf("%d, below its token: nothing written under this lease yet",
			f.Fence.Token)
	}
	return Evidence{"fence", finding}
}
