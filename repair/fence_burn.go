package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

// BurnRequest asks to burn one token of a resource, and to leave its lock alone.
type BurnRequest struct {
	Resource string
	Token    int64
	// Owner is who had the token, as the operator saw it; optional. If it is known that somebody
	// else had it, nothing is burned.
	Owner  string
	Reason string
	DryRun bool
}

// Word returns "lease burn".
func (r BurnRequest) Word() string { return "lease burn" }

// Target returns the resource.
func (r BurnRequest) Target() string { return r.Resource }

// CLI returns the lease burn command.
func (r BurnRequest) CLI() []string {
	argv := []string{"rewardctl", "lease", "burn", "--token", strconv.FormatInt(r.Token, 10)}
	if r.Owner != "" {
		argv = append(argv, "--owner", r.Owner)
	}
	argv = append(argv, "--reason", r.Reason)
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	if strings.HasPrefix(r.Resource, "-") {
		return append(argv, "--", r.Resource)
	}
	return append(argv[:3], append([]string{r.Resource}, argv[3:]...)...)
}

// Burn is the answer to a BurnRequest.
type Burn struct {
	Resource    string
	Token       int64
	Burning     Burning
	FenceBefore *grant.Fence // nil when no token had been accepted
	FenceAfter  *grant.Fence
	ActionID    int64     // the row of operator_action; 0 on a dry run
	At          time.Time // the database's time of the burn; zero on a dry run
	Note        string    // one or two sentences for people
}

// Burn ends the right of a token's holder to write, and touches nothing else: the fence is raised
// to exactly the token under a tombstone owner, in one transaction with the log row. It returns a
// *grant.Rejection for an unfit request, a *PreconditionError for a token that nothing shows was
// issued (burning it could lock out live holders) or that was somebody else's, a *BusyError when a
// grant in flight held the fence for too long, and a *grant.BackendError.
func (o *Operator) Burn(ctx context.Context, req BurnRequest) (Burn, error) {
	req.Reason = strings.TrimSpace(req.Reason)
	b := Burn{Resource: req.Resource, Token: req.Token, Burning: NotBurned}
	if err := req.check(); err != nil {
		return b, err
	}
	fence, err := o.fence(ctx, req.Resource)
	if err != nil {
		return b, err
	}
	b.FenceBefore, b.FenceAfter = fence, fence
	trace, err := o.issued(ctx, req, fence)
	if err != nil {
		return b, err
	}
	if trace != "" {
		return b, o.denyBurn(ctx, req, trace)
	}
	if req.DryRun {
		if b.Burning = burning(fence, req.Token); b.Burning == Burned {
			b.Burning = WouldBurn
			b.FenceAfter = &grant.Fence{
				Resource: req.Resource, Token: req.Token, Owner: grant.BurnOwner("..."),
			}
		}
		b.Note = b.sentence()
		return b, nil
	}
	return o.burnAlone(ctx, req, b)
}

func (r BurnRequest) check() error {
	switch {
	case r.Resource == "":
		return &grant.Rejection{
			Field: "resource", Problem: "is empty", WayOut: "name the resource",
		}
	case r.Token <= 0 || r.Token > lease.TokenMax:
		return &grant.Rejection{
			Field: "token", Value: strconv.FormatInt(r.Token, 10), Problem: "is no token",
			WayOut: "give a token that token list shows, a whole number from 1",
		}
	}
	return checkReason(r.Reason)
}

// issued returns "" when the token was issued as far as anybody remembers, and to the owner that
// was named, if one was; else it says what is known instead.
func (o *Operator) issued(
	ctx context.Context, req BurnRequest, fence *grant.Fence,
) (string, error) {
	bounded, cancel := o.bound(ctx)
	defer cancel()
	events, err := o.store.History(bounded, req.Resource)
	if err != nil {
		return "", err
	}
	known := ""
	for _, e := range events {
		if e.Token == req.Token {
			known = e.Owner
		}
		if e.Token == req.Token && (req.Owner == "" || req.Owner == e.Owner) {
			return "", nil
		}
	}
	if fence != nil && fence.Token == req.Token && !grant.Burned(fence.Owner) {
		known = fence.Owner
	}
	switch {
	case req.Owner != "" && known != "" && known != req.Owner:
		return fmt.Sprintf("token %d as %s's", req.Token, known), nil
	case fence != nil && fence.Token >= req.Token:
		return "", nil
	}
	counter, there, err := o.store.Counter(bounded, req.Resource)
	var damaged *lease.DamagedError
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	if there && counter >= req.Token {
		return "", nil
	}
	return fmt.Sprintf("no trace that token %d was ever issued", req.Token), nil
}

func (o *Operator) denyBurn(ctx context.Context, req BurnRequest, have string) error {
	refusal := &PreconditionError{
		Resource: req.Resource, Have: have,
		Want:   fmt.Sprintf("token %d", req.Token),
		WayOut: "see which tokens there were: rewardctl token list " + quote(req.Resource),
	}
	if req.Owner != "" {
		refusal.Want += " of " + req.Owner
	}
	if req.DryRun {
		return refusal
	}
	row, err := o.logAlone(ctx, entry{
		action: req, phase: phaseDenied, arguments: req.arguments(), reason: req.Reason,
		observed: map[string]string{"found": have}, outcome: "denied: not such a token",
	})
	refusal.DenialID = row.ID
	if err != nil {
		refusal.LogProblem = err.Error()
	}
	return refusal
}

func (r BurnRequest) arguments() map[string]string {
	args := map[string]string{
		"resource": r.Resource, "token": strconv.FormatInt(r.Token, 10),
	}
	if r.Owner != "" {
		args["owner"] = r.Owner
	}
	return args
}

// burnAlone raises the fence and writes the log row, in one transaction.
func (o *Operator) burnAlone(ctx context.Context, req BurnRequest, b Burn) (Burn, error) {
	got := Release{}
	err := o.write(ctx, "burn the token", func(ctx context.Context, tx pgx.Tx) error {
		err := o.raise(ctx, tx, ReleaseRequest{Resource: req.Resource, Token: req.Token}, &got)
		if err != nil {
			return err
		}
		row, err := o.log(ctx, tx, entry{
			action: req, phase: phaseResult, arguments: req.arguments(), reason: req.Reason,
			before: fenceFields(got.FenceBefore), after: fenceFields(got.FenceAfter),
			outcome: string(got.Burning),
		})
		b.ActionID, b.At = row.ID, row.At
		return err
	})
	if err != nil {
		b.ActionID, b.At = 0, time.Time{}
		return b, o.busy(ctx, req.Resource, err)
	}
	b.Burning, b.FenceBefore, b.FenceAfter = got.Burning, got.FenceBefore, got.FenceAfter
	b.Note = b.sentence()
	return b, nil
}

func fenceFields(f *grant.Fence) map[string]string {
	if f == nil {
		return map[string]string{}
	}
	return map[string]string{
		"fence_token": strconv.FormatInt(f.Token, 10), "fence_owner": f.Owner,
	}
}

// sentence says in words what happened, or would happen.
func (b Burn) sentence() string {
	switch b.Burning {
	case Burned:
		return fmt.Sprintf("Token %d is burned: whoever held it can never write again. A lock that is "+
			"there was left alone.", b.Token)
	case WouldBurn:
		return fmt.Sprintf("Token %d would be burned: its holder could never write again. The lock "+
			"would be left alone.", b.Token)
	case AlreadyBurned:
		return fmt.Sprintf("Token %d was burned before.", b.Token)
	case FenceAbove:
		return fmt.Sprintf("The fence is at %d, above token %d: its holder could not write anyway.",
			b.FenceAfter.Token, b.Token)
	case NotBurned:
	}
	return ""
}
