package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// playerScreen shows what one player received, and why, and why not.
type playerScreen struct {
	d      *desk
	ctx    context.Context
	search field
	typing bool // the search box has the keys
	player string
	table  *table.Table
	filter string
	pane   bool

	all      []inspect.PlayerEntry // every page so far, newest first
	shown    entries
	balances []inspect.Balance
	next     string // cursor of the next older page
	seen     seen
	missing  bool // nothing is known under this name
	reading  *job
	finding  *job   // players are looked for whom the text may mean
	explain  string // an event to explain as soon as the player is read
	asked    asked  // what was read
	turned   bool   // the filter asks for something else than was read
}

// playerMsg brings a page of a timeline.
type playerMsg struct {
	page  inspect.PlayerPage
	older bool
	err   error
}

func newPlayerScreen(d *desk) *playerScreen {
	s := &playerScreen{
		d: d, search: newField(""), typing: true, pane: true,
		table: table.New(d.theme, entryColumns(d)),
	}
	s.table.SetStatus(table.Status{State: table.Ready, Empty: d.tr("type a player's id, then enter")})
	return s
}

func (s *playerScreen) ID() ScreenID  { return ScreenPlayer }
func (s *playerScreen) Title() string { return "Player" }

// Open shows the search box, or a player straight away.
func (s *playerScreen) Open(ctx context.Context, args Args) tea.Cmd {
	s.ctx = ctx
	s.explain = args["explain"]
	if player := args["player"]; player != "" {
		cmd := s.lookUp(player)
		if filter := args["filter"]; filter != "" {
			s.SetFilter(filter)
		}
		return cmd
	}
	if s.player != "" {
		return s.read(false)
	}
	s.typing = true
	return nil
}

// lookUp shows another player.
func (s *playerScreen) lookUp(player string) tea.Cmd {
	if player = strings.TrimSpace(player); player == "" {
		return nil
	}
	s.player, s.typing, s.filter = player, false, ""
	s.search.set(player)
	s.all, s.balances, s.next, s.missing, s.seen = nil, nil, "", false, seen{}
	s.arrange()
	s.table.SetStatus(table.Status{State: table.Loading})
	return s.read(false)
}

// read asks for the newest page, or for the next older one.
func (s *playerScreen) read(older bool) tea.Cmd {
	s.reading.stop()
	s.asked, s.turned = askedBy(s.filter), false
	query := inspect.PlayerQuery{PlayerID: s.player, Types: s.asked.types(), To: s.asked.to}
	if older {
		query.Cursor = s.next
	}
	j, cmd := s.d.start(s.ctx, s.d.tr("reading %s", s.player), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			page, err := s.d.opts.Inspector.Player(ctx, query)
			return playerMsg{page, older, err}
		})
	s.reading = j
	return cmd
}

// Update takes pages. What an earlier search asked for is dropped.
func (s *playerScreen) Update(msg tea.Msg) tea.Cmd {
	if _, tick := msg.(tickMsg); tick && s.turned && s.player != "" {
		return s.read(false)
	}
	done, ok := msg.(jobDoneMsg)
	if got, found := done.result.(foundMsg); ok && found && done.job == s.finding {
		return s.found(got)
	}
	if !ok || done.job != s.reading {
		return nil
	}
	got, ok := done.result.(playerMsg)
	if !ok {
		return nil
	}
	s.reading = nil
	if got.err != nil {
		return s.failed(got.err)
	}
	page := got.page
	s.seen, s.missing = seen{at: s.d.now()}, false
	s.balances, s.next = page.Balances, page.Next
	if got.older {
		s.all = append(s.all[:len(s.all):len(s.all)], page.Entries...)
	} else {
		s.all = page.Entries
	}
	s.arrange()
	s.table.SetStatus(s.status())
	if s.explain != "" {
		event := s.explain
		s.explain = ""
		return openExplain(s.d, s.player, event)
	}
	return nil
}

func (s *playerScreen) failed(err error) tea.Cmd {
	if notFound(err) {
		s.missing = true
		s.seen = seen{at: s.d.now()}
		s.table.SetStatus(table.Status{
			State: table.Ready, Empty: s.d.tr("nobody knows this player: no claim, posting or refusal"),
		})
		return s.find(s.player)
	}
	s.d.health.failed(err)
	s.seen.problem, s.seen.denied = s.d.unread(err), isDenied(err)
	s.table.SetStatus(s.status())
	if s.seen.denied {
		s.d.say(Warned, s.seen.problem)
		return nil
	}
	s.d.say(Erred, s.d.tr("the player could not be read"), err.Error())
	return nil
}

func (s *playerScreen) status() table.Status {
	st := table.Status{
		State: table.Ready, Filtered: s.filter != "",
		Empty: s.d.tr("nothing has happened to this player"),
	}
	if s.seen.denied {
		st.Empty, st.Filtered = s.seen.problem, false
	} else if s.seen.problem != "" {
		st.Note = s.d.tr("not current: %s", s.seen.problem)
		if s.seen.at.IsZero() {
			st.State = table.Failed
		}
	}
	return st
}

// arrange filters the entries.
func (s *playerScreen) arrange() {
	f := parseFilter(askedBy(s.filter).rest, "event", "kind", "outcome", "actor", "token")
	s.shown = entries{d: s.d}
	for i := range s.all {
		if f.empty() || f.match(lookAtEntry(s.d, &s.all[i], s.d.now())) {
			s.shown.list = append(s.shown.list, &s.all[i])
		}
	}
	s.table.SetData(s.shown)
	s.table.SetStatus(s.status())
}

// Filter returns the filter line.
func (s *playerScreen) Filter() string { return s.filter }

// SetFilter filters what was read. A date or a type that it names is asked of the servers.
func (s *playerScreen) SetFilter(text string) {
	s.filter = strings.TrimSpace(text)
	s.turned = !askedBy(s.filter).same(s.asked)
	s.arrange()
}

// Typing reports whether the search box has the keys.
func (s *playerScreen) Typing() bool { return s.typing }

// Type edits the search box.
func (s *playerScreen) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	s.search.update(msg, fast)
	return nil
}

// Paste puts the first line into the search box; it searches for nothing by itself.
func (s *playerScreen) Paste(text string) (tea.Cmd, string) {
	_, refusal := s.search.paste(strings.TrimSpace(text))
	return nil, refusal
}

// Crumb says whose history it is.
func (s *playerScreen) Crumb() crumb {
	c := crumb{path: s.d.tr("Player"), filter: s.filter}
	if s.player != "" {
		c.path += " › " + safetext.Cell(s.player)
		c.counts = s.d.tr("%d entries", len(s.all))
		if s.filter != "" {
			c.counts += s.d.tr("  %d match", len(s.shown.list))
		}
		if s.next != "" {
			c.counts += "  " + s.d.tr("older ones: n")
		}
	}
	return c
}

// Seen tells how old the page is.
func (s *playerScreen) Seen() seen { return s.seen }

// State is the player and the filter.
func (s *playerScreen) State() json.RawMessage {
	raw, err := json.Marshal(map[string]string{"player": s.player, "filter": s.filter})
	if err != nil {
		return nil
	}
	return raw
}

// View draws the search box, the balances and the timeline.
func (s *playerScreen) View(w, h int) string {
	t := s.d.theme
	box := " " + t.Text(paint.Muted, s.d.tr("player")+"  ") + s.search.view(t, min(w-12, 50), s.typing)
	lines := []string{safetext.Fit(box, w, ""), safetext.Fit(s.balanceLine(), w, t.Glyphs.Ellipsis)}
	var detail func(w int) (a, b []string)
	if e := s.selected(); s.pane && e != nil {
		detail = func(w int) (a, b []string) { return entryWhat(s.d, e, w), entryHow(s.d, e, w) }
	}
	lines = append(lines, withInspector(s.d, s.table, w, h-len(lines), detail)...)
	return strings.Join(lines, "\n")
}

func (s *playerScreen) balanceLine() string {
	t := s.d.theme
	if s.player == "" {
		return ""
	}
	line := " " + t.Text(paint.Muted, s.d.tr("balance")+" ")
	if len(s.balances) == 0 {
		if s.reading != nil {
			return line + t.Text(paint.Muted, s.d.tr("reading")+t.Glyphs.Ellipsis)
		}
		return line + t.Text(paint.Muted, s.d.tr("none"))
	}
	for _, b := range s.balances {
		line += t.Text(paint.Strong, fmt.Sprintf("%d", b.Amount)) + " " + safetext.Cell(b.Kind)
		if b.Broken() {
			line += t.Text(paint.Bad, " "+t.Glyphs.Warning+" "+s.d.tr("ledger says %d", *b.Ledger))
		}
		line += "   "
	}
	return line
}

// selected returns the entry under the cursor, or nil.
func (s *playerScreen) selected() *inspect.PlayerEntry {
	row, _, ok := s.table.Selected()
	if !ok || row >= len(s.shown.list) {
		return nil
	}
	return s.shown.list[row]
}

// Unfocus takes the keys away from the search box.
func (s *playerScreen) Unfocus() bool {
	was := s.typing
	s.typing = false
	return was
}
