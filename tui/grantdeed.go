package tui

import (
	"context"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"
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
		{Name: text.N("event id"), Value: g.EventID},
		{
			Name: text.N("answer"), Value: prospect(p.Result.Outcome), Guard: true,
			Role: outcomeRole(p.Result.Outcome),
			Show: func(time.Time) string { return p.Result.Outcome.String() },
		},
		{Name: text.N("balance"), Value: balanceWords(g.d, p)},
		{Name: text.N("lease"), Value: holderWords(g.d, p.Holder)},
		{Name: text.N("fence"), Value: fenceWords(g.d, p.Fence)},
	}}
	if p.Note != "" {
		o.Effects = append(o.Effects, p.Note)
	}
	o.Effects = append(o.Effects, differences(g.d, p.Result)...)
	o.Effects = append(o.Effects, p.Warnings...)
	switch p.Result.Outcome {
	case grant.Rejected:
		o.Block = g.d.tr("the request is rejected")
		if p.Result.Rejected != nil {
			o.Block = p.Result.Rejected.Error()
		}
	case grant.Mismatch:
		o.Block = g.d.tr("this event id is taken by another content; nothing can be granted under it")
	case grant.Replayed:
		o.Block = g.d.tr("it is granted already: there is nothing to do")
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
		return failure(g.d, g, err)
	}
	return g.answer(got)
}

func (g grantDeed) answer(got repair.GrantDeed) Answer {
	a := outcomeAnswer(g.d, got.Result)
	if got.Outcome == grant.Unknown {
		a.Lines = append(a.Lines, g.d.tr("the same as a command: %s", g.d.commandLine(g.CLI())))
	}
	if got.Token > 0 {
		a.Lines = append(a.Lines, g.d.tr("under token %d of %s", got.Token, got.Owner))
	}
	if got.LogID > 0 {
		a.Lines = append(a.Lines, g.d.tr("recorded as operator action %d", got.LogID))
	}
	if got.LogProblem != "" {
		a.Lines = append(a.Lines, g.d.tr("the result could not be recorded: %s", got.LogProblem))
	}
	return a
}

// outcomeAnswer puts an outcome into words.
func outcomeAnswer(d *desk, r grant.Result) Answer {
	tr := d.tr
	switch r.Outcome {
	case grant.Applied:
		return Answer{Kind: AnswerDone, Title: tr("APPLIED: %d %s to %s", r.Amount, r.Kind,
			r.PlayerID), Lines: []string{
			tr("posted as ledger row %d at %s", r.LedgerID, stamp(r.At)),
		}}
	case grant.Replayed:
		return Answer{
			Kind: AnswerDone, Title: tr("REPLAYED: it was granted before, nothing was added"),
			Lines: append([]string{tr("ledger row %d has the same content", r.LedgerID)},
				existing(d, r)...),
		}
	case grant.Mismatch:
		return Answer{
			Kind:  AnswerRefused,
			Title: tr("MISMATCH: this id has other content, nothing was added"),
			Lines: append(append(differences(d, r), existing(d, r)...),
				tr("what is there stays as it is; another grant needs another event id")),
		}
	case grant.LeaseHeld:
		return Answer{
			Kind:  AnswerRefused,
			Title: tr("LEASE HELD: somebody else is writing, nothing was added"),
			Lines: []string{holderWords(d, r.Holder), tr("try again when the lease has ended")},
		}
	case grant.StaleToken, grant.TokenCollision:
		return Answer{
			Kind: AnswerRefused, Title: tr("REFUSED by the fence: nothing was added"),
			Lines: []string{tr("the outcome is %s", r.Outcome), fenceWords(d, r.Fence), tr("try again: " +
				"the next lease gets a higher token")},
		}
	case grant.Rejected:
		lines := []string{tr("the request is not valid")}
		if r.Rejected != nil {
			lines = []string{r.Rejected.Error()}
		}
		return Answer{Kind: AnswerRefused, Title: tr("REJECTED: nothing was added"), Lines: lines}
	case grant.Unknown:
		return Answer{
			Kind: AnswerUnknown, Title: tr("UNKNOWN: the answer to the commit was lost"),
			Lines: []string{
				tr("it may be posted, or not. The same event id can never be paid twice, so doing"),
				tr("exactly the same again is safe, and its answer tells."),
			},
		}
	default:
		lines := []string{tr("nothing was decided")}
		if r.Err != nil {
			lines = []string{r.Err.Error()}
		}
		return Answer{Kind: AnswerFailed, Title: tr("FAILED: nothing was added"), Lines: lines}
	}
}

// differences names each field that is posted with another content.
func differences(d *desk, r grant.Result) []string {
	var lines []string
	for _, one := range r.Differs {
		lines = append(lines, d.tr("%s differs: posted %s, asked %s", one.Field, one.Have, one.Want))
	}
	return lines
}

func existing(d *desk, r grant.Result) []string {
	p := r.Existing
	if p == nil {
		return nil
	}
	if p.ID == 0 {
		return []string{d.tr("a claim of %d %s is due under this id", p.Amount, p.Kind)}
	}
	return []string{d.tr("ledger row %d: %d %s at %s by %s, %q", p.ID, p.Amount, p.Kind,
		stamp(p.At), p.Actor, p.Reason)}
}

func balanceWords(d *desk, p repair.GrantPreview) string {
	before := strconv.FormatInt(p.BalanceBefore, 10)
	if p.BalanceAfter == p.BalanceBefore {
		return d.tr("%s %s, unchanged", before, p.Request.Kind)
	}
	return d.tr("%s %s, then %d", before, p.Request.Kind, p.BalanceAfter)
}

func holderWords(d *desk, h *grant.Holder) string {
	switch {
	case h == nil:
		return d.tr("free")
	case h.Foreign:
		return d.tr("occupied by other data")
	default:
		return d.tr("held by %s, token %d", h.Owner, h.Token)
	}
}

func fenceWords(d *desk, f *grant.Fence) string {
	if f == nil {
		return d.tr("no token was accepted yet")
	}
	return d.tr("%d by %s", f.Token, f.Owner)
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
