package tui_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// What the home screen counted is remembered for the next console, also over one that never showed
// it.
func TestChangesSinceTheLastLook(t *testing.T) {
	t.Parallel()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	world.Fill()
	var state []byte
	run := func(home string, look func(c *tuitest.Console)) {
		t.Helper()
		c := tuitest.Start(t, world, clock, 120, 32, func(o *tui.Options) {
			o.Home, o.State = home, state
			o.SaveState = func(raw []byte) { state = append([]byte(nil), raw...) }
		})
		look(c)
		c.Press("q")
		if err := c.End(); err != nil {
			t.Fatal(err)
		}
	}
	run("now", func(c *tuitest.Console) {
		c.See("locks of other programs")
		if strings.Contains(c.Text(), "changes since") {
			t.Error("the first console compares with something")
		}
	})
	clock.Advance(time.Hour)
	run("leases", func(c *tuitest.Console) { c.See("7 total") })
	clock.Advance(time.Hour)
	extra := tuitest.Lease("reward:player-43", 9, 20*time.Second)
	extra.Verdict.State = "orphan_suspect"
	world.SetLease(extra)
	world.Drop("reward:legacy")
	run("now", func(c *tuitest.Console) {
		c.See("changes since 11-30 14:02")
		c.Wait("one orphan more, one foreign lock less", func(text string) bool {
			more, less := false, false
			for _, line := range strings.Split(text, "\n") {
				more = more || strings.Contains(line, "owner is gone") && strings.Contains(line, "+1")
				less = less || strings.Contains(line, "other programs") && strings.Contains(line, "-1")
			}
			return more && less
		})
	})
}

// The home screen leads to what the fence refused, and that to the tokens of the resource.
func TestRefusedWritesFromTheHomeScreen(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.World.Refuse(grant.TokenCollision, time.Minute)
	c.Press("0")
	c.See("▲      4  writes the fence refused, 1 under a token")
	c.Press("j", "j", "j", "j", "j", "j")
	c.See("▶▲      4")
	c.Press("enter")
	c.See("Leases › refused by the fence in 1h")
	c.See("3 late writes refused: nothing was paid by them   1 under a token issued twice")
	c.See("two owners had this token")
	c.Press("j")
	c.See("its lease was over")
	c.Press("N")
	c.See("two owners had this token")
	c.Press("enter")
	c.See("Leases › tokens of reward:player-42")
	c.Press("esc")
	c.See("refused by the fence in 1h")
	c.Press("t", "down", "enter")
	c.See("refused by the fence in 4h")
	c.Press(":")
	c.Type("token refused --since 24h")
	c.Press("enter")
	c.See("refused by the fence in 24h")
}

// What was never read is not called none, and all is not called well; what was read before stays,
// with its age.
func TestNowOfServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	world.Fill()
	down := &grant.BackendError{Backend: grant.Redis, Op: "look", Err: errors.New("refused")}
	world.Fail(down)
	c := tuitest.Start(t, world, clock, 120, 40, func(o *tui.Options) { o.Home = "now" })
	c.See("STALE")
	for _, line := range c.Lines() {
		if strings.Contains(line, "leases whose owner") && !strings.Contains(line, "○      –") ||
			strings.Contains(line, "deliveries that wait") && !strings.Contains(line, "○      –") ||
			strings.Contains(line, "✓") {
			t.Errorf("nothing was read, and yet %q", line)
		}
	}
	world.Fail(nil)
	c.Press("r")
	c.See("1  leases whose owner is gone")
	world.Fail(down)
	clock.Advance(20 * time.Second)
	c.Press("r")
	c.See("STALE")
	c.See("1  leases whose owner is gone")
	c.See("leases counted 20s ago")
}
