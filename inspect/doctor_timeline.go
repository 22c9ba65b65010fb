package inspect

import (
	"context"
	"fmt"
	"time"
)

// timelineSeen is where the database is and where grants were accepted so far.
type timelineSeen struct {
	System           string     `db:"system"`
	Timeline         string     `db:"timeline"`
	AcceptedSystem   *string    `db:"accepted_system"`
	AcceptedTimeline *string    `db:"accepted_timeline"`
	AcceptedAt       *time.Time `db:"accepted_at"`
	AcceptedBy       *string    `db:"accepted_by"`
}

// examineTimeline compares the database with the one that answered the grants before.
func (r *Reader) examineTimeline(ctx context.Context, d *Diagnosis) {
	check := Check{
		Name: "timeline", Level: Gate,
		Why: "after a promotion or a restore, grants that were answered may be missing: granting " +
			"stops until somebody has looked",
		Fix: "compare with the item server (rewardctl audit run outbox), then run: " +
			"rewardctl fence reseed",
	}
	rows, err := examine[timelineSeen](ctx, r, doctorTimelineSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	s := rows[0]
	if s.AcceptedTimeline == nil {
		check.Value = fmt.Sprintf("system %s, timeline %s: none was ever accepted", s.System,
			s.Timeline)
		d.add(check, false)
		return
	}
	accepted := fmt.Sprintf("accepted at %s by %s", clock(*s.AcceptedAt), value(s.AcceptedBy))
	switch {
	case value(s.AcceptedSystem) != s.System:
		check.Value = fmt.Sprintf("system %s, but system %s was %s", s.System,
			value(s.AcceptedSystem), accepted)
	case *s.AcceptedTimeline != s.Timeline:
		check.Value = fmt.Sprintf("%s, but %s was %s", s.Timeline, *s.AcceptedTimeline, accepted)
	default:
		check.Value = s.Timeline + ", " + accepted
		d.add(check, true)
		return
	}
	d.add(check, false)
}
