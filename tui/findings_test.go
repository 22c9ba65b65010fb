package tui_test

import (
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

func openFindings(c *tuitest.Console) {
	c.Press("4")
	c.See("2 total")
	c.Press("j", "k", "enter")
	c.See("Audits › run 12")
	c.See("paid twice")
}

// A run says what is new since the one before, and, asked for, what is gone.
func TestFindingsAreComparedWithTheRunBefore(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	openFindings(c)
	c.See("since run 11: 1 new, 1 still there, 1 gone, 0 unread")
	c.See("● new")
	c.See("○ still there")
	c.See("2 total")
	c.Press("=")
	c.See("3 total")
	c.See("✓ gone")
	c.Press("/")
	c.Type("state:gone")
	c.Press("enter")
	c.See("1 match")
	c.See("retried")
	c.Press("esc", "=")
	c.See("2 total")
}

func TestFindingIsAcknowledgedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Refresh = 10 * time.Millisecond })
	openFindings(c)
	c.Press("K")
	c.See("now, live")
	c.See("rewardctl audit ack 7 --version 0 --reason ''")
	c.Type("compensated")
	c.Press("tab")
	c.Type("7-ack")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("finding 7 is now acknowledged")
	c.Clock.Advance(2 * time.Second)
	c.Press("esc")
	c.See("✓ acknowledged")
	got := c.World.Acknowledged()
	if len(got) != 1 || got[0].Finding != 7 || got[0].Version != 0 || got[0].Reopen ||
		got[0].Reason != "compensated" {
		t.Errorf("acknowledged %+v", got)
	}
	c.Press("K")
	c.See("acknowledge: it is acknowledged already")
	c.Press("U")
	c.See("rewardctl audit ack 7 --version 1 --reopen")
}

// Two people decide about one finding: the second is shown that the first was faster.
func TestFindingThatSomebodyElseAcknowledged(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	openFindings(c)
	c.Press("K")
	c.See("now, live")
	c.Type("compensated")
	c.Press("tab")
	c.Type("7-ack")
	c.See("ready:")
	c.World.DecideFinding(12, 7, inspect.FindingAck{
		State: "acknowledged", Version: 1, Operator: "jo", Reason: "mine", At: c.Clock.Now(),
	})
	c.See("CHANGED while you looked: state, version")
	c.See("acknowledged by jo")
	c.Clock.Advance(2 * time.Second)
	c.Press("f")
	c.See("it is acknowledged already")
	if n := len(c.World.Acknowledged()); n != 0 {
		t.Errorf("%d decisions after the drift", n)
	}
}
