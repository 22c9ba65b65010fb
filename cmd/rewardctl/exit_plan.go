package main

import (
	"errors"
	"fmt"
	"strconv"

	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// rulePlan knows what deeds about plans answer.
func rulePlan(err error) (problem, bool) {
	var (
		missing  *repair.PlanNotFoundError
		changed  *repair.PlanChangedError
		refused  *repair.PlanDeniedError
		waits    *repair.ApprovalNeededError
		tampered *repair.PlanTamperedError
		drift    *repair.DriftError
		stranger *repair.StrangersError
		invalid  *repair.InvalidRowsError
		over     *repair.OverLimitError
		result   *repair.ResultPathError
	)
	p := problem{cause: err, field: "plan"}
	switch {
	case errors.As(err, &missing):
		p.exit, p.message = exitNotFound, missing.Error()
		p.value, p.wayOut = planNumber(missing.ID), "see: rewardctl grant list"
	case errors.As(err, &changed):
		p.exit, p.value, p.wayOut = exitPrecondition, planNumber(changed.Plan.ID), changed.WayOut
		p.message = fmt.Sprintf("%s is %s, not %s; nothing was changed", changed.Plan.Name(),
			changed.Have, changed.Want)
	case errors.As(err, &refused):
		p.exit, p.value, p.wayOut = exitDenied, planNumber(refused.Plan.ID), refused.WayOut
		p.message = fmt.Sprintf("%s: %s", refused.Plan.Name(), refused.Problem)
	case errors.As(err, &waits):
		p.exit, p.value, p.message = exitApproval, planNumber(waits.Plan.ID), waits.Error()
		p.wayOut = "somebody else, as another database user: rewardctl grant approve " +
			planNumber(waits.Plan.ID) + " --reason WHY"
	case errors.As(err, &tampered):
		p.exit, p.value, p.message = exitPrecondition, planNumber(tampered.Plan.ID), tampered.Error()
	case errors.As(err, &drift):
		p.exit, p.value, p.message = exitPrecondition, planNumber(drift.Plan.ID), drift.Error()
		p.wayOut = "look at it, then add: --accept-drift"
	case errors.As(err, &stranger):
		p.exit, p.field, p.value, p.message = exitUsage, "file", stranger.Name, stranger.Error()
	case errors.As(err, &invalid):
		p.exit, p.field, p.value, p.message = exitUsage, "file", invalid.Name, invalid.Error()
	case errors.As(err, &result):
		p.exit, p.field, p.value, p.message = exitUsage, "result", result.Path, result.Error()
	case errors.Is(err, batchfile.ErrChanged):
		p.exit, p.field, p.message = exitPrecondition, "file", err.Error()
		p.wayOut = "check it again as it is now; nothing was planned"
	case errors.As(err, &over):
		p.exit, p.field, p.value, p.message = exitApproval, "limit", over.Request.PlayerID, over.Error()
	default:
		return problem{}, false
	}
	return p, true
}

func planNumber(id int64) string { return strconv.FormatInt(id, 10) }
