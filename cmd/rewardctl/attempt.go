package main

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// denialFor bounds how long a command that is refused tries to write that down.
const denialFor = 3 * time.Second

// attempt is the deed that a command is about to try. When it is refused, or fails, before repair
// has written a row about it, the row is written from this.
type attempt struct {
	w        *wiring
	action   repair.Action
	reason   string
	observed map[string]string
	logged   int64 // rows that this run had written before
}

// attempts says which deed a command tries from now on, with what it has seen of its target. A dry
// run tries nothing.
func (a *app) attempts(
	w *wiring, action repair.Action, reason string, observed map[string]string,
) {
	seen := map[string]string{"context": w.conf.Name}
	if w.conf.Environment != "" {
		seen["environment"] = w.conf.Environment
	}
	if w.conf.Protected {
		seen["protected"] = "yes"
	}
	maps.Copy(seen, observed)
	a.attempt = &attempt{w, action, strings.TrimSpace(reason), seen, w.logged()}
}

// logged is how many rows this run has written into the log.
func (w *wiring) logged() int64 {
	var n int64
	for _, o := range w.operators {
		n += o.Logged()
	}
	return n
}

// noteAttempt writes down a deed that was refused or that failed, when nothing about it is in the
// log yet. Where it cannot be written, that is said: it changes nothing about the refusal.
func (a *app) noteAttempt(ctx context.Context, err error) {
	t := a.attempt
	if t == nil || err == nil || t.w.logged() > t.logged {
		return
	}
	p := classify(err)
	if p.shown {
		return // the deed itself has told, and written down, what became of it
	}
	denial := repair.Denial{Action: t.action, Reason: t.reason, Observed: t.observed}
	switch {
	case t.w.conf.ReadOnly:
		if p.exit == exitDenied {
			a.say("not written to the operator log: context %s is read-only", t.w.conf.Name)
		}
		return
	case p.exit == exitDenied && p.field == "confirm":
		denial.Outcome = "not confirmed" // never what was typed
	case p.exit == exitDenied, p.exit == exitPrecondition:
		denial.Outcome = p.message
	case p.exit == exitFailure:
		denial.Outcome, denial.Failed = p.message, true
	case p.exit == exitUnavailable && p.backend == string(grant.Redis):
		denial.Outcome, denial.Failed = "Redis does not answer", true
	default:
		return
	}
	a.deny(ctx, denial)
}

// denyLimit writes down that the deed is over a limit.
func (a *app) denyLimit(ctx context.Context, outcome string) {
	t := a.attempt
	if t.w.conf.ReadOnly {
		a.say("not written to the operator log: context %s is read-only", t.w.conf.Name)
		return
	}
	a.deny(ctx, repair.Denial{
		Action: t.action, Reason: t.reason, Observed: t.observed, Outcome: outcome,
	})
}

func (a *app) deny(ctx context.Context, denial repair.Denial) {
	ctx, cancel := context.WithTimeout(ctx, denialFor)
	defer cancel()
	operator, err := a.attempt.w.operator(ctx, 0)
	var id int64
	if err == nil {
		id, err = operator.Deny(ctx, denial)
	}
	if err != nil {
		a.say("warning: the refusal could not be written to the operator log: %s",
			classify(err).message)
		return
	}
	a.say("written to the operator log: row %s", strconv.FormatInt(id, 10))
}
