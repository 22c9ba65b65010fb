package repair

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// PlanPreview is what a plan would do if it ran at the moment At. Sums beyond the range of an
// int64 are given as the highest int64.
type PlanPreview struct {
	At           time.Time      `json:"at"`
	Due          int64          `json:"due"` // rows that go to the engine
	Fresh        int64          `json:"fresh"`
	Granted      int64          `json:"granted"`    // posted already with the same content
	Mismatches   int64          `json:"mismatches"` // posted or claimed with other content
	Players      int64          `json:"players"`
	PlayersTwice int64          `json:"players_twice"` // players that more than one row names
	Kinds        []PlanKind     `json:"kinds"`
	Top          []PlanPurse    `json:"top"` // those who would receive most
	Odd          []PlanMismatch `json:"odd"` // the first mismatches
	Over         []OverLimit    `json:"over"`
	Limits       PlanLimits     `json:"limits"` // those that Over was judged by
}

// PlanKind sums up the rows of one kind. Balances are those of the players that the plan names.
type PlanKind struct {
	Kind        string `json:"kind"`
	Rows        int64  `json:"rows"`
	Total       int64  `json:"total"`
	Largest     int64  `json:"largest"` // the largest single amount
	LargestLine int64  `json:"largest_line"`
	Players     int64  `json:"players"`

	BalanceBefore int64  `json:"balance_before"` // their sum now
	BalanceAfter  int64  `json:"balance_after"`  // their sum when the plan has run
	HighestAfter  int64  `json:"highest_after"`  // the highest single balance then
	Overflows     int64  `json:"overflows"`      // players whose balance could not hold it
	Digest        string `json:"digest"`         // changes with any of these balances

	OverAmount int64 `json:"over_amount"` // rows over the limit per grant
	OverDay    int64 `json:"over_day"`    // players over the limit per day
	HighestDay int64 `json:"highest_day"` // the most that one player would get within 24 hours
}

// PlanPurse is what one player would receive of one kind.
type PlanPurse struct {
	PlayerID string `json:"player_id"`
	Kind     string `json:"kind"`
	Plus     int64  `json:"plus"`
	Before   int64  `json:"before"` // the balance now
	After    int64  `json:"after"`
}

// PlanMismatch is a row whose id is posted or claimed with other content: it will be refused.
type PlanMismatch struct {
	Line       int64  `json:"line"`
	PlayerID   string `json:"player_id"`
	EventID    string `json:"event_id"`
	Kind       string `json:"kind"`
	Amount     int64  `json:"amount"`
	HaveKind   string `json:"have_kind"`
	HaveAmount int64  `json:"have_amount"`
	LedgerID   int64  `json:"ledger_id"` // 0 for a claim that is not posted
}

// planSamples is how many players and mismatches a preview names.
const planSamples = 10

// previewIn computes the preview inside a transaction.
func (o *Operator) previewIn(ctx context.Context, tx pgx.Tx, id int64) (PlanPreview, error) {
	limits, err := o.planLimits(ctx, tx)
	if err != nil {
		return PlanPreview{}, err
	}
	row, err := first(collect[struct {
		Preview PlanPreview `db:"preview"`
	}](ctx, tx, planPreviewSQL, struct {
		Plan      int64 `db:"plan"`
		Amount    int64 `db:"amount"`
		PlayerDay int64 `db:"player_day"`
		Samples   int   `db:"samples"`
	}{id, limits.Amount, limits.PlayerDay, planSamples}))
	if err != nil {
		return PlanPreview{}, err
	}
	p := value(row).Preview
	p.Limits = limits
	p.Over = limits.over(&p)
	return p, nil
}

// PreviewPlan tells what a plan would do now. Of a plan that has begun it tells what is left to
// do: what it granted counts as granted. The error is a *PlanNotFoundError or a
// *grant.BackendError.
func (o *Operator) PreviewPlan(ctx context.Context, id int64) (Plan, PlanPreview, error) {
	var plan *Plan
	var preview PlanPreview
	err := o.readAll(ctx, "preview the plan", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		if plan, err = planIn(ctx, tx, id); err != nil || plan == nil {
			return err
		}
		preview, err = o.previewIn(ctx, tx, id)
		return err
	})
	if err == nil && plan == nil {
		err = &PlanNotFoundError{id}
	}
	return value(plan), preview, err
}

// Drift is one thing that is not as it was when a plan was previewed.
type Drift struct {
	What string // such as "already granted"
	Was  string
	Is   string
}

// String reads "already granted: 0, now 12".
func (d Drift) String() string { return fmt.Sprintf("%s: %s, now %s", d.What, d.Was, d.Is) }

// DriftFrom tells what has changed since an earlier preview of the same plan: rows granted
// elsewhere, mismatches and balances. Being over a limit now asks for approval instead.
func (p *PlanPreview) DriftFrom(was *PlanPreview) []Drift {
	var drift []Drift
	note := func(what, was, is string) {
		if was != is {
			drift = append(drift, Drift{what, was, is})
		}
	}
	note("already granted", plural(int(was.Granted), "row"), plural(int(p.Granted), "row"))
	note("other content under the same id", plural(int(was.Mismatches), "row"),
		plural(int(p.Mismatches), "row"))
	before := make(map[string]PlanKind, len(was.Kinds))
	for _, k := range was.Kinds {
		before[k.Kind] = k
	}
	for _, k := range p.Kinds {
		old := before[k.Kind]
		if old.BalanceBefore != k.BalanceBefore {
			note("balances of "+k.Kind, fmt.Sprintf("%d in all", old.BalanceBefore),
				fmt.Sprintf("%d in all", k.BalanceBefore))
		} else if old.Digest != k.Digest {
			note("balances of "+k.Kind, "as they were", "some higher, some lower")
		}
		note("balances of "+k.Kind+" that would overflow", fmt.Sprint(old.Overflows),
			fmt.Sprint(k.Overflows))
	}
	return drift
}
