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

// flowLines draws what flows: postings, refusals, leases that end, and how fast the servers are.
func (s *nowScreen) flowLines(w int) []string {
	t, tr := s.d.theme, s.d.tr
	lines := []string{t.Text(paint.Strong, tr("What flows"))}
	if s.shown.at.IsZero() {
		return lines
	}
	p := s.read.pulse
	rate := tr("a minute, %d minutes", len(p.Grants))
	if p.Bounded {
		rate = tr("a minute, as far as was looked")
	}
	lines = append(lines, s.spark(tr("grants"), p.Grants, last(p.Grants), rate, w, paint.Good)...)
	lines = append(lines,
		s.spark(tr("refusals"), p.Refusals, last(p.Refusals), rate, w, paint.Warn)...)
	ending := 0
	for _, n := range s.sum.expiries {
		ending += n
	}
	lines = append(lines, s.spark(tr("ending"), s.sum.expiries, idText(int64(ending)),
		tr("leases end in the next minute"), w, paint.Accent)...)
	lines = append(lines,
		s.spark("redis", s.redis, took(p.RedisTook), tr("one small question"), w, paint.Accent)...)
	lines = append(lines,
		s.spark("postgresql", s.pg, took(p.PostgresTook), tr("what waits, counted"), w, paint.Accent)...)
	lines = append(lines, "", t.Text(paint.Muted, safetext.Fit(tr("leases"), 12, ""))+
		t.Text(paint.Strong, strconv.Itoa(len(s.read.leases.Leases)))+"  "+
		t.Text(paint.Muted, s.sum.counts))
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

// spark draws a labelled row of bars with the newest value and what it counts.
func (s *nowScreen) spark(label string, values []int, newest, what string, w int, role paint.Role,
) []string {
	t := s.d.theme
	const labelWidth, newestWidth = 12, 8
	room := max(w-labelWidth-newestWidth-2, 8)
	shown := values[max(len(values)-room, 0):]
	bars := t.Glyphs.Spark(shown)
	if len(shown) == 0 || slices.Max(shown) == 0 {
		role = paint.Muted
	}
	line := t.Text(paint.Muted, safetext.Fit(label, labelWidth, t.Glyphs.Ellipsis)) +
		t.Text(paint.Strong, safetext.FitRight(newest, newestWidth, "")) + "  " + t.Text(role, bars)
	rest := w - labelWidth - newestWidth - 4 - len(shown)
	if textWidth(what) <= rest {
		line += "  " + t.Text(paint.Muted, what)
	}
	return []string{line}
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
			s.feed.refresh()
			return nil
		}},
		{Keys: []string{"n"}, Help: "next that needs attention", Quiet: true, Action: func() tea.Cmd {
			for i := range s.tiles {
				if at := (s.at + 1 + i) % len(s.tiles); s.tiles[at].bad {
					s.at = at
					break
				}
			}
			return nil
		}},
	}
	return append(list, scrolling(move, func() int { return len(s.tiles) })...)
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
	if y >= 1 && y <= len(s.tiles) {
		s.at = y - 1
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
