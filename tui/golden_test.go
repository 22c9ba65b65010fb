package tui_test

import (
	"fmt"
	"testing"

	"rewardctl/tui"
)

func sizes() [][2]int { return [][2]int{{80, 24}, {120, 32}, {200, 50}} }

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		w, h := size[0], size[1]
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			c := sample(t, w, h, nil)
			c.See("7 total")
			c.Press("j", "j")
			c.Golden(fmt.Sprintf("leases_%d", w))
			c.Press("R")
			c.See("now, live")
			c.Golden(fmt.Sprintf("release_%d", w))
			c.Press("esc", "?")
			c.See("On this screen")
			c.Golden(fmt.Sprintf("help_%d", w))
			c.Press("esc", "2")
			c.Type("player-42")
			c.Press("enter")
			c.See("4 entries")
			c.Golden(fmt.Sprintf("player_%d", w))
			c.Press("enter")
			c.See("It was granted")
			c.Golden(fmt.Sprintf("explain_%d", w))
			c.Press("esc", "3")
			fillGrant(c.Type, c.Press, "200")
			c.See("would be posted now")
			c.Golden(fmt.Sprintf("grant_%d", w))
			c.Press("ctrl+s")
			c.See("now, live")
			c.Golden(fmt.Sprintf("confirm_%d", w))
		})
	}
}

// fillGrant types a grant of gems to player-42 into the form.
func fillGrant(typing func(string), press func(...string), amount string) {
	for _, text := range []string{"player-42", "outage", "ZD-5519"} {
		typing(text)
		press("tab")
	}
	press("tab")
	typing("gems")
	press("tab")
	typing(amount)
	press("tab")
	typing("outage 2026-11-30")
}

func TestGoldenProductionWithoutUnicode(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, func(o *tui.Options) { o.Environment, o.ASCII = "prod", true })
	c.See("7 total")
	c.Press("j", "j", "R")
	c.See("now, live")
	c.Golden("release_prod_ascii_80")
	for _, line := range c.Lines() {
		for _, r := range line {
			if r > 0x7e {
				t.Fatalf("not ASCII: %q", line)
			}
		}
	}
}

func TestColourChangesNoText(t *testing.T) {
	t.Parallel()
	for mode := range 3 {
		c := sample(t, 120, 32, func(o *tui.Options) { o.Color = colour(mode) })
		c.See("7 total")
		c.Press("j", "j")
		c.Golden("leases_120")
	}
}
