package granttest

import _ "embed"

//go:embed sql/schema_create.sql
var schemaCreateSQL string

//go:embed sql/schema_drop.sql
var schemaDropSQL string

//go:embed sql/sessions_end.sql
var sessionsEndSQL string

//go:embed sql/migrate_lock.sql
var migrateLockSQL string

//go:embed sql/scans_plain.sql
var scansPlainSQL string

//go:embed sql/i1_event_once.sql
var i1EventOnceSQL string

//go:embed sql/i2_claim_paid.sql
var i2ClaimPaidSQL string

//go:embed sql/i2_balance_sum.sql
var i2BalanceSumSQL string

//go:embed sql/i3_outbox_once.sql
var i3OutboxOnceSQL string

//go:embed sql/i4_token_order.sql
var i4TokenOrderSQL string

//go:embed sql/i4_token_owner.sql
var i4TokenOwnerSQL string
