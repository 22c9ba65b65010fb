package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

// GrantPreview says what a grant would do now. It is a read: nothing is held or written.
type GrantPreview struct {
	Request grant.Request
	// Result is the predicted answer, with the same details as a real one. Its LedgerID is set
	// only for a posting that exists.
	Result grant.Result
	// Then is the outcome once the lease is free: the same as Result.Outcome unless that is
	// lease_held.
	Then grant.Outcome
	// BalanceBefore and BalanceAfter are the player's balance of the kind. They are equal unless
	// Then is applied. Within one call earlier grants to the same player count.
	BalanceBefore int64
	BalanceAfter  int64
	ClaimStatus   string       // "pending", "processing", "applied"; empty without a claim
	Fence         *grant.Fence // nil when no token was accepted for the resource
	// Holder is who holds the lease now; the engine would wait a little and then answer
	// lease_held. Nil when nobody does, and where holders were not looked up.
	Holder *grant.Holder
	// Warnings are remarks that do not stop the grant, such as an event id that looks random.
	Warnings []string
	Note     string // one sentence for people: what would happen
}

const (
	// previewMax is how many grants one query previews.
	previewMax = 1000
	// holdersMax is how many resources are looked up in Redis for one preview. A large file runs
	// long after its preview, so who holds a lease now says nothing about it.
	holdersMax = 20
)

// PreviewGrant says what one grant would do now. It returns a *grant.BackendError when PostgreSQL
// could not be asked. A Redis that cannot be asked is a warning: the engine could not grant.
func (o *Operator) PreviewGrant(ctx context.Context, req grant.Request) (GrantPreview, error) {
	previews, err := o.Previews(ctx, []grant.Request{req})
	if err != nil {
		return GrantPreview{}, err
	}
	err = o.warnOfLike(ctx, &previews[0])
	return previews[0], err
}

// Preview is Previews reduced to the predicted results, in order.
func (o *Operator) Preview(ctx context.Context, reqs []grant.Request) ([]grant.Result, error) {
	previews, err := o.Previews(ctx, reqs)
	if err != nil {
		return nil, err
	}
	results := make([]grant.Result, len(previews))
	for i, p := range previews {
		results[i] = p.Result
	}
	return results, nil
}

// Previews says what each grant would do now, in order, as if they were granted one after the
// other: a key that is named twice is answered as the engine would. Holders of leases are looked
// up for at most 20 resources, and not at all when the requests name more.
func (o *Operator) Previews(ctx context.Context, reqs []grant.Request) ([]GrantPreview, error) {
	previews := make([]GrantPreview, len(reqs))
	for i, req := range reqs {
		req = o.signed(req)
		previews[i] = GrantPreview{Request: req, Result: blank(req)}
		if problem := grant.Validate(req, o.opts.Limits); problem != nil {
			previews[i].Result = rejected(req, problem)
		}
	}
	if err := o.rejectStrangers(ctx, previews); err != nil {
		return nil, err
	}
	settle(previews)
	holders, warning := o.holders(ctx, previews)
	for start := 0; start < len(previews); start += previewMax {
		part := previews[start:min(start+previewMax, len(previews))]
		if err := o.lookUp(ctx, part); err != nil {
			return nil, err
		}
	}
	run := newRehearsal(previews)
	for i := range previews {
		p := &previews[i]
		p.Holder = holders[p.Result.Resource]
		run.predict(p)
		p.Warnings = append(p.Warnings, eventWarnings(p.Request)...)
		if warning != "" {
			p.Warnings = append(p.Warnings, warning)
		}
		p.Note = p.sentence()
	}
	return previews, nil
}

// settle rejects the keys that the requests give differing content, as the engine does.
func settle(previews []GrantPreview) {
	first := make(map[rewardKey]*GrantPreview, len(previews))
	clash := make(map[rewardKey]*GrantPreview)
	for i := range previews {
		p := &previews[i]
		if p.Result.Rejected != nil {
			continue
		}
		earlier, seen := first[p.key()]
		switch {
		case !seen:
			first[p.key()] = p
		case earlier.Request.Kind != p.Request.Kind || earlier.Request.Amount != p.Request.Amount:
			clash[p.key()] = p
		}
	}
	for i := range previews {
		p := &previews[i]
		other, bad := clash[p.key()]
		if !bad || p.Result.Rejected != nil {
			continue
		}
		if first[p.key()] != p {
			other = first[p.key()]
		}
		where := "another item of this batch"
		if other.Request.Line > 0 {
			where = "line " + strconv.Itoa(other.Request.Line)
		}
		p.Result = rejected(p.Request, &grant.Rejection{
			Field: "reward_event_id", Value: p.Request.EventID,
			Problem: where + " gives the same player and event other content",
			WayOut:  "keep one of them, or give them different event ids",
		})
		p.Result.Differs = grant.Differences(other.Request.Kind, other.Request.Amount, p.Request)
	}
}

type rewardKey struct{ player, event string }

func (p *GrantPreview) key() rewardKey { return rewardKey{p.Request.PlayerID, p.Request.EventID} }

// holders looks up who holds the leases, for a few resources.
func (o *Operator) holders(
	ctx context.Context, previews []GrantPreview,
) (map[string]*grant.Holder, string) {
	holders := make(map[string]*grant.Holder)
	for _, p := range previews {
		if p.Request.Held == nil && p.Result.Rejected == nil {
			holders[p.Result.Resource] = nil
		}
	}
	if len(holders) > holdersMax {
		return nil, ""
	}
	ctx, cancel := o.bound(ctx)
	defer cancel()
	for resource := range holders {
		e, err := o.store.Show(ctx, resource)
		if errors.Is(err, lease.ErrNoLease) {
			continue
		}
		if err != nil {
			return nil, "Redis could not be asked, so no lease could be taken now: " + err.Error()
		}
		h := &grant.Holder{
			Resource: resource, Owner: e.Owner, Token: e.Token, Left: e.Left,
			Foreign: e.Foreign != "",
		}
		if h.Foreign {
			h.Owner = e.Value
		}
		if e.NoExpiry {
			h.Left = -time.Millisecond
		}
		holders[resource] = h
	}
	return holders, ""
}

// lookUp reads what decides the outcomes, in one query.
func (o *Operator) lookUp(ctx context.Context, previews []GrantPreview) error {
	args := struct {
		Players   []string `db:"players"`
		Events    []string `db:"events"`
		Kinds     []string `db:"kinds"`
		Resources []string `db:"resources"`
	}{}
	var asked []*GrantPreview
	for i := range previews {
		p := &previews[i]
		if p.Result.Rejected != nil {
			continue // its texts may be such that PostgreSQL cannot take them
		}
		asked = append(asked, p)
		args.Players = append(args.Players, p.Request.PlayerID)
		args.Events = append(args.Events, p.Request.EventID)
		args.Kinds = append(args.Kinds, p.Request.Kind)
		args.Resources = append(args.Resources, p.Result.Resource)
	}
	if len(asked) == 0 {
		return nil
	}
	return o.read(ctx, "preview", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[previewRow](ctx, tx, grantPreviewSQL, args)
		if err != nil {
			return err
		}
		if len(rows) != len(asked) {
			return fmt.Errorf("repair: %d previews answered for %d grants", len(rows), len(asked))
		}
		for i, row := range rows {
			asked[i].found(row)
		}
		return nil
	})
}

// eventWarnings remarks on an event id that a retry would change.
func eventWarnings(req grant.Request) []string {
	id := req.EventID
	if req.PlayerID != "" {
		id = strings.ReplaceAll(id, req.PlayerID, "") // a player's own id may well be a UUID
	}
	form, random := grant.LooksRandom(id)
	if !random {
		return nil
	}
	return []string{fmt.Sprintf("the event id looks like a %s: if it is made anew on every try, "+
		"a retry pays again; build it from meaning", form)}
}
