package repair

import (
	"encoding/hex"
	"fmt"
	"time"
)

// PlanState is where a plan stands.
type PlanState string

// The states of a plan. Rejected, cancelled and done are final.
const (
	PlanReady     PlanState = "ready"     // within the limits: it may be applied
	PlanWaiting   PlanState = "waiting"   // over a limit: somebody else has to approve it
	PlanApproved  PlanState = "approved"  // may be applied until the approval expires
	PlanRejected  PlanState = "rejected"  // one denial is a veto
	PlanRunning   PlanState = "running"   // begun; also when all its processes were killed
	PlanPaused    PlanState = "paused"    // by an operator; apply goes on
	PlanStopped   PlanState = "stopped"   // rows are left; apply goes on
	PlanCancelled PlanState = "cancelled" // by an operator; what is granted stays granted
	PlanDone      PlanState = "done"      // every row has its final answer
)

// Final reports whether nothing can happen to a plan in this state any more.
func (s PlanState) Final() bool {
	switch s {
	case PlanRejected, PlanCancelled, PlanDone:
		return true
	case PlanReady, PlanWaiting, PlanApproved, PlanRunning, PlanPaused, PlanStopped:
		return false
	}
	return false
}

// Plan is a frozen set of grants.
type Plan struct {
	ID          int64
	State       PlanState
	Version     int64 // rises with each decision about the plan; see PlanRef
	Hash        string
	Campaign    string // empty when the file brought its own event ids
	Source      string // the file's name when it was planned
	Reason      string // goes into every posting
	RequestedBy string // goes into every posting as the actor
	DBUser      string // the database session of whoever made it

	Rows       int64 // data rows of the file: Due + Duplicates + Invalid
	Due        int64 // rows that go to the engine
	Duplicates int64 // rows that repeat an earlier one
	Invalid    int64 // rows that were refused as they stood

	Decided int64 // due rows whose answer is final
	Errors  int64 // due rows that were refused or given up, so far
	Working int   // parts that a process holds right now

	NeedsApproval bool
	Over          []OverLimit // the limits that it was over when it was made
	Preview       PlanPreview // what was shown when it was made or, later, approved
	ApproveWithin time.Duration
	Decisions     []Decision // the newest first

	ReadAt    time.Time // when this was read
	CreatedAt time.Time // all times are the database's
	StartedAt time.Time // zero until it begins
	ActiveAt  time.Time // when a row was last decided; zero before
	EndedAt   time.Time // zero unless the state is final or stopped

	// Existing is true in the answer to MakePlan when these rows were planned before and that
	// plan, which is this one, is still open.
	Existing bool
	// DoneBefore is the newest finished plan with the same rows; 0 when there is none. Only
	// MakePlan fills it in.
	DoneBefore int64
}

// Decision is one answer of a person to a plan.
type Decision struct {
	ID         int64
	Approve    bool // false: rejected, or a review
	Review     bool // afterwards, of what ran under broken glass
	Operator   string
	DBUser     string
	BreakGlass bool // approved by its own maker, in an emergency
	// AwaitsReview is true while a run began under this broken glass and nobody else has approved
	// or reviewed the plan since.
	AwaitsReview bool
	Reason       string
	At           time.Time
	Expires      time.Time // when an approval that no run has begun under ends
	Used         time.Time // when a run began under it; zero before
}

// InForce reports whether an approval still lets a run begin.
func (d Decision) InForce(now time.Time) bool {
	return d.Approve && d.Used.IsZero() && now.Before(d.Expires)
}

// Approval returns the newest approval; nil when there is none.
func (p *Plan) Approval() *Decision {
	for i := range p.Decisions {
		if p.Decisions[i].Approve {
			return &p.Decisions[i]
		}
	}
	return nil
}

// BrokenGlass returns the first approval that awaits a review; nil when none does.
func (p *Plan) BrokenGlass() *Decision {
	for i := len(p.Decisions) - 1; i >= 0; i-- {
		if p.Decisions[i].AwaitsReview {
			return &p.Decisions[i]
		}
	}
	return nil
}

// Name is what a plan is called in messages and in the log: "plan 12".
func (p *Plan) Name() string { return planName(p.ID) }

func planName(id int64) string { return fmt.Sprintf("plan %d", id) }

// Left returns how many due rows have no final answer.
func (p *Plan) Left() int64 { return p.Due - p.Decided }

// PlanRef names a plan as the operator saw it. A Version or Hash of zero value is not compared.
type PlanRef struct {
	ID      int64
	Version int64
	Hash    string // or its first characters, at least 8
}

// Ref names the plan as it is here.
func (p *Plan) Ref() PlanRef { return PlanRef{p.ID, p.Version, p.Hash} }

// OverLimit is one limit that a plan is over.
type OverLimit struct {
	Limit string `json:"limit"` // "amount", "player_day", "rows" or "total"
	Kind  string `json:"kind,omitempty"`
	Value int64  `json:"value,string"` // the largest, or the sum
	Max   int64  `json:"max,string"`
	Count int64  `json:"count"` // how many rows or players are over it; 0 where it is one sum
}

// String reads "amount: the largest is 5000 gems, over 1000, in 3 rows".
func (o OverLimit) String() string {
	switch o.Limit {
	case limitRows:
		return fmt.Sprintf("rows: %d, over %d", o.Value, o.Max)
	case limitTotal:
		return fmt.Sprintf("total: %d %s, over %d", o.Value, o.Kind, o.Max)
	case limitPlayerDay:
		return fmt.Sprintf("player and day: up to %d %s within 24 hours, over %d, for %s", o.Value,
			o.Kind, o.Max, plural(int(o.Count), "player"))
	}
	return fmt.Sprintf("amount: the largest is %d %s, over %d, in %s", o.Value, o.Kind, o.Max,
		plural(int(o.Count), "row"))
}

// The names of the limits.
const (
	limitAmount    = "amount"
	limitPlayerDay = "player_day"
	limitRows      = "rows"
	limitTotal     = "total"
)

// PlanNotFoundError says that there is no such plan.
type PlanNotFoundError struct{ ID int64 }

// Error names the plan.
func (e *PlanNotFoundError) Error() string { return fmt.Sprintf("there is no plan %d", e.ID) }

// PlanChangedError says that a plan is not as the operator saw it, or not in a state for what was
// asked, so nothing was done.
type PlanChangedError struct {
	Plan   Plan // as it is now
	Have   string
	Want   string
	WayOut string
	// DenialID is the row of operator_action that records the refusal; 0 when it could not be
	// written, and LogProblem then says why.
	DenialID   int64
	LogProblem string
}

// Error reads "plan 12 changed: it is version 4, not version 3; look again".
func (e *PlanChangedError) Error() string {
	return fmt.Sprintf("%s changed: it is %s, not %s; %s", e.Plan.Name(), e.Have, e.Want, e.WayOut)
}

// PlanDeniedError says that somebody may not decide as asked. Nothing was done but to log it.
type PlanDeniedError struct {
	Plan       Plan
	Problem    string
	WayOut     string
	DenialID   int64
	LogProblem string
}

// Error names plan, problem and way out.
func (e *PlanDeniedError) Error() string {
	return fmt.Sprintf("%s: %s; %s", e.Plan.Name(), e.Problem, e.WayOut)
}

// ApprovalNeededError says that a plan cannot run before somebody else approves it. It is no
// failure: the plan is kept and waits.
type ApprovalNeededError struct {
	Plan     Plan
	Problem  string // such as "it is over a limit" or "its approval expired at ..."
	DenialID int64  // the row of operator_action; 0 when nothing was refused yet
}

// Error says what the plan waits for.
func (e *ApprovalNeededError) Error() string {
	return fmt.Sprintf("%s awaits approval: %s", e.Plan.Name(), e.Problem)
}

// PlanTamperedError says that the rows of a plan are not those that its hash covers. Nothing that
// differs was granted.
type PlanTamperedError struct {
	Plan     Plan
	Where    string // such as "lines 2 to 1001"; empty for the whole plan
	DenialID int64
}

// Error says which rows.
func (e *PlanTamperedError) Error() string {
	where := "its rows"
	if e.Where != "" {
		where = e.Where
	}
	return fmt.Sprintf("%s: %s are not what was planned: they were changed in the database; "+
		"make another plan from the file and find out who changed them", e.Plan.Name(), where)
}

func hexHash(hash []byte) string { return hex.EncodeToString(hash) }
