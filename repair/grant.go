package repair

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"rewardctl/grant"
)

// GrantDeed is a grant by hand and its row in operator_action.
type GrantDeed struct {
	grant.Result
	// LogID is the row that records the deed: written in the transaction of the grant, or, when no
	// transaction took the grant on, by itself. 0 when it could not be written.
	LogID int64
	// LogProblem says why the row could not be written. Then nothing was granted, or the outcome is
	// Unknown. Empty when all went well.
	LogProblem string
}

// Grant grants by hand: the same call of the engine as workers use, with its row of the operator
// log in the same transaction. What no transaction took on, such as a lease that another owner
// holds, is written down by itself. An empty Actor becomes the operator. An invalid request, or one
// for a player who is not in the list of players, is answered Rejected and not logged, since
// nothing was asked of anybody.
//
// An error return proves that nothing was granted: an *OverLimitError, a *grant.BackendError, a
// *grant.GateError or the context's error. Whatever is less certain is the outcome Unknown.
func (o *Operator) Grant(ctx context.Context, req grant.Request) (GrantDeed, error) {
	if o.engine == nil {
		return GrantDeed{}, errors.New("repair: this operator has no engine to grant through")
	}
	if err := o.writable("grant to " + req.PlayerID); err != nil {
		return GrantDeed{Result: blank(req)}, err
	}
	req = o.signed(req)
	if problem := grant.Validate(req, o.opts.Limits); problem != nil {
		return GrantDeed{Result: rejected(req, problem)}, nil
	}
	unknown, err := o.unknownPlayers(ctx, []string{req.PlayerID})
	if err != nil {
		return GrantDeed{}, err
	}
	if unknown[req.PlayerID] {
		return GrantDeed{Result: rejected(req, o.stranger(req.PlayerID))}, nil
	}
	if err := o.withinLimits(ctx, req); err != nil {
		return GrantDeed{Result: blank(req)}, err
	}
	e := entry{
		action: GrantRequest{Request: req}, phase: phaseResult, reason: req.Reason,
		outcome: "granted", // the transaction puts the outcome in its place
		arguments: map[string]string{
			"player": req.PlayerID, "event": req.EventID, "kind": req.Kind,
			"amount": strconv.FormatInt(req.Amount, 10), "deed": o.opts.NewID(),
		},
	}
	if req.Deed, err = o.deedRow(e); err != nil {
		return GrantDeed{}, err
	}
	var deed GrantDeed
	var failure error
	deed.Result, failure = o.engine.Grant(ctx, req)
	deed.LogID = deed.ActionID
	if deed.LogID == 0 {
		// The grant is refused or lost; an interrupt must not leave it out of the log.
		row, err := o.logAlone(context.WithoutCancel(ctx), e.untaken(deed.Result, failure))
		deed.LogID = row.ID
		if err != nil {
			deed.LogProblem = err.Error()
		}
	}
	return deed, failure
}

// untaken is the row of a grant that no transaction is known to have taken on.
func (e entry) untaken(res grant.Result, failure error) entry {
	e.phase, e.outcome, e.observed = phaseFailed, res.Outcome.String(), resultObserved(res)
	switch {
	case failure != nil:
		e.outcome = "failed: nothing was granted"
	case res.Outcome == grant.Unknown:
		e.phase = phaseIntent // until the same grant is given again
	case res.Outcome == grant.Applied, res.Outcome == grant.Replayed:
		e.phase = phaseResult // another caller's transaction took it on
	case res.Outcome == grant.LeaseHeld:
		e.phase = phaseDenied
	}
	return e
}

// signed completes a request with who asks.
func (o *Operator) signed(req grant.Request) grant.Request {
	if req.Actor == "" {
		req.Actor = o.opts.Operator
	}
	req.Reason = strings.TrimSpace(req.Reason)
	return req
}

func rejected(req grant.Request, problem *grant.Rejection) grant.Result {
	res := blank(req)
	res.Outcome, res.Rejected = grant.Rejected, problem
	return res
}

// blank is the result of a request before anything is known.
func blank(req grant.Request) grant.Result {
	res := grant.Result{
		PlayerID: req.PlayerID, EventID: req.EventID, Kind: req.Kind, Amount: req.Amount,
		Actor: req.Actor, Resource: req.Resource,
	}
	if res.Resource == "" {
		res.Resource = grant.ResourceFor(req.PlayerID)
	}
	if req.Held != nil {
		res.Token, res.Owner = req.Held.Token, req.Held.Owner
	}
	return res
}

func resultObserved(res grant.Result) map[string]string {
	seen := map[string]string{}
	if res.LedgerID != 0 {
		seen["ledger_id"] = strconv.FormatInt(res.LedgerID, 10)
	}
	if res.Token != 0 {
		seen["token"], seen["owner"] = strconv.FormatInt(res.Token, 10), res.Owner
	}
	return seen
}
