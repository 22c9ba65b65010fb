package itemserver

import _ "embed"

var (
	//go:embed sql/receipt_table.sql
	receiptTableSQL string
	//go:embed sql/item_table.sql
	itemTableSQL string
	//go:embed sql/fence_table.sql
	fenceTableSQL string
	//go:embed sql/receive.sql
	receiveSQL string
	//go:embed sql/status.sql
	statusSQL string
	//go:embed sql/receipts.sql
	receiptsSQL string
)
