package tui

import (
	"slices"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/text"
)

// tile is one line of what needs attention.
type tile struct {
	key   string // names it in the state
	label string // English; translated when it is drawn
	count int64
	bad   bool // it needs somebody now
	waits bool // nothing is wrong: it waits for somebody
	// unknown says that it was never counted: nothing is called well that nobody looked at.
	unknown bool
	note    string
	to      ScreenID
	args    Args
}

// attention lists what somebody may have to look at, what needs it most first.
func (s *nowScreen) attention() []tile {
	p, states := s.read.pulse, s.read.leases.States
	lease := func(label string, state inspect.State, bad bool) tile {
		return tile{
			key: string(state), label: label, count: int64(states[state]),
			bad: bad && states[state] > 0, to: ScreenLeases, unknown: !s.read.known.leases,
			args: Args{"filter": "state:" + string(state)},
		}
	}
	list := []tile{
		lease(text.N("leases whose owner is gone"), inspect.OrphanSuspect, true),
		lease(text.N("leases that never end"), inspect.NoExpiry, true),
		lease(text.N("leases overtaken by a higher token"), inspect.Superseded, true),
		lease(text.N("leases that are overdue for renewal"), inspect.OverdueRenewal, true),
		lease(text.N("leases about to end"), inspect.Expiring, false),
		lease(text.N("locks of other programs"), inspect.Foreign, false),
	}
	flow := s.d.pulseTiles(p)
	for i := range flow {
		flow[i].unknown = !s.read.known.pulse
	}
	list = append(append(list, flow...), s.auditTile())
	return append(list, slices.Concat(s.read.extra...)...)
}

// pulseTiles are what the pulse tells of: deliveries, and deeds that were cut off.
func (d *desk) pulseTiles(p inspect.Pulse) []tile {
	const longWait = 5 * time.Minute
	oldest := ""
	if p.Oldest > 0 {
		oldest = d.tr("the oldest for %s", brief(p.Oldest))
	}
	return []tile{
		d.fencedTile(p),
		{
			key: "dead", label: text.N("deliveries given up"), count: p.Dead, bad: p.Dead > 0,
			to: ScreenOutbox, args: Args{"filter": "state:dead"},
		},
		{
			key: "waiting", label: text.N("deliveries that wait"), count: p.Waiting,
			bad: p.Oldest > longWait, note: oldest, to: ScreenOutbox,
		},
		{
			key: "cut_off", label: text.N("deeds that were cut off"), count: p.CutOff, bad: p.CutOff > 0,
			to: ScreenLog, args: Args{"filter": "phase:intent"},
		},
	}
}

// fencedTile counts the writes that the fence refused. A late one is the fence at work; a token
// that two owners had means that Redis lost its counters.
func (d *desk) fencedTile(p inspect.Pulse) tile {
	t := tile{
		key: "fenced", label: text.N("writes the fence refused"), count: p.LateWrites + p.Collisions,
		bad: p.Collisions > 0, note: d.tr("last hour"), to: ScreenRefused, args: Args{},
	}
	if p.FencedBounded {
		t.note = d.tr("as far as was looked")
	}
	if p.Collisions > 0 {
		t.note = d.tr("%d under a token issued twice", p.Collisions) + ", " + t.note
	}
	return t
}

func (s *nowScreen) auditTile() tile {
	t := tile{key: "findings", label: text.N("findings of the last audit"), to: ScreenAudits}
	t.unknown = !s.read.known.audits
	a := s.read.audit
	if a == nil && t.unknown {
		return t
	}
	if a == nil {
		t.note = s.d.tr("no audit was run yet")
		return t
	}
	critical := a.Critical - a.CriticalAcknowledged
	t.count, t.bad = a.Findings-a.Acknowledged, critical > 0
	t.note = s.d.tr("%d critical, %s", critical, stamp(a.Ended))
	if a.Acknowledged > 0 {
		t.note = s.d.tr("%d critical, %d acknowledged, %s", critical, a.Acknowledged, stamp(a.Ended))
	}
	t.to, t.args = ScreenFindings, Args{"run": idText(a.ID)}
	return t
}
