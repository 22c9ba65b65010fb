package repair

import _ "embed"

var (
	//go:embed sql/outbox_match.sql
	outboxMatchSQL string
	//go:embed sql/outbox_count.sql
	outboxCountSQL string
	//go:embed sql/outbox_look.sql
	outboxLookSQL string
	//go:embed sql/outbox_requeue.sql
	outboxRequeueSQL string
	//go:embed sql/outbox_park.sql
	outboxParkSQL string
)
