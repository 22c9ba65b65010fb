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
		{"refused", []string{
			":", "t", "o", "k", "e", "n", "space", "r", "e", "f", "u", "s", "e", "d",
			"enter",
		}, "late write"},
		{"now", []string{"0"}, "leases whose owner is gone"},
		{"audits", []string{"4"}, "duplicates"},
		{"findings", []string{"j", "k", "enter"}, "paid twice"},
		{"evidence", []string{"enter"}, "What to do"},
		{"acknowledge", []string{"esc", "K"}, "now, live"},
		{"approvals", []string{"esc", "5"}, "outage-48"},
		{"approve", []string{"V"}, "now, live"},
		{"plans", []string{"esc", "P"}, "outage-48"},
		{"overview", []string{"enter"}, "What it does"},
		{"plan", []string{"enter"}, "player-44"},
		{"outbox", []string{"6"}, "given up"},
		{"requeue", []string{"T"}, "now, live"},
		{"delivery", []string{"esc", "enter"}, "z unfolds"},
		{"park_many", []string{"esc", "*", "D"}, "now, live"},
		{"log", []string{"esc", "7"}, "lease release"},
		{"log_row", []string{"enter"}, "begun in row 2"},
		{"log_again", []string{"esc", "Z"}, "What it would do now"},
		{"doctor", []string{"esc", "8"}, "ledger unique key"},
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

// tours are the two ways through the console that show every screen.
func tours() map[string][]visit { return map[string][]visit{"first": first(), "then": tour()} }

// The same screens in colour: what is said by a role, cell by cell. Every mode has every screen;
// the others than 256 colours have them at one size, as a production system looks.
func TestGoldenTourInColour(t *testing.T) {
	t.Parallel()
	type look struct {
		mode paint.Mode
		env  string
		w, h int
		name string
	}
	looks := []look{
		{paint.Mono, "prod", 120, 32, "mono"},
		{paint.ANSI16, "prod", 120, 32, "16"},
		{paint.TrueColor, "prod", 120, 32, "true"},
	}
	for _, size := range sizes() {
		looks = append(looks, look{paint.ANSI256, "demo", size[0], size[1], fmt.Sprint(size[0])})
	}
	for _, l := range looks {
		for part, visits := range tours() {
			t.Run(l.name+" "+part, func(t *testing.T) {
				t.Parallel()
				c := sample(t, l.w, l.h, func(o *tui.Options) {
					drilled(o)
					o.Color, o.Environment = l.mode, l.env
				})
				c.See("7 total")
				for _, v := range visits {
					c.Press(v.keys...)
					c.See(v.see)
					c.GoldenColour(fmt.Sprintf("colour_%s_%s", v.name, l.name))
				}
			})
		}
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
				{"ko_delivery", []string{"enter"}, "z 펼치기"},
				{"ko_log", []string{"esc", "7"}, "lease release"},
				{"ko_log_row", []string{"enter"}, "2행에서 시작"},
				{"ko_refused", []string{
					"esc", ":", "t", "o", "k", "e", "n", "space", "r", "e", "f", "u", "s", "e", "d",
					"enter",
				}, "늦은"},
			} {
				c.Press(v.keys...)
				c.See(v.see)
				c.Golden(fmt.Sprintf("%s_%d", v.name, size[0]))
			}
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
