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
	"rewardctl/tui/text"
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
		o.Facts = append(o.Facts, Fact{Name: text.N("owner"), Value: r.d.tr("nobody"), Guard: true},
			Fact{Name: text.N("token"), Value: "-", Guard: true})
		o.Block = r.d.tr("the lease ended by itself: there is nothing to release")
		return o
	}
	if l.Foreign != "" {
		value := Fact{Name: text.N("value"), Value: l.Value, Guard: true}
		if l.Value == "" {
			value.Show = func(time.Time) string { return r.d.tr("other data of type %s", l.Foreign) }
			o.Block = r.d.tr("other data is under the key; it has no value that could be compared")
		}
		o.Facts = append(o.Facts, value)
	} else {
		o.Facts = append(o.Facts, Fact{Name: text.N("owner"), Value: l.Owner, Guard: true},
			Fact{Name: text.N("token"), Value: strconv.FormatInt(l.Token, 10), Guard: true})
	}
	o.Facts = append(o.Facts,
		Fact{
			Name: text.N("verdict"), Value: trust(l.Verdict), Guard: true, Role: stateRole(l.Verdict.State),
			Show: func(time.Time) string { return stateWords(r.d.lang, l.Verdict) },
		},
		Fact{Name: text.N("left"), Value: "", Show: func(now time.Time) string {
			left := leftNow(l, now)
			return leftText(r.d.lang, l, left) + "  " + heat(r.d.theme.Glyphs, l, left, r.d.opts.LeaseTTL)
		}})
	if f := detail.Fence; f != nil {
		o.Facts = append(o.Facts, Fact{Name: text.N("fence"), Value: strconv.FormatInt(f.Token, 10)})
	}
	o.Effects = r.effects(l)
	return o
}

func (r release) effects(l *inspect.Lease) []string {
	if l.Foreign != "" {
		return []string{r.d.tr("the key is deleted only if it still has exactly this value")}
	}
	out := []string{r.d.tr("token %d is burned: its holder can never write again, alive or not",
		l.Token), r.d.tr("the lock is deleted only if owner and token are still these")}
	switch trust(l.Verdict) {
	case "alive":
		out = append(out, r.d.tr("its holder shows signs of life: releasing it stops a working process"))
	case "ends by itself":
		out = append(out, r.d.tr("it ends by itself soon: waiting costs less than releasing"))
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
		return failure(r.d, r, err)
	}
	a := Answer{Kind: AnswerDone, Title: r.d.tr("released: %s", r.Resource)}
	switch got.Freeing {
	case repair.AlreadyGone:
		a.Title = r.d.tr("it was gone already: %s", r.Resource)
	case repair.WouldRelease:
		a.Title = r.d.tr("it would be released: %s", r.Resource)
	case repair.Released:
	}
	a.Lines = append(a.Lines, got.Note, r.d.tr("token: %s", burnWords(r.d, got.Burning)))
	if got.FenceAfter != nil {
		a.Lines = append(a.Lines, r.d.tr("fence now %d by %s", got.FenceAfter.Token,
			got.FenceAfter.Owner))
	}
	if got.IntentID > 0 {
		a.Lines = append(a.Lines, r.d.tr("recorded as operator action %d", got.IntentID))
	}
	if got.Burning == repair.NotBurned && r.Value == "" {
		a.Kind = AnswerRefused
	}
	return a
}

func burnWords(d *desk, b repair.Burning) string {
	switch b {
	case repair.Burned:
		return d.tr("burned now, its holder can never write again")
	case repair.AlreadyBurned:
		return d.tr("burned by an earlier release")
	case repair.FenceAbove:
		return d.tr("a higher one was accepted before, so it was worthless already")
	case repair.WouldBurn:
		return d.tr("would be burned")
	default:
		return d.tr("not burned")
	}
}

// failure puts an error into words: what was refused, what is broken, what is not known.
func failure(d *desk, a repair.Action, err error) Answer {
	var (
		changed *repair.PreconditionError
		busy    *repair.BusyError
		gate    *grant.GateError
		broken  *grant.BackendError
	)
	switch {
	case errors.As(err, &changed):
		return Answer{
			Kind: AnswerRefused, Title: d.tr("refused: it changed, nothing was done"),
			Lines: []string{
				d.tr("there is now  %s", changed.Have), d.tr("you saw       %s", changed.Want), changed.WayOut,
			},
		}
	case errors.As(err, &busy), errors.As(err, &gate):
		return Answer{Kind: AnswerRefused, Title: d.tr("refused: nothing was done"), Lines: []string{
			err.Error(),
		}}
	case isDenied(err):
		return Answer{
			Kind: AnswerRefused, Title: d.tr("refused: nothing was done"),
			Lines: []string{d.unread(err)},
		}
	case errors.As(err, &broken) && !broken.Doubt: // it proves that nothing happened
		return Answer{
			Kind: AnswerFailed, Title: d.tr("failed: nothing was done"),
			Lines: []string{err.Error()},
		}
	case broken != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Answer{Kind: AnswerUnknown, Title: d.tr("UNKNOWN: the answer was lost"), Lines: []string{
			err.Error(),
			d.tr("it may have been done, or not. Doing exactly the same again is safe and tells:"),
			d.commandLine(a.CLI()),
		}}
	default:
		return Answer{Kind: AnswerFailed, Title: d.tr("failed"), Lines: []string{err.Error()}}
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
