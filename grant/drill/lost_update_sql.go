package drill

import _ "embed"

var (
	//go:embed sql/points_put.sql
	pointsPutSQL string
	//go:embed sql/points_read.sql
	pointsReadSQL string
	//go:embed sql/points_lock.sql
	pointsLockSQL string
	//go:embed sql/points_write.sql
	pointsWriteSQL string
	//go:embed sql/points_write_if.sql
	pointsWriteIfSQL string
	//go:embed sql/sessions_blocked.sql
	sessionsBlockedSQL string
)
