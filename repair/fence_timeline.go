package repair

import (
	"context"
	"fmt"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// Timeline is a change of the server and timeline on which grants are accepted, each written
// server/timeline. Both are empty when nothing changed.
type Timeline struct {
	From string
	To   string
}

type timelineRow struct {
	Accepted string `db:"accepted"`
	Now      string `db:"now"`
}

// timeline tells whether the database is on another server or timeline than the accepted one.
func (o *Operator) timeline(ctx context.Context) (Timeline, error) {
	var row timelineRow
	err := o.read(ctx, "read the timeline", func(ctx context.Context, tx pgx.Tx) error {
		got, err := first(collect[timelineRow](ctx, tx, timelineReadSQL, struct{}{}))
		row = value(got)
		return err
	})
	if err != nil || row.Accepted == row.Now {
		return Timeline{}, err
	}
	return Timeline{From: row.Accepted, To: row.Now}, nil
}

// acceptTimeline lets grants go on where the database is now, in one transaction with the log row.
// It comes after all fences were raised: every lease from before is void by then.
func (o *Operator) acceptTimeline(
	ctx context.Context, req ReseedRequest, change Timeline, out *Reseed,
) error {
	type accepted struct {
		Now string `db:"now"`
	}
	var row logged
	err := o.write(ctx, "accept the timeline", func(ctx context.Context, tx pgx.Tx) error {
		got, err := first(collect[accepted](ctx, tx, timelineAcceptSQL, struct {
			Operator string `db:"operator"`
			Accepted string `db:"accepted"`
		}{o.opts.Operator, change.From}))
		if err != nil {
			return err
		}
		if got == nil || got.Now != change.To {
			return fmt.Errorf("the database moved again, or somebody else accepted it meanwhile: "+
				"%w", pgx.ErrNoRows)
		}
		row, err = o.log(ctx, tx, entry{
			action: req, phase: phaseResult, arguments: req.arguments(), reason: req.Reason,
			before:  map[string]string{"timeline": change.From},
			after:   map[string]string{"timeline": change.To},
			outcome: "timeline accepted",
		})
		return err
	})
	if err != nil {
		return err
	}
	out.Timeline, out.ResultID = change, row.ID
	return nil
}

// settleTimeline ends a reseed of all fences: it says, or does, what is left to be done so that
// grants go on.
func (o *Operator) settleTimeline(ctx context.Context, req ReseedRequest, out *Reseed) error {
	if !req.Fences || req.Resource != "" {
		return nil
	}
	change, err := o.timeline(ctx)
	if err != nil || change == (Timeline{}) {
		return err
	}
	if change.From == "" {
		return &grant.GateError{
			Problem: "the row of reward_timeline is missing",
			WayOut:  "restore it: insert it as the migration of reward_timeline does",
		}
	}
	if req.DryRun {
		out.Timeline = change
		return nil
	}
	return o.acceptTimeline(ctx, req, change, out)
}
