package grant

import "fmt"

// Outcome is the answer to one item of a batch. The list is closed and written in order of
// precedence: the first that applies wins. The database function reward_grant and the README
// list the same words in the same order; a test compares the three.
// (The idea of one ordered, closed result list comes from TigerBeetle's CreateTransferStatus.)
type Outcome uint8

const (
	// Failed is the zero value: the item was not decided and nothing was written. Result.Err
	// says why. It is an error, not an answer, and therefore not part of the closed list.
	Failed Outcome = iota
	// Rejected: the request is invalid or over a limit. Nothing was written.
	Rejected
	// LeaseHeld: another owner holds the lease of the resource. Nothing was written.
	LeaseHeld
	// StaleToken: a higher token was accepted for the resource. The refusal was recorded.
	StaleToken
	// TokenCollision: the same token was accepted for another owner, which happens when Redis
	// lost its counter. The refusal was recorded.
	TokenCollision
	// Mismatch: the same id is posted or claimed with other content. The refusal was recorded.
	Mismatch
	// Replayed: the same id with the same content was posted before. Nothing was written.
	Replayed
	// Applied: posted now.
	Applied
	// Unknown: the commit's answer was lost and PostgreSQL could not be reached to resolve it.
	// Submitting the same request again, with the same id, tells.
	Unknown
)

var outcomeNames = [...]string{
	Failed: "failed", Rejected: "rejected", LeaseHeld: "lease_held", StaleToken: "stale_token",
	TokenCollision: "token_collision", Mismatch: "mismatch", Replayed: "replayed",
	Applied: "applied", Unknown: "unknown",
}

// Outcomes returns the closed list in order of precedence.
func Outcomes() []Outcome {
	return []Outcome{
		Rejected, LeaseHeld, StaleToken, TokenCollision, Mismatch, Replayed, Applied, Unknown,
	}
}

// String returns the word used in SQL, JSON and messages, such as "stale_token".
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText writes the outcome's word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// ParseOutcome is the inverse of String. It fails for a word that is not in the closed list.
func ParseOutcome(word string) (Outcome, error) {
	for _, o := range Outcomes() {
		if outcomeNames[o] == word {
			return o, nil
		}
	}
	return Failed, fmt.Errorf("grant: %q is not an outcome", word)
}

// Final reports whether the outcome of the same request can never change on a retry.
// A rejected request stays invalid, a posted id stays posted. A held lease, an old token or an
// unknown answer may end differently next time.
func (o Outcome) Final() bool {
	switch o {
	case Rejected, Mismatch, Replayed, Applied:
		return true
	case Failed, LeaseHeld, StaleToken, TokenCollision, Unknown:
		return false
	}
	panic("grant: outcome outside the closed list: " + o.String())
}
