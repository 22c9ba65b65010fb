package repair

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"rewardctl/grant"
)

// GrantDeed is a grant by hand and its rows in operator_action.
type GrantDeed struct {
	grant.Result
	IntentID int64
	ResultID int64
	// LogProblem says why the result row could not be written; the grant stands all the same,
	// and the ledger row carries actor and reason. Empty when all went well.
	LogProblem string
}

// Grant grants by hand: the same call of the engine as workers use, between an intent row and a
// result row. An empty Actor becomes the operator. An invalid request, or one for a player who is
// not in the list of players, is answered Rejected and not logged, since nothing was asked of
// anybody.
//
// An error return proves that nothing was granted: a *grant.BackendError, a *grant.GateError or
// the context's error. Whatever is less certain is the outcome Unknown.
func (o *Operator) Grant(ctx context.Context, req grant.Request) (GrantDeed, error) {
	if o.engine == nil {
		return GrantDeed{}, errors.New("repair: this operator has no engine to grant through")
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
	action := GrantRequest{Request: req}
	arguments := map[string]string{
		"player": req.PlayerID, "event": req.EventID, "kind": req.Kind,
		"amount": strconv.FormatInt(req.Amount, 10),
	}
	intent, err := o.logAlone(ctx, entry{
		action: action, phase: phaseIntent, arguments: arguments, reason: req.Reason,
		outcome: "intended",
	})
	if err != nil {
		return GrantDeed{}, err
	}
	deed := GrantDeed{IntentID: intent.ID}
	var failure error
	deed.Result, failure = o.engine.Grant(ctx, req)
	outcome := deed.Outcome.String()
	if failure != nil {
		outcome = "failed: nothing was granted"
	}
	// The grant is done or refused; an interrupt must not leave its intent without a result.
	result, err := o.logAlone(context.WithoutCancel(ctx), entry{
		action: action, phase: phaseResult, intent: intent.ID,
		arguments: arguments, observed: resultObserved(deed.Result), reason: req.Reason,
		outcome: outcome,
	})
	deed.ResultID = result.ID
	if err != nil {
		deed.LogProblem = err.Error()
	}
	return deed, failure
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
