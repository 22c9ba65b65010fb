package tui

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// nowRead is everything that the home screen reads at once.
type nowRead struct {
	pulse    inspect.Pulse
	leases   inspect.LeaseCounts
	counted  time.Time         // when the leases were counted
	audit    *inspect.AuditRun // the newest that ended; nil when there is none
	problems []string          // what could not be read, and why
	extra    [][]tile          // of parts of the console that have something to say
	known    nowKnown
}

// nowScreen is on-call's home: what needs attention, and whether things flow.
type nowScreen struct {
	noTyping
	d      *desk
	feed   *feed[nowRead]
	tally  tally
	shown  *view[nowRead]
	read   nowRead
	last   *nowRead // as it was read last, without what was known before
	counts string   // of the leases, in words
	tiles  []tile
	at     int
	lead   int // lines above the first tile, when it was drawn last
	top    int // lines that were scrolled out above
}

func newNowScreen(d *desk) *nowScreen {
	s := &nowScreen{d: d, tally: tally{d: d}}
	s.feed = newFeed(d, d.opts.Refresh, func(*nowRead) string { return "now" },
		func(ctx context.Context, _ Args) (batch[nowRead], error) {
			got := d.readNow(ctx, &s.tally)
			missing := slices.Concat(got.pulse.Missing, got.leases.Missing)
			return batch[nowRead]{rows: []nowRead{got}, missing: missing}, ctx.Err()
		})
	s.feed.ask(query[nowRead]{})
	s.shown = s.feed.out.Load()
	return s
}

// readNow asks everybody at once. What does not answer is named; the rest is shown.
func (d *desk) readNow(ctx context.Context, leases *tally) nowRead {
	var n nowRead
	var runs []inspect.AuditRun
	n.extra, n.known.extra = make([][]tile, len(d.tilers)), make([]bool, len(d.tilers))
	asks := []func() error{
		func() (err error) {
			if n.pulse, err = d.opts.Inspector.Pulse(ctx); err == nil {
				d.gauges.take(n.pulse)
				n.known.pulse = n.pulse.Blind() == nil
			}
			return err
		},
		func() (err error) {
			n.leases, n.counted, err = leases.read(ctx)
			n.known.leases = err == nil && n.leases.Blind() == nil
			return err
		},
		func() (err error) {
			const newest = 5
			runs, err = d.opts.Inspector.AuditRuns(ctx, newest)
			n.known.audits = err == nil
			return err
		},
	}
	for i, more := range d.tilers {
		asks = append(asks, func() (err error) {
			n.extra[i], err = more(ctx)
			n.known.extra[i] = err == nil
			return err
		})
	}
	errs := make([]error, len(asks))
	var all sync.WaitGroup
	all.Add(len(asks))
	for i, ask := range asks {
		d.spawn(func() {
			defer all.Done()
			errs[i] = ask()
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			n.problems = append(n.problems, d.unread(err))
		}
	}
	for i := range runs {
		if runs[i].State == "done" {
			n.audit = &runs[i]
			break
		}
	}
	return n
}

func (s *nowScreen) ID() ScreenID  { return ScreenNow }
func (s *nowScreen) Title() string { return "Now" }

// Open starts reading.
func (s *nowScreen) Open(ctx context.Context, _ Args) tea.Cmd {
	s.d.spawn(func() { s.feed.run(ctx) })
	return nil
}

// Update takes the newest reading.
func (s *nowScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case backMsg:
		s.again() // it was read less often while nobody looked
		return nil
	case dataMsg:
	default:
		return nil
	}
	v := s.feed.out.Load()
	if v == s.shown || len(v.items) == 0 {
		return nil
	}
	s.shown = v
	if v.items[0].row == s.last {
		return nil
	}
	s.last = v.items[0].row
	s.read = s.last.over(s.read)
	s.d.health.read(v.missing, v.took, nil)
	s.d.health.measured(s.read.pulse)
	s.counts = stateCounts(s.d.lang, s.read.leases.States)
	s.tiles = s.attention()
	for _, t := range s.tiles {
		if !t.unknown {
			s.d.counted[t.key] = t.count
		}
	}
	return nil
}

// Crumb says where this is.
func (s *nowScreen) Crumb() crumb {
	c := crumb{path: s.d.tr("Now")}
	bad := 0
	for _, t := range s.tiles {
		if t.bad {
			bad++
		}
	}
	switch {
	case s.shown.at.IsZero():
	case bad+len(s.unread()) == 0:
		c.counts = s.d.tr("nothing needs attention")
	default:
		c.counts = s.d.tr("%d need attention", bad+len(s.unread()))
	}
	if age := s.shown.at.Sub(s.read.counted); !s.read.counted.IsZero() && age >= staleAfter {
		c.counts += s.d.tr("  leases counted %s ago", seconds(age))
	}
	return c
}

// again reads everything now.
func (s *nowScreen) again() {
	s.tally.stale.Store(true)
	s.feed.refresh()
}

// unread says what could not be read and why, each reason once.
func (s *nowScreen) unread() []string {
	list := slices.Clone(s.read.problems)
	for _, m := range s.shown.missing {
		list = append(list, s.d.missing(m))
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(words string) bool {
		again := seen[words]
		seen[words] = true
		return again
	})
}

// Seen tells how old it is.
func (s *nowScreen) Seen() seen {
	out := seen{at: s.shown.at, live: true}
	if len(s.read.problems) > 0 {
		out.problem = s.read.problems[0]
	}
	return out
}

// State is nothing of its own: the counts are remembered for "since you last looked".
func (s *nowScreen) State() json.RawMessage { return nil }

// How wide what needs attention is beside what flows, in columns.
const tilesLeast, tilesMost = 62, 90

// View draws what needs attention on the left and what flows on the right, or below.
func (s *nowScreen) View(w, h int) string {
	t := s.d.theme
	left := min(max(tilesLeast, w*2/5), tilesMost, w)
	if w < 2*left-20 {
		lines := s.stacked(w, h)
		for i := range lines {
			lines[i] = safetext.Fit(lines[i], w, t.Glyphs.Ellipsis)
		}
		return strings.Join(lines, "\n")
	}
	a, b := s.window(s.attentionLines(left), h), s.flowLines(w-left-3)
	lines := make([]string, h)
	for i := range lines {
		lines[i] = safetext.Fit(at(a, i), left, t.Glyphs.Ellipsis) +
			t.Text(paint.Muted, t.Glyphs.Bar) + " " + safetext.Fit(at(b, i), w-left-2, t.Glyphs.Ellipsis)
	}
	return strings.Join(lines, "\n")
}

// stacked draws one above the other. What flows is always seen whole: two to a line where there is
// little room. What needs attention scrolls when the rest is not enough for it.
func (s *nowScreen) stacked(w, h int) []string {
	above, below := s.attentionLines(w), s.flowLines(w)
	if len(above)+1+len(below) > h {
		below = s.flowPairs(w)
	}
	above = s.window(above, h-len(below))
	if len(above)+len(below) < h {
		above = append(above, "")
	}
	return append(above, below...)
}

// window returns the lines around the cursor that there is room for, the title among them, which
// says how many there are besides.
func (s *nowScreen) window(lines []string, room int) []string {
	s.top = 0
	if room = max(room, 2); len(lines) <= room {
		return lines
	}
	cursor := s.lead + s.at
	s.top = max(min(cursor-room+2, len(lines)-room), 0)
	title := lines[0]
	if s.top > 0 {
		title += s.d.theme.Text(paint.Muted, s.d.tr("   %d more above", s.top))
	}
	if below := len(lines) - room - s.top; below > 0 {
		title += s.d.theme.Text(paint.Muted, s.d.tr("   %d more below", below))
	}
	return append([]string{title}, lines[1+s.top:s.top+room]...)
}

func (s *nowScreen) attentionLines(w int) []string {
	t, tr := s.d.theme, s.d.tr
	title := tr("Needs attention")
	if !s.d.saved.Looked.IsZero() {
		title += "   " + tr("changes since %s", s.d.saved.Looked.Local().Format("01-02 15:04"))
	}
	lines := []string{" " + t.Text(paint.Strong, title)}
	if s.shown.at.IsZero() {
		return append(lines, " "+t.Text(paint.Muted, tr("looking")+t.Glyphs.Ellipsis))
	}
	for _, words := range s.unread() {
		sign := t.Glyphs.Wrong
		for _, part := range safetext.Wrap(safetext.Cell(words), w-4) {
			lines = append(lines, " "+t.Text(paint.Bad, sign+" "+part))
			sign = " "
		}
	}
	s.lead = len(lines)
	for i, one := range s.tiles {
		lines = append(lines, s.tileLine(i, one, w))
	}
	return lines
}

func (s *nowScreen) tileLine(i int, one tile, w int) string {
	t := s.d.theme
	sign, role, count := t.Glyphs.OK, paint.Muted, idText(one.count)
	switch {
	case one.unknown:
		sign, count = t.Glyphs.Hollow, t.Glyphs.Dash
	case one.bad:
		sign, role = t.Glyphs.Warning, paint.Bad
	case one.count > 0:
		sign, role = t.Glyphs.Dot, paint.Plain
	}
	mark := " "
	if i == s.at {
		mark = t.Glyphs.Cursor
	}
	words := s.d.tr(one.label)
	if one.note != "" {
		words += ", " + one.note
	}
	const countWidth, changeWidth = 7, 6
	line := mark + sign + safetext.FitRight(count, countWidth, "+") + "  " +
		safetext.Fit(safetext.Cell(words), w-countWidth-changeWidth-6, t.Glyphs.Ellipsis) + " " +
		safetext.FitRight(s.change(one), changeWidth, "+")
	if i == s.at {
		return t.Text(paint.Cursor, safetext.Fit(line, w-1, ""))
	}
	return t.Text(role, line)
}

// change says by how much a count differs from when the console was last left.
func (s *nowScreen) change(one tile) string {
	before, known := s.d.saved.Counts[one.key]
	known = known && !one.unknown
	if n := one.count - before; known && n > 0 {
		return "+" + idText(n)
	} else if known && n < 0 {
		return idText(n)
	}
	return ""
}
