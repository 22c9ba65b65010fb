package repair

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
)

// recentWithin is how far back a grant by hand looks for its like.
const recentWithin = 7 * 24 * time.Hour

// warnOfLike adds a warning when the player received the same amount of the same kind lately, for
// another event: the unique key does not stop a second compensation under another name.
func (o *Operator) warnOfLike(ctx context.Context, p *GrantPreview) error {
	if p.Then != grant.Applied {
		return nil
	}
	type like struct {
		ID    int64         `db:"id"`
		Event string        `db:"event"`
		Actor string        `db:"actor"`
		Ago   time.Duration `db:"ago"`
	}
	err := o.read(ctx, "look for the like", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[like](ctx, tx, grantRecentSQL, struct {
			Player string        `db:"player"`
			Kind   string        `db:"kind"`
			Amount int64         `db:"amount"`
			Event  string        `db:"event"`
			Within time.Duration `db:"within"`
		}{p.Request.PlayerID, p.Request.Kind, p.Request.Amount, p.Request.EventID, recentWithin})
		for _, r := range rows {
			words := fmt.Sprintf("the player received the same, %d %s, %s ago for %s", p.Request.Amount,
				p.Request.Kind, roughly(r.Ago), r.Event)
			if r.Actor != "" {
				words += ", by " + r.Actor
			}
			p.Warnings = append(p.Warnings, words)
		}
		return err
	})
	return err
}

// roughly says how long something is, in the largest unit that tells enough.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 2*time.Hour:
		return plural(int(d.Minutes()), "minute")
	case d < 2*day:
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d/day), "day")
}
