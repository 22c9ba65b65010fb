package inspect

import (
	"context"
	_ "embed"
	"strconv"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// RefusedWrite is a write that the fence refused, so that nothing was paid.
type RefusedWrite struct {
	ID int64 // of the refusal
	At time.Time
	// Outcome is grant.StaleToken for a holder that wrote after a higher token had been accepted,
	// and grant.TokenCollision for one whose token another owner had, too, or which was burned.
	Outcome  grant.Outcome
	Resource string
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64
	Actor    string
	Token    int64  // that it wrote under
	Owner    string // who wrote

	FenceToken int64  // what was accepted before; 0 when that was not written down
	FenceOwner string // of whom
}

// Burned reports whether an operator had ended the right of the token's holder to write.
func (w RefusedWrite) Burned() bool { return grant.Burned(w.FenceOwner) }

// Twice reports whether two owners had the token: Redis had lost its counter.
func (w RefusedWrite) Twice() bool { return w.Outcome == grant.TokenCollision && !w.Burned() }

// RefusedQuery selects writes that the fence refused.
type RefusedQuery struct {
	Since time.Time // at or after; zero for no bound
	Until time.Time // before; zero for no bound
	Limit int       // rows; default 100, at most 1000
}

// RefusedPage is the newest of them.
type RefusedPage struct {
	Rows []RefusedWrite // newest first
	More bool           // there are older ones that are not listed
}

//go:embed sql/refused_list.sql
var refusedListSQL string

type refusedRow struct {
	ID         int64     `db:"id"`
	Outcome    string    `db:"outcome"`
	Resource   string    `db:"resource"`
	Token      int64     `db:"token"`
	Owner      string    `db:"owner"`
	PlayerID   string    `db:"player_id"`
	EventID    string    `db:"reward_event_id"`
	Kind       string    `db:"kind"`
	Amount     int64     `db:"amount"`
	Actor      string    `db:"actor"`
	FenceToken *int64    `db:"fence_token"`
	FenceOwner *string   `db:"fence_owner"`
	CreatedAt  time.Time `db:"created_at"`
}

// Refused lists the writes that the fence refused, of all resources. It returns a *grant.Rejection
// for a query that makes no sense and a *grant.BackendError when PostgreSQL could not be asked.
func (r *Reader) Refused(ctx context.Context, q RefusedQuery) (RefusedPage, error) {
	if q.Limit == 0 {
		q.Limit = pageDefault
	}
	if q.Limit < 1 || q.Limit > pageMax {
		return RefusedPage{}, &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(q.Limit), Problem: "is out of range",
			WayOut: "give 1 to " + strconv.Itoa(pageMax),
		}
	}
	var page RefusedPage
	const op = "list what the fence refused"
	err := r.read(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[refusedRow](ctx, tx, refusedListSQL, struct {
			Since *time.Time `db:"since"`
			Until *time.Time `db:"until"`
			Limit int        `db:"limit"`
		}{moment(q.Since), moment(q.Until), q.Limit + 1})
		if page.More = len(rows) > q.Limit; page.More {
			rows = rows[:q.Limit]
		}
		for _, row := range rows {
			page.Rows = append(page.Rows, row.write())
		}
		return err
	})
	return page, err
}

func (r refusedRow) write() RefusedWrite {
	outcome, _ := grant.ParseOutcome(r.Outcome) // the statement selects two that there are
	return RefusedWrite{
		ID: r.ID, At: r.CreatedAt, Outcome: outcome, Resource: r.Resource, PlayerID: r.PlayerID,
		EventID: r.EventID, Kind: r.Kind, Amount: r.Amount, Actor: r.Actor, Token: r.Token,
		Owner: r.Owner, FenceToken: value(r.FenceToken), FenceOwner: value(r.FenceOwner),
	}
}
