package inspect

import _ "embed"

var (
	//go:embed sql/outbox/list.sql
	outboxListSQL string
	//go:embed sql/outbox_attempts.sql
	outboxAttemptsSQL string
	//go:embed sql/outbox_message.sql
	outboxMessageSQL string
	//go:embed sql/outbox_ages.sql
	outboxAgesSQL string
	//go:embed sql/outbox_backlog.sql
	outboxBacklogSQL string
)
