package tui_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui"
)

// Enter on a lease leads to its tokens, a token to what was written under it, and back.
func TestTokensOfALease(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j", "enter")
	c.See("Leases › tokens of reward:player-42")
	c.See("held under 49 by worker-09@game-1")
	c.See("gaps 1   fenced off 1   wrong 0")
	c.Press("G")
	c.See("✓ fenced off")
	c.See("fenced off: it wrote after a higher token")
	c.See("refused  daily:1 the fence was above it")
	c.Press("k", "enter")
	c.See("Player › player-42")
	c.See("filter token:48")
	c.Press("[")
	c.See("Leases › tokens of reward:player-42")
	c.Press("esc")
	c.See("7 total")
	c.Press(":")
	c.Type("token list reward:player-77")
	c.Press("enter")
	c.See("Leases › tokens of reward:player-77")
}

// A token that is not held any more can be burned from its history.
func TestTokenIsBurnedFromItsHistory(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j", "enter")
	c.See("3 total")
	c.Press("j", "k", "B")
	c.See("lease burn reward:player-42 --token 49")
	c.See("would be burned")
}

// What other programs leave under a key is called what it is, on every page about the resource:
// nobody holds it under token 0.
func TestForeignDataIsNoLease(t *testing.T) {
	t.Parallel()
	lie := regexp.MustCompile(`under 0 |token +0\b|\b0 +foreign|by \(`)
	for _, l := range []inspect.Lease{
		{Foreign: "hash"}, {Foreign: "string", Value: "redisson-uuid"},
	} {
		l.Resource, l.Left = "reward:legacy", 13*time.Second
		l.Verdict.State = inspect.Foreign
		says := "other data of type hash is under its key"
		if l.Value != "" {
			says = "a foreign lock is under its key: redisson-uuid"
		}
		c := sample(t, 120, 32, nil)
		c.World.SetLease(l)
		c.See("7 total")
		c.Press("r", "/")
		c.Type("legacy")
		c.Press("enter")
		c.See("1 match")
		for _, keys := range [][]string{{"H"}, {"esc", "enter"}} {
			c.Press(keys...)
			c.See(says)
			if at := lie.FindString(c.Text()); at != "" {
				t.Errorf("%q is said of foreign data:\n%s", at, c.Text())
			}
		}
	}
}

// What the filter asks of the servers is asked; what is not written to its end asks for nothing.
func TestPlayerFilterAsksTheServers(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Home = "support" })
	c.Type("player-42")
	c.Press("enter")
	c.See("4 entries")
	c.Press("t", "2", "9")
	c.See("0 entries")
	c.Press("enter")
	c.See("filter date:2026-11-29")
	c.See("nothing")
	c.Press("esc")
	c.See("4 entries")
	c.Press("f", "down", "down", "down", "enter")
	c.See("filter type:refusal")
	c.See("0 entries")
	c.Press("f", "down", "enter")
	c.See("filter type:posting")
	c.See("4 entries")
	if strings.Contains(c.Text(), "type:refusal") {
		t.Error("both types are in the filter")
	}
}

// A line of a ticket names its player; the beginning of a name that several have asks which.
func TestPlayerIsFoundByWhatIsPasted(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Home = "support" })
	c.Paste("ZD-5519: player-42, says his chest is gone.\n")
	c.Press("enter")
	c.See("Player › player-42")
	c.See("4 entries")
	c.Press("s")
	for range len("player-42") {
		c.Press("backspace")
	}
	c.Type("Mir")
	c.Press("enter")
	c.See("which player?")
	c.See("Mira Q")
	c.Press("enter")
	c.See("4 entries")
}
