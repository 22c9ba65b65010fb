package main

import _ "embed" // the SQL files beside

// The statements of the demo.

//go:embed sql/demo_postings.sql
var demoPostingsSQL string

//go:embed sql/demo_claims.sql
var demoClaimsSQL string

//go:embed sql/demo_floor.sql
var demoFloorSQL string

//go:embed sql/demo_legacy_table.sql
var demoLegacyTableSQL string

//go:embed sql/demo_legacy_rows.sql
var demoLegacyRowsSQL string

//go:embed sql/demo_delivered.sql
var demoDeliveredSQL string

//go:embed sql/demo_received.sql
var demoReceivedSQL string
