package inspect

import (
	"fmt"
	"time"
)

// timelineRow is one row of page/player.sql.
type timelineRow struct {
	Rank          int       `db:"rank"`
	Type          EntryType `db:"type"`
	ID            int64     `db:"id"`
	At            time.Time `db:"at"`
	EventID       string    `db:"reward_event_id"`
	Kind          string    `db:"kind"`
	Amount        int64     `db:"amount"`
	Outcome       string    `db:"outcome"`
	Resource      string    `db:"resource"`
	Token         int64     `db:"token"`
	Owner         string    `db:"owner"`
	Actor         string    `db:"actor"`
	Reason        string    `db:"reason"`
	Reverses      *int64    `db:"reverses"`
	AcceptedToken *int64    `db:"accepted_token"`
	AcceptedOwner *string   `db:"accepted_owner"`
	HaveKind      *string   `db:"have_kind"`
	HaveAmount    *int64    `db:"have_amount"`
	Detail        string    `db:"detail"`
	Command       string    `db:"command"`
	deliveryRow
}

func (r timelineRow) place() timelinePlace {
	return timelinePlace{At: r.At, Rank: r.Rank, ID: r.ID}
}

func (r timelineRow) entry() PlayerEntry {
	e := PlayerEntry{
		Type: r.Type, ID: r.ID, At: r.At, EventID: r.EventID, Kind: r.Kind, Amount: r.Amount,
		Outcome: r.Outcome, Resource: r.Resource, Token: r.Token, Owner: r.Owner,
		Actor: r.Actor, Reason: r.Reason, Reverses: value(r.Reverses),
		FenceToken: value(r.AcceptedToken), FenceOwner: value(r.AcceptedOwner),
		HaveKind: value(r.HaveKind), HaveAmount: value(r.HaveAmount), Command: r.Command,
		Detail: r.sentence(),
	}
	switch r.Type {
	case EntryPosting:
		e.Delivery = r.delivery()
	case EntryDelivery:
		// The row's own id only orders it among others of the same moment.
		e.ID, e.FenceToken = value(r.AcceptedToken), 0
	case EntryClaim, EntryRefusal, EntryAction:
	}
	return e
}

func (r timelineRow) sentence() string {
	switch r.Type {
	case EntryPosting:
		return r.postingSentence()
	case EntryClaim:
		return r.claimSentence()
	case EntryRefusal:
		return r.refusalSentence()
	case EntryDelivery:
		return r.Detail
	case EntryAction:
		return fmt.Sprintf("%s by %s: %s", r.Detail, r.Actor, r.Outcome)
	}
	return r.Detail
}

func (r timelineRow) postingSentence() string {
	if r.Reverses != nil {
		return fmt.Sprintf("reverses posting %d (%s), by %s", *r.Reverses, r.Detail, r.Actor)
	}
	s := fmt.Sprintf("granted by %s under token %d", r.Actor, r.Token)
	d := r.delivery()
	switch {
	case d == nil:
		return s + "; its outbox row is missing, so it will not be delivered"
	case d.State == "delivered":
		return s + "; delivered"
	case d.State == "dead":
		return fmt.Sprintf("%s; not delivered, given up after %d attempts", s, d.Attempts)
	case d.Attempts > 0:
		return fmt.Sprintf("%s; not delivered yet, %d attempts", s, d.Attempts)
	}
	return s + "; waits for delivery"
}

func (r timelineRow) claimSentence() string {
	if r.Outcome == "applied" {
		return "the claim says applied, but the ledger has no posting for it"
	}
	return "due and not granted yet"
}

func (r timelineRow) refusalSentence() string {
	switch r.Outcome {
	case "stale_token":
		return fmt.Sprintf("refused: token %d of %s is below the accepted token %d of %s",
			r.Token, r.Owner, value(r.AcceptedToken), value(r.AcceptedOwner))
	case "token_collision":
		return fmt.Sprintf("refused: token %d of %s was accepted for another owner, %s",
			r.Token, r.Owner, value(r.AcceptedOwner))
	case "mismatch":
		return fmt.Sprintf("refused: asked for %d %s, but %d %s is posted or claimed",
			r.Amount, r.Kind, value(r.HaveAmount), value(r.HaveKind))
	}
	return "refused: " + r.Outcome
}
