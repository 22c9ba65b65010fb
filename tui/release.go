package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
)

// release is the deed of freeing a lease and burning its token.
type release struct {
	repair.ReleaseRequest
	d *desk
}

// newRelease makes the deed from the lease as it was listed.
func newRelease(d *desk, l inspect.Lease) release {
	req := repair.ReleaseRequest{Resource: l.Resource, Owner: l.Owner, Token: l.Token}
	if l.Foreign != "" {
		req = repair.ReleaseRequest{Resource: l.Resource, Value: l.Value}
	}
	return release{req, d}
}

// listed returns the lease as the operator saw it in the list.
func (r release) listed(l inspect.Lease) Observed {
	detail := inspect.LeaseDetail{Resource: l.Resource, Lease: &l}
	if l.Fence != nil {
		detail.Fence = &inspect.FenceSeen{Fence: *l.Fence}
	}
	o := r.observed(detail)
	o.At = l.At
	return o
}

// NeedsReason is always true: a release is recorded with its reason.
func (r release) NeedsReason() bool { return true }

// WithReason returns the release with a reason.
func (r release) WithReason(reason string) Action {
	r.Reason = reason
	return r
}

// Verb returns "release".
func (r release) Verb() string { return "release" }

// Observe reads the lease again.
func (r release) Observe(ctx context.Context) (Observed, error) {
	detail, err := r.d.opts.Inspector.Lease(ctx, r.Resource)
	if errors.Is(err, inspect.ErrNotFound) {
		detail, err = inspect.LeaseDetail{}, nil
	}
	if err != nil {
		return Observed{}, err
	}
	for _, m := range detail.Missing {
		if m.Backend == grant.Redis {
			return Observed{}, fmt.Errorf("%s: %w", m.Backend, m.Err)
		}
	}
	return r.observed(detail), nil
}

func (r release) observed(detail inspect.LeaseDetail) Observed {
	o := Observed{At: r.d.now()}
	l := detail.Lease
	if l != nil {
		o.next = newRelease(r.d, *l)
	}
	if l == nil {
		o.Facts = append(o.Facts, Fact{Name: "owner", Value: "nobody", Guard: true},
			Fact{Name: "token", Value: "-", Guard: true})
		o.Block = "the lease ended by itself: there is nothing to release"
		return o
	}
	if l.Foreign != "" {
		o.Facts = append(o.Facts, Fact{Name: "value", Value: l.Value, Guard: true})
	} else {
		o.Facts = append(o.Facts, Fact{Name: "owner", Value: l.Owner, Guard: true},
			Fact{Name: "token", Value: strconv.FormatInt(l.Token, 10), Guard: true})
	}
	o.Facts = append(o.Facts,
		Fact{
			Name: "verdict", Value: trust(l.Verdict), Guard: true, Role: stateRole(l.Verdict.State),
			Show: func(time.Time) string { return stateWords(l.Verdict) },
		},
		Fact{Name: "left", Value: "", Show: func(now time.Time) string {
			left := leftNow(l, now)
			return leftText(l, left) + "  " + heat(r.d.theme.Glyphs, l, left, r.d.opts.LeaseTTL)
		}})
	if f := detail.Fence; f != nil {
		o.Facts = append(o.Facts, Fact{Name: "fence", Value: strconv.FormatInt(f.Token, 10)})
	}
	o.Effects = r.effects(l)
	return o
}

func (r release) effects(l *inspect.Lease) []string {
	if l.Foreign != "" {
		return []string{"the key is deleted only if it still has exactly this value"}
	}
	out := []string{fmt.Sprintf("token %d is burned: its holder can never write again, alive or not",
		l.Token), "the lock is deleted only if owner and token are still these"}
	switch trust(l.Verdict) {
	case "alive":
		out = append(out, "its holder shows signs of life: releasing it stops a working process")
	case "ends by itself":
		out = append(out, "it ends by itself soon: waiting costs less than releasing")
	}
	return out
}

// trust reduces a verdict to what matters for a release. Renewals make "held" and "expiring"
// alternate; that is no reason to refuse.
func trust(v inspect.Verdict) string {
	switch v.State {
	case inspect.Held, inspect.Expiring, inspect.OverdueRenewal:
		return "alive"
	case inspect.CannotTell:
		return "cannot tell"
	default:
		return "looks dead: " + string(v.State)
	}
}

// Execute releases the lease if it still is what the operator saw.
func (r release) Execute(ctx context.Context) Answer {
	got, err := r.d.opts.Operator.Release(ctx, r.ReleaseRequest)
	if err != nil {
		return failure(r, err)
	}
	a := Answer{Kind: AnswerDone, Title: "released: " + r.Resource}
	switch got.Freeing {
	case repair.AlreadyGone:
		a.Title = "it was gone already: " + r.Resource
	case repair.WouldRelease:
		a.Title = "it would be released: " + r.Resource
	case repair.Released:
	}
	a.Lines = append(a.Lines, got.Note, "token: "+burnWords(got.Burning))
	if got.FenceAfter != nil {
		a.Lines = append(a.Lines, fmt.Sprintf("fence now %d by %s", got.FenceAfter.Token,
			got.FenceAfter.Owner))
	}
	if got.IntentID > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("recorded as operator action %d", got.IntentID))
	}
	if got.Burning == repair.NotBurned && r.Value == "" {
		a.Kind = AnswerRefused
	}
	return a
}

func burnWords(b repair.Burning) string {
	switch b {
	case repair.Burned:
		return "burned now, its holder can never write again"
	case repair.AlreadyBurned:
		return "burned by an earlier release"
	case repair.FenceAbove:
		return "a higher one was accepted before, so it was worthless already"
	case repair.WouldBurn:
		return "would be burned"
	default:
		return "not burned"
	}
}

// failure puts an error into words: what was refused, what is broken, what is not known.
func failure(a repair.Action, err error) Answer {
	var (
		changed *repair.PreconditionError
		busy    *repair.BusyError
		gate    *grant.GateError
		broken  *grant.BackendError
	)
	switch {
	case errors.As(err, &changed):
		return Answer{
			Kind: AnswerRefused, Title: "refused: it changed, nothing was done",
			Lines: []string{
				"there is now  " + changed.Have, "you saw       " + changed.Want, changed.WayOut,
			},
		}
	case errors.As(err, &busy), errors.As(err, &gate):
		return Answer{Kind: AnswerRefused, Title: "refused: nothing was done", Lines: []string{
			err.Error(),
		}}
	case errors.As(err, &broken) && !broken.Doubt: // it proves that nothing happened
		return Answer{
			Kind: AnswerFailed, Title: "failed: nothing was done",
			Lines: []string{err.Error()},
		}
	case broken != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Answer{Kind: AnswerUnknown, Title: "UNKNOWN: the answer was lost", Lines: []string{
			err.Error(),
			"it may have been done, or not. Doing exactly the same again is safe and tells:",
			repair.CommandLine(a.CLI()),
		}}
	default:
		return Answer{Kind: AnswerFailed, Title: "failed", Lines: []string{err.Error()}}
	}
}

// kindRole colours an answer; its word stands beside it.
func kindRole(k AnswerKind) paint.Role {
	switch k {
	case AnswerDone:
		return paint.Good
	case AnswerUnknown, AnswerRefused:
		return paint.Warn
	default:
		return paint.Bad
	}
}
