package grant

import _ "embed"

var (
	//go:embed sql/fence_floor.sql
	fenceFloorSQL string
	//go:embed sql/ledger_gate.sql
	ledgerGateSQL string
	//go:embed sql/timeline_gate.sql
	timelineGateSQL string
	//go:embed sql/grant_begin.sql
	grantBeginSQL string
	//go:embed sql/grant_batch.sql
	grantBatchSQL string
	//go:embed sql/grant_logged.sql
	grantLoggedSQL string
	//go:embed sql/reverse_batch.sql
	reverseBatchSQL string
	//go:embed sql/grant_commit.sql
	grantCommitSQL string
	//go:embed sql/grant_rollback.sql
	grantRollbackSQL string
)
