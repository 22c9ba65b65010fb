package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// PlanLimits are what one person may grant alone. A plan over any of them needs somebody else's
// approval. 0 means no limit.
type PlanLimits struct {
	Amount    int64 `json:"amount"`     // one grant
	PlayerDay int64 `json:"player_day"` // one player and kind within 24 hours, other grants included
	Rows      int64 `json:"rows"`       // grants of one plan
	Total     int64 `json:"total"`      // sum of one kind in one plan
}

// String reads "amount 1000, rows 500", or "none".
func (l PlanLimits) String() string {
	var words []string
	for _, one := range []struct {
		name string
		max  int64
	}{
		{limitAmount, l.Amount},
		{limitPlayerDay, l.PlayerDay},
		{limitRows, l.Rows},
		{limitTotal, l.Total},
	} {
		if one.max > 0 {
			words = append(words, fmt.Sprintf("%s %d", one.name, one.max))
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ", ")
}

// LimitRule gives other limits to one operator, or to the members of a database role.
type LimitRule struct {
	Operator string // matches the operator's name
	Role     string // matches members of the role, by the database session's user
	Limits   PlanLimits
}

// PlanPolicy says what needs a second person. The zero value asks for nobody.
type PlanPolicy struct {
	Limits PlanLimits  // for those whom no rule matches
	Rules  []LimitRule // the first that matches counts
	// ApproveWithin is how long an approval lasts before a run begins, and how long a run may lie
	// still and go on under it; 15 minutes by default.
	ApproveWithin time.Duration
	// BreakGlass allows makers to approve their own plan in an emergency.
	BreakGlass bool
}

const approveWithinDefault = 15 * time.Minute

// planLimits finds the limits of this operator and session.
func (o *Operator) planLimits(ctx context.Context, tx pgx.Tx) (PlanLimits, error) {
	policy := o.opts.Plans
	var roles []string
	for _, rule := range policy.Rules {
		if rule.Role != "" {
			roles = append(roles, rule.Role)
		}
	}
	member, err := memberOf(ctx, tx, roles)
	if err != nil {
		return PlanLimits{}, err
	}
	for _, rule := range policy.Rules {
		if (rule.Operator == "" || rule.Operator == o.opts.Operator) &&
			(rule.Role == "" || slices.Contains(member, rule.Role)) {
			return rule.Limits, nil
		}
	}
	return policy.Limits, nil
}

// over lists the limits that a plan is over.
func (l PlanLimits) over(p *PlanPreview) []OverLimit {
	over := []OverLimit{}
	if l.Rows > 0 && p.Due > l.Rows {
		over = append(over, OverLimit{Limit: limitRows, Value: p.Due, Max: l.Rows})
	}
	for _, k := range p.Kinds {
		if k.OverAmount > 0 {
			over = append(over, OverLimit{limitAmount, k.Kind, k.Largest, l.Amount, k.OverAmount})
		}
		if l.Total > 0 && k.Total > l.Total {
			over = append(over, OverLimit{limitTotal, k.Kind, k.Total, l.Total, 0})
		}
		if k.OverDay > 0 {
			over = append(over, OverLimit{limitPlayerDay, k.Kind, k.HighestDay, l.PlayerDay, k.OverDay})
		}
	}
	return over
}

func overWords(over []OverLimit) string {
	if len(over) == 0 {
		return "none"
	}
	words := make([]string, len(over))
	for i, o := range over {
		words[i] = o.String()
	}
	return strings.Join(words, "; ")
}
