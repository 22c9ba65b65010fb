package repair

import _ "embed"

var (
	//go:embed sql/audit_start.sql
	auditStartSQL string
	//go:embed sql/audit_resume.sql
	auditResumeSQL string
	//go:embed sql/audit_unit.sql
	auditUnitSQL string
	//go:embed sql/audit_check.sql
	auditCheckSQL string
	//go:embed sql/ack_read.sql
	ackReadSQL string
	//go:embed sql/ack_add.sql
	ackAddSQL string
	//go:embed sql/ack_change.sql
	ackChangeSQL string
	//go:embed sql/audit_finding.sql
	auditFindingSQL string
	//go:embed sql/audit_end.sql
	auditEndSQL string
)
