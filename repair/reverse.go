package repair

import (
	"context"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
)

// Reverser is what an Operator needs to take postings back; *grant.Engine implements it. An Engine
// that is not a Reverser can grant only.
type Reverser interface {
	ReverseMany(
		ctx context.Context, reversals []grant.Reversal, deed grant.DeedFunc,
	) ([]grant.Reversed, error)
}

// ReverseSelection says which postings to take back: one posting, those that a plan made, those
// that a finding of an audit shows to be too many, or those that a filter selects.
type ReverseSelection struct {
	LedgerID int64 // one posting
	Plan     int64 // what this plan posted, as far as its own runs did
	Finding  int64 // a finding that was kept: what it shows to be too many or too much

	// The filter. At least one of PlayerID, EventID, Campaign and Actor is needed; the others
	// narrow it down.
	PlayerID string
	EventID  string
	Campaign string // the first part of event ids that were built from parts
	Actor    string
	Kind     string
	From     time.Time // posted then or later
	Until    time.Time // posted before
}

// ReverseRequest asks to take postings back.
type ReverseRequest struct {
	ReverseSelection
	// Amount takes back only so much; 0 means all that is left. Only of one posting.
	Amount int64
	// Part says which part of a posting is meant, counted from 1, so that the same command twice
	// takes it back once. 0 means the first when Amount is given, else whatever is left. Only of
	// one posting.
	Part   int
	Policy grant.Policy // when it is spent; PolicyRefuse when empty
	Reason string
	// Set is the digest of the selection that the operator saw (ReversePreview.Set). If it is
	// given and the selection has changed since, nothing is done.
	Set    string
	DryRun bool
}

// single reports whether the request names one posting.
func (s ReverseSelection) single() bool { return s.LedgerID != 0 }

func (s ReverseSelection) filtered() bool {
	return s.PlayerID != "" || s.EventID != "" || s.Campaign != "" || s.Actor != "" ||
		s.Kind != "" || !s.From.IsZero() || !s.Until.IsZero()
}

// Word returns "ledger reverse".
func (r ReverseRequest) Word() string { return "ledger reverse" }

// Target says what is taken back, such as "posting 4711", "plan 12" or "campaign easter". The row
// of one posting in the log has the player as its target instead.
func (r ReverseRequest) Target() string {
	switch {
	case r.LedgerID != 0:
		return "posting " + strconv.FormatInt(r.LedgerID, 10)
	case r.Plan != 0:
		return "plan " + strconv.FormatInt(r.Plan, 10)
	case r.Finding != 0:
		return "finding " + strconv.FormatInt(r.Finding, 10)
	}
	var words []string
	for _, one := range r.filterWords() {
		words = append(words, one.name+" "+one.value)
	}
	return strings.Join(words, ", ")
}

type named struct{ name, value string }

// filterWords are the parts of the filter that are given, by the names of their flags.
func (s ReverseSelection) filterWords() []named {
	var words []named
	add := func(name, value string) {
		if value != "" {
			words = append(words, named{name, value})
		}
	}
	add("player", s.PlayerID)
	add("event", s.EventID)
	add("campaign", s.Campaign)
	add("actor", s.Actor)
	add("kind", s.Kind)
	if !s.From.IsZero() {
		add("from", s.From.UTC().Format(time.RFC3339Nano))
	}
	if !s.Until.IsZero() {
		add("to", s.Until.UTC().Format(time.RFC3339Nano))
	}
	return words
}

// CLI returns the ledger reverse command.
func (r ReverseRequest) CLI() []string {
	argv := []string{"rewardctl", "ledger", "reverse"}
	number := func(flag string, n int64) {
		if n != 0 {
			argv = append(argv, flag, strconv.FormatInt(n, 10))
		}
	}
	if r.LedgerID != 0 {
		argv = append(argv, strconv.FormatInt(r.LedgerID, 10))
	}
	number("--plan", r.Plan)
	number("--finding", r.Finding)
	for _, one := range r.filterWords() {
		argv = append(argv, "--"+one.name, one.value)
	}
	number("--amount", r.Amount)
	number("--part", int64(r.Part))
	if r.Policy != "" && r.Policy != grant.PolicyRefuse {
		argv = append(argv, "--policy", string(r.Policy))
	}
	argv = append(argv, "--reason", r.Reason)
	if r.Set != "" {
		argv = append(argv, "--set", r.Set)
	}
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	return argv
}

// ready checks a request and completes it. The error is a *grant.Rejection.
func (r ReverseRequest) ready() (ReverseRequest, error) {
	r.Reason = strings.TrimSpace(r.Reason)
	kinds := 0
	for _, given := range []bool{
		r.LedgerID != 0, r.Plan != 0, r.Finding != 0, r.filtered(),
	} {
		if given {
			kinds++
		}
	}
	wrong := func(field, value, problem, wayOut string) error {
		return &grant.Rejection{Field: field, Value: value, Problem: problem, WayOut: wayOut}
	}
	const ways = "name one posting by its id, or give --plan, --finding or a filter"
	var err error
	switch {
	case kinds == 0:
		return r, wrong("ledger_id", "", "is missing", ways)
	case kinds > 1:
		return r, wrong("ledger_id", r.Target(), "stands beside another selection", ways)
	case r.LedgerID < 0 || r.Plan < 0 || r.Finding < 0:
		return r, wrong("ledger_id", r.Target(), "is below zero", ways)
	case r.filtered() && r.PlayerID == "" && r.EventID == "" && r.Campaign == "" && r.Actor == "":
		return r, wrong("filter", r.Target(), "would select postings of everybody",
			"add --player, --event, --campaign or --actor")
	case !r.From.IsZero() && !r.Until.IsZero() && !r.From.Before(r.Until):
		return r, wrong("to", r.Until.UTC().Format(time.RFC3339), "is not after the beginning",
			"give a later end")
	case !r.single() && (r.Amount != 0 || r.Part != 0):
		return r, wrong("amount", strconv.FormatInt(r.Amount, 10), "is for one posting only",
			"name one posting by its id")
	case r.Amount < 0 || r.Part < 0:
		return r, wrong("amount", strconv.FormatInt(r.Amount, 10), "is below zero",
			"say how much to take back, from 1")
	}
	if r.Policy, err = grant.ParsePolicy(string(r.Policy)); err != nil {
		return r, err
	}
	return r, checkReason(r.Reason)
}

// ReverseItem is one posting of a selection: what it is, what would come of it, and after the run
// what did.
type ReverseItem struct {
	Posting  grant.Posting
	Reverses int64 // not 0: the posting takes back itself, and stays
	Parts    int   // in how many parts it was taken back before
	Back     int64 // how much of it was taken back before
	Left     int64 // how much of it is left

	// Asked is how much of it this request wants back. Spent is how much of that the player has
	// spent already, so that it cannot be taken back now. Take is what would be taken.
	Asked int64
	Spent int64
	Take  int64
	// BalanceBefore and BalanceAfter are the player's balance of the kind around it, as if the
	// items before it had run.
	BalanceBefore int64
	BalanceAfter  int64

	Outcome grant.ReverseOutcome // expected; after the run what came of it
	NotRun  bool                 // the run stopped before this item
	Result  *grant.Reversed      // the engine's answer; nil when it was not asked
	Note    string               // one sentence for people

	tooMuch  int64          // only so much of it is too much; 0: all of it
	reversal grant.Reversal // what the engine is asked for
	runs     bool           // it is part of the set that changes
}

// ReverseTotal sums up a selection per kind.
type ReverseTotal struct {
	Kind     string
	Postings int   // of all postings of the selection
	Posted   int64 // their amounts
	Asked    int64 // what is asked back
	Spent    int64 // what the players have spent of that
	Take     int64 // what would be taken back; after the run what was
}

// ReversePreview is a frozen selection: exactly these postings are taken back when it is run, each
// only if it is still as it was seen here.
type ReversePreview struct {
	Request ReverseRequest
	At      time.Time // when it was looked at
	Items   []ReverseItem
	Set     string // a digest of which postings, which parts and how much
	Players int
	Totals  []ReverseTotal
	// Warnings are remarks that do not stop it.
	Warnings []string
}

// Changes is how many postings of the selection would be taken back.
func (p ReversePreview) Changes() int {
	n := 0
	for _, item := range p.Items {
		if item.Outcome == grant.ReverseDone && !item.NotRun {
			n++
		}
	}
	return n
}

// Counts counts the items by outcome.
func (p ReversePreview) Counts() map[grant.ReverseOutcome]int {
	counts := make(map[grant.ReverseOutcome]int)
	for _, item := range p.Items {
		if !item.NotRun {
			counts[item.Outcome]++
		}
	}
	return counts
}

// NotRun counts the items that a stopped run did not come to.
func (p ReversePreview) NotRun() int {
	n := 0
	for _, item := range p.Items {
		if item.NotRun {
			n++
		}
	}
	return n
}
