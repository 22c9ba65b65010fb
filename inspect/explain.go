package inspect

import (
	"context"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// Explanation answers "was this reward granted, and why or why not".
type Explanation struct {
	PlayerID string
	EventID  string
	Summary  string // one paragraph for people
	Evidence []Evidence

	Granted   bool
	Posting   *grant.Posting  // nil when it was not granted
	Reversal  *grant.Posting  // the last posting that takes it back; nil when none does
	Reversals []grant.Posting // all that take back a part of it, oldest first
	Claim     *Claim          // nil when none is due or was
	Delivery  *Delivery       // nil without a posting, or when the outbox row is missing
	Attempts  []OutboxAttempt // to deliver it, oldest first
	Refusals  []PlayerEntry   // newest first, at most 50
	Actions   []PlayerEntry   // operator deeds about it, newest first, at most 50
	Fence     *FenceSeen      // of the player's resource
	Lease     *Lease          // who holds the player's resource now
	IfGranted Prediction
	Missing   []Missing
}

// Prediction says what the engine would answer now. It is a read: the answer may have changed
// by the time somebody grants.
type Prediction struct {
	Outcome grant.Outcome
	Why     string
}

const explainMax = 50 // refusals and deeds shown

// Explain explains one reward of one player. It returns a *NotFoundError when nothing names the
// player; a reward that nobody has heard of is an answer. Without PostgreSQL there is nothing to
// explain from, and it returns a *grant.BackendError; without Redis the answer lacks the lease.
func (r *Reader) Explain(ctx context.Context, player, event string) (Explanation, error) {
	e := Explanation{PlayerID: player, EventID: event}
	for _, given := range []struct{ field, value string }{
		{"player_id", player}, {"reward_event_id", event},
	} {
		if given.value == "" {
			return e, &grant.Rejection{
				Field: given.field, Problem: "is empty", WayOut: "name player and event",
			}
		}
	}
	err := r.read(ctx, "explain the reward", func(ctx context.Context, tx pgx.Tx) error {
		return e.gather(ctx, tx)
	})
	if err != nil {
		return Explanation{}, err
	}
	resource := grant.ResourceFor(player)
	lease, err := r.current(ctx, resource)
	if err != nil {
		e.Missing = append(e.Missing, Missing{grant.Redis, "lease of the player", err})
	}
	if lease != nil {
		fence := e.Fence
		lease.judge(r.opts.TTL, fence, true)
		e.Lease = lease
	}
	e.IfGranted = e.predict()
	e.Evidence = e.evidence()
	e.Summary = e.summary()
	return e, nil
}

type rewardArgs struct {
	Player string `db:"player"`
	Event  string `db:"event"`
}

type postingRow struct {
	ID        int64     `db:"id"`
	PlayerID  string    `db:"player_id"`
	EventID   string    `db:"reward_event_id"`
	Kind      string    `db:"kind"`
	Amount    int64     `db:"amount"`
	Token     int64     `db:"fence_token"`
	Owner     string    `db:"lease_owner"`
	Actor     string    `db:"actor"`
	Reason    string    `db:"reason"`
	Reverses  *int64    `db:"reverses"`
	CreatedAt time.Time `db:"created_at"`
	deliveryRow
}

func (p postingRow) posting() *grant.Posting {
	return &grant.Posting{
		ID: p.ID, PlayerID: p.PlayerID, EventID: p.EventID, Kind: p.Kind, Amount: p.Amount,
		Token: p.Token, Owner: p.Owner, Actor: p.Actor, Reason: p.Reason, At: p.CreatedAt,
	}
}

func (e *Explanation) gather(ctx context.Context, tx pgx.Tx) error {
	if err := playerKnown(ctx, tx, e.PlayerID); err != nil {
		return err
	}
	reward := rewardArgs{e.PlayerID, e.EventID}
	postings, err := collect[postingRow](ctx, tx, explainPostingSQL, reward)
	if err != nil {
		return err
	}
	for _, p := range postings {
		if p.EventID == e.EventID {
			e.Granted, e.Posting, e.Delivery = true, p.posting(), p.delivery()
		} else {
			e.Reversal = p.posting()
			e.Reversals = append(e.Reversals, *e.Reversal)
		}
	}
	if e.Posting != nil {
		attempts, err := attemptsOf(ctx, tx, []int64{e.Posting.ID})
		if err != nil {
			return err
		}
		e.Attempts = attempts[e.Posting.ID]
	}
	claims, err := collect[claimRow](ctx, tx, explainClaimSQL, reward)
	if err != nil {
		return err
	}
	if len(claims) > 0 {
		claim := claims[0].claim()
		e.Claim = &claim
	}
	if e.Fence, err = fenceOf(ctx, tx, grant.ResourceFor(e.PlayerID)); err != nil {
		return err
	}
	return e.gatherTrail(ctx, tx)
}

// gatherTrail reads the refusals and deeds about the reward.
func (e *Explanation) gatherTrail(ctx context.Context, tx pgx.Tx) error {
	for _, trail := range []struct {
		kind EntryType
		into *[]PlayerEntry
	}{{EntryRefusal, &e.Refusals}, {EntryAction, &e.Actions}} {
		rows, err := collect[timelineRow](ctx, tx, toOlder.fill(playerPageSQL), timelineArgs{
			Player: e.PlayerID, Resource: grant.ResourceFor(e.PlayerID), Event: e.EventID,
			Types: []string{string(trail.kind)}, Limit: explainMax,
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			*trail.into = append(*trail.into, row.entry())
		}
	}
	return nil
}

// fenceOf reads one fence; nil means that no token was accepted.
func fenceOf(ctx context.Context, tx pgx.Tx, resource string) (*FenceSeen, error) {
	fences, err := fencesOf(ctx, tx, []string{resource})
	if err != nil {
		return nil, err
	}
	if fence, ok := fences[resource]; ok {
		return &fence, nil
	}
	return nil, nil
}

// fencesOf reads many fences in one query, by resource.
func fencesOf(
	ctx context.Context, tx pgx.Tx, resources []string,
) (map[string]FenceSeen, error) {
	asked := make([]string, 0, len(resources))
	for _, name := range resources {
		if storable(name) {
			asked = append(asked, name)
		}
	}
	rows, err := collect[fenceRow](ctx, tx, fenceByResourceSQL, struct {
		Resources []string `db:"resources"`
	}{asked})
	if err != nil {
		return nil, err
	}
	fences := make(map[string]FenceSeen, len(rows))
	for _, row := range rows {
		fences[row.Resource] = row.seen()
	}
	return fences, nil
}
