package tui_test

import (
	"fmt"
	"testing"

	"rewardctl/tui"
	"rewardctl/tui/paint"
	"rewardctl/tui/tuitest"
)

// visit is one screen of the tour: the keys that lead there, and what it shows then.
type visit struct {
	name string
	keys []string
	see  string
}

// tour leads through the screens that the other goldens do not show.
func tour() []visit {
	return []visit{
		{"columns", []string{"c"}, "show or hide a column"},
		{
			"release_many",
			[]string{"esc", "j", "j", "space", "j", "space", "j", "space", "R"},
			"now, live",
		},
		{"burn", []string{"esc", "B"}, "would be burned"},
		{"tokens", []string{"esc", "enter"}, "fenced off"},
		{"now", []string{"0"}, "leases whose owner is gone"},
		{"audits", []string{"4"}, "duplicates"},
		{"findings", []string{"j", "k", "enter"}, "paid twice"},
		{"evidence", []string{"enter"}, "What to do"},
		{"acknowledge", []string{"esc", "K"}, "now, live"},
		{"approvals", []string{"esc", "5"}, "outage-48"},
		{"approve", []string{"V"}, "now, live"},
		{"plans", []string{"esc", "P"}, "outage-48"},
		{"plan", []string{"enter"}, "player-44"},
		{"outbox", []string{"6"}, "given up"},
		{"requeue", []string{"T"}, "now, live"},
		{"log", []string{"esc", "7"}, "lease release"},
		{"doctor", []string{"8"}, "ledger unique key"},
		{"reseed", []string{"F", "enter"}, "nothing has to be raised"},
		{"drills", []string{"esc", "9"}, "paused-holder"},
		{"palette", []string{"ctrl+p"}, "what do you want to do?"},
	}
}

// made is a drill that is only listed.
type made struct{ tui.Drills }

func (made) List() []tui.Drill {
	return []tui.Drill{{
		Name: "paused-holder", Plays: "A worker stalls longer than its lease and wakes up.",
		Defences: []string{"none", "fence", "all"},
	}}
}

func drilled(o *tui.Options) { o.Drills = made{} }

func TestGoldenTour(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			c := sample(t, size[0], size[1], drilled)
			c.See("7 total")
			for _, v := range tour() {
				c.Press(v.keys...)
				c.See(v.see)
				c.Golden(fmt.Sprintf("%s_%d", v.name, size[0]))
			}
		})
	}
}

// The same screens in colour: what is said by a role, cell by cell.
func TestGoldenTourInColour(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			c := sample(t, size[0], size[1], func(o *tui.Options) {
				drilled(o)
				o.Color = paint.ANSI256
			})
			c.See("7 total")
			for _, v := range tour() {
				c.Press(v.keys...)
				c.See(v.see)
				c.GoldenColour(fmt.Sprintf("colour_%s_%d", v.name, size[0]))
			}
		})
	}
}

func TestGoldenKorean(t *testing.T) {
	t.Parallel()
	for _, size := range sizes()[:2] {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			c := sample(t, size[0], size[1], func(o *tui.Options) {
				drilled(o)
				o.Language = "ko"
			})
			c.See("전체 7")
			for _, v := range []visit{
				{"ko_leases", []string{"j", "j"}, "고아 의심"},
				{"ko_release", []string{"R"}, "지금, 실시간"},
				{"ko_help", []string{"esc", "?"}, "이 화면"},
				{"ko_now", []string{"esc", "0"}, "소유자가 사라진 리스"},
				{"ko_approvals", []string{"5"}, "outage-48"},
				{"ko_plans", []string{"P"}, "outage-48"},
				{"ko_outbox", []string{"6"}, "포기"},
			} {
				c.Press(v.keys...)
				c.See(v.see)
				c.Golden(fmt.Sprintf("%s_%d", v.name, size[0]))
			}
		})
	}
}

func TestGoldenColour(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]paint.Mode{
		"mono": paint.Mono, "16": paint.ANSI16, "256": paint.ANSI256, "true": paint.TrueColor,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sample(t, 120, 32, func(o *tui.Options) { o.Color, o.Environment = mode, "prod" })
			c.See("7 total")
			c.Press("j", "j")
			c.See("▶ reward:player-42")
			c.GoldenColour("colour_leases_" + name)
			c.Press("0")
			c.See("leases whose owner is gone")
			c.GoldenColour("colour_now_" + name)
			c.Press("5")
			c.See("outage-48")
			c.Press("V")
			c.See("now, live")
			c.GoldenColour("colour_approve_" + name)
		})
	}
}

// What a screen says while it reads, when there is nothing, when the filter hides everything, and
// when a read failed.
func TestGoldenStates(t *testing.T) {
	t.Parallel()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	resume := world.Stall()
	c := tuitest.Start(t, world, clock, 80, 24, nil)
	c.See("loading")
	c.Golden("state_loading_80")
	resume()
	c.See("nobody holds a lease")
	c.Golden("state_empty_80")
	c.Press("/")
	c.Type("zzz")
	c.Press("enter")
	c.See("nothing matches the filter; esc clears it")
	c.Golden("state_filtered_80")
}
