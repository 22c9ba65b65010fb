package inspect

import _ "embed"

var (
	//go:embed sql/oplog_older.sql
	oplogOlderSQL string
	//go:embed sql/oplog_newer.sql
	oplogNewerSQL string
	//go:embed sql/oplog_chain.sql
	oplogChainSQL string
	//go:embed sql/oplog_head.sql
	oplogHeadSQL string
)
