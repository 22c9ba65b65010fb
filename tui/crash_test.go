package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// panickingScreen breaks in Update or in View.
type panickingScreen struct {
	screen
	inView bool
}

func (p panickingScreen) Update(tea.Msg) tea.Cmd {
	if !p.inView {
		panic("made-up panic in Update")
	}
	return nil
}

func (p panickingScreen) View(int, int) string { panic("made-up panic in View") }

func TestPanicInUpdateQuits(t *testing.T) {
	t.Parallel()
	r := shown(t, 3, 120, 32)
	r.screens[r.cur] = panickingScreen{screen: r.screen()}
	_, cmd := r.Update(tickMsg{})
	if cmd == nil {
		t.Fatal("the console goes on")
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("the console does not quit")
	}
	if r.View() != "" {
		t.Error("a broken model is still drawn")
	}
	if crash := r.d.crash.Load(); crash == nil || !strings.Contains(crash.Error(), "in Update") {
		t.Errorf("the crash is %v", crash)
	}
}

func TestPanicInViewEndsTheProgram(t *testing.T) {
	t.Parallel()
	r := shown(t, 3, 120, 32)
	killed := false
	r.d.kill = func() { killed = true }
	r.screens[r.cur] = panickingScreen{screen: r.screen(), inView: true}
	if r.View() != "" || !killed {
		t.Errorf("killed %v", killed)
	}
	if crash := r.d.crash.Load(); crash == nil || !strings.Contains(crash.Stack, "View") {
		t.Errorf("the crash is %v", crash)
	}
}

func TestFormKeepsWhatWasTypedBetweenVisits(t *testing.T) {
	t.Parallel()
	d := testDesk(t, 0)
	s := newGrantScreen(d)
	s.Open(d.ctx, Args{"player": "p", "event": "e:1", "kind": "gems", "amount": "5"})
	s.Open(d.ctx, nil)
	if req, _ := s.request(); req.PlayerID != "p" || req.EventID != "e:1" || req.Amount != 5 {
		t.Errorf("after a second visit: %+v", req)
	}
	s.focus = inCampaign
	s.Type(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("c")}, false)
	if req, _ := s.request(); req.EventID != "c:p::gems:v1" {
		t.Errorf("the event id is not built from its parts again: %q", req.EventID)
	}
}
