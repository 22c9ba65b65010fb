package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

const tokenRows = 2000 // newest rows of each kind that a history reads

// Tokens tells the history of a resource's tokens, merged from Redis and PostgreSQL, with whatever
// is odd about it. It returns a *NotFoundError when neither knows the resource, and an error that
// wraps a *grant.BackendError when both are down.
//
// Postings are found through the player whose own resource it is; a posting does not name its
// resource.
func (r *Reader) Tokens(ctx context.Context, resource string) (TokenHistory, error) {
	if resource == "" {
		return TokenHistory{}, &grant.Rejection{
			Field: "resource", Problem: "is empty", WayOut: "name the resource",
		}
	}
	h := TokenHistory{Resource: resource}
	var counter counterSeen
	redisErr := r.tokensOfRedis(ctx, &h, &counter)
	const op = "read the history of tokens"
	databaseErr := r.readFrom(ctx, r.history(), op, func(ctx context.Context, tx pgx.Tx) error {
		if r.opts.Replica == nil { // one moment for both
			if err := h.readFence(ctx, tx); err != nil {
				return err
			}
		}
		return h.gather(ctx, tx)
	})
	fenceErr := databaseErr
	if r.opts.Replica != nil {
		// After the history: a fence that is newer than the replica is explained by its lag, and one
		// that is older than the postings would be none.
		fenceErr = r.read(ctx, "read the fence", h.readFence)
	}
	switch {
	case redisErr != nil && databaseErr != nil && fenceErr != nil:
		return TokenHistory{}, errors.Join(redisErr, databaseErr)
	case redisErr != nil:
		h.Missing = append(h.Missing, Missing{grant.Redis, "lease, counter and history", redisErr})
	}
	switch {
	case databaseErr != nil && fenceErr != nil:
		h.Missing = append(h.Missing,
			Missing{grant.PostgreSQL, "fence, postings, refusals and deeds", databaseErr})
	case databaseErr != nil:
		h.Missing = append(h.Missing,
			Missing{grant.PostgreSQL, "postings, refusals and deeds", databaseErr})
	case fenceErr != nil:
		h.Missing = append(h.Missing, Missing{grant.PostgreSQL, "fence", fenceErr})
	}
	if h.Lease == nil && h.Fence == nil && len(h.Entries) == 0 && len(h.Missing) == 0 {
		return TokenHistory{}, &NotFoundError{What: "resource", Name: resource}
	}
	if h.Lease != nil {
		h.Lease.judge(r.opts.TTL, h.Fence, fenceErr == nil)
	}
	h.settle(counter, redisErr == nil, r.opts.TTL)
	return h, nil
}

// counterSeen is the token counter of Redis.
type counterSeen struct {
	token   int64
	there   bool
	damaged string // what a counter that is no number holds
}

func (r *Reader) tokensOfRedis(ctx context.Context, h *TokenHistory, c *counterSeen) error {
	var err error
	if h.Lease, err = r.current(ctx, h.Resource); err != nil {
		return err
	}
	return r.redis(ctx, "read the history", func(ctx context.Context) error {
		events, err := r.store.History(ctx, h.Resource)
		if err != nil {
			return err
		}
		slices.Reverse(events)
		for _, e := range events {
			h.Entries = append(h.Entries, eventEntry(e))
		}
		c.token, c.there, err = r.store.Counter(ctx, h.Resource)
		var damaged *lease.DamagedError
		if errors.As(err, &damaged) {
			c.damaged = damaged.Counter
			return nil
		}
		return err
	})
}

// eventEntry translates an event of the lease store.
func eventEntry(e lease.Event) TokenEntry {
	entry := TokenEntry{At: e.At, Source: FromRedis, Token: e.Token, Owner: e.Owner}
	switch e.What {
	case "acquired":
		entry.Event, entry.Detail = TokenIssued, "the lease was taken"
	case "released":
		entry.Event, entry.Detail = TokenReleased, "its owner released the lease"
	case "abandoned":
		entry.Event = TokenAbandoned
		entry.Detail = "every reply to its owner was lost, so the lease was dropped unused"
	case "freed":
		entry.Event, entry.Detail = TokenFreed, "an operator took the lock away"
	default:
		entry.Event, entry.Detail = TokenOther, e.What
	}
	if e.Token == 0 && e.Value != "" {
		entry.Detail += ": " + e.Value
	}
	return entry
}

// gather reads what PostgreSQL knows, but for the fence, which only the primary tells.
func (h *TokenHistory) gather(ctx context.Context, tx pgx.Tx) error {
	if !storable(h.Resource) {
		return nil // PostgreSQL cannot know it
	}
	if player, ok := playerOf(h.Resource); ok {
		if err := h.gatherPostings(ctx, tx, player); err != nil {
			return err
		}
	}
	if err := h.gatherRefusals(ctx, tx); err != nil {
		return err
	}
	return h.gatherDeeds(ctx, tx)
}

func (h *TokenHistory) readFence(ctx context.Context, tx pgx.Tx) error {
	var err error
	h.Fence, err = fenceOf(ctx, tx, h.Resource)
	return err
}

func (h *TokenHistory) gatherPostings(ctx context.Context, tx pgx.Tx, player string) error {
	type row struct {
		ID        int64     `db:"id"`
		EventID   string    `db:"reward_event_id"`
		Kind      string    `db:"kind"`
		Amount    int64     `db:"amount"`
		Token     int64     `db:"fence_token"`
		Owner     string    `db:"lease_owner"`
		Actor     string    `db:"actor"`
		CreatedAt time.Time `db:"created_at"`
	}
	rows, err := collect[row](ctx, tx, tokenPostingSQL, struct {
		Player string `db:"player"`
		Limit  int    `db:"limit"`
	}{player, tokenRows})
	for _, p := range rows {
		h.Entries = append(h.Entries, TokenEntry{
			At: p.CreatedAt, Source: FromPostgreSQL, Event: TokenUsed, Token: p.Token,
			Owner: p.Owner, PlayerID: player, EventID: p.EventID, LedgerID: p.ID,
			Detail: fmt.Sprintf("posting %d: %d %s by %s", p.ID, p.Amount, p.Kind, p.Actor),
		})
	}
	h.Cut = h.Cut || len(rows) == tokenRows
	return err
}

func (h *TokenHistory) gatherRefusals(ctx context.Context, tx pgx.Tx) error {
	type row struct {
		ID         int64     `db:"id"`
		Outcome    string    `db:"outcome"`
		Token      int64     `db:"token"`
		Owner      string    `db:"owner"`
		PlayerID   string    `db:"player_id"`
		EventID    string    `db:"reward_event_id"`
		Kind       string    `db:"kind"`
		Amount     int64     `db:"amount"`
		FenceToken *int64    `db:"fence_token"`
		FenceOwner *string   `db:"fence_owner"`
		HaveKind   *string   `db:"have_kind"`
		HaveAmount *int64    `db:"have_amount"`
		CreatedAt  time.Time `db:"created_at"`
	}
	rows, err := collect[row](ctx, tx, tokenRefusalSQL, h.newest())
	for _, f := range rows {
		said := timelineRow{
			Outcome: f.Outcome, Token: f.Token, Owner: f.Owner, Kind: f.Kind, Amount: f.Amount,
			AcceptedToken: f.FenceToken, AcceptedOwner: f.FenceOwner, HaveKind: f.HaveKind,
			HaveAmount: f.HaveAmount,
		}
		h.Entries = append(h.Entries, TokenEntry{
			At: f.CreatedAt, Source: FromPostgreSQL, Event: TokenRefused, Token: f.Token,
			Owner: f.Owner, PlayerID: f.PlayerID, EventID: f.EventID, Outcome: f.Outcome,
			Detail: said.refusalSentence(),
		})
	}
	h.Cut = h.Cut || len(rows) == tokenRows
	return err
}

type newestArgs struct {
	Resource string `db:"resource"`
	Limit    int    `db:"limit"`
}

func (h *TokenHistory) newest() newestArgs { return newestArgs{h.Resource, tokenRows} }

// gatherDeeds reads what operators did to the resource: the intent of a release says what became
// of the token, its result what became of the lock.
func (h *TokenHistory) gatherDeeds(ctx context.Context, tx pgx.Tx) error {
	rows, err := collect[actionRow](ctx, tx, actionByTargetSQL, struct {
		Targets []string `db:"targets"`
		Limit   int      `db:"limit"`
	}{[]string{h.Resource}, tokenRows})
	for _, a := range rows {
		token, err := strconv.ParseInt(a.argument("token"), 10, 64)
		if err != nil {
			token = 0
		}
		entry := TokenEntry{
			At: a.CreatedAt, Source: FromPostgreSQL, Event: TokenOther, Token: token,
			Owner: a.argument("owner"), ActionID: a.ID,
			Detail: fmt.Sprintf("%s by %s: %s, because: %s", a.Action, a.Operator, a.Outcome,
				a.Reason),
		}
		if a.Outcome == "burned" {
			entry.Event = TokenBurned
		}
		h.Entries = append(h.Entries, entry)
	}
	h.Cut = h.Cut || len(rows) == tokenRows
	return err
}

// order sorts the entries: by time, then token, then the natural order of events.
func (h *TokenHistory) order() {
	rank := map[TokenEvent]int{
		TokenIssued: 0, TokenRenewed: 1, TokenUsed: 1, TokenRefused: 2, TokenBurned: 3, TokenFreed: 4,
		TokenReleased: 4, TokenAbandoned: 4, TokenExpired: 4, TokenOther: 5,
	}
	slices.SortStableFunc(h.Entries, func(a, b TokenEntry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token, b.Token),
			cmp.Compare(rank[a.Event], rank[b.Event]))
	})
}
