package tui

import (
	"slices"
	"strconv"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

func idText(n int64) string { return strconv.FormatInt(n, 10) }

// flow is a row of values over time: what happens, or how fast a server is.
type flow struct {
	label  string
	values []int // below zero: not measured
	newest string
	tail   string // stands behind the bars, however little room there is
	what   string // and this when there is more
	role   paint.Role
	ahead  bool // the first value is the nearest in time, not the last
}

// flows are what is measured: postings, refusals, leases that end, what waits, and how fast the
// servers are.
func (s *nowScreen) flows() []flow {
	tr, p, now := s.d.tr, s.read.pulse, s.d.now()
	rate := tr("a minute, %d minutes", len(p.Grants))
	if p.Bounded {
		rate = tr("a minute, as far as was looked")
	}
	fenced := tr("refused by the fence a minute, %d minutes", len(p.Fenced))
	ending := 0
	for _, n := range s.read.leases.Ending {
		ending += n
	}
	redis, postgres, oldest := s.d.gauges.read()
	waits, newest := tr("age of the oldest delivery that waits"), "-"
	if len(oldest.samples) > 0 {
		since := oldest.samples[0].at.Local().Format("15:04")
		waits += ", " + tr("seen since %s", since)
		if p.Oldest > 0 {
			newest = brief(p.Oldest.Truncate(time.Second))
		}
	}
	list := []flow{
		{tr("grants"), p.Grants, last(p.Grants), "", rate, paint.Good, false},
		{tr("refusals"), p.Refusals, last(p.Refusals), "", rate, paint.Warn, false},
		{tr("fenced off"), p.Fenced, last(p.Fenced), "", fenced, paint.Warn, false},
		{
			tr("ending"), s.read.leases.Ending, strconv.Itoa(ending), "",
			tr("leases end in the next minute"), paint.Accent, true,
		},
		{
			tr("oldest wait"), oldest.bars(now, oldestBucket, time.Second), newest, "", waits,
			paint.Warn, false,
		},
	}
	for i := range list {
		ofLeases := list[i].ahead
		if ofLeases && !s.read.known.leases || !ofLeases && !s.read.known.pulse {
			list[i].values, list[i].newest = nil, "-" // never read: that is not none
		}
	}
	return append(list, s.latency("redis", redis, p.RedisTook, tr("one small question")),
		s.latency("postgresql", postgres, p.PostgresTook, tr("what waits, counted")))
}

// latency is how fast a server is: now, and nearly always.
func (s *nowScreen) latency(name string, of series, newest time.Duration, what string) flow {
	f := flow{
		label: name, values: of.bars(s.d.now(), latencyBucket, time.Microsecond), newest: took(newest),
		what: s.d.tr("%s, 5 minutes", what), role: paint.Accent,
	}
	if len(of.samples) > 0 {
		f.tail = safetext.Fit(s.d.tr("p95 %s", took(of.p95())), flowTail, "") // bars end in a column
	}
	return f
}

// flowLines draws what flows, one to a line.
func (s *nowScreen) flowLines(w int) []string {
	t, tr := s.d.theme, s.d.tr
	lines := []string{t.Text(paint.Strong, tr("What flows"))}
	if s.shown.at.IsZero() {
		return lines
	}
	for _, f := range s.flows() {
		lines = append(lines, s.spark(f, w))
	}
	return append(lines, "", t.Text(paint.Muted, safetext.Fit(tr("leases"), 12, ""))+
		t.Text(paint.Strong, s.total())+"  "+
		t.Text(paint.Muted, s.counts))
}

// flowPairs draws what flows, two to a line.
func (s *nowScreen) flowPairs(w int) []string {
	t := s.d.theme
	if s.shown.at.IsZero() {
		return nil
	}
	half := (w - 3) / 2
	all := s.flows()
	var lines []string
	for i := 0; i < len(all); i += 2 {
		all[i].what = ""
		line := " " + safetext.Fit(s.spark(all[i], half), half, "") + "  "
		if i+1 < len(all) {
			all[i+1].what = ""
			line += s.spark(all[i+1], half)
		} else {
			line += t.Text(paint.Muted, safetext.Fit(s.d.tr("leases"), flowLabel, "")) +
				t.Text(paint.Strong, safetext.FitRight(s.total(),
					flowNewest, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

func last(values []int) string {
	if len(values) == 0 {
		return ""
	}
	return strconv.Itoa(values[len(values)-1])
}

func took(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return brief(d)
}

const flowLabel, flowNewest, flowTail = 12, 8, 10 // columns

// spark draws a labelled row of bars with the newest value and what it counts.
func (s *nowScreen) spark(f flow, w int) string {
	t := s.d.theme
	tail := ""
	if f.tail != "" {
		tail = "  " + f.tail
	}
	const least = 4 // bars
	room := max(w-flowLabel-flowNewest-2-textWidth(tail), least)
	shown := f.values[max(len(f.values)-room, 0):]
	if f.ahead {
		shown = f.values[:min(len(f.values), room)]
	}
	bars := t.Glyphs.Spark(shown)
	if len(shown) == 0 || slices.Max(shown) <= 0 {
		f.role = paint.Muted
	}
	line := t.Text(paint.Muted, safetext.Fit(f.label, flowLabel, t.Glyphs.Ellipsis)) +
		t.Text(paint.Strong, safetext.FitRight(f.newest, flowNewest, "")) + "  " +
		t.Text(f.role, bars) + t.Text(paint.Plain, tail)
	rest := w - flowLabel - flowNewest - 4 - len(shown) - textWidth(tail)
	if f.what != "" && textWidth(f.what) <= rest {
		line += "  " + t.Text(paint.Muted, f.what)
	}
	return line
}

// Bindings moves through what needs attention and opens it.
func (s *nowScreen) Bindings() []Binding {
	move := func(n int) { s.at = max(min(s.at+n, len(s.tiles)-1), 0) }
	list := []Binding{
		{Keys: []string{"enter"}, Help: "look at it", Enabled: s.hasTile, Action: func() tea.Cmd {
			one := s.tiles[s.at]
			return s.d.root.goTo(one.to, one.args)
		}},
		{Keys: []string{"r", "f5"}, Help: "read now", Quiet: true, Action: func() tea.Cmd {
			s.again()
			return nil
		}},
		{
			Keys: []string{"n"}, Show: "n N", Help: "next that needs attention", Quiet: true,
			Action: func() tea.Cmd { return s.seek(1) },
		},
		{
			Keys: []string{"N"}, Help: "one before that needs attention", Quiet: true,
			Action: func() tea.Cmd { return s.seek(-1) },
		},
	}
	return append(list, scrolling(move, func() int { return len(s.tiles) })...)
}

// seek puts the cursor on the next tile that needs somebody, or on the one before; round at the
// ends.
func (s *nowScreen) seek(step int) tea.Cmd {
	n := len(s.tiles)
	for i := 1; i <= n; i++ {
		if at := (s.at + step*i%n + n) % n; s.tiles[at].bad {
			s.at = at
			break
		}
	}
	return nil
}

func (s *nowScreen) hasTile() (bool, string) {
	if s.at >= len(s.tiles) {
		return false, s.d.tr("nothing was read yet")
	}
	if !s.d.root.has(s.tiles[s.at].to) {
		return false, s.d.tr("this console has no screen for it")
	}
	return true, ""
}

// Click puts the cursor on a line.
func (s *nowScreen) Click(_, y int) {
	if at := y + s.top - s.lead; y >= 1 && at >= 0 && at < len(s.tiles) {
		s.at = at
	}
}

// measured takes how long the servers took to answer.
func (h *health) measured(p inspect.Pulse) {
	if p.RedisTook > 0 {
		h.redis = backend{known: true, took: p.RedisTook}
	}
	if p.PostgresTook > 0 {
		h.postgres = backend{known: true, took: p.PostgresTook}
	}
}
