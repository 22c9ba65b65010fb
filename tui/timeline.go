package tui

import (
	"slices"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
)

const (
	timelineHeight = 3  // lines: who held it, what was written, when
	timelineTokens = 12 // so many tokens are drawn at once, around the one under the cursor
	idleColumns    = 11 // what a long time without anything takes
)

// heldSpan is a time during which one token was held, as far as that is known.
type heldSpan struct {
	use         inspect.TokenUse
	from, until time.Time
	sure        time.Time // up to here it is known to have been held
	held        bool      // it still is
}

// timeStretch is a part of the time axis. An idle one takes few columns, however long it is.
type timeStretch struct {
	from, to time.Time
	at, cols int
	idle     bool
}

// timeline draws who held a resource when.
type timeline struct {
	d         *desk
	w         int
	spans     []heldSpan
	marks     []inspect.TokenEntry // writes that were accepted or refused
	stretches []timeStretch
	undated   int // tokens of which nobody knows when they were issued
	outside   int // tokens that are not drawn because there are too many
}

// newTimeline lays out the history around the token under the cursor.
func newTimeline(
	d *desk, h inspect.TokenHistory, cursor *inspect.TokenUse, w int,
) *timeline {
	t := &timeline{d: d, w: w}
	all := t.dated(h)
	at := len(all) - 1
	if cursor != nil {
		if i := slices.IndexFunc(all, func(s heldSpan) bool { return same(s.use, *cursor) }); i >= 0 {
			at = i
		}
	}
	first := max(min(at-timelineTokens/2, len(all)-timelineTokens), 0)
	t.spans = all[first:min(first+timelineTokens, len(all))]
	t.outside = len(all) - len(t.spans)
	if len(t.spans) == 0 {
		return t
	}
	begin, end := t.spans[0].from, t.spans[len(t.spans)-1].until
	for _, s := range t.spans {
		if s.until.After(end) {
			end = s.until
		}
	}
	for _, e := range h.Entries {
		wrote := e.Event == inspect.TokenUsed || e.Event == inspect.TokenRefused
		if wrote && !e.At.Before(begin) && (t.outside == 0 || !e.At.After(end)) {
			t.marks = append(t.marks, e)
			if e.At.After(end) {
				end = e.At
			}
		}
	}
	t.layOut(begin, end)
	return t
}

func same(a, b inspect.TokenUse) bool { return a.Token == b.Token && a.Owner == b.Owner }

// dated makes a span of each token of which it is known when it was issued, in that order.
func (t *timeline) dated(h inspect.TokenHistory) []heldSpan {
	now := t.d.now()
	for _, e := range h.Entries { // the servers' clocks may be ahead of ours
		if e.At.After(now) {
			now = e.At
		}
	}
	var all []heldSpan
	for _, u := range h.Tokens {
		if u.Issued.IsZero() {
			t.undated++
			continue
		}
		s := heldSpan{use: u, from: u.Issued, until: u.Ended, sure: u.Ended}
		s.held = h.Lease != nil && h.Lease.Foreign == "" && h.Lease.Token == u.Token &&
			h.Lease.Owner == u.Owner
		if s.held {
			s.until, s.sure = now, now
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b heldSpan) int { return a.from.Compare(b.from) })
	for i := range all {
		if all[i].until.IsZero() {
			all[i].guess(h, all[i+1:], now)
		}
	}
	return all
}

// guess finds what is known of an end that nobody wrote down: it was held at its last write, and no
// longer when the next token was issued.
func (s *heldSpan) guess(h inspect.TokenHistory, later []heldSpan, now time.Time) {
	s.sure, s.until = s.from, now
	for _, e := range h.Entries {
		wrote := e.Event == inspect.TokenUsed || e.Event == inspect.TokenRenewed
		if wrote && e.Token == s.use.Token && e.Owner == s.use.Owner && e.At.After(s.sure) {
			s.sure = e.At
		}
	}
	if len(later) > 0 {
		s.until = later[0].from
	}
	if s.until.Before(s.sure) {
		s.until = s.sure
	}
}

// layOut divides the columns among the time. What is long and empty is made short.
func (t *timeline) layOut(begin, end time.Time) {
	type block struct{ from, to time.Time }
	var busy []block
	for _, s := range t.spans {
		busy = append(busy, block{s.from, s.sure}) // the rest is a guess: it may be empty
	}
	for _, e := range t.marks {
		busy = append(busy, block{e.At, e.At})
	}
	busy = append(busy, block{end, end})
	slices.SortFunc(busy, func(a, b block) int { return a.from.Compare(b.from) })
	const share = 4 // of the whole: what is idle for longer is made short
	least := end.Sub(begin) / share
	last := timeStretch{from: begin, to: begin}
	for _, b := range busy {
		if b.from.Sub(last.to) > least {
			t.stretches = append(t.stretches, last, timeStretch{from: last.to, to: b.from, idle: true})
			last = timeStretch{from: b.from, to: b.from}
		}
		if b.to.After(last.to) {
			last.to = b.to
		}
	}
	t.stretches = append(t.stretches, last)
	t.share()
}

// share gives each stretch its columns.
func (t *timeline) share() {
	var total time.Duration
	left, busy := t.w, 0
	for _, s := range t.stretches {
		if s.idle {
			left -= idleColumns
			continue
		}
		busy++
		total += s.to.Sub(s.from)
	}
	const least = 6 // columns of a stretch that took no time
	spare := max(left-least*busy, 0)
	at := 0
	for i := range t.stretches {
		s := &t.stretches[i]
		s.at, s.cols = at, idleColumns
		if !s.idle {
			s.cols = least
			if total > 0 {
				s.cols += int(float64(spare) * float64(s.to.Sub(s.from)) / float64(total))
			}
		}
		at += s.cols
	}
}

// column is where a moment is drawn.
func (t *timeline) column(at time.Time) int {
	for i, s := range t.stretches {
		if at.After(s.to) && i < len(t.stretches)-1 {
			continue
		}
		whole := s.to.Sub(s.from)
		if whole <= 0 || s.cols <= 1 {
			return min(s.at, t.w-1)
		}
		part := min(max(at.Sub(s.from), 0), whole)
		return min(s.at+int(float64(part)/float64(whole)*float64(s.cols-1)), t.w-1)
	}
	return 0
}

// lines draws the chart; one line that says why when there is nothing to draw.
func (t *timeline) lines(cursor *inspect.TokenUse) []string {
	tr, theme := t.d.tr, t.d.theme
	if len(t.spans) == 0 {
		why := tr("no timeline: Redis remembers of none of the tokens when it was issued")
		why = safetext.Fit(why, t.w, theme.Glyphs.Ellipsis)
		return []string{" " + theme.Text(paint.Muted, why) + " "}
	}
	return []string{t.holders(cursor), t.writes(), t.axis()}
}

// holders draws who held the resource.
func (t *timeline) holders(cursor *inspect.TokenUse) string {
	g, r := t.d.theme.Glyphs, newRow(t.w)
	for i, s := range t.spans {
		role, line := paint.Plain, g.Rule
		if i%2 == 1 {
			role = paint.Accent
		}
		if cursor != nil && same(s.use, *cursor) {
			role, line = paint.Strong, g.Double.Horizontal
		}
		from, sure, until := t.column(s.from), t.column(s.sure), t.column(s.until)
		for at := from + 1; at < until; at++ {
			glyph := line
			if at > sure {
				glyph = g.Faint
			}
			r.put(at, glyph, role)
		}
		r.put(until, g.SpanEnd, role)
		if s.held {
			r.put(until, g.Right, role)
		}
		r.put(from, g.SpanBegin, role)
		if from == until && !s.held {
			r.put(from, g.Bar, role)
		}
		t.name(r, i, role)
	}
	for _, s := range t.stretches {
		if s.idle {
			words := "/ " + brief(s.to.Sub(s.from).Truncate(time.Second)) + " /"
			r.write(s.at+max((s.cols-safetext.Width(words))/2, 0), s.at+s.cols, words, paint.Muted)
		}
	}
	return r.draw(t.d.theme)
}

// name writes who had a token into its span, or behind one that is too short, as far as there is
// room before the next.
func (t *timeline) name(r cellRow, i int, role paint.Role) {
	s, name := t.spans[i], shortOwner(t.spans[i].use.Owner)
	from, sure, until := t.column(s.from), t.column(s.sure), t.column(s.until)
	left, room := from+2, max(sure, min(until, from+safetext.Width(name)+3))-from-3
	if room <= 2 {
		left, room = until+1, t.free(i)-until-2
	}
	if room <= 2 {
		return
	}
	name = safetext.Cut(name, room, t.d.theme.Glyphs.Ellipsis)
	if left == from+2 {
		left += (room - safetext.Width(name)) / 2
	}
	r.write(left, left+safetext.Width(name), name, role)
}

// free is the first column behind a span in which something else stands.
func (t *timeline) free(i int) int {
	end := t.w
	for _, s := range t.spans[i+1:] {
		end = min(end, t.column(s.from))
	}
	for _, s := range t.stretches {
		if s.idle && s.from.After(t.spans[i].from) {
			end = min(end, s.at)
		}
	}
	return end
}

// shortOwner is the worker's name, without its host and its process.
func shortOwner(owner string) string {
	name, _, _ := strings.Cut(safetext.Cell(owner), "@")
	return withoutNonce(name)
}

// writes draws what was accepted and refused, and which tokens nobody saw.
func (t *timeline) writes() string {
	g, r := t.d.theme.Glyphs, newRow(t.w)
	for _, s := range t.spans {
		for _, m := range s.use.Marks {
			switch m {
			case inspect.MarkGap:
				r.put(t.column(s.from)-1, g.Ellipsis, paint.Muted)
			case inspect.MarkRegression, inspect.MarkTwoOwners, inspect.MarkLateWrite:
				r.put(t.column(s.from), g.Warning, paint.Bad)
			case inspect.MarkFencedOff:
			}
		}
	}
	for _, refused := range []bool{false, true} { // what was refused is seen over what was not
		for _, e := range t.marks {
			if refused != (e.Event == inspect.TokenRefused) {
				continue
			}
			if refused {
				r.put(t.column(e.At), g.Wrong, paint.Warn)
			} else {
				r.put(t.column(e.At), g.Dot, paint.Good)
			}
		}
	}
	return r.draw(t.d.theme)
}

// axis writes when it begins and ends, and what the signs mean.
func (t *timeline) axis() string {
	g, tr, theme := t.d.theme.Glyphs, t.d.tr, t.d.theme
	begin, last := t.spans[0].from, t.stretches[len(t.stretches)-1].to
	layout := "15:04:05"
	if last.Sub(begin) > 20*time.Hour {
		layout = "01-02 15:04:05"
	}
	left, right := begin.Local().Format(layout), last.Local().Format(layout)
	parts := []string{
		g.Dot + " " + tr("written"), g.Wrong + " " + tr("late, refused"),
	}
	if t.undated > 0 {
		parts = slices.Insert(parts, 0, tr("%d tokens without a time are not drawn", t.undated))
	}
	if t.outside > 0 {
		parts = slices.Insert(parts, 0, tr("%d more are not drawn", t.outside))
	}
	parts = append(parts, g.Ellipsis+" "+tr("never seen"), g.Faint+g.Faint+" "+tr("end not known"))
	legend := ""
	for _, part := range parts {
		if next := legend + part + "   "; textWidth(left+right+next) <= t.w-4 {
			legend = next
		}
	}
	legend = strings.TrimRight(legend, " ")
	room := t.w - textWidth(left) - textWidth(right)
	gap := max((room-textWidth(legend))/2, 0)
	line := left + safetext.Spaces(gap) + legend +
		safetext.Spaces(max(room-gap-textWidth(legend), 0)) + right
	return " " + theme.Text(paint.Muted, line) + " "
}
