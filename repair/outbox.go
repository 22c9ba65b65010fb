package repair

import (
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"
)

// OutboxDeed is what is done to outbox rows.
type OutboxDeed string

// The deeds.
const (
	OutboxRequeue OutboxDeed = "requeue" // send again at once, counting failures anew
	OutboxPark    OutboxDeed = "park"    // do not send until requeued
)

// OutboxFilter selects outbox rows of one state. Empty fields select all.
type OutboxFilter struct {
	State  string // dead, parked, pending or delivered; required
	Player string
	Kind   string
	Error  string    // part of the last error
	Since  time.Time // posted, or delivered when State is delivered, at or after
	Until  time.Time // and before
}

// OutboxRequest asks for a deed on one outbox row, or on all that match a filter.
type OutboxRequest struct {
	Deed OutboxDeed
	// LedgerID is the row; 0 means those that match Filter.
	LedgerID int64
	// State and Attempts are what the operator saw of the row: when it has changed since, nothing
	// is done. An empty State stands for every state in which the deed makes sense, -1 for any
	// number of attempts.
	State    string
	Attempts int

	Filter OutboxFilter
	// Expect is how many rows the filter was seen to match: when it matches another number now,
	// nothing is done.
	Expect int64

	Reason string
	DryRun bool
}

// Word returns "outbox requeue" or "outbox park".
func (r OutboxRequest) Word() string { return "outbox " + string(r.Deed) }

// Target returns "outbox:ID", or "outbox" for a filter.
func (r OutboxRequest) Target() string {
	if r.LedgerID == 0 {
		return "outbox"
	}
	return "outbox:" + strconv.FormatInt(r.LedgerID, 10)
}

// CLI returns the outbox command.
func (r OutboxRequest) CLI() []string {
	argv := []string{"rewardctl", "outbox", string(r.Deed)}
	add := func(flag, value string) {
		if value != "" {
			argv = append(argv, flag, value)
		}
	}
	if r.LedgerID != 0 {
		argv = append(argv, strconv.FormatInt(r.LedgerID, 10))
		add("--state", r.State)
		if r.Attempts >= 0 {
			add("--attempts", strconv.Itoa(r.Attempts))
		}
	} else {
		argv = append(argv, "--all")
		add("--state", r.Filter.State)
		add("--player", r.Filter.Player)
		add("--kind", r.Filter.Kind)
		add("--error", r.Filter.Error)
		add("--from", stamp(r.Filter.Since))
		add("--to", stamp(r.Filter.Until))
		if !r.DryRun {
			add("--expect", strconv.FormatInt(r.Expect, 10))
		}
	}
	add("--reason", r.Reason)
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	return argv
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// OutboxChange is what a deed on the outbox did, or would do.
type OutboxChange struct {
	Rows   int64 // how many were changed, or would be
	LogID  int64 // the row of operator_action; 0 after a dry run
	At     time.Time
	Before string // of a single row: its state and attempts before, such as "dead after 5 attempts"
	Player string // of a single row
}

// possible lists the states in which a deed makes sense when the operator names none.
func (d OutboxDeed) possible() []string {
	if d == OutboxPark {
		return []string{"pending", "dead"}
	}
	return []string{"dead", "parked", "pending"}
}

// nameable lists the states that an operator may name for a deed. Sending what was delivered once
// more is for receivers that lost it.
func (d OutboxDeed) nameable() []string {
	if d == OutboxPark {
		return d.possible()
	}
	return append(d.possible(), "delivered")
}

func (r OutboxRequest) check() *grant.Rejection {
	state, field := r.State, "state"
	if r.LedgerID == 0 {
		state = r.Filter.State
	}
	switch {
	case r.Deed != OutboxRequeue && r.Deed != OutboxPark:
		return &grant.Rejection{
			Field: "deed", Value: string(r.Deed), Problem: "is not a deed", WayOut: "requeue or park",
		}
	case r.LedgerID < 0:
		return &grant.Rejection{
			Field: "id", Value: strconv.FormatInt(r.LedgerID, 10), Problem: "is not an id",
			WayOut: "see: rewardctl outbox list",
		}
	case r.LedgerID == 0 && state == "":
		return &grant.Rejection{
			Field: field, Problem: "is missing", WayOut: "say which rows: --state dead",
		}
	case state != "" && !contained(r.Deed.nameable(), state):
		return &grant.Rejection{
			Field: field, Value: state, Problem: fmt.Sprintf("is not a state to %s from", r.Deed),
			WayOut: "use " + eitherOf(r.Deed.nameable()),
		}
	case r.LedgerID == 0 && r.Expect < 0:
		return &grant.Rejection{
			Field: "expect", Value: strconv.FormatInt(r.Expect, 10), Problem: "is below zero",
			WayOut: "count the rows first, with --dry-run",
		}
	}
	return nil
}

func contained(words []string, word string) bool {
	for _, one := range words {
		if one == word {
			return true
		}
	}
	return false
}
