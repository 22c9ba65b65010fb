package repair

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// OutboxSet is a frozen set of outbox rows for one deed: exactly these are changed, each only if
// its state and its attempts still are what was seen.
type OutboxSet struct {
	Deed     OutboxDeed
	Requests []OutboxRequest // in order of ledger id
	Digest   string          // names the set: which rows in which states
}

// NewOutboxSet freezes requests about single rows. It returns a *grant.Rejection for a request that
// is unfit, that does not say what was seen, or that is there twice.
func NewOutboxSet(deed OutboxDeed, requests []OutboxRequest) (OutboxSet, error) {
	set := OutboxSet{Deed: deed, Requests: slices.Clone(requests)}
	slices.SortFunc(set.Requests, func(a, b OutboxRequest) int {
		return int(min(max(a.LedgerID-b.LedgerID, -1), 1))
	})
	sum := sha256.New()
	for i := range set.Requests {
		r := &set.Requests[i]
		r.Deed = deed
		if problem := r.check(); problem != nil {
			return OutboxSet{}, problem
		}
		id := strconv.FormatInt(r.LedgerID, 10)
		switch {
		case r.LedgerID == 0, r.State == "", r.Attempts < 0:
			return OutboxSet{}, &grant.Rejection{
				Field: "id", Value: id, Problem: "does not say which row was seen, in what state",
				WayOut: "look at each row before",
			}
		case i > 0 && set.Requests[i-1].LedgerID == r.LedgerID:
			return OutboxSet{}, &grant.Rejection{
				Field: "id", Value: id, Problem: "is named twice", WayOut: "name it once",
			}
		}
		fmt.Fprintf(sum, "%s %d %s %d\n", deed, r.LedgerID, r.State, r.Attempts)
	}
	const bytes = 6 // of the sum: enough to tell sets of one moment apart
	set.Digest = hex.EncodeToString(sum.Sum(nil)[:bytes])
	return set, nil
}

// Word returns "outbox requeue" or "outbox park".
func (s OutboxSet) Word() string { return OutboxRequest{Deed: s.Deed}.Word() }

// Target returns how many rows there are, such as "3 outbox rows".
func (s OutboxSet) Target() string {
	if len(s.Requests) == 1 {
		return s.Requests[0].Target()
	}
	return strconv.Itoa(len(s.Requests)) + " outbox rows"
}

// CLI returns the outbox command that names every row. The digest holds it to what was seen of
// them.
func (s OutboxSet) CLI() []string {
	argv := []string{"rewardctl", "outbox", string(s.Deed), "--set", s.Digest}
	if len(s.Requests) > 0 {
		argv = append(argv, "--reason", s.Requests[0].Reason)
		if s.Requests[0].DryRun {
			argv = append(argv, "--dry-run")
		}
	}
	for _, r := range s.Requests {
		argv = append(argv, strconv.FormatInt(r.LedgerID, 10))
	}
	return argv
}

// WithReason returns the set with a reason for every row. What it changes is the same.
func (s OutboxSet) WithReason(reason string) OutboxSet {
	s.Requests = slices.Clone(s.Requests)
	for i := range s.Requests {
		s.Requests[i].Reason = reason
	}
	return s
}

// OutboxOf is what became of one row of a set.
type OutboxOf struct {
	Request OutboxRequest
	Change  OutboxChange
	Err     error // as from ChangeOutbox
	NotRun  bool  // the run stopped before this row; Change says nothing then
}

// ChangeOutboxMany changes the rows of a set one after the other, each as ChangeOutbox does, with
// its own row in the log, and answers each. A row that changed is left, and the others go on. When
// ctx ends, or the server answers nothing any more, the rest is marked NotRun. onDone is told each
// answer as it comes; nil does nothing.
func (o *Operator) ChangeOutboxMany(
	ctx context.Context, set OutboxSet, onDone func(OutboxOf),
) []OutboxOf {
	out := make([]OutboxOf, len(set.Requests))
	eachInTurn(ctx, len(out), func(i int) error {
		out[i].Request = set.Requests[i]
		out[i].Change, out[i].Err = o.ChangeOutbox(ctx, set.Requests[i])
		if onDone != nil {
			onDone(out[i])
		}
		return out[i].Err
	}, func(i int, why error) {
		out[i] = OutboxOf{Request: set.Requests[i], NotRun: true, Err: why}
	})
	return out
}
