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
)

// ReleaseRequest asks for the release of the lease that the operator saw.
type ReleaseRequest struct {
	Resource string
	Owner    string // the full owner text, as listed
	Token    int64  // above zero
	// Value is the exact value of the lock, as listed, instead of Owner and Token: the only way to
	// name a foreign lock. A foreign lock has no token to burn.
	Value  string
	Reason string
	DryRun bool // tell what would happen, change and log nothing
}

// Freeing is what became of the lock.
type Freeing string

// What can become of a lock.
const (
	Released     Freeing = "released"
	AlreadyGone  Freeing = "already_gone"
	WouldRelease Freeing = "would_release" // dry run
	NotReleased  Freeing = "not_released"  // the error says why
)

// Burning is what became of the token's right to write.
type Burning string

// What can become of a token.
const (
	Burned        Burning = "burned"         // now
	AlreadyBurned Burning = "already_burned" // by an earlier release
	FenceAbove    Burning = "fence_above"    // a higher token was accepted before: nothing to do
	WouldBurn     Burning = "would_burn"     // dry run
	NotBurned     Burning = "not_burned"     // a foreign lock has no token; or the error says why
)

// Seen is a lock as it stood when it was looked at.
type Seen struct {
	Value    string // exact; empty when there was no lock, or data of another type
	Token    int64
	Owner    string
	Left     time.Duration // by the Redis server's clock; 0 without expiry
	NoExpiry bool
	Foreign  string // the kind of foreign data; empty when ours
}

func (s Seen) there() bool { return s.Value != "" || s.Foreign != "" }

// String is the exact value of the lock, or what stands in its place.
func (s Seen) String() string {
	switch {
	case s.Value != "":
		return s.Value
	case s.Foreign != "":
		return "other data (" + s.Foreign + ")"
	}
	return "no lock"
}

// Release is the answer to a ReleaseRequest. When an error comes with it, it tells how far the
// release came; running it again finishes it.
type Release struct {
	Resource    string
	Seen        Seen
	Freeing     Freeing
	Burning     Burning
	FenceBefore *grant.Fence // nil when no token had been accepted
	FenceAfter  *grant.Fence
	IntentID    int64 // rows of operator_action; 0 on a dry run
	ResultID    int64 // 0 also when the result could not be written; LogProblem then says why
	LogProblem  string
	At          time.Time // the database's time of the burn; zero on a dry run
	Note        string    // one or two sentences for people
}

// Release takes away the lease that the operator saw and burns its token first, so that its holder
// can never write again; see the package comment for the order and for what happens when it is cut
// off. It returns
//
//   - a *grant.Rejection for a request without resource, owner, token or reason,
//   - a *PreconditionError when the lock is not as the operator saw it: nothing was released or
//     burned (or, if it changed between burn and delete, only the token that was seen was burned),
//   - a *BusyError when a grant in flight held the fence for too long: nothing was changed,
//   - a *grant.BackendError when a server could not be reached: without PostgreSQL nothing is
//     released, because a lock must not go while its holder can still write.
func (o *Operator) Release(ctx context.Context, req ReleaseRequest) (Release, error) {
	req, err := req.ready()
	rel := Release{Resource: req.Resource, Freeing: NotReleased, Burning: NotBurned}
	if err != nil {
		return rel, err
	}
	if rel.Seen, err = o.look(ctx, req.Resource); err != nil {
		return rel, err
	}
	if rel.Seen.there() && rel.Seen.Value != req.Value {
		return rel, o.deny(ctx, req, rel.Seen, rel.Seen.String())
	}
	if !rel.Seen.there() {
		trace, err := o.trace(ctx, req)
		if err != nil {
			return rel, err
		}
		if trace != "" {
			return rel, o.deny(ctx, req, rel.Seen, trace)
		}
	}
	if req.DryRun {
		return o.rehearse(ctx, req, rel)
	}
	if err := o.burn(ctx, req, &rel); err != nil {
		return rel, err
	}
	// What is begun is finished: an interrupt between burn and delete would only leave a lock that
	// protects nothing.
	return o.free(context.WithoutCancel(ctx), req, rel)
}

// ready checks a request and completes it: an exact value names owner and token, and they name it.
func (r ReleaseRequest) ready() (ReleaseRequest, error) {
	r.Reason = strings.TrimSpace(r.Reason)
	if r.Resource == "" {
		return r, &grant.Rejection{
			Field: "resource", Problem: "is empty", WayOut: "name the resource",
		}
	}
	if r.Value != "" {
		if r.Owner != "" || r.Token != 0 {
			return r, &grant.Rejection{
				Field: "value", Value: r.Value, Problem: "stands beside an owner or token",
				WayOut: "give either the exact value or owner and token",
			}
		}
		if token, owner, err := lease.ParseValue(r.Value); err == nil {
			r.Token, r.Owner = token, owner
		}
		return r, checkReason(r.Reason)
	}
	switch {
	case r.Owner == "":
		return r, &grant.Rejection{
			Field: "owner", Problem: "is empty", WayOut: "name the owner that the list shows",
		}
	case r.Token <= 0 || r.Token > lease.TokenMax:
		return r, &grant.Rejection{
			Field: "token", Value: strconv.FormatInt(r.Token, 10), Problem: "is no token",
			WayOut: "give the token that the list shows, a whole number from 1",
		}
	}
	r.Value = lease.FormatValue(r.Token, r.Owner)
	return r, checkReason(r.Reason)
}

// foreign reports whether the request names a lock without a token of ours.
func (r ReleaseRequest) foreign() bool { return r.Token == 0 }

func (r ReleaseRequest) arguments() map[string]string {
	args := map[string]string{"resource": r.Resource, "value": r.Value}
	if !r.foreign() {
		args["owner"], args["token"] = r.Owner, strconv.FormatInt(r.Token, 10)
	}
	return args
}

// look reads the lock as it is now.
func (o *Operator) look(ctx context.Context, resource string) (Seen, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	e, err := o.store.Show(ctx, resource)
	if errors.Is(err, lease.ErrNoLease) {
		return Seen{}, nil
	}
	if err != nil {
		return Seen{}, err
	}
	return Seen{
		Value: e.Value, Token: e.Token, Owner: e.Owner, Left: e.Left, NoExpiry: e.NoExpiry,
		Foreign: e.Foreign,
	}, nil
}

func (o *Operator) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.opts.Timeout, errTooSlow)
}

// deny refuses a request and records the refusal. have says what is there instead.
func (o *Operator) deny(ctx context.Context, req ReleaseRequest, now Seen, have string) error {
	refusal := &PreconditionError{
		Resource: req.Resource, Have: have, Want: req.Value, Now: now,
		WayOut: "look again before you decide",
	}
	if req.DryRun {
		return refusal
	}
	row, err := o.logAlone(ctx, entry{
		action: req, phase: phaseDenied, arguments: req.arguments(), observed: now.observed(),
		reason: req.Reason, outcome: "denied: it has changed",
	})
	refusal.DenialID = row.ID
	if err != nil {
		refusal.LogProblem = err.Error()
	}
	return refusal
}

func (s Seen) observed() map[string]string {
	seen := map[string]string{"lock": s.String()}
	if s.there() {
		seen["left"] = s.Left.String()
		if s.NoExpiry {
			seen["left"] = "no expiry"
		}
	}
	return seen
}

// trace decides about a lock that is gone. It returns "" when the token was issued to that owner
// as far as anybody remembers, so that burning it is right; else it says what is known instead.
func (o *Operator) trace(ctx context.Context, req ReleaseRequest) (string, error) {
	if req.foreign() {
		return "", nil
	}
	fence, err := o.fence(ctx, req.Resource)
	if err != nil {
		return "", err
	}
	bounded, cancel := o.bound(ctx)
	defer cancel()
	events, err := o.store.History(bounded, req.Resource)
	if err != nil {
		return "", err
	}
	other := ""
	for _, e := range events {
		if e.Token == req.Token && e.Owner == req.Owner {
			return "", nil
		}
		if e.Token == req.Token {
			other = e.Owner
		}
	}
	if fence != nil && fence.Token == req.Token && !grant.Burned(fence.Owner) {
		if fence.Owner == req.Owner {
			return "", nil
		}
		other = fence.Owner
	}
	if other != "" {
		return fmt.Sprintf("no lock, and token %d was %s's", req.Token, other), nil
	}
	if fence != nil && fence.Token >= req.Token {
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
	return fmt.Sprintf("no lock, and no trace that token %d was ever issued", req.Token), nil
}
