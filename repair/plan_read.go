package repair

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// planRecord is one row of plan_get.sql.
type planRecord struct {
	ID            int64          `db:"plan_id"`
	State         string         `db:"state"`
	Version       int64          `db:"version"`
	Hash          []byte         `db:"plan_hash"`
	Campaign      string         `db:"campaign"`
	Source        string         `db:"source_name"`
	Reason        string         `db:"reason"`
	RequestedBy   string         `db:"requested_by"`
	DBUser        string         `db:"db_user"`
	Rows          int64          `db:"row_count"`
	Due           int64          `db:"due"`
	Duplicates    int64          `db:"duplicates"`
	Invalid       int64          `db:"invalid"`
	NeedsApproval bool           `db:"needs_approval"`
	Over          []OverLimit    `db:"over"`
	Preview       PlanPreview    `db:"preview"`
	ApproveWithin time.Duration  `db:"approve_within"`
	CreatedAt     time.Time      `db:"created_at"`
	StartedAt     *time.Time     `db:"started_at"`
	ActiveAt      *time.Time     `db:"active_at"`
	EndedAt       *time.Time     `db:"ended_at"`
	Decided       int64          `db:"decided"`
	Errors        int64          `db:"errors"`
	Working       int            `db:"working"`
	Decisions     []decisionJSON `db:"decisions"`
	ReadAt        time.Time      `db:"read_at"`
}

// decisionJSON is a decision as plan_get.sql tells it.
type decisionJSON struct {
	ID         int64      `json:"id"`
	Approve    bool       `json:"approve"`
	Review     bool       `json:"review"`
	Awaits     bool       `json:"awaits_review"`
	Operator   string     `json:"operator"`
	DBUser     string     `json:"db_user"`
	BreakGlass bool       `json:"break_glass"`
	Reason     string     `json:"reason"`
	At         time.Time  `json:"at"`
	Expires    time.Time  `json:"expires"`
	Used       *time.Time `json:"used"`
}

func (r *planRecord) plan() Plan {
	p := Plan{
		ID: r.ID, State: PlanState(r.State), Version: r.Version, Hash: hexHash(r.Hash),
		Campaign: r.Campaign, Source: r.Source, Reason: r.Reason, RequestedBy: r.RequestedBy,
		DBUser: r.DBUser, Rows: r.Rows, Due: r.Due, Duplicates: r.Duplicates, Invalid: r.Invalid,
		Decided: r.Decided, Errors: r.Errors, Working: r.Working, NeedsApproval: r.NeedsApproval,
		Over: r.Over, Preview: r.Preview, ApproveWithin: r.ApproveWithin, CreatedAt: r.CreatedAt,
		StartedAt: value(r.StartedAt), ActiveAt: value(r.ActiveAt), EndedAt: value(r.EndedAt),
		ReadAt: r.ReadAt,
	}
	for _, d := range r.Decisions {
		p.Decisions = append(p.Decisions, Decision{
			ID: d.ID, Approve: d.Approve, Operator: d.Operator, DBUser: d.DBUser,
			Review: d.Review, BreakGlass: d.BreakGlass, AwaitsReview: d.Awaits, Reason: d.Reason,
			At: d.At, Expires: d.Expires, Used: value(d.Used),
		})
	}
	return p
}

// PlanFilter says which plans to list.
type PlanFilter struct {
	States []PlanState // empty means all
	// Unreviewed adds the plans that ran under broken glass and that nobody else has looked at,
	// whatever their state. Without States these alone are listed.
	Unreviewed bool
	Limit      int // how many at most; 0 means 100
}

const plansMax = 100

type planGetArgs struct {
	IDs    []int64  `db:"ids"`
	States []string `db:"states"`
	Glass  bool     `db:"glass"`
	Limit  int64    `db:"limit"`
}

// planIn reads one plan; nil when there is none.
func planIn(ctx context.Context, tx pgx.Tx, id int64) (*Plan, error) {
	record, err := first(collect[planRecord](ctx, tx, planGetSQL, planGetArgs{
		IDs: []int64{id}, Limit: 1,
	}))
	if err != nil || record == nil {
		return nil, err
	}
	plan := record.plan()
	return &plan, nil
}

// Plan reads a plan. The error is a *PlanNotFoundError or a *grant.BackendError.
func (o *Operator) Plan(ctx context.Context, id int64) (Plan, error) {
	var plan *Plan
	err := o.read(ctx, "read the plan", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		plan, err = planIn(ctx, tx, id)
		return err
	})
	if err == nil && plan == nil {
		err = &PlanNotFoundError{id}
	}
	return value(plan), err
}

// Plans lists plans, the newest first. The error is a *grant.BackendError.
func (o *Operator) Plans(ctx context.Context, filter PlanFilter) ([]Plan, error) {
	args := planGetArgs{Limit: int64(filter.Limit), Glass: filter.Unreviewed}
	if filter.Unreviewed {
		args.States = []string{}
	}
	if args.Limit <= 0 {
		args.Limit = plansMax
	}
	for _, s := range filter.States {
		args.States = append(args.States, string(s))
	}
	var plans []Plan
	err := o.read(ctx, "list the plans", func(ctx context.Context, tx pgx.Tx) error {
		records, err := collect[planRecord](ctx, tx, planGetSQL, args)
		for i := range records {
			plans = append(plans, records[i].plan())
		}
		return err
	})
	return plans, err
}

// planByContent finds the open plan with the same rows; 0 when there is none.
func (o *Operator) planByContent(ctx context.Context, content []byte) (int64, error) {
	var found *struct {
		ID int64 `db:"plan_id"`
	}
	err := o.read(ctx, "find the plan", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		found, err = first(collect[struct {
			ID int64 `db:"plan_id"`
		}](ctx, tx, planContentSQL, struct {
			Content []byte `db:"content"`
		}{content}))
		return err
	})
	return value(found).ID, err
}

// readRows runs one statement in a READ ONLY transaction that only the context bounds.
func readRows[T any](
	ctx context.Context, o *Operator, op, sql string, args any,
) (rows []T, err error) {
	err = o.readAll(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		rows, err = collect[T](ctx, tx, sql, args)
		return err
	})
	return rows, err
}
