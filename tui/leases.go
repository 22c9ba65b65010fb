package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// staleAfter is the age from which data is not acted upon any more.
const staleAfter = 10 * time.Second

const notRead = "leases could not be read"

// leasesScreen lists who holds what, with the verdict on each.
type leasesScreen struct {
	noTyping
	d      *desk
	table  *table.Table
	feed   *feed[inspect.Lease]
	shown  *view[inspect.Lease]
	filter string
	gen    uint64
	ask    string // a resource to put the cursor on when it is there
	pane   bool
}

func newLeasesScreen(d *desk) *leasesScreen {
	s := &leasesScreen{d: d, table: table.New(d.theme, leaseColumns()), pane: true}
	s.table.SetSort(colState, false)
	s.feed = newFeed(d, d.opts.Refresh, func(l *inspect.Lease) string { return l.Resource },
		func(ctx context.Context) (batch[inspect.Lease], error) {
			list, err := d.opts.Inspector.Leases(ctx, inspect.LeaseFilter{})
			return batch[inspect.Lease]{list.Leases, list.Missing}, err
		})
	s.feed.digest = summarise
	s.shown = s.feed.out.Load()
	s.requery()
	return s
}

func (s *leasesScreen) ID() ScreenID  { return ScreenLeases }
func (s *leasesScreen) Title() string { return "Leases" }

// Open starts reading.
func (s *leasesScreen) Open(ctx context.Context, args Args) tea.Cmd {
	if text, ok := args["filter"]; ok {
		s.SetFilter(text)
	}
	if resource := args["resource"]; resource != "" {
		s.ask, s.pane = resource, true
		s.SetFilter("")
	}
	s.d.spawn(func() { s.feed.run(ctx) })
	return nil
}

// Update takes the newest snapshot.
func (s *leasesScreen) Update(msg tea.Msg) tea.Cmd {
	if _, ok := msg.(dataMsg); !ok {
		return nil
	}
	v := s.feed.out.Load()
	if v == s.shown {
		return nil
	}
	if v.at != s.shown.at || (v.err != nil) != (s.shown.err != nil) ||
		len(v.missing) != len(s.shown.missing) {
		s.heard(v)
	}
	s.shown = v
	s.place()
	return nil
}

// heard tells the banner and the operator how the last read went, when that changed.
func (s *leasesScreen) heard(v *view[inspect.Lease]) {
	switch {
	case v.err != nil && s.shown.err == nil:
		s.d.health.failed(v.err)
		s.d.say(Erred, notRead, v.err.Error())
	case v.err != nil:
		s.d.health.failed(v.err)
	default:
		s.d.health.read(v.missing, v.took)
		if len(v.missing) > 0 && len(s.shown.missing) == 0 {
			s.d.say(Erred, v.missing[0].String())
		}
		if s.shown.err != nil || len(v.missing) == 0 && len(s.shown.missing) > 0 {
			s.d.messages.over(notRead)
			for _, m := range s.shown.missing {
				s.d.messages.over(safetext.Cell(m.String()))
			}
			s.d.say(Info, "everything answers again")
		}
	}
}

// place hands the snapshot to the table, with the time that is now.
func (s *leasesScreen) place() {
	s.table.SetStatus(s.status())
	s.table.SetData(s.data())
	if s.ask != "" && s.shown.gen == s.gen && !s.shown.at.IsZero() {
		if !s.table.Select(s.ask) {
			s.d.say(Warned, "nobody holds "+s.ask)
		}
		s.ask = ""
		s.follow()
	}
}

func (s *leasesScreen) data() leaseData {
	return leaseData{s.shown, s.d.now(), s.d.opts.LeaseTTL, s.d.theme.Glyphs}
}

func (s *leasesScreen) status() table.Status {
	st := table.Status{
		State: table.Ready, Filtered: s.filter != "", Empty: "nobody holds a lease",
	}
	switch {
	case s.shown.err != nil:
		st.Note = "not current: " + s.shown.err.Error()
		if s.shown.at.IsZero() {
			st.State = table.Failed
		}
	case len(s.shown.missing) > 0:
		st.Note = s.shown.missing[0].String()
	case s.shown.at.IsZero():
		st.State = table.Loading
	}
	return st
}

// requery has the rows filtered and sorted anew.
func (s *leasesScreen) requery() {
	s.gen++
	key, desc := s.table.Sort()
	f := parseFilter(s.filter, colResource, colOwner, colState, colToken, colLeft)
	q := query[inspect.Lease]{gen: s.gen, order: leaseOrder(key, desc)}
	if !f.empty() {
		now := s.d.now
		q.match = func(l *inspect.Lease) bool { return leaseMatches(f, l, now()) }
	}
	s.feed.ask(q)
}

func leaseMatches(f filter, l *inspect.Lease, now time.Time) bool {
	left := leftNow(l, now)
	if l.NoExpiry {
		left = math.MaxInt64
	}
	return f.match(func(field string) string {
		switch field {
		case colResource:
			return l.Resource
		case colOwner:
			return l.Owner
		case colState:
			return string(l.Verdict.State) + " " + stateWords(l.Verdict)
		case colToken:
			return strconv.FormatInt(l.Token, 10)
		case colLeft:
			return leftText(l, left)
		}
		return l.Resource + "\n" + l.Owner + "\n" + string(l.Verdict.State) + "\n" +
			stateWords(l.Verdict) + "\n" + tokenText(l.Token)
	}, left)
}

// Filter returns the filter line.
func (s *leasesScreen) Filter() string { return s.filter }

// SetFilter filters the rows.
func (s *leasesScreen) SetFilter(text string) {
	if text = strings.TrimSpace(text); text != s.filter {
		s.filter = text
		s.requery()
	}
}

// follow keeps the order while the cursor is anywhere but on the top row, so that the row under
// it never moves away.
func (s *leasesScreen) follow() { s.feed.hold.Store(!s.table.AtTop()) }

// Crumb says what is listed.
func (s *leasesScreen) Crumb() crumb {
	c := crumb{path: "Leases", filter: s.filter}
	counts := fmt.Sprintf("%d total", s.shown.total)
	if s.filter != "" {
		counts += fmt.Sprintf("  %d match", len(s.shown.items))
	}
	if all, hidden := s.table.Marks(); all > 0 {
		counts += fmt.Sprintf("  %d marked", all)
		if hidden > 0 {
			counts += fmt.Sprintf(" (%d not shown)", hidden)
		}
	}
	c.counts = counts
	return c
}

// Seen tells how old the list is.
func (s *leasesScreen) Seen() seen {
	out := seen{at: s.shown.at, live: true}
	if s.shown.err != nil {
		out.problem = s.shown.err.Error()
	}
	return out
}

// State is the sort and the filter.
func (s *leasesScreen) State() json.RawMessage {
	key, desc := s.table.Sort()
	raw, err := json.Marshal(map[string]any{"sort": key, "desc": desc, "filter": s.filter})
	if err != nil {
		return nil
	}
	return raw
}

// View draws the summary, the list and the inspector.
func (s *leasesScreen) View(w, h int) string {
	lines := make([]string, 0, h)
	lines = append(lines, s.summaryLine(w))
	s.table.SetData(s.data())
	it := s.selected()
	if !s.pane || it == nil {
		return strings.Join(append(lines, withInspector(s.d, s.table, w, h-1, nil)...), "\n")
	}
	detail := func(w int) (a, b []string) {
		return leaseVerdict(s.d, it, w), leaseIdentity(s.d, it, w)
	}
	return strings.Join(append(lines, withInspector(s.d, s.table, w, h-1, detail)...), "\n")
}

func (s *leasesScreen) summaryLine(w int) string {
	t := s.d.theme
	sum, _ := s.shown.digest.(leaseSummary)
	left := " " + t.Text(paint.Muted, sum.counts)
	right := ""
	switch {
	case s.shown.held > 0:
		right = t.Text(paint.Warn, fmt.Sprintf("%d new wait: . shows them ", s.shown.held))
	case len(sum.expiries) > 0 && len(s.shown.items) > 0:
		label := "ending in the next minute "
		if len(label)+len(sum.expiries)+len(sum.counts)+4 > w {
			label = ""
		}
		right = t.Text(paint.Muted, label) +
			t.Text(paint.Accent, t.Glyphs.Spark(sum.expiries)) + " "
	}
	return spread(left, right, w, t.Glyphs.Ellipsis)
}

// selected returns the lease under the cursor, or nil.
func (s *leasesScreen) selected() *leaseItem {
	row, _, ok := s.table.Selected()
	if !ok || row >= len(s.shown.items) {
		return nil
	}
	return s.shown.items[row]
}
