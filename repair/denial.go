package repair

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Denial is an attempt at a deed that was refused, or that failed, before a deed of this package
// could write that down: words that were not confirmed, a privilege that is missing, a server that
// does not answer.
type Denial struct {
	Action   Action
	Reason   string            // as far as one was given
	Outcome  string            // why, in words, such as "not confirmed"; never what was typed
	Failed   bool              // it was tried and failed; otherwise it was refused
	Observed map[string]string // what the operator saw, as far as anything was looked at
}

const noReason = "none was given"

// Deny writes an attempt into the operator log and returns the id of its row. Nothing else is
// changed. It returns a *ReadOnlyError where nothing may be written, or a *grant.BackendError.
func (o *Operator) Deny(ctx context.Context, d Denial) (int64, error) {
	e := entry{
		action: d.Action, phase: phaseDenied, reason: strings.TrimSpace(d.Reason),
		observed: d.Observed, outcome: cutText("denied: "+storable(d.Outcome), problemMax),
	}
	if d.Failed {
		e.phase, e.outcome = phaseFailed, cutText("failed: "+storable(d.Outcome), problemMax)
	}
	if e.reason == "" || !utf8.ValidString(e.reason) {
		e.reason = noReason
	}
	e.reason = cutText(e.reason, reasonMax)
	row, err := o.logAlone(ctx, e)
	return row.ID, err
}

// Logged is how many rows this Operator has written into the log. Rows that the engine writes in
// the transaction of a grant or reversal are not among them.
func (o *Operator) Logged() int64 { return o.logged.Load() }
