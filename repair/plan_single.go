package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"

	"github.com/jackc/pgx/v5"
)

// OverLimitError says that a grant by hand is over a limit of whoever gives it, so nothing was
// granted. PlanOne makes it a plan that somebody else can approve.
type OverLimitError struct {
	Request    grant.Request
	Over       []OverLimit
	DenialID   int64 // the row of operator_action; 0 when LogProblem says why there is none
	LogProblem string
}

// Error names the limits.
func (e *OverLimitError) Error() string {
	return fmt.Sprintf("the grant to %s is over a limit: %s; somebody else has to approve it",
		e.Request.PlayerID, overWords(e.Over))
}

// any reports whether there is a limit for anybody.
func (p PlanPolicy) any() bool {
	if p.Limits != (PlanLimits{}) {
		return true
	}
	for _, rule := range p.Rules {
		if rule.Limits != (PlanLimits{}) {
			return true
		}
	}
	return false
}

// withinLimits refuses a grant by hand that is over a limit of the operator, and logs that. A grant
// whose id is posted already moves nothing, so it passes.
func (o *Operator) withinLimits(ctx context.Context, req grant.Request) error {
	if !o.opts.Plans.any() {
		return nil
	}
	var over []OverLimit
	err := o.read(ctx, "look at the limits", func(ctx context.Context, tx pgx.Tx) error {
		limits, err := o.planLimits(ctx, tx)
		if err != nil || limits == (PlanLimits{}) {
			return err
		}
		seen, err := first(collect[struct {
			Posted bool  `db:"posted"`
			Given  int64 `db:"given"`
		}](ctx, tx, planSingleSQL, struct {
			Player string `db:"player"`
			Event  string `db:"event"`
			Kind   string `db:"kind"`
		}{req.PlayerID, req.EventID, req.Kind}))
		if err != nil || value(seen).Posted {
			return err
		}
		over = limits.overOne(req, value(seen).Given)
		return nil
	})
	if err != nil || len(over) == 0 {
		return err
	}
	refusal := &OverLimitError{Request: req, Over: over}
	row, err := o.logAlone(ctx, entry{
		action: GrantRequest{Request: req}, phase: phaseDenied, reason: req.Reason,
		outcome: "denied: over a limit: " + overWords(over),
	})
	refusal.DenialID = row.ID
	if err != nil {
		refusal.LogProblem = err.Error()
	}
	return refusal
}

// overOne judges a single grant the way a plan of one row is judged.
func (l PlanLimits) overOne(req grant.Request, given int64) []OverLimit {
	kind := PlanKind{
		Kind: req.Kind, Rows: 1, Total: req.Amount, Largest: req.Amount,
		HighestDay: req.Amount + given,
	}
	if l.Amount > 0 && req.Amount > l.Amount {
		kind.OverAmount = 1
	}
	if l.PlayerDay > 0 && kind.HighestDay > l.PlayerDay {
		kind.OverDay = 1
	}
	return l.over(&PlanPreview{Due: 1, Kinds: []PlanKind{kind}})
}

// PlanOne makes a plan of a single grant. Its errors are those of MakePlan.
func (o *Operator) PlanOne(ctx context.Context, req grant.Request) (Plan, PlanPreview, error) {
	req = o.signed(req)
	line, err := json.Marshal(struct {
		PlayerID string `json:"player_id"`
		Event    string `json:"event"`
		Kind     string `json:"kind"`
		Amount   int64  `json:"amount"`
	}{req.PlayerID, req.EventID, req.Kind, req.Amount})
	if err != nil {
		return Plan{}, PlanPreview{}, err
	}
	file, err := batchfile.Open(ctx, "-", batchfile.Options{
		Actor: req.Actor, Reason: req.Reason, Limits: o.opts.Limits,
		Stdin: strings.NewReader(string(line)),
	})
	if err != nil {
		return Plan{}, PlanPreview{}, err
	}
	defer file.Close()
	return o.MakePlan(ctx, file, PlanRequest{Reason: req.Reason})
}
