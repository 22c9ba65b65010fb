package inspect

import (
	"context"
	"errors"
	"fmt"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

const dueShown = 20

// String reads "2 pending, 1 processing".
func (c Claims) String() string {
	if c.Pending == 0 && c.Processing == 0 {
		return "none due"
	}
	s := fmt.Sprintf("%d pending, %d processing", c.Pending, c.Processing)
	if c.More {
		s += ", or more"
	}
	return s
}

// Lease tells everything about one resource: who holds it, the verdict, the fence, what is due and
// the last of its history. It returns a *NotFoundError when neither server knows the resource, and
// an error that wraps a *grant.BackendError when both are down.
func (r *Reader) Lease(ctx context.Context, resource string) (LeaseDetail, error) {
	d := LeaseDetail{Resource: resource}
	if resource == "" {
		return d, &grant.Rejection{
			Field: "resource", Problem: "is empty", WayOut: "name the resource",
		}
	}
	var redisErr error
	if d.Lease, redisErr = r.current(ctx, resource); redisErr == nil {
		redisErr = r.recent(ctx, &d)
	}
	databaseErr := r.read(ctx, "read the fence", func(ctx context.Context, tx pgx.Tx) error {
		return d.gather(ctx, tx)
	})
	switch {
	case redisErr != nil && databaseErr != nil:
		return LeaseDetail{}, errors.Join(redisErr, databaseErr)
	case redisErr != nil:
		d.Missing = append(d.Missing, Missing{grant.Redis, "lease and history", redisErr})
	case databaseErr != nil:
		d.Missing = append(d.Missing, Missing{grant.PostgreSQL, "fence and claims", databaseErr})
	}
	if d.Lease == nil && d.Fence == nil && d.Claims == nil && len(d.History) == 0 {
		if len(d.Missing) > 0 {
			return d, nil // the server that is down may know it
		}
		return LeaseDetail{}, &NotFoundError{What: "resource", Name: resource}
	}
	if d.Lease != nil {
		d.Lease.judge(r.opts.TTL, d.Fence, databaseErr == nil)
		if d.Claims != nil {
			d.Lease.addClaims(*d.Claims)
		}
		if len(d.History) > 0 {
			last := d.History[0]
			d.Lease.Verdict.Evidence = append(d.Lease.Verdict.Evidence, Evidence{
				"history", fmt.Sprintf("last: token %d %s at %s", last.Token, last.Event,
					clock(last.At)),
			})
		}
	}
	return d, nil
}

// recent reads the resource's history from Redis, newest first.
func (r *Reader) recent(ctx context.Context, d *LeaseDetail) error {
	return r.redis(ctx, "read the history", func(ctx context.Context) error {
		events, err := r.store.History(ctx, d.Resource)
		for _, e := range events {
			d.History = append(d.History, eventEntry(e))
		}
		return err
	})
}

func (d *LeaseDetail) gather(ctx context.Context, tx pgx.Tx) error {
	var err error
	if d.Fence, err = fenceOf(ctx, tx, d.Resource); err != nil {
		return err
	}
	player, ok := playerOf(d.Resource)
	if !ok {
		return nil
	}
	due, err := claimsDue(ctx, tx, []string{player})
	if err != nil {
		return err
	}
	if claims, ok := due[player]; ok || d.Fence != nil || d.Lease != nil {
		d.Claims = &claims
	}
	rows, err := collect[claimRow](ctx, tx, claimListSQL, struct {
		Player string `db:"player"`
		Limit  int    `db:"limit"`
	}{player, dueShown})
	for _, row := range rows {
		d.Due = append(d.Due, row.claim())
	}
	return err
}
