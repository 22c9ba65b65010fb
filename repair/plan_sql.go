package repair

import _ "embed"

var (
	//go:embed sql/plan_add.sql
	planAddSQL string
	//go:embed sql/plan_chunks.sql
	planChunksSQL string
	//go:embed sql/plan_twin.sql
	planTwinSQL string
	//go:embed sql/plan_seal.sql
	planSealSQL string
	//go:embed sql/plan_preview.sql
	planPreviewSQL string
	//go:embed sql/plan_roles.sql
	planRolesSQL string
	//go:embed sql/plan_get.sql
	planGetSQL string
	//go:embed sql/plan_content.sql
	planContentSQL string
	//go:embed sql/plan_lock.sql
	planLockSQL string
	//go:embed sql/plan_move.sql
	planMoveSQL string
	//go:embed sql/plan_wait.sql
	planWaitSQL string
	//go:embed sql/plan_reopen.sql
	planReopenSQL string
	//go:embed sql/plan_hashes.sql
	planHashesSQL string
	//go:embed sql/plan_claim.sql
	planClaimSQL string
	//go:embed sql/plan_rows.sql
	planRowsSQL string
	//go:embed sql/plan_record.sql
	planRecordSQL string
	//go:embed sql/plan_renew.sql
	planRenewSQL string
	//go:embed sql/plan_progress.sql
	planProgressSQL string
	//go:embed sql/plan_counts.sql
	planCountsSQL string
	//go:embed sql/plan_lines.sql
	planLinesSQL string
	//go:embed sql/plan_decide.sql
	planDecideSQL string
)
