package drill

import _ "embed"

var (
	//go:embed sql/scratch_create.sql
	scratchCreateSQL string
	//go:embed sql/scratch_drop.sql
	scratchDropSQL string
	//go:embed sql/unique_key_drop.sql
	uniqueKeyDropSQL string
	//go:embed sql/claim_add.sql
	claimAddSQL string
	//go:embed sql/pay_fenced.sql
	payFencedSQL string
	//go:embed sql/fence_read.sql
	fenceReadSQL string
	//go:embed sql/pay_plain.sql
	payPlainSQL string
	//go:embed sql/pay_once.sql
	payOnceSQL string
	//go:embed sql/ledger_read.sql
	ledgerReadSQL string
	//go:embed sql/claim_mark.sql
	claimMarkSQL string
	//go:embed sql/claim_lock.sql
	claimLockSQL string
	//go:embed sql/session_waiting.sql
	sessionWaitingSQL string
	//go:embed sql/claim_open.sql
	claimOpenSQL string
	//go:embed sql/outbox_left.sql
	outboxLeftSQL string
	//go:embed sql/items_sum.sql
	itemsSumSQL string
	//go:embed sql/session_there.sql
	sessionThereSQL string
	//go:embed sql/heap_only.sql
	heapOnlySQL string
	//go:embed sql/invariants.sql
	invariantsSQL string
)
