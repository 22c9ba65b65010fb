package inspect

import "embed"

// auditSQL holds the statements of the audits. Most of them have places, in braces, for a table
// and its columns: the same question goes to our ledger and to those of a studio.
//
//go:embed sql/audit/*.sql
var auditSQL embed.FS
