package tui

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
)

// grantDeed is the deed of granting by hand.
type grantDeed struct {
	repair.GrantRequest
	d *desk
}

func newGrant(d *desk, req grant.Request) grantDeed {
	return grantDeed{repair.GrantRequest{Request: req}, d}
}

// NeedsReason is false: the form has the reason.
func (g grantDeed) NeedsReason() bool { return false }

// WithReason returns the grant with another reason.
func (g grantDeed) WithReason(reason string) Action {
	g.Reason = reason
	return g
}

// Verb returns "grant".
func (g grantDeed) Verb() string { return "grant" }

// Observe asks what the engine would answer now.
func (g grantDeed) Observe(ctx context.Context) (Observed, error) {
	p, err := g.d.opts.Operator.PreviewGrant(ctx, g.Request)
	if err != nil {
		return Observed{}, err
	}
	return g.observed(p), nil
}

func (g grantDeed) observed(p repair.GrantPreview) Observed {
	o := Observed{At: g.d.now(), Facts: []Fact{
		{Name: "event id", Value: g.EventID},
		{
			Name: "answer", Value: prospect(p.Result.Outcome), Guard: true,
			Role: outcomeRole(p.Result.Outcome),
			Show: func(time.Time) string { return p.Result.Outcome.String() },
		},
		{Name: "balance", Value: balanceWords(p)},
		{Name: "lease", Value: holderWords(p.Holder)},
		{Name: "fence", Value: fenceWords(p.Fence)},
	}}
	if p.Note != "" {
		o.Effects = append(o.Effects, p.Note)
	}
	o.Effects = append(o.Effects, differences(p.Result)...)
	o.Effects = append(o.Effects, p.Warnings...)
	switch p.Result.Outcome {
	case grant.Rejected:
		o.Block = "the request is rejected"
		if p.Result.Rejected != nil {
			o.Block = p.Result.Rejected.Error()
		}
	case grant.Mismatch:
		o.Block = "this event id is taken by another content; nothing can be granted under it"
	case grant.Replayed:
		o.Block = "it is granted already: there is nothing to do"
	}
	return o
}

// prospect reduces a predicted outcome to what matters for the decision. Workers that hold the
// lease for a moment come and go; that is no reason to refuse.
func prospect(o grant.Outcome) string {
	switch o {
	case grant.Replayed, grant.Mismatch, grant.Rejected:
		return o.String()
	default:
		return "would be posted"
	}
}

// Execute grants through the engine, as a worker does.
func (g grantDeed) Execute(ctx context.Context) Answer {
	got, err := g.d.opts.Operator.Grant(ctx, g.Request)
	if err != nil {
		return failure(g, err)
	}
	return g.answer(got)
}

func (g grantDeed) answer(got repair.GrantDeed) Answer {
	a := outcomeAnswer(got.Result)
	if got.Outcome == grant.Unknown {
		a.Lines = append(a.Lines, "the same as a command: "+repair.CommandLine(g.CLI()))
	}
	if got.Token > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("under token %d of %s", got.Token, got.Owner))
	}
	if got.LogID > 0 {
		a.Lines = append(a.Lines, fmt.Sprintf("recorded as operator action %d", got.LogID))
	}
	if got.LogProblem != "" {
		a.Lines = append(a.Lines, "the result could not be recorded: "+got.LogProblem)
	}
	return a
}

// outcomeAnswer puts an outcome into words.
func outcomeAnswer(r grant.Result) Answer {
	switch r.Outcome {
	case grant.Applied:
		return Answer{Kind: AnswerDone, Title: fmt.Sprintf("APPLIED: %d %s to %s", r.Amount, r.Kind,
			r.PlayerID), Lines: []string{
			fmt.Sprintf("posted as ledger row %d at %s", r.LedgerID, stamp(r.At)),
		}}
	case grant.Replayed:
		return Answer{
			Kind: AnswerDone, Title: "REPLAYED: it was granted before, nothing was added",
			Lines: append([]string{fmt.Sprintf("ledger row %d has the same content", r.LedgerID)},
				existing(r)...),
		}
	case grant.Mismatch:
		return Answer{
			Kind:  AnswerRefused,
			Title: "MISMATCH: this id has other content, nothing was added",
			Lines: append(append(differences(r), existing(r)...),
				"what is there stays as it is; another grant needs another event id"),
		}
	case grant.LeaseHeld:
		return Answer{
			Kind:  AnswerRefused,
			Title: "LEASE HELD: somebody else is writing, nothing was added",
			Lines: []string{holderWords(r.Holder), "try again when the lease has ended"},
		}
	case grant.StaleToken, grant.TokenCollision:
		return Answer{
			Kind: AnswerRefused, Title: "REFUSED by the fence: nothing was added",
			Lines: []string{"the outcome is " + r.Outcome.String(), fenceWords(r.Fence), "try again: " +
				"the next lease gets a higher token"},
		}
	case grant.Rejected:
		lines := []string{"the request is not valid"}
		if r.Rejected != nil {
			lines = []string{r.Rejected.Error()}
		}
		return Answer{Kind: AnswerRefused, Title: "REJECTED: nothing was added", Lines: lines}
	case grant.Unknown:
		return Answer{
			Kind: AnswerUnknown, Title: "UNKNOWN: the answer to the commit was lost",
			Lines: []string{
				"it may be posted, or not. The same event id can never be paid twice, so doing",
				"exactly the same again is safe, and its answer tells.",
			},
		}
	default:
		lines := []string{"nothing was decided"}
		if r.Err != nil {
			lines = []string{r.Err.Error()}
		}
		return Answer{Kind: AnswerFailed, Title: "FAILED: nothing was added", Lines: lines}
	}
}

// differences names each field that is posted with another content.
func differences(r grant.Result) []string {
	var lines []string
	for _, d := range r.Differs {
		lines = append(lines, fmt.Sprintf("%s differs: posted %s, asked %s", d.Field, d.Have, d.Want))
	}
	return lines
}

func existing(r grant.Result) []string {
	p := r.Existing
	if p == nil {
		return nil
	}
	if p.ID == 0 {
		return []string{fmt.Sprintf("a claim of %d %s is due under this id", p.Amount, p.Kind)}
	}
	return []string{fmt.Sprintf("ledger row %d: %d %s at %s by %s, %q", p.ID, p.Amount, p.Kind,
		stamp(p.At), p.Actor, p.Reason)}
}

func balanceWords(p repair.GrantPreview) string {
	before := strconv.FormatInt(p.BalanceBefore, 10)
	if p.BalanceAfter == p.BalanceBefore {
		return before + " " + p.Request.Kind + ", unchanged"
	}
	return fmt.Sprintf("%s %s, then %d", before, p.Request.Kind, p.BalanceAfter)
}

func holderWords(h *grant.Holder) string {
	switch {
	case h == nil:
		return "free"
	case h.Foreign:
		return "occupied by other data"
	default:
		return fmt.Sprintf("held by %s, token %d", h.Owner, h.Token)
	}
}

func fenceWords(f *grant.Fence) string {
	if f == nil {
		return "no token was accepted yet"
	}
	return fmt.Sprintf("%d by %s", f.Token, f.Owner)
}

// outcomeRole colours an outcome; its word stands beside it.
func outcomeRole(o grant.Outcome) paint.Role {
	switch o {
	case grant.Applied:
		return paint.Good
	case grant.Replayed:
		return paint.Accent
	case grant.LeaseHeld, grant.StaleToken, grant.TokenCollision, grant.Unknown:
		return paint.Warn
	default:
		return paint.Bad
	}
}
