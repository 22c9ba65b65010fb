package repair

import _ "embed"

var (
	//go:embed sql/fence_page.sql
	fencePageSQL string
	//go:embed sql/fence_of.sql
	fenceOfSQL string
	//go:embed sql/fence_reseed.sql
	fenceReseedSQL string
	//go:embed sql/timeline_read.sql
	timelineReadSQL string
	//go:embed sql/timeline_accept.sql
	timelineAcceptSQL string
)
