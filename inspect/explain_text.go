package inspect

import (
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
)

const timeLayout = "2006-01-02 15:04:05.000 MST"

func clock(t time.Time) string { return t.UTC().Format(timeLayout) }

// predict applies the engine's order of outcomes to what was read.
func (e *Explanation) predict() Prediction {
	if l := e.Lease; l != nil {
		who := fmt.Sprintf("%s holds the lease of %s under token %d", l.Owner, l.Resource, l.Token)
		if l.Foreign != "" {
			who = fmt.Sprintf("other data (%s) occupies the lease of %s", l.Foreign, l.Resource)
		}
		return Prediction{grant.LeaseHeld, fmt.Sprintf("%s, %s; afterwards: %s", who,
			leftText(*l), e.predictUnheld().Why)}
	}
	return e.predictUnheld()
}

func leftText(l Lease) string {
	if l.NoExpiry {
		return "without expiry"
	}
	return l.Left.Round(time.Millisecond).String() + " left"
}

func (e *Explanation) predictUnheld() Prediction {
	switch {
	case e.Posting != nil:
		return Prediction{grant.Replayed, fmt.Sprintf("the same content, %d %s, would answer "+
			"replayed with posting %d; any other content would answer mismatch; "+
			"nothing would be paid", e.Posting.Amount, e.Posting.Kind, e.Posting.ID)}
	case e.Claim != nil && e.Claim.Status == "applied":
		return Prediction{grant.Mismatch, "the claim says applied but there is no posting, so it " +
			"would be refused until that is repaired"}
	case e.Claim != nil:
		return Prediction{grant.Applied, fmt.Sprintf("%d %s is due and would be applied; any "+
			"other content would answer mismatch", e.Claim.Amount, e.Claim.Kind)}
	}
	return Prediction{grant.Applied, "nothing is posted or due under this id, so it would be applied"}
}

func (e *Explanation) summary() string {
	parts := []string{e.grantedSentence()}
	if e.Reversal != nil {
		parts = append(parts, e.reversedSentence())
	}
	if e.Posting != nil {
		parts = append(parts, e.deliverySentence())
	}
	parts = append(parts, e.refusedSentence())
	if len(e.Missing) > 0 {
		parts = append(parts, "Redis could not be asked, so whether somebody holds the lease now "+
			"is not known.")
	}
	parts = append(parts, "If it were granted now: "+e.IfGranted.Why+".")
	return strings.Join(parts, " ")
}

func (e *Explanation) grantedSentence() string {
	if p := e.Posting; p != nil {
		return fmt.Sprintf("Granted: %d %s to %s for %s, by %s at %s under token %d of %s "+
			"(posting %d), because: %s.", p.Amount, p.Kind, e.PlayerID, e.EventID, p.Actor,
			clock(p.At), p.Token, p.Owner, p.ID, p.Reason)
	}
	s := fmt.Sprintf("Not granted: the ledger has no posting of %s for %s.", e.EventID, e.PlayerID)
	switch {
	case e.Claim == nil:
		return s + " Nothing is due under this id either."
	case e.Claim.Status == "applied":
		return s + " Yet its claim says applied: the ledger is incomplete, run an audit."
	}
	return fmt.Sprintf("%s A claim of %d %s has been %s since %s.", s, e.Claim.Amount,
		e.Claim.Kind, e.Claim.Status, clock(e.Claim.At))
}

func (e *Explanation) reversedSentence() string {
	r := e.Reversal
	s := fmt.Sprintf("reversed by %s at %s with posting %d (%d %s): %s.", r.Actor, clock(r.At),
		r.ID, r.Amount, r.Kind, r.Reason)
	if len(e.Reversals) == 1 {
		return "It was " + s
	}
	var sum int64
	for _, part := range e.Reversals {
		sum += part.Amount
	}
	return fmt.Sprintf("%d postings take back %d of it in all; the last part was %s",
		len(e.Reversals), -sum, s)
}

func (e *Explanation) deliverySentence() string {
	d := e.Delivery
	if d == nil {
		return "Its outbox row is missing, so it will not be delivered: run an audit."
	}
	tries := fmt.Sprintf("%d attempts", d.Attempts)
	if d.Attempts == 1 {
		tries = "1 attempt"
	}
	var s string
	switch d.State {
	case "delivered":
		return fmt.Sprintf("Delivered at %s after %s.", clock(d.Delivered), tries)
	case "dead":
		s = "Not delivered: given up after " + tries
	case "parked":
		s = "Not delivered: parked after " + tries
	case "claimed":
		s = "A relay is delivering it, " + tries + " so far"
	default:
		s = "It waits for delivery, " + tries + " so far"
	}
	if d.LastError != "" {
		s += ", last error: " + d.LastError
	}
	return s + "."
}

func (e *Explanation) refusedSentence() string {
	switch len(e.Refusals) {
	case 0:
		return "Nobody was refused."
	case 1:
		f := e.Refusals[0]
		return fmt.Sprintf("One try by %s at %s was %s.", f.Actor, clock(f.At), f.Detail)
	}
	f := e.Refusals[0]
	count := fmt.Sprint(len(e.Refusals))
	if len(e.Refusals) == explainMax {
		count = "At least " + count
	}
	return fmt.Sprintf("%s tries were refused, the last by %s at %s: %s.", count, f.Actor,
		clock(f.At), f.Detail)
}

func (e *Explanation) evidence() []Evidence {
	var out []Evidence
	add := func(name, finding string) { out = append(out, Evidence{name, finding}) }
	if p := e.Posting; p != nil {
		add("ledger", fmt.Sprintf("posting %d: %d %s, token %d, owner %s, actor %s, at %s", p.ID,
			p.Amount, p.Kind, p.Token, p.Owner, p.Actor, clock(p.At)))
	} else {
		add("ledger", "no posting")
	}
	for _, p := range e.Reversals {
		add("reversal", fmt.Sprintf("posting %d: %d %s, actor %s, at %s", p.ID, p.Amount, p.Kind,
			p.Actor, clock(p.At)))
	}
	if c := e.Claim; c != nil {
		add("claim", fmt.Sprintf("%s: %d %s, token %d, at %s", c.Status, c.Amount, c.Kind, c.Token,
			clock(c.At)))
	} else {
		add("claim", "none")
	}
	if e.Posting != nil {
		add("outbox", strings.TrimSuffix(e.deliverySentence(), "."))
		for _, a := range e.Attempts {
			add("delivery", a.sentence())
		}
	}
	for _, f := range e.Refusals {
		add("refusal", fmt.Sprintf("%s, %s by %s: %s", clock(f.At), f.Outcome, f.Actor, f.Detail))
	}
	for _, a := range e.Actions {
		add("operator", fmt.Sprintf("%s, %s", clock(a.At), a.Detail))
	}
	if f := e.Fence; f != nil {
		add("fence", fmt.Sprintf("%d of %s since %s", f.Token, f.Owner, clock(f.At)))
	} else {
		add("fence", "no token was accepted yet")
	}
	return append(out, e.leaseEvidence())
}

func (e *Explanation) leaseEvidence() Evidence {
	switch {
	case len(e.Missing) > 0:
		return Evidence{"lease", "not seen: " + e.Missing[0].String()}
	case e.Lease == nil:
		return Evidence{"lease", "nobody holds it"}
	}
	return Evidence{"lease", fmt.Sprintf("%s of %s, %s, %s", e.Lease.Value, e.Lease.Resource,
		leftText(*e.Lease), e.Lease.Verdict.State)}
}
