package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical" // money moved wrongly, or what stops it is broken
	Serious  Severity = "warning"  // probably wrong, or wrong soon: a person has to look
	Notice   Severity = "notice"   // a habit that will hurt
)

// The names of the checks.
const (
	checkDuplicate = "duplicate-key"
	checkNear      = "near-duplicate"
	checkRandom    = "random-event-id"
	checkExpected  = "expected-sum"
	checkFence     = "fence-order"
	checkOutbox    = "outbox"
	checkBalance   = "balance"
	checkSchema    = "schema"
	checkForeign   = "foreign-ledger"
)

// AuditCheck describes one check.
type AuditCheck struct {
	Name  string
	Rule  string // what must hold, in one sentence
	Reads string // the tables it reads, joined by commas
}

// AuditChecks returns all checks in the order in which a run carries them out.
func AuditChecks() []AuditCheck {
	return []AuditCheck{
		{
			checkSchema, "the keys, triggers and privileges that prevent a double payment are in " +
				"place", "the catalog",
		},
		{
			checkDuplicate, "an event is posted at most once per player; the table is read, never " +
				"the index that should ensure it", "reward_ledger",
		},
		{
			checkNear, "no two postings of one player, kind and amount, close in time, have event " +
				"ids that differ only in what a retry changes", "reward_ledger",
		},
		{
			checkRandom, "an event id means something: a retry would use the same one",
			"reward_ledger",
		},
		{
			checkExpected, "what is posted for an event is what was claimed for it; reversals take " +
				"back what was posted and no more; no claim is stuck", "reward_ledger, reward_claim",
		},
		{
			checkFence, "per resource the tokens of postings never go down, none is above the " +
				"fence, and each belongs to one owner", "reward_ledger, reward_fence",
		},
		{
			checkOutbox, "each posting is queued for delivery exactly once, and is delivered in " +
				"time; with --receiver: the receiver has what was delivered, and nothing else",
			"reward_ledger, reward_outbox, the receiver",
		},
		{
			checkBalance, "a balance is the sum of the postings of its player and kind, and not " +
				"below zero", "reward_ledger, reward_balance",
		},
		{
			checkForeign, "the studio's own ledgers hold no reward twice", "audit.ledgers of the " +
				"configuration",
		},
	}
}

// Finding is one thing that a check found wrong.
type Finding struct {
	ID       int64 // the number under which it is kept; 0 when it was not read from there
	Check    string
	Word     string // which rule of the check, such as "duplicate"
	Severity Severity
	Rule     string // the rule that is broken, in one sentence
	What     string // what was found, in one sentence
	Table    string // where
	PlayerID string // empty when it concerns no single player
	EventID  string // empty when it concerns no single event
	// Count is how many rows it concerns; Rows holds some of them.
	Count   int64
	Columns []string
	Rows    [][]*string // side by side, in the order of Columns; nil is null
	Differs []string    // the columns in which the rows differ
	Proof   string      // a read-only statement that shows it again
	Remedy  string      // what to do: a command, a dry run first
	// Fingerprint tells the same finding, found again, from another one.
	Fingerprint string
	Ack         *FindingAck // what was decided about it; nil when nothing was
}

// FindingAck is what somebody decided about a finding, in every run that finds it.
type FindingAck struct {
	State    string // acknowledged, or open when that was taken back
	Version  int64  // counts the decisions; a change names the one that was seen
	Operator string
	Reason   string
	At       time.Time
}

// Acknowledged reports whether somebody has looked at the finding and said so.
func (f Finding) Acknowledged() bool { return f.Ack != nil && f.Ack.State == "acknowledged" }

// LedgerTable names a table of the studio's own that holds postings, and its columns. The names
// are lower-case identifiers; that of the table may be preceded by a schema.
type LedgerTable struct {
	Table  string
	Player string
	Event  string
	Amount string // empty: all rows have one amount
	Kind   string // empty: all rows are of one kind
	At     string // empty: near duplicates are not looked for
}

// AuditPlan says what an audit looks at.
type AuditPlan struct {
	Checks []string // names; empty means all
	// Parts is how many parts large tables are cut into; 0 lets the size of the ledger decide. A
	// run that goes on needs the same number as before.
	Parts int
	// Done holds the parts that an earlier, interrupted run has read: per check the marks of its
	// units by name. They are not read again.
	Done map[string]map[string]int64
	// Since holds, per check, the mark from which on rows count as new. Only findings that concern
	// a new row are reported. A check that is missing here reads everything. A row that was
	// written while an older transaction was open may count as new twice; none is passed over.
	Since map[string]int64
	// Origin is the origin that the marks of Done and Since were taken at; marks of another one
	// are not used.
	Origin string
	// Window is how close in time postings must be to be taken for retries; default 12 h. Ids that
	// are equal only once random parts are taken out must be closer: a 12th of it.
	Window time.Duration
	// StuckAfter is how long a claim may be pending or processing; default 1 h.
	StuckAfter time.Duration
	// Ledgers are the studio's own tables that foreign-ledger checks.
	Ledgers []LedgerTable
	// Receiver has the outbox check ask the receiver what it has.
	Receiver ReceiverPlan
	// FindingsMax bounds the findings that are reported per check; default 10,000. The rest is
	// only counted.
	FindingsMax int
}

const (
	windowDefault      = 12 * time.Hour
	stuckDefault       = time.Hour
	findingsMaxDefault = 10_000
	weakShare          = 12 // of the window, for ids that are equal only once random parts are out
	evidenceMax        = 12 // rows per finding
	partsMax           = 64
	rowsPerPart        = 2_500_000
)

// UnknownCheckError says that there is no check of a name.
type UnknownCheckError struct{ Name string }

// Error names the checks that there are.
func (e *UnknownCheckError) Error() string {
	var names []string
	for _, c := range AuditChecks() {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("there is no check %q; there are %s", e.Name, strings.Join(names, ", "))
}

// complete fills in defaults and puts the checks in order, each once.
func (p *AuditPlan) complete() error {
	wanted := p.Checks
	p.Checks = nil
	for _, name := range wanted {
		if !slices.ContainsFunc(AuditChecks(), func(c AuditCheck) bool { return c.Name == name }) {
			return &UnknownCheckError{name}
		}
	}
	for _, c := range AuditChecks() {
		if len(wanted) == 0 || slices.Contains(wanted, c.Name) {
			p.Checks = append(p.Checks, c.Name)
		}
	}
	if p.Window <= 0 {
		p.Window = windowDefault
	}
	if p.StuckAfter <= 0 {
		p.StuckAfter = stuckDefault
	}
	if p.FindingsMax <= 0 {
		p.FindingsMax = findingsMaxDefault
	}
	if p.Parts < 0 || p.Parts > partsMax || p.Parts&(p.Parts-1) != 0 {
		return fmt.Errorf("parts must be a power of two up to %d, not %d", partsMax, p.Parts)
	}
	return nil
}

// AuditProgress says how far a run is.
type AuditProgress struct {
	Check string
	Unit  string // the part that is being read
	// UnitsDone of Units parts of the whole run were read to their end.
	UnitsDone, Units int
	// Rows is how many rows were read so far, as estimated from the size of the tables.
	Rows     int64
	Rate     float64       // rows per second
	Elapsed  time.Duration // since the run began
	Left     time.Duration // estimated; 0 while nothing can be said
	Findings int64
}

// AuditUnit is a part of a check that was read to its end.
type AuditUnit struct {
	Check, Unit string
	Mark        int64 // transactions below it were all seen
	Rows        int64 // read, estimated
	Findings    int64
}

// AuditCheckDone is a check that was read to its end.
type AuditCheckDone struct {
	Check    string
	Since    int64 // the mark it began at; 0 when it read everything
	Mark     int64 // where the next incremental run begins
	Findings int64 // all of them, also those above the bound
	Dropped  int64 // findings above the bound: counted, not reported
}

// AuditSink takes what an audit finds, as it finds it. Nil functions are left out. An error ends
// the audit.
type AuditSink struct {
	Start    func(AuditStart) error
	Finding  func(Finding) error
	Unit     func(AuditUnit) error
	Check    func(AuditCheckDone) error
	Progress func(AuditProgress)
	// Note hears what a check could not look at, in a sentence.
	Note func(check, text string) error
}

// AuditStart is what is known before the first part is read.
type AuditStart struct {
	Origin      string // the server and tables that the marks belong to
	Parts       int
	Checks      []string
	Incremental bool // some check looks only at what is new
	Rows        int64
	// Full names the checks that were to be incremental but read everything, and why.
	Full map[string]string
}
