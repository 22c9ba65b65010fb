package tui

import "strconv"

// nowKnown says what of the home screen was read, now or before.
type nowKnown struct {
	leases, pulse, audits bool
	extra                 []bool
}

// over is a reading with what was read before in place of what could not be read now.
func (n nowRead) over(before nowRead) nowRead {
	if !n.known.leases && before.known.leases {
		n.leases, n.counted, n.known.leases = before.leases, before.counted, true
	}
	if !n.known.pulse && before.known.pulse {
		now := n.pulse
		n.pulse, n.known.pulse = before.pulse, true
		n.pulse.At, n.pulse.Missing = now.At, now.Missing
		n.pulse.RedisTook, n.pulse.PostgresTook = now.RedisTook, now.PostgresTook
	}
	if !n.known.audits && before.known.audits {
		n.audit, n.known.audits = before.audit, true
	}
	for i, known := range n.known.extra {
		if !known && i < len(before.extra) {
			n.extra[i] = before.extra[i]
		}
	}
	return n
}

// total writes how many leases there are; a dash when nobody could tell yet.
func (s *nowScreen) total() string {
	if !s.read.known.leases {
		return s.d.theme.Glyphs.Dash
	}
	return strconv.Itoa(s.read.leases.Total)
}
