package main

import (
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// grantJSON is the answer to one grant. The fields up to "at" are always there; the others only
// where the outcome needs them. Ids and tokens are texts.
type grantJSON struct {
	Outcome  string           `json:"outcome"`
	PlayerID string           `json:"player_id"`
	EventID  string           `json:"reward_event_id"`
	Kind     string           `json:"kind"`
	Amount   int64            `json:"amount"`
	Resource string           `json:"resource"`
	Token    *string          `json:"token"`
	Owner    *string          `json:"owner"`
	LedgerID *string          `json:"ledger_id"`
	ReplayOf *string          `json:"replay_of"`
	Differs  []differenceJSON `json:"differs"`
	Existing *postingJSON     `json:"existing"`
	Actor    string           `json:"actor"`
	At       *string          `json:"at"`

	Rejected      *rejectionJSON `json:"rejected,omitempty"`
	Holder        *holderJSON    `json:"holder,omitempty"`
	Fence         *fenceJSON     `json:"fence,omitempty"`
	DryRun        bool           `json:"dry_run,omitempty"`
	BalanceBefore *int64         `json:"balance_before,omitempty"`
	BalanceAfter  *int64         `json:"balance_after,omitempty"`
	Note          string         `json:"note,omitempty"`
}

type differenceJSON struct {
	Field string `json:"field"`
	Have  string `json:"have"`
	Want  string `json:"want"`
}

// postingJSON is one row of the ledger.
type postingJSON struct {
	LedgerID *string `json:"ledger_id"`
	PlayerID string  `json:"player_id"`
	EventID  string  `json:"reward_event_id"`
	Kind     string  `json:"kind"`
	Amount   int64   `json:"amount"`
	Token    *string `json:"token"`
	Owner    string  `json:"owner"`
	Actor    string  `json:"actor"`
	Reason   string  `json:"reason"`
	At       *string `json:"at"`
}

type rejectionJSON struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Problem string `json:"problem"`
	WayOut  string `json:"way_out"`
}

// holderJSON is who holds the lease instead.
type holderJSON struct {
	Resource string  `json:"resource"`
	Owner    string  `json:"owner"`
	Token    *string `json:"token"`
	Until    *string `json:"until"` // null: it has no expiry
	LeftMS   *int64  `json:"left_ms"`
	Foreign  bool    `json:"foreign,omitempty"`
}

func newGrantJSON(r grant.Result, now time.Time) grantJSON {
	j := grantJSON{
		Outcome: r.Outcome.String(), PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind,
		Amount: r.Amount, Resource: r.Resource, Token: jsonID(r.Token), Owner: jsonText(r.Owner),
		LedgerID: jsonID(r.LedgerID), ReplayOf: jsonID(r.ReplayOf), Differs: []differenceJSON{},
		Existing: newPostingJSON(r.Existing), Actor: r.Actor, At: jsonTime(r.At),
		Holder: newHolderJSON(r.Holder, now), Fence: newFenceJSON(r.Fence),
	}
	for _, d := range r.Differs {
		j.Differs = append(j.Differs, differenceJSON(d))
	}
	if r.Rejected != nil {
		j.Rejected = &rejectionJSON{
			Field: r.Rejected.Field, Value: r.Rejected.Value, Problem: r.Rejected.Problem,
			WayOut: r.Rejected.WayOut,
		}
	}
	return j
}

func newPostingJSON(p *grant.Posting) *postingJSON {
	if p == nil {
		return nil
	}
	return &postingJSON{
		LedgerID: jsonID(p.ID), PlayerID: p.PlayerID, EventID: p.EventID, Kind: p.Kind,
		Amount: p.Amount, Token: jsonID(p.Token), Owner: p.Owner, Actor: p.Actor,
		Reason: p.Reason, At: jsonTime(p.At),
	}
}

func newHolderJSON(h *grant.Holder, now time.Time) *holderJSON {
	if h == nil {
		return nil
	}
	j := &holderJSON{
		Resource: h.Resource, Owner: h.Owner, Token: jsonID(h.Token), Foreign: h.Foreign,
	}
	if h.Left >= 0 {
		ms := h.Left.Milliseconds()
		j.Until, j.LeftMS = jsonTime(now.Add(h.Left)), &ms
	}
	return j
}

// grantFields is the answer to one grant for people.
func grantFields(r grant.Result, now time.Time) []field {
	fields := []field{
		{"outcome", toned(outcomeWords(r.Outcome), outcomeTone(r.Outcome.String()))},
		{"player_id", text(r.PlayerID)},
		{"reward_event_id", text(r.EventID)},
		{"kind", text(r.Kind)},
		{"amount", text(number(r.Amount).text)},
		{"resource", text(r.Resource)},
		{"token", text(numberOrBlank(r.Token).text)},
		{"owner", text(r.Owner)},
		{"ledger_id", text(numberOrBlank(r.LedgerID).text)},
		{"replay_of", text(numberOrBlank(r.ReplayOf).text)},
	}
	for _, d := range r.Differs {
		fields = append(fields, field{"differs", toned(
			fmt.Sprintf("%s is %s, asked for %s", d.Field, d.Have, d.Want), bad)})
	}
	if p := r.Existing; p != nil {
		fields = append(fields, field{"existing", text(postingWords(p))})
	}
	if r.Holder != nil {
		fields = append(fields, field{"held_by", text(holderWords(r.Holder, now))})
	}
	if r.Fence != nil {
		fields = append(fields, field{"fence", text(
			fmt.Sprintf("%d of %s", r.Fence.Token, r.Fence.Owner))})
	}
	return append(fields, field{"actor", text(r.Actor)}, field{"at", instant(r.At)})
}

func postingWords(p *grant.Posting) string {
	if p.ID == 0 {
		return fmt.Sprintf("claimed, not posted: %d %s", p.Amount, p.Kind)
	}
	return fmt.Sprintf("ledger %d: %d %s, %s by %s, %q", p.ID, p.Amount, p.Kind, when(p.At),
		p.Actor, p.Reason)
}

func holderWords(h *grant.Holder, now time.Time) string {
	if h.Foreign && h.Owner == "" {
		return "other data under the key"
	}
	if h.Foreign {
		return fmt.Sprintf("other data under the key: %q", h.Owner)
	}
	if h.Left < 0 {
		return fmt.Sprintf("%s, token %d, without expiry", h.Owner, h.Token)
	}
	return fmt.Sprintf("%s, token %d, until %s (in %s)", h.Owner, h.Token,
		when(now.Add(h.Left)), span(h.Left))
}

func outcomeWords(o grant.Outcome) string {
	return strings.ReplaceAll(o.String(), "_", " ")
}

func outcomeTone(word string) tone {
	switch o, _ := grant.ParseOutcome(word); o {
	case grant.Applied:
		return good
	case grant.Replayed, grant.LeaseHeld, grant.Unknown:
		return notice
	case grant.Rejected, grant.StaleToken, grant.TokenCollision, grant.Mismatch:
		return bad
	case grant.Failed:
		return plain
	}
	return plain
}

// sayOutcome says in one or two lines what an outcome means and what to do about it. The
// outcomes that are fine say nothing: the result itself does.
func (a *app) sayOutcome(r grant.Result) {
	switch r.Outcome {
	case grant.Rejected:
		if x := r.Rejected; x != nil {
			a.say("rejected: %s %q %s", x.Field, x.Value, x.Problem)
			a.say("  %s", x.WayOut)
		}
	case grant.LeaseHeld:
		a.sayHeld(r)
	case grant.StaleToken:
		a.say("stale token: a higher token was accepted for %s; nothing was posted", r.Resource)
		a.say("  acquire a new lease, or leave --token and --owner out")
	case grant.TokenCollision:
		if r.Fence != nil && grant.Burned(r.Fence.Owner) {
			a.say("token burned: an operator released token %d of %s, so its holder can write no "+
				"more; nothing was posted", r.Token, r.Resource)
		} else {
			a.say("token collision: token %d was accepted for another owner, as after Redis lost "+
				"its counter; nothing was posted", r.Token)
		}
		a.say("  acquire a new lease, or leave --token and --owner out")
	case grant.Mismatch:
		var parts []string
		for _, d := range r.Differs {
			parts = append(parts, fmt.Sprintf("%s is %s, asked for %s", d.Field, d.Have, d.Want))
		}
		a.say("mismatch: this event is there with other content: %s; nothing was changed",
			strings.Join(parts, "; "))
		a.say("  for another reward name another event; see: %s", explainLine(r))
	case grant.Unknown:
		a.say("unknown: PostgreSQL's answer was lost, and it cannot be reached to ask again")
		a.say("  give the same command again, with the same event: it finds out and pays once")
	case grant.Applied, grant.Replayed, grant.Failed:
	}
}

func (a *app) sayHeld(r grant.Result) {
	if r.Holder == nil {
		a.say("lease held: another owner holds %s; nothing was posted", r.Resource)
		return
	}
	a.say("lease held: %s is held by %s; nothing was posted", r.Resource,
		holderWords(r.Holder, a.now()))
	if r.Holder.Foreign || r.Holder.Left < 0 {
		a.say("  it does not end by itself; look at it with: rewardctl lease show %s", r.Resource)
		return
	}
	a.say("  wait for it with --wait %s, or look at it with: rewardctl lease show %s",
		(r.Holder.Left + time.Second).Round(time.Second), r.Resource)
}

// explainLine is the command that tells more about the reward.
func explainLine(r grant.Result) string {
	return repair.CommandLine([]string{"rewardctl", "explain", r.PlayerID, r.EventID})
}
