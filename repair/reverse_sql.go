package repair

import _ "embed"

var (
	//go:embed sql/reverse_by_id.sql
	reverseByIDSQL string
	//go:embed sql/reverse_by_plan.sql
	reverseByPlanSQL string
	//go:embed sql/reverse_by_filter.sql
	reverseByFilterSQL string
	//go:embed sql/finding_read.sql
	findingReadSQL string
	//go:embed sql/claim_read.sql
	claimReadSQL string
	//go:embed sql/plan_known.sql
	planKnownSQL string
)
