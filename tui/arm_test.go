package tui_test

import (
	"context"
	"testing"
	"time"

	"rewardctl/tui"
)

func protected(o *tui.Options) { o.Protected = true }

func TestProtectedContextNeedsAnOpenWindow(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, protected)
	c.See("PROTECTED, A to arm")
	c.See("7 total")
	c.Press("j", "j", "R")
	c.See("not armed: A opens a write window")
	c.Press("A")
	c.See("open a write window")
	c.Press("ctrl+s")
	c.See("a reason is needed")
	c.Type("INC-77")
	c.Press("tab", "ctrl+s")
	c.See("ARMED 15:00 INC-77")
	c.Press("R")
	c.See("now, live")
	c.Type("dead")
	c.Press("tab")
	c.Type("42-release")
	c.See("ready:")
	c.Clock.Advance(16 * time.Minute) // the window closes under the open dialog
	c.See("disarmed: the time is over")
	c.Press("enter")
	afterHold(c)
	if n := len(c.World.Released()); n != 0 {
		t.Fatalf("%d leases were released after the window had closed", n)
	}
	c.Until("the log of the window", func() bool {
		armed, ended := c.World.Windows()
		return len(armed) == 1 && armed[0].Reason == "INC-77" && armed[0].For == 15*time.Minute &&
			armed[0].Context == "local" && len(ended) == 1 && ended[0].Armed == 1 &&
			ended[0].Why == "the time is over" && ended[0].Reason == "INC-77"
	})
}

// Without its row in the log no window opens; and every end is in the log, also of a window that
// closed because a server was lost, or because the console was left.
func TestWindowsAreLogged(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) {
		protected(o)
		o.Refresh = 10 * time.Millisecond
	})
	arm := func() {
		c.Press("A")
		c.Type("x")
		c.Press("ctrl+s")
	}
	c.See("7 total")
	c.World.Fail(context.DeadlineExceeded)
	arm()
	c.See("not armed: the log could not be written")
	c.World.Fail(nil)
	c.Press("ctrl+s")
	c.See("ARMED")
	c.World.Down("postgresql", context.DeadlineExceeded)
	c.See("PROTECTED, A to arm")
	c.World.Fail(nil)
	ends := func(why ...string) func() bool {
		return func() bool {
			c.Clock.Advance(time.Second)
			_, ended := c.World.Windows()
			for i := range ended {
				if i >= len(why) || ended[i].Why != why[i] {
					t.Fatalf("the windows ended as %+v, want %q", ended, why)
				}
			}
			return len(ended) == len(why)
		}
	}
	c.Until("the end in the log", ends("a server does not answer"))
	arm()
	c.See("ARMED")
	c.Press("q")
	if err := c.End(); err != nil {
		t.Fatal(err)
	}
	if !ends("a server does not answer", "the console was left")() {
		t.Error("the end of the console is not in the log")
	}
}

func TestWindowClosesWhenAServerIsLost(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) {
		protected(o)
		o.Refresh = 10 * time.Millisecond
	})
	c.See("7 total")
	c.Press("A")
	c.Type("x")
	c.Press("ctrl+s")
	c.See("ARMED")
	c.World.Down("redis", context.DeadlineExceeded)
	c.See("PROTECTED, A to arm")
}
