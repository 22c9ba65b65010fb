package grant

import "fmt"

// ReverseOutcome is the answer to one Reversal. The list is closed and written in order of
// precedence; the database function reward_reverse uses the same words.
type ReverseOutcome uint8

const (
	// ReverseFailed is the zero value: the reversal was not decided and nothing was written.
	// Reversed.Err says why.
	ReverseFailed ReverseOutcome = iota
	// ReverseRejected: the request is invalid. Nothing was written.
	ReverseRejected
	// ReverseHeld: another owner holds the lease of the player. Nothing was written.
	ReverseHeld
	// ReverseStale: a higher token was accepted for the player. The refusal was recorded.
	ReverseStale
	// ReverseCollision: the same token was accepted for another owner, or burned. The refusal was
	// recorded.
	ReverseCollision
	// ReverseNotFound: there is no such posting.
	ReverseNotFound
	// IsReversal: the posting takes back itself; a reversal cannot be reversed.
	IsReversal
	// ReverseChanged: the posting, or what is left of it, or what would be taken, is not as the
	// caller saw it. Nothing moved.
	ReverseChanged
	// AlreadyReversed: this part was taken back before, or nothing is left. Nothing moved.
	AlreadyReversed
	// ReverseSkipped: the player has spent it, and the policy says to leave it then.
	ReverseSkipped
	// AlreadySpent: the player has spent it, and the policy refuses, or the balance is zero.
	AlreadySpent
	// ReverseDone: taken back now.
	ReverseDone
	// ReverseUnknown: the answer was lost and PostgreSQL could not be reached to resolve it. The
	// same reversal again, with the same part, tells.
	ReverseUnknown
)

var reverseNames = [...]string{
	ReverseFailed: "failed", ReverseRejected: "rejected", ReverseHeld: "lease_held",
	ReverseStale: "stale_token", ReverseCollision: "token_collision",
	ReverseNotFound: "not_found", IsReversal: "is_reversal", ReverseChanged: "changed",
	AlreadyReversed: "already_reversed", ReverseSkipped: "skipped",
	AlreadySpent: "already_spent", ReverseDone: "reversed", ReverseUnknown: "unknown",
}

// ReverseOutcomes returns the closed list in order of precedence.
func ReverseOutcomes() []ReverseOutcome {
	return []ReverseOutcome{
		ReverseRejected, ReverseHeld, ReverseStale, ReverseCollision, ReverseNotFound, IsReversal,
		ReverseChanged, AlreadyReversed, ReverseSkipped, AlreadySpent, ReverseDone,
		ReverseUnknown,
	}
}

// String returns the word used in SQL, JSON and messages, such as "already_reversed".
func (o ReverseOutcome) String() string {
	if int(o) < len(reverseNames) {
		return reverseNames[o]
	}
	return fmt.Sprintf("reverse_outcome(%d)", uint8(o))
}

// MarshalText writes the outcome's word.
func (o ReverseOutcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// ParseReverseOutcome is the inverse of String. It fails for a word outside the closed list.
func ParseReverseOutcome(word string) (ReverseOutcome, error) {
	for _, o := range ReverseOutcomes() {
		if reverseNames[o] == word {
			return o, nil
		}
	}
	return ReverseFailed, fmt.Errorf("grant: %q is not an outcome of a reversal", word)
}

// Final reports whether the outcome of the same reversal can never change on a retry. What was
// spent may come in again; a lease, a token or a lost answer may end differently next time.
func (o ReverseOutcome) Final() bool {
	switch o {
	case ReverseRejected, IsReversal, AlreadyReversed, ReverseDone:
		return true
	case ReverseFailed, ReverseHeld, ReverseStale, ReverseCollision, ReverseNotFound,
		ReverseChanged, ReverseSkipped, AlreadySpent, ReverseUnknown:
		return false
	}
	panic("grant: outcome outside the closed list: " + o.String())
}
