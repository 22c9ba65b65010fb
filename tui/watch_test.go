package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// fewLeases starts a console on n leases that reads again all the time.
func fewLeases(t *testing.T, n int) (c *tuitest.Console, set func(n int)) {
	t.Helper()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	name := func(i int) string { return fmt.Sprintf("reward:player-%d", i) }
	set = func(n int) {
		for i := 1; i <= 5; i++ {
			if i <= n {
				world.SetLease(tuitest.Lease(name(i), i, 20*time.Second))
			} else {
				world.Drop(name(i))
			}
		}
	}
	set(n)
	c = tuitest.Start(t, world, clock, 120, 32, func(o *tui.Options) {
		o.Refresh = 10 * time.Millisecond
	})
	c.See(fmt.Sprintf("%d total", n))
	return c, set
}

// There is always a valid selection or none, and what cannot be done says so, when rows go and
// come back under the cursor, watched ones among them.
func TestCursorSurvivesRowsThatGoAndComeBack(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{false, true} {
		c, set := fewLeases(t, 5)
		if watched {
			c.Press("j", "j", "W")
			c.See("◆ reward:player-3")
		}
		c.Press("G")
		c.See("▶ reward:player-5")
		for _, n := range []int{1, 0} {
			set(n)
			c.See(fmt.Sprintf("%d total", n))
			c.Press("R")
			c.See("this row is gone already")
			c.See("○ gone")
		}
		c.Press(".")
		if watched {
			c.See("▶ ◆ reward:player-3")
		} else {
			c.See("nobody holds a lease")
			c.Press("enter", "G", "k", "R")
			c.See("there is no row under the cursor")
		}
		set(5)
		c.See("5 total")
		c.Press(".", "R")
		c.See("now, live")
	}
}

// A lease that is watched stands on top, and what happens to it is said on every screen.
func TestWatchedLeaseSaysWhatHappens(t *testing.T) {
	t.Parallel()
	c, set := fewLeases(t, 3)
	c.Press("j", "W")
	c.See("reward:player-2 is watched")
	c.Wait("it on top", func(s string) bool {
		return strings.Index(s, "◆ reward:player-2") < strings.Index(s, "reward:player-1 ")
	})
	c.Press("8")
	c.See("ledger unique key")
	set(1)
	c.See("watched: reward:player-2 ended; it was held by worker-02@game-2/802#9f2c02, token 42")
	c.World.SetLease(tuitest.Lease("reward:player-2", 9, 20*time.Second))
	c.See("watched: reward:player-2 is held again, by worker-09@game-1/809#9f2c09, token 49")
	c.Press("1")
	c.See("watched: changed")
	c.Press("W")
	c.See("is not watched any more")
	c.Press("W")
	c.See("reward:player-2 is watched")
}
