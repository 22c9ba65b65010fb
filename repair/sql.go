package repair

import _ "embed"

var (
	//go:embed sql/deed_guard.sql
	deedGuardSQL string
	//go:embed sql/read_wide.sql
	readWideSQL string
	//go:embed sql/rights.sql
	rightsSQL string
	//go:embed sql/grant_recent.sql
	grantRecentSQL string
	//go:embed sql/roles.sql
	rolesSQL string
	//go:embed sql/fence_lock.sql
	fenceLockSQL string
	//go:embed sql/fence_read.sql
	fenceReadSQL string
	//go:embed sql/fence_burn.sql
	fenceBurnSQL string
	//go:embed sql/fence_blocker.sql
	fenceBlockerSQL string
	//go:embed sql/action_add.sql
	actionAddSQL string
	//go:embed sql/grant_preview.sql
	grantPreviewSQL string
	//go:embed sql/player_column.sql
	playerColumnSQL string
	//go:embed sql/players/unknown.sql
	playersUnknownSQL string
)
