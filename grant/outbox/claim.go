package outbox

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
)

// row is one claimed outbox row.
type row struct {
	id       int64
	claim    string
	attempts int // made before
	strikes  int
	doubt    bool // an earlier attempt may have arrived
	until    time.Time
	message  grant.Message
}

// claimed is the answer of one claim.
type claimed struct {
	rows  []row
	place string        // the player at whom the look ended; empty when it did not move
	ended bool          // all players from the beginning of the look on were looked at
	due   time.Duration // until a retry or an expiry is due; 0 when none is
}

const lookPerRow, lookMore = 4, 400 // players looked at for each row that is asked for, and more

// claim asks for at most n rows, from the cursor on.
func (r *Relay) claim(ctx context.Context, n int) (claimed, error) {
	retries := (n + 1) / 2
	if n == 1 { // fresh rows and retries take turns
		r.turn = !r.turn
		if retries = 0; r.turn {
			retries = 1
		}
	}
	began := r.opts.Now()
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	found, err := r.pool.Query(ctx, claimSQL, r.opts.Name, r.opts.ClaimFor, n, retries,
		lookPerRow*n+lookMore, r.after, r.opts.Policy == PolicyPass)
	if err != nil {
		return claimed{}, err
	}
	var out claimed
	for found.Next() {
		one, ok, err := scanRow(found, &out)
		if err != nil {
			found.Close()
			return claimed{}, err
		}
		if !ok {
			continue
		}
		one.until = began.Add(r.opts.trusted())
		one.message.Source = r.opts.Source
		out.rows = append(out.rows, one)
	}
	if err := found.Err(); err != nil {
		return claimed{}, err
	}
	r.move(out)
	return out, nil
}

// move sets the cursor behind the players that were looked at.
func (r *Relay) move(c claimed) {
	switch {
	case c.ended:
		r.after = ""
	case c.place != "":
		r.after = c.place
	}
}

// scanRow reads one row of the answer; it is not ok when nothing was claimed.
func scanRow(found pgx.Rows, out *claimed) (one row, ok bool, err error) {
	var (
		place, claim, player, event, kind, reverses *string

		due, id, amount, token, reversed *int64

		attempts, strikes *int
		doubt             *bool
		at                *time.Time
	)
	err = found.Scan(&place, &out.ended, &due, &id, &claim, &attempts, &strikes, &doubt, &player,
		&event, &kind, &amount, &token, &at, &reversed, &reverses)
	if err != nil {
		return one, false, err
	}
	out.place = value(place)
	out.due = time.Duration(value(due)) * time.Millisecond
	if id == nil {
		return one, false, nil
	}
	return row{
		id: *id, claim: value(claim), attempts: value(attempts), strikes: value(strikes),
		doubt: value(doubt),
		message: grant.Message{
			PlayerID: value(player), EventID: value(event), Kind: value(kind),
			Amount: value(amount), Token: value(token), LedgerID: *id, At: value(at),
			Reverses: value(reverses),
		},
	}, true, nil
}

// value returns what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
