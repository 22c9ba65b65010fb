package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

type fenceRow struct {
	Token int64  `db:"last_token"`
	Owner string `db:"last_owner"`
}

type resourceArgs struct {
	Resource string `db:"resource"`
}

func fenceIn(ctx context.Context, tx pgx.Tx, sql, resource string) (*grant.Fence, error) {
	row, err := first(collect[fenceRow](ctx, tx, sql, resourceArgs{resource}))
	if row == nil {
		return nil, err
	}
	return &grant.Fence{Resource: resource, Token: row.Token, Owner: row.Owner}, nil
}

// fence reads a fence; nil means that no token was accepted.
func (o *Operator) fence(ctx context.Context, resource string) (*grant.Fence, error) {
	var fence *grant.Fence
	err := o.read(ctx, "read the fence", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		fence, err = fenceIn(ctx, tx, fenceReadSQL, resource)
		return err
	})
	return fence, err
}

// burning tells what a burn of the token finds.
func burning(fence *grant.Fence, token int64) Burning {
	switch {
	case fence == nil || fence.Token < token:
		return Burned
	case fence.Token > token:
		return FenceAbove
	case grant.Burned(fence.Owner):
		return AlreadyBurned
	}
	return Burned
}

// burn ends the right of the token's holder to write, together with the intent row, in one
// transaction. A foreign lock has no token; its intent row is all there is.
func (o *Operator) burn(ctx context.Context, req ReleaseRequest, rel *Release) error {
	got := *rel
	err := o.write(ctx, "burn the token", func(ctx context.Context, tx pgx.Tx) error {
		if !req.foreign() {
			if err := o.raise(ctx, tx, req, &got); err != nil {
				return err
			}
		}
		observed := rel.Seen.observed()
		if got.FenceBefore != nil {
			observed["fence_token"] = strconv.FormatInt(got.FenceBefore.Token, 10)
			observed["fence_owner"] = got.FenceBefore.Owner
		}
		row, err := o.log(ctx, tx, entry{
			action: req, phase: phaseIntent, arguments: req.arguments(), observed: observed,
			reason: req.Reason, outcome: string(got.Burning),
		})
		got.IntentID, got.At = row.ID, row.At
		return err
	})
	if err != nil {
		return o.busy(ctx, req.Resource, err)
	}
	*rel = got
	return nil
}

// raise raises the fence to exactly the token. The lock of the fence row is taken first: after it
// no grant of the holder is in flight any more.
func (o *Operator) raise(
	ctx context.Context, tx pgx.Tx, req ReleaseRequest, rel *Release,
) error {
	var err error
	if rel.FenceBefore, err = fenceIn(ctx, tx, fenceLockSQL, req.Resource); err != nil {
		return err
	}
	raised, err := first(collect[fenceRow](ctx, tx, fenceBurnSQL, struct {
		Resource  string `db:"resource"`
		Token     int64  `db:"token"`
		Tombstone string `db:"tombstone"`
		Prefix    string `db:"prefix"`
	}{req.Resource, req.Token, grant.BurnOwner(o.opts.NewID()), grant.BurnOwner("")}))
	if err != nil {
		return err
	}
	if raised != nil {
		rel.Burning = Burned
		rel.FenceAfter = &grant.Fence{
			Resource: req.Resource, Token: raised.Token, Owner: raised.Owner,
		}
		return nil
	}
	if rel.FenceAfter, err = fenceIn(ctx, tx, fenceReadSQL, req.Resource); err != nil {
		return err
	}
	rel.Burning = burning(rel.FenceAfter, req.Token)
	return nil
}

// busy names the session that blocks, when the wait for the fence was given up.
func (o *Operator) busy(ctx context.Context, resource string, err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != lockNotAvailable {
		return err
	}
	busy := &BusyError{Resource: resource, Waited: o.opts.LockTimeout}
	type row struct {
		PID     int    `db:"pid"`
		Session string `db:"session"`
	}
	// When the session cannot be seen, the error says so by leaving it out.
	_ = o.read(ctx, "find who blocks", func(ctx context.Context, tx pgx.Tx) error {
		found, err := first(collect[row](ctx, tx, fenceBlockerSQL, resourceArgs{resource}))
		if found != nil {
			busy.PID, busy.Session = found.PID, found.Session
		}
		return err
	})
	return busy
}

// rehearse tells what a release would do.
func (o *Operator) rehearse(
	ctx context.Context, req ReleaseRequest, rel Release,
) (Release, error) {
	rel.Freeing = WouldRelease
	if !rel.Seen.there() {
		rel.Freeing = AlreadyGone
	}
	if req.foreign() {
		rel.Note = "A foreign lock has no token: its holder could go on writing elsewhere."
		return rel, nil
	}
	fence, err := o.fence(ctx, req.Resource)
	if err != nil {
		return rel, err
	}
	rel.FenceBefore, rel.FenceAfter = fence, fence
	if rel.Burning = burning(fence, req.Token); rel.Burning == Burned {
		rel.Burning = WouldBurn
		rel.FenceAfter = &grant.Fence{
			Resource: req.Resource, Token: req.Token, Owner: grant.BurnOwner("..."),
		}
	}
	rel.Note = rel.sentence(req)
	return rel, nil
}

// free compares and deletes the lock, and writes the result row.
func (o *Operator) free(ctx context.Context, req ReleaseRequest, rel Release) (Release, error) {
	bounded, cancel := o.bound(ctx)
	freed, err := o.store.ReleaseExact(bounded, req.Resource, req.Value)
	cancel()
	var changed *PreconditionError
	outcome := ""
	switch {
	case err != nil:
		outcome = "not_released: Redis did not do it"
		var broken *grant.BackendError
		if errors.As(err, &broken) && broken.Doubt {
			outcome = "unknown: Redis did not answer, the lock may be gone"
		}
	case freed.Answer == lease.Released:
		rel.Freeing = Released
	case freed.Answer == lease.Gone:
		rel.Freeing = AlreadyGone
	case freed.Answer == lease.Changed:
		outcome = "not_released: another holder took it"
		changed = &PreconditionError{
			Resource: req.Resource, Have: freed.Now, Want: req.Value, DenialID: rel.IntentID,
			WayOut: "it changed hands after the old token was burned; the new holder was left alone",
		}
		changed.Now, _ = o.look(ctx, req.Resource) // Have says it already
	}
	if outcome == "" {
		outcome = string(rel.Freeing)
	}
	row, logErr := o.logAlone(ctx, entry{
		action: req, phase: phaseResult, intent: rel.IntentID,
		arguments: req.arguments(), reason: req.Reason, outcome: outcome,
	})
	rel.ResultID = row.ID
	if logErr != nil {
		rel.LogProblem = logErr.Error()
	}
	rel.Note = rel.sentence(req)
	switch {
	case err != nil:
		return rel, fmt.Errorf("the lock is not known to be gone, the token's holder cannot write; "+
			"run the release again: %w", err)
	case changed != nil:
		return rel, changed
	}
	return rel, nil
}

// sentence says in words what happened, or would happen.
func (r Release) sentence(req ReleaseRequest) string {
	var lock, token string
	switch r.Freeing {
	case Released:
		lock = "The lock is gone."
	case AlreadyGone:
		lock = "The lock was gone already."
	case WouldRelease:
		lock = "The lock would be deleted if it still holds exactly this value."
	case NotReleased:
		lock = "The lock was left alone."
	}
	switch r.Burning {
	case Burned:
		token = fmt.Sprintf("Token %d is burned: whoever held it can never write again.", req.Token)
	case AlreadyBurned:
		token = fmt.Sprintf("Token %d was burned before.", req.Token)
	case FenceAbove:
		token = fmt.Sprintf("The fence is at %d, above token %d: its holder could not write anyway.",
			r.FenceAfter.Token, req.Token)
	case WouldBurn:
		token = fmt.Sprintf("Token %d would be burned first: its holder could never write again.",
			req.Token)
	case NotBurned:
		token = "No token was burned: the lock is not a lease of ours."
	}
	return token + " " + lock
}
