package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewardctl/tui"
)

func sizes() [][2]int { return [][2]int{{80, 24}, {120, 32}, {200, 50}} }

// first leads through the screens that people meet first.
func first() []visit {
	return []visit{
		{"leases", []string{"j", "j"}, "▶ reward:player-42"},
		{"release", []string{"R"}, "now, live"},
		{"help", []string{"esc", "?"}, "On this screen"},
		{"player_start", []string{"esc", "2"}, "a player's id"},
		{"player", append(letters("player-42"), "enter"), "finding 7"},
		{"copy", []string{"y"}, "a letter, or enter"},
		{"explain", []string{"esc", "enter"}, "It was granted"},
		{"grant", slices.Concat([]string{"esc", "3"}, grantKeys("200")), "would be posted now"},
		{"confirm", []string{"ctrl+s"}, "now, live"},
	}
}

// letters are the keys of a text.
func letters(text string) []string { return strings.Split(text, "") }

// grantKeys fill the form with a grant of gems to player-42.
func grantKeys(amount string) []string {
	var keys []string
	fillGrant(func(text string) { keys = append(keys, letters(text)...) },
		func(more ...string) { keys = append(keys, more...) }, amount)
	return keys
}

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			c := sample(t, size[0], size[1], nil)
			c.See("7 total")
			for _, v := range first() {
				c.Press(v.keys...)
				c.See(v.see)
				c.Golden(fmt.Sprintf("%s_%d", v.name, size[0]))
			}
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
