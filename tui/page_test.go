package tui_test

import (
	"strings"
	"testing"

	"rewardctl/tui"
)

// Every page of text is searched: what matches is counted and shown, and n and N go through it.
func TestPageIsSearched(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, nil)
	c.See("7 total")
	c.Press("?")
	c.See("/ search")
	c.NotSee("suspend")
	c.Press("/")
	c.Type("suspEND")
	c.See("suspend") // it scrolled there while it was typed
	c.Press("enter")
	c.See("1 lines with suspEND, n N")
	c.Press("g")
	c.NotSee("  ctrl+z")
	c.Press("n")
	c.See("  ctrl+z")
	c.Press("/", "esc") // gives the search up, not the page
	c.NotSee("lines with")
	c.See("j k scroll")
	c.Press("q")
	c.NotSee("j k scroll")
	c.See("7 total")
}

// A page is copied as a whole, without what the search adds.
func TestPageIsCopied(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Endpoints = "pg.example:5432" })
	c.See("7 total")
	c.Press("?")
	c.See("On this screen")
	c.Press("y")
	c.See("copied the text")
}

// What was looked at by name is found again in the palette, the newest first and each once.
func TestPaletteKnowsWhatWasSeen(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	for _, line := range []string{
		"token list reward:player-42", "player history player-42", "token list reward:player-42",
	} {
		c.Press(":")
		c.Type(line)
		c.Press("enter")
	}
	c.See("tokens of reward:player-42")
	c.Press("0", "ctrl+p")
	c.Type("seen-nothing")
	c.See("nothing matches")
	c.Press("ctrl+u")
	c.Type("player-42")
	c.See("▶ Tokens reward:player-42")
	c.See("Player player-42")
	if n := strings.Count(c.Text(), "seen before"); n != 2 {
		t.Errorf("%d entries, want 2:\n%s", n, c.Text())
	}
	c.Press("enter")
	c.See("tokens of reward:player-42")
}

// A list that is paused says so for as long as it is.
func TestPausedListSaysSo(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("p")
	c.See("PAUSED 0.")
	c.Press("esc", "0")
	c.See("leases whose owner is gone")
	c.NotSee("PAUSED")
	c.Press("1")
	c.See("PAUSED")
	c.Press("p")
	c.NotSee("PAUSED")
}
