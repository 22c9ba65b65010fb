package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// entryList is the timeline of a player.
type entryList = list[entry]

// playerScreen shows what one player received, and why, and why not. It is a list that reads when
// it is asked to, page by page, below a search box; while the box has the keys it shows what can
// be typed, and who was looked at lately.
type playerScreen struct {
	*entryList
	ctx    context.Context
	search field
	typing bool // the search box has the keys
	player string
	recent recents

	all      []inspect.PlayerEntry // every page so far, newest first
	balances []inspect.Balance
	next     string        // cursor of the next older page
	at       time.Time     // when what is shown was read; zero before
	took     time.Duration // how long that took
	err      error         // why it was not read again since
	reading  *job
	began    time.Time // when the last reading began
	finding  *job      // players are looked for whom the text may mean
	auditing *job      // findings about the player are read
	about    []inspect.PlayerFinding
	explain  string // an event to explain as soon as the player is read
	asked    asked  // what was read
	width    int    // of the screen when it was drawn last
	turned   bool   // the filter asks for something else than was read
}

// playerMsg brings a page of a timeline; aboutMsg what audits found about its player.
type (
	playerMsg struct {
		page  inspect.PlayerPage
		older bool
		err   error
	}
	aboutMsg struct{ found []inspect.PlayerFinding }
)

func newPlayerScreen(d *desk) *playerScreen {
	s := &playerScreen{search: newField(""), typing: true}
	s.entryList = newList(d, listSpec[entry]{
		id: ScreenPlayer, title: "Player", columns: entryColumns(d), sortKey: "time", desc: true,
		rowID: entryID, servers: []grant.Backend{grant.PostgreSQL},
		look:  func(e *entry, now time.Time) filtered { return lookAtEntry(d, e, now) },
		local: func(line string) string { return askedBy(line).rest }, fields: entryFields(),
		attention: func(e *entry) bool { return e.attention() },
		name:      func(e *entry) string { return e.EventID },
		proof:     func(e *entry) []inspect.Proof { return inspect.ProveEntry(e.PlayerEntry) },
		detail: func(it *item[entry], w int) (a, b []string) {
			return entryWhat(d, it.row, w), entryHow(d, it.row, w)
		},
		cli: func(Args, string) []string { return s.cli() },
	})
	s.recent.restore(d.saved.screen(ScreenPlayer))
	return s
}

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
	s.player, s.typing, s.filter, s.lead = player, false, "", nil
	s.search.set(player)
	s.all, s.balances, s.next, s.about = nil, nil, "", nil
	s.at, s.err = time.Time{}, nil
	s.spec.empty = text.N("nothing has happened to this player")
	s.args = Args{"player": player}
	s.feed.turn(s.args)
	s.shown = &view[entry]{args: s.args}
	s.table.ClearMarks()
	s.place()
	return s.read(false)
}

// read asks for the newest page, or for the next older one.
func (s *playerScreen) read(older bool) tea.Cmd {
	s.reading.stop()
	s.asked, s.turned = askedBy(s.filter), false
	query := s.question()
	if older {
		query.Cursor = s.next
	}
	start := s.d.now()
	j, cmd := s.d.start(s.ctx, s.d.tr("reading %s", s.player), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			page, err := s.d.opts.Inspector.Player(ctx, query)
			return playerMsg{page, older, err}
		})
	s.reading, s.began = j, start
	return cmd
}

// question is what the servers are asked about the player.
func (s *playerScreen) question() inspect.PlayerQuery {
	return inspect.PlayerQuery{PlayerID: s.player, Types: s.asked.types(), To: s.asked.to}
}

// Update takes pages. What an earlier search asked for is dropped.
func (s *playerScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tickMsg:
		if s.player == "" || s.reading != nil || s.typing {
			return nil
		}
		if s.turned {
			return s.read(false)
		}
		if s.atEnd() {
			return s.read(true)
		}
	case jobDoneMsg:
		switch got := msg.result.(type) {
		case foundMsg:
			if msg.job == s.finding {
				return s.found(got)
			}
		case playerMsg:
			if msg.job == s.reading {
				return s.heardPage(got)
			}
		case aboutMsg:
			if msg.job == s.auditing {
				s.auditing, s.about = nil, got.found
				s.arrange()
			}
		case answerMsg:
			if s.player != "" && s.ctx != nil && s.ctx.Err() == nil {
				return tea.Batch(s.entryList.Update(msg), s.read(false))
			}
		}
	}
	return s.entryList.Update(msg)
}

// atEnd reports whether the cursor stands on the last row while there is something older.
func (s *playerScreen) atEnd() bool {
	at, _, ok := s.table.Selected()
	return ok && at > 0 && at == s.table.Len()-1 && s.next != "" && s.err == nil
}

// heardPage takes a page.
func (s *playerScreen) heardPage(got playerMsg) tea.Cmd {
	s.reading = nil
	if got.err != nil {
		return s.failed(got.err)
	}
	s.heardAll()
	s.balances = got.page.Balances
	switch entries := got.page.Entries; {
	case got.older:
		s.all = append(s.all[:len(s.all):len(s.all)], entries...)
		s.next = got.page.Next
	default:
		s.all, s.next = newest(entries, s.all, got.page.Next, s.next)
	}
	if s.extra = nil; s.next != "" {
		s.extra = s.exportAll
	}
	s.arrange()
	s.recent.add(s.player, s.d.now())
	var cmds []tea.Cmd
	if !got.older {
		cmds = append(cmds, s.askAbout())
	}
	if s.explain != "" {
		event := s.explain
		s.explain = ""
		cmds = append(cmds, openExplain(s.d, s.player, event))
	}
	return tea.Batch(cmds...)
}

// newest puts the newest page before the older ones that were read, where they still meet.
func newest(page, all []inspect.PlayerEntry, pageNext, next string) (
	[]inspect.PlayerEntry, string,
) {
	if len(page) == 0 || pageNext == "" {
		return page, pageNext
	}
	last := page[len(page)-1]
	for i, e := range all {
		if e.Type == last.Type && e.ID == last.ID && i+1 < len(all) {
			return append(page[:len(page):len(page)], all[i+1:]...), next
		}
	}
	return page, pageNext
}

// askAbout reads what audits found about the player. Where nobody may see that, or no audit is
// kept, the timeline is shown without.
func (s *playerScreen) askAbout() tea.Cmd {
	s.auditing.stop()
	player := s.player
	j, cmd := s.d.start(s.ctx, s.d.tr("reading %s", player), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			found, err := s.d.opts.Inspector.PlayerFindings(ctx, player)
			if err != nil {
				return aboutMsg{}
			}
			return aboutMsg{found}
		})
	s.auditing = j
	return cmd
}

// arrange gives what was read to the list, and why it was not read again where that failed.
func (s *playerScreen) arrange() {
	got := loaded[entry]{args: s.args, at: s.at, took: s.took}
	if !s.at.IsZero() {
		got.batch.rows = entriesOf(s.player, s.all, s.about)
		s.feed.take(got)
	}
	if got.err = s.err; got.err != nil {
		s.feed.take(got)
	}
	s.feed.publish()
	s.take()
}

// heardAll notes when a page was read.
func (s *playerScreen) heardAll() {
	s.at, s.err = s.d.now(), nil
	s.took = max(s.at.Sub(s.began), 0)
}

func (s *playerScreen) failed(err error) tea.Cmd {
	if notFound(err) {
		s.spec.empty = text.N("nobody knows this player: no claim, posting or refusal")
		s.all, s.next, s.balances = nil, "", nil
		s.heardAll()
		s.arrange()
		return s.find(s.player)
	}
	s.err = err
	s.arrange()
	return nil
}

// SetFilter filters what was read. A date or a type that it names is asked of the servers.
func (s *playerScreen) SetFilter(line string) {
	s.entryList.SetFilter(line)
	s.turned = !askedBy(s.filter).same(s.asked)
}

// Crumb says whose history it is.
func (s *playerScreen) Crumb() crumb {
	c := crumb{path: s.d.tr("Player")}
	if s.player == "" || s.typing {
		return c
	}
	c.path += " › " + safetext.Cell(s.player)
	c.filter = s.filter
	c.counts = s.d.tr("%d entries", len(s.all)) + s.counts()
	if s.next != "" {
		c.counts += "  " + s.d.tr("older ones: b")
	}
	return c
}

// Seen tells how old the page is.
func (s *playerScreen) Seen() seen {
	out := s.entryList.Seen()
	out.live = s.reading != nil
	return out
}

// playerState is what is remembered of the screen.
type playerState struct {
	listState
	Recent []recentPlayer `json:"recent,omitempty"`
}

// State is how the list is set up, and who was looked at.
func (s *playerScreen) State() json.RawMessage {
	kept := s.state()
	kept.Filter = "" // it was about one player
	raw, err := json.Marshal(playerState{kept, s.recent.list})
	if err != nil {
		return nil
	}
	return raw
}

// head is what stands above the timeline: the search box, what audits found, the balances.
func (s *playerScreen) head(w int) []string {
	t := s.d.theme
	label := " " + t.Text(paint.Muted, s.d.tr("player")+"  ")
	if s.typing {
		return []string{safetext.Fit(label+s.search.view(t, min(w-12, 90), true), w, "")}
	}
	about := s.aboutLine()
	box := label + s.search.view(t, max(min(w-12-safetext.Width(about), 50), 12), false)
	return []string{
		safetext.Fit(box+"  "+about, w, t.Glyphs.Ellipsis),
		safetext.Fit(s.balanceLine(), w, t.Glyphs.Ellipsis),
	}
}

// View draws the search box, and the balances and the timeline, or what can be typed.
func (s *playerScreen) View(w, h int) string {
	s.width = w
	lines := s.head(w)
	if s.typing {
		return strings.Join(append(lines, s.startLines(w, h-len(lines))...), "\n")
	}
	rest := s.entryList.View(w, h-len(lines))
	return strings.Join(append(lines, rest), "\n")
}

// Click puts the cursor on a row, or looks a player up again.
func (s *playerScreen) Click(x, y int) {
	if s.typing {
		s.clickStart(y)
		return
	}
	s.entryList.Click(x, y-len(s.head(s.width)))
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

// Unfocus takes the keys away from the search box.
func (s *playerScreen) Unfocus() bool {
	if !s.typing || s.player == "" {
		return false
	}
	s.typing = false
	s.search.set(s.player)
	return true
}
