package inspect

import _ "embed"

var (
	//go:embed sql/page/oplog.sql
	oplogPageSQL string
	//go:embed sql/oplog_chain.sql
	oplogChainSQL string
	//go:embed sql/oplog_head.sql
	oplogHeadSQL string
	//go:embed sql/oplog_shift.sql
	oplogShiftSQL string
	//go:embed sql/doctor_glass.sql
	doctorGlassSQL string
	//go:embed sql/doctor_log.sql
	doctorLogSQL string
	//go:embed sql/doctor_poster.sql
	doctorPosterSQL string
	//go:embed sql/doctor_intent.sql
	doctorIntentSQL string
)
