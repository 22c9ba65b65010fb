package inspect

import _ "embed"

var (
	//go:embed sql/pulse_minute.sql
	pulseMinuteSQL string
	//go:embed sql/pulse_fenced.sql
	pulseFencedSQL string
	//go:embed sql/pulse_waiting.sql
	pulseWaitingSQL string
)
