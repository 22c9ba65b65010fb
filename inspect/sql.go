package inspect

import _ "embed"

var (
	//go:embed sql/fence_by_resource.sql
	fenceByResourceSQL string
	//go:embed sql/fence_latest.sql
	fenceLatestSQL string
	//go:embed sql/claim_due.sql
	claimDueSQL string
	//go:embed sql/claim_list.sql
	claimListSQL string
	//go:embed sql/token_posting.sql
	tokenPostingSQL string
	//go:embed sql/token_refusal.sql
	tokenRefusalSQL string
	//go:embed sql/action_by_target.sql
	actionByTargetSQL string
	//go:embed sql/player_older.sql
	playerOlderSQL string
	//go:embed sql/player_newer.sql
	playerNewerSQL string
	//go:embed sql/player_balance.sql
	playerBalanceSQL string
	//go:embed sql/player_posted.sql
	playerPostedSQL string
	//go:embed sql/player_list.sql
	playerListSQL string
	//go:embed sql/players/find.sql
	playersFindSQL string
	//go:embed sql/player_known.sql
	playerKnownSQL string
	//go:embed sql/player_running.sql
	playerRunningSQL string
	//go:embed sql/explain_posting.sql
	explainPostingSQL string
	//go:embed sql/explain_claim.sql
	explainClaimSQL string
)

var (
	//go:embed sql/doctor_server.sql
	doctorServerSQL string
	//go:embed sql/doctor_identity.sql
	doctorIdentitySQL string
	//go:embed sql/doctor_key.sql
	doctorKeySQL string
	//go:embed sql/doctor_trigger.sql
	doctorTriggerSQL string
	//go:embed sql/doctor_collation.sql
	doctorCollationSQL string
	//go:embed sql/doctor_text_index.sql
	doctorTextIndexSQL string
	//go:embed sql/doctor_migration.sql
	doctorMigrationSQL string
	//go:embed sql/doctor_outbox.sql
	doctorOutboxSQL string
	//go:embed sql/doctor_heap.sql
	doctorHeapSQL string
	//go:embed sql/doctor_twin.sql
	doctorTwinSQL string
	//go:embed sql/doctor_session.sql
	doctorSessionSQL string
	//go:embed sql/doctor_replica.sql
	doctorReplicaSQL string
)
