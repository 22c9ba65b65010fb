package drill

import (
	"time"

	"rewardctl/grant"
)

// Row is one moment of the timeline. A column that does not change is empty.
type Row struct {
	At      time.Duration // since the start
	WorkerA string        // what the first actor does
	Lease   string        // what both share, after the moment: mostly what Redis says about the lease
	WorkerB string        // what the second actor does
}

// Refusal is a deed that a line of defence refused.
type Refusal struct {
	Worker string  // such as "A" or "B"
	Line   Defence // which line refused
	// Outcome is the engine's answer; grant.Failed when the drill ran without the engine.
	Outcome grant.Outcome
	Detail  string
}

// Check is one invariant with what was found.
type Check struct {
	Name  string
	Want  string
	Have  string
	Holds bool
}

// Report is what a drill showed.
type Report struct {
	Name    string
	Plays   string
	Defence Defence
	TTL     time.Duration
	Pause   time.Duration // the longest stall; zero where nobody stalls
	Seed    uint64
	Started time.Time
	Columns [3]string // the names of the timeline's columns

	// Workers and Rounds are those of lost-update.
	Workers, Rounds int

	// PlayerID, EventID and Expected are the first reward that is due; empty where none is.
	PlayerID string
	EventID  string
	Expected int64 // what the event should pay

	Timeline []Row
	Refusals []Refusal
	Methods  []Method // ways of doing the same work, in the order played; none for most drills
	Steps    []Step   // lost-update: the moments of each way
	Checks   []Check
	Notes    []string // what a reader should know, such as what was emulated
	OK       bool     // every check holds
}

// Proof is a drill without its defences and with them.
type Proof struct {
	// Control has to do damage. It is empty for a drill that plays its control beside the rest.
	Control  Report
	Defended Report // has to do none
	Proved   bool   // both are as they have to be
}
