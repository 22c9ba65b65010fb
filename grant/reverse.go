package grant

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// ReversePrefix begins the event id of every reversal. It is reserved: no reward can be granted
// under such an id.
const ReversePrefix = "reverse:"

// ReversalID returns the event id under which a part of a posting is taken back, such as
// "reverse:4711:1". It is made from the posting and the part alone, so that the same part is
// taken back at most once.
func ReversalID(posting int64, part int) string {
	return ReversePrefix + strconv.FormatInt(posting, 10) + ":" + strconv.Itoa(part)
}

// Policy says what a reversal does when the player has spent what it would take back.
type Policy string

// The policies.
const (
	PolicyRefuse Policy = "refuse"  // move nothing and say so; the default
	PolicyToZero Policy = "to-zero" // take what is there, leave the rest to be taken later
	PolicySkip   Policy = "skip"    // move nothing, and count it as done with
)

// ParsePolicy reads a policy's word; an empty word means PolicyRefuse. The error is a *Rejection.
func ParsePolicy(word string) (Policy, error) {
	switch p := Policy(word); p {
	case "":
		return PolicyRefuse, nil
	case PolicyRefuse, PolicyToZero, PolicySkip:
		return p, nil
	}
	return "", &Rejection{
		Field: "policy", Value: word, Problem: "is not a policy",
		WayOut: "use refuse, to-zero or skip",
	}
}

// Reversal asks to take back a posting, or a part of it. Posting, PlayerID, Kind and Posted are the
// posting as the caller saw it: what differs moves nothing.
type Reversal struct {
	Posting  int64  // its ledger id
	PlayerID string // whose it is
	Kind     string
	Posted   int64 // its amount, above zero

	// Part numbers the parts in which a posting is taken back, from 1: one more than the caller
	// saw taken back. The same part again answers AlreadyReversed.
	Part int
	// Amount is how much to take back; 0 means all that is left.
	Amount int64
	// Expect is how much the caller saw would be taken back, where PolicyToZero may take less than
	// Amount; 0 means that any amount is fine.
	Expect int64
	Policy Policy // PolicyRefuse when empty
	Actor  string // who asks, recorded in the ledger
	Reason string // why, recorded in the ledger

	// Held is a lease on the player's resource that the caller holds already; see Request.Held.
	Held *Lease
}

// Reversed is the answer to one Reversal.
type Reversed struct {
	Reversal Reversal
	Outcome  ReverseOutcome
	Resource string
	Token    int64 // the lease under which the answer was reached; zero when none was held
	Owner    string

	// LedgerID and EventID are the reversal posted now (ReverseDone) or found (AlreadyReversed).
	// LedgerID is 0 when there is none.
	LedgerID int64
	EventID  string
	Taken    int64 // what that reversal took back; 0 when there is none
	Parts    int   // how many parts of the posting are taken back now
	Left     int64 // what is left to take back now
	// BalanceBefore and BalanceAfter are the player's balance of the kind around this reversal;
	// equal when nothing moved.
	BalanceBefore int64
	BalanceAfter  int64
	PostedFor     string // the event id of the posting; empty when it was not looked at

	At       time.Time  // the database's time of the reversal, now or then
	Actor    string     // AlreadyReversed: who took it back
	Reason   string     // AlreadyReversed: why
	Holder   *Holder    // ReverseHeld
	Fence    *Fence     // ReverseStale, ReverseCollision
	Rejected *Rejection // ReverseRejected
	Err      error      // ReverseFailed, ReverseUnknown
}

// DeedFunc returns the operator's log row for the reversals of one transaction, as a JSON object
// with the fields operator, host, action, target, args_version, arguments, observed, reason,
// ticket, approval and command. The database completes it with what came of it and writes it in
// the same transaction. arguments.deed must be different for every call: a batch that is sent
// again after a lost answer is known by it.
type DeedFunc func(part []Reversal) (json.RawMessage, error)

// Reverse takes back one posting; see ReverseMany.
func (e *Engine) Reverse(ctx context.Context, r Reversal, deed DeedFunc) (Reversed, error) {
	results, err := e.ReverseMany(ctx, []Reversal{r}, deed)
	return results[0], err
}

// ReverseMany takes postings back, each at most once per part, and answers each, in order. It
// works under the leases and the fence of the players, like a grant, and each transaction is one
// round trip. An item with the outcome ReverseFailed was not decided: nothing of it was written,
// and its Err says why. ReverseMany returns an error only when every item failed for the same
// reason. deed may be nil: then no log row is written.
func (e *Engine) ReverseMany(
	ctx context.Context, reversals []Reversal, deed DeedFunc,
) ([]Reversed, error) {
	all := make([]*reversing, len(reversals))
	var open []*reversing
	for i, r := range reversals {
		all[i] = newReversing(r)
		if problem := ValidateReversal(r); problem != nil {
			all[i].out.Outcome, all[i].out.Rejected = ReverseRejected, problem
			continue
		}
		open = append(open, all[i])
	}
	deadline := e.opt.Now().Add(e.opt.HeldWait)
	for pause := heldPause; len(open) > 0; pause = min(2*pause, heldPauseMax) {
		e.reverseRounds(ctx, open, deed)
		open = stillHeld(open)
		if len(open) == 0 || !e.opt.Now().Add(pause).Before(deadline) ||
			e.opt.Wait(ctx, pause) != nil {
			break
		}
	}
	results := make([]Reversed, len(all))
	for i, r := range all {
		results[i] = r.out
	}
	return results, commonReverseFailure(results)
}

// reverseRounds runs the reversals. One that names the posting of an earlier one waits for the
// next round: it then sees what the earlier one has done.
func (e *Engine) reverseRounds(ctx context.Context, open []*reversing, deed DeedFunc) {
	for len(open) > 0 {
		seen := make(map[int64]bool, len(open))
		parts := make([][]*reversing, len(e.lanes))
		var later []*reversing
		for _, r := range open {
			if seen[r.in.Posting] {
				later = append(later, r)
				continue
			}
			seen[r.in.Posting] = true
			n := e.laneOf(r.it.resource())
			parts[n] = append(parts[n], r)
		}
		var wg sync.WaitGroup
		for n, part := range parts {
			if len(part) > 0 {
				wg.Go(func() { e.lanes[n].reverseMany(ctx, part, deed) })
			}
		}
		wg.Wait()
		open = later
	}
}

func stillHeld(all []*reversing) []*reversing {
	var held []*reversing
	for _, r := range all {
		if r.out.Outcome == ReverseHeld {
			held = append(held, r)
		}
	}
	return held
}

func commonReverseFailure(results []Reversed) error {
	for _, r := range results {
		if r.Outcome != ReverseFailed {
			return nil
		}
	}
	if len(results) == 0 {
		return nil
	}
	return results[0].Err
}

// ValidateReversal returns what is wrong with a reversal, or nil. It looks at the request alone.
func ValidateReversal(r Reversal) *Rejection {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch {
	case r.Posting <= 0:
		return &Rejection{
			"ledger_id", number(r.Posting), "is no posting",
			"copy the id from: rewardctl player history PLAYER",
		}
	case r.Posted <= 0:
		return &Rejection{
			"posted", number(r.Posted), "is not above zero", "give the amount of the posting",
		}
	case r.Part <= 0:
		return &Rejection{"part", strconv.Itoa(r.Part), "is below 1", "count parts from 1"}
	case r.Amount < 0 || r.Expect < 0:
		return &Rejection{
			"amount", number(min(r.Amount, r.Expect)), "is below zero",
			"say how much to take back, or leave it out for all",
		}
	case r.Amount > r.Posted:
		return &Rejection{
			"amount", number(r.Amount), fmt.Sprintf("is more than the %d that were posted", r.Posted),
			"take back at most what was posted",
		}
	}
	if _, err := ParsePolicy(string(r.Policy)); err != nil {
		return err.(*Rejection)
	}
	for _, t := range []struct {
		field, value, wayOut string
		max                  int
	}{
		{"player_id", r.PlayerID, "name the player", textMax},
		{"kind", r.Kind, "name what was given", textMax},
		{"actor", r.Actor, "say who takes it back", proseMax},
		{"reason", r.Reason, "say why", proseMax},
	} {
		if problem := textProblem(t.value, t.max); problem != "" {
			return &Rejection{t.field, t.value, problem, t.wayOut}
		}
	}
	return heldProblem(Request{Held: r.Held})
}
