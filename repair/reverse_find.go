package repair

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// reverseMax is how many postings one selection may hold: it is kept in memory, so that exactly
// what was counted is changed.
const reverseMax = 1_000_000

// NotFoundError says that what a deed is about does not exist.
type NotFoundError struct {
	What string // such as "posting" or "plan"
	Name string
}

// Error reads "there is no posting 4711".
func (e *NotFoundError) Error() string { return "there is no " + e.What + " " + e.Name }

type reverseRow struct {
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
	Parts     int       `db:"parts"`
	Back      int64     `db:"back"`
	Balance   int64     `db:"balance"`
}

func (r reverseRow) item() ReverseItem {
	return ReverseItem{
		Posting: grant.Posting{
			ID: r.ID, PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind, Amount: r.Amount,
			Token: r.Token, Owner: r.Owner, Actor: r.Actor, Reason: r.Reason, At: r.CreatedAt,
		},
		Reverses: value(r.Reverses), Parts: r.Parts, Back: r.Back,
		Left: max(r.Amount-r.Back, 0), BalanceBefore: r.Balance,
	}
}

type reverseIDs struct {
	IDs []int64 `db:"ids"`
}

// PreviewReverse says what a request would take back, and freezes it: run the answer with Reverse.
// It changes nothing. It returns a *grant.Rejection for a request that selects nothing or too
// much, a *NotFoundError when the posting, plan or finding does not exist, a *PreconditionError
// when Request.Set is given and the selection is another one by now, and a *grant.BackendError.
func (o *Operator) PreviewReverse(
	ctx context.Context, req ReverseRequest,
) (ReversePreview, error) {
	req, err := req.ready()
	p := ReversePreview{Request: req, At: o.opts.Now()}
	if err != nil {
		return p, err
	}
	err = o.readLong(ctx, "find the postings", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		p.Items, p.Warnings, err = o.selected(ctx, tx, req)
		return err
	})
	if err != nil {
		return p, err
	}
	if len(p.Items) > reverseMax {
		return p, &grant.Rejection{
			Field: "filter", Value: req.Target(),
			Problem: fmt.Sprintf("selects more than %d postings", reverseMax),
			WayOut:  "narrow it down, and take the rest back afterwards",
		}
	}
	if one := p.Items; req.single() && one[0].Reverses == 0 && req.Amount > one[0].Posting.Amount {
		return p, &grant.Rejection{
			Field: "amount", Value: strconv.FormatInt(req.Amount, 10),
			Problem: fmt.Sprintf("is more than the %d that were posted", one[0].Posting.Amount),
			WayOut:  "take back at most what was posted",
		}
	}
	p.freeze(o.opts.Operator)
	if req.Set != "" && req.Set != p.Set {
		return p, o.denySet(ctx, p)
	}
	return p, nil
}

// readLong is read without a bound of its own: a filter may have to look through the whole ledger,
// and whoever asked can stop it.
func (o *Operator) readLong(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx) error,
) error {
	var answer error
	err := pgx.BeginTxFunc(ctx, o.pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) error {
		err := fn(ctx, tx)
		switch err.(type) {
		case *grant.Rejection, *NotFoundError:
			answer = err
			return nil
		}
		return err
	})
	if err != nil {
		return &grant.BackendError{
			Backend: grant.PostgreSQL, Op: op, Err: grant.Answered(o.pool, err),
		}
	}
	return answer
}

// selected reads the postings of a selection, in the order in which they will be taken back.
func (o *Operator) selected(
	ctx context.Context, tx pgx.Tx, req ReverseRequest,
) (items []ReverseItem, warnings []string, err error) {
	var rows []reverseRow
	switch {
	case req.LedgerID != 0:
		rows, err = collect[reverseRow](ctx, tx, reverseByIDSQL, reverseIDs{[]int64{req.LedgerID}})
		if err == nil && len(rows) == 0 {
			err = &NotFoundError{"posting", strconv.FormatInt(req.LedgerID, 10)}
		}
	case req.Plan != 0:
		rows, err = planPostings(ctx, tx, req.Plan)
	case req.Finding != 0:
		return findingPostings(ctx, tx, req.Finding)
	default:
		rows, err = filterPostings(ctx, tx, req.ReverseSelection)
	}
	if err != nil {
		return nil, nil, err
	}
	items = make([]ReverseItem, len(rows))
	for i, row := range rows {
		items[i] = row.item()
	}
	return items, nil, nil
}

func planPostings(ctx context.Context, tx pgx.Tx, plan int64) ([]reverseRow, error) {
	type planRow struct {
		Campaign string `db:"campaign"`
		State    string `db:"state"`
	}
	known, err := first(collect[planRow](ctx, tx, planKnownSQL, struct {
		Plan int64 `db:"plan"`
	}{plan}))
	if err != nil {
		return nil, err
	}
	if known == nil {
		return nil, &NotFoundError{"plan", strconv.FormatInt(plan, 10)}
	}
	return collect[reverseRow](ctx, tx, reverseByPlanSQL, struct {
		Plan  int64 `db:"plan"`
		Limit int64 `db:"limit"`
	}{plan, reverseMax + 1})
}

func filterPostings(
	ctx context.Context, tx pgx.Tx, s ReverseSelection,
) ([]reverseRow, error) {
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	campaign := ""
	if s.Campaign != "" {
		campaign = grant.CampaignPrefix(s.Campaign)
	}
	return collect[reverseRow](ctx, tx, reverseByFilterSQL, struct {
		Player   string     `db:"player"`
		Event    string     `db:"event"`
		Campaign string     `db:"campaign"`
		Kind     string     `db:"kind"`
		Actor    string     `db:"actor"`
		From     *time.Time `db:"from"`
		Until    *time.Time `db:"until"`
		Limit    int64      `db:"limit"`
	}{
		s.PlayerID, s.EventID, campaign, s.Kind, s.Actor, moment(s.From), moment(s.Until),
		reverseMax + 1,
	})
}

// digest names the selection: which postings, which parts, how much is asked of each. Balances are
// no part of it: they move all the time, and each item is checked when it is run.
func (p *ReversePreview) digest() string {
	sum := sha256.New()
	for _, item := range p.Items {
		r := item.reversal
		fmt.Fprintf(sum, "%d %d %d %s\n", item.Posting.ID, r.Part, item.Asked, r.Policy)
	}
	const bytes = 6
	return hex.EncodeToString(sum.Sum(nil)[:bytes])
}

// denySet refuses a selection that is not the one that was seen, and records the refusal.
func (o *Operator) denySet(ctx context.Context, p ReversePreview) error {
	refusal := &PreconditionError{
		Resource: "the selection (" + p.Request.Target() + ")",
		Have:     fmt.Sprintf("%d postings, set %s", len(p.Items), p.Set),
		Want:     "set " + p.Request.Set, WayOut: "look at it again with --dry-run",
	}
	if p.Request.DryRun {
		return refusal
	}
	row, err := o.logAlone(ctx, entry{
		action: p.Request, phase: phaseDenied, arguments: p.arguments(),
		observed: map[string]string{"set": p.Set, "postings": strconv.Itoa(len(p.Items))},
		reason:   p.Request.Reason, outcome: "denied: the selection has changed",
	})
	refusal.DenialID = row.ID
	if err != nil {
		refusal.LogProblem = err.Error()
	}
	return refusal
}
