package outbox

import _ "embed"

var (
	//go:embed sql/claim.sql
	claimSQL string
	//go:embed sql/mark.sql
	markSQL string
	//go:embed sql/unclaim.sql
	unclaimSQL string
	//go:embed sql/backlog.sql
	backlogSQL string
	//go:embed sql/sleep.sql
	sleepSQL string
	//go:embed sql/awake.sql
	awakeSQL string
	//go:embed sql/listen.sql
	listenSQL string
)
