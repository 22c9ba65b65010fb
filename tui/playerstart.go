package tui

import (
	"encoding/json"
	"slices"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// recentMax is how many players are remembered.
const recentMax = 10

// recentPlayer is a player who was looked at.
type recentPlayer struct {
	ID   string    `json:"id"`
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at"`
}

// recents are the players who were looked at last, the newest first.
type recents struct {
	list  []recentPlayer
	names map[string]string // by id, as far as a search told them
	at    int               // the one that enter opens; -1 when the text is what counts
}

// restore brings back who was looked at in an earlier console.
func (r *recents) restore(raw json.RawMessage) {
	var s playerState
	if len(raw) > 0 && json.Unmarshal(raw, &s) == nil {
		r.list = s.Recent[:min(len(s.Recent), recentMax)]
	}
}

// add puts a player first.
func (r *recents) add(id string, now time.Time) {
	one := recentPlayer{ID: id, Name: r.names[id], At: now}
	for i, have := range r.list {
		if have.ID == id {
			if one.Name == "" {
				one.Name = have.Name
			}
			r.list = slices.Delete(r.list, i, i+1)
			break
		}
	}
	r.list = append([]recentPlayer{one}, r.list[:min(len(r.list), recentMax-1)]...)
}

// named remembers what a player is called.
func (r *recents) named(id, name string) {
	if r.names == nil {
		r.names = map[string]string{}
	}
	if name != "" {
		r.names[id] = name
	}
}

// begin gives the keys to the search box, which is empty then: what is pasted is not put behind
// the id of the last player.
func (s *playerScreen) begin() tea.Cmd {
	s.typing, s.recent.at = true, 0
	s.search.set("")
	return nil
}

// Typing reports whether the search box has the keys.
func (s *playerScreen) Typing() bool { return s.typing }

// Type edits the search box.
func (s *playerScreen) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	s.search.update(msg, fast)
	s.recent.at = -1
	if s.search.value() == "" {
		s.recent.at = 0
	}
	return nil
}

// Paste puts the first line into the search box; it searches for nothing by itself.
func (s *playerScreen) Paste(pasted string) (tea.Cmd, string) {
	_, refusal := s.search.paste(pasted)
	s.recent.at = -1
	return nil, refusal
}

// enter looks up what was typed, or the player under the cursor.
func (s *playerScreen) enter() tea.Cmd {
	if at := s.recent.at; at >= 0 && at < len(s.recent.list) {
		return s.lookUp(s.recent.list[at].ID)
	}
	return s.lookUp(s.search.value())
}

// choose moves among the players who were looked at.
func (s *playerScreen) choose(step int) func(int) tea.Cmd {
	return func(n int) tea.Cmd {
		last := len(s.recent.list) - 1
		s.recent.at = max(min(s.recent.at+step*n, last), -1)
		if s.recent.at < 0 && s.search.value() == "" && last >= 0 {
			s.recent.at = 0
		}
		return nil
	}
}

// hints say what can be typed, each with an example.
func (s *playerScreen) hints() [][2]string {
	tr := s.d.tr
	return [][2]string{
		{"p-8841", tr("a player's id")},
		{"mir", tr("how a name or an id begins")},
		{"ZD-5512: p-8841 …", tr("a line of a ticket, pasted: the ids in it are looked up")},
	}
}

// startLines draw what can be typed, and who was looked at.
func (s *playerScreen) startLines(w, h int) []string {
	t, now := s.d.theme, s.d.now()
	const example = 20
	lines := []string{""}
	for _, hint := range s.hints() {
		lines = append(lines, "   "+t.Text(paint.Accent, safetext.Fit(hint[0], example,
			t.Glyphs.Ellipsis))+t.Text(paint.Muted, hint[1]))
	}
	lines = append(lines, "")
	if len(s.recent.list) == 0 {
		lines = append(lines, "   "+t.Text(paint.Muted, s.d.tr("who was looked at is listed here")))
	} else {
		lines = append(lines, " "+t.Text(paint.Head, s.d.tr("LOOKED AT LATELY")))
	}
	for i, one := range s.recent.list {
		mark, role := "  ", paint.Plain
		if i == s.recent.at {
			mark, role = t.Glyphs.Cursor+" ", paint.Cursor
		}
		ago := s.d.tr("%s ago", seconds(now.Sub(one.At)))
		line := mark + safetext.Fit(safetext.Cell(one.ID), 30, t.Glyphs.Ellipsis) + "  " +
			safetext.Fit(safetext.Cell(one.Name), 22, t.Glyphs.Ellipsis) + "  " + ago
		lines = append(lines, t.Text(role, safetext.Fit(line, w, t.Glyphs.Ellipsis)))
	}
	for i := range lines {
		lines[i] = safetext.Fit(lines[i], w, t.Glyphs.Ellipsis)
	}
	for len(lines) < h {
		lines = append(lines, safetext.Spaces(w))
	}
	return lines[:max(h, 0)]
}

// clickStart chooses a player who was looked at; a second click looks.
func (s *playerScreen) clickStart(y int) {
	const above = 3 // the box, the blank line and the heading besides the hints
	at := y - above - len(s.hints()) - 1
	if at < 0 || at >= len(s.recent.list) {
		return
	}
	s.recent.at = at
	s.search.set("")
}
