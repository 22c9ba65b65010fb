package tui_test

import (
	"testing"
	"time"

	"rewardctl/tui/tuitest"
)

func askMarked(c *tuitest.Console) {
	c.See("7 total")
	c.Press("j", "j", "space", "j", "space", "j", "space")
	c.See("3 marked")
	c.See("R release 3 marked")
	c.Press("R")
	c.See("now, live")
	c.See("3 leases")
	c.See("orphan suspect  49  worker-09@game-1")
	c.Type("host is gone")
	c.Press("tab")
	c.See("type 3-release to confirm")
}

// What is marked is what is released: exactly those, as they were seen, each answered.
func TestMarkedLeasesAreReleasedTogether(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	askMarked(c)
	c.See("reward:player-1120 \\")
	c.See("    reward:player-42 reward:player-77")
	c.Type("3-release")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("3 of 3 released or gone")
	c.See("✓ reward:player-77  released; token: burned now")
	got := c.World.Released()
	if len(got) != 3 || got[0].Resource != "reward:player-1120" || got[0].Reason != "host is gone" ||
		got[1].Token != 49 {
		t.Errorf("released %+v", got)
	}
	c.NotSee("3 marked")
}

// A mark behind the filter counts: it is said, and released with the rest.
func TestHiddenMarksAreToldAndReleased(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.See("7 total")
	c.Press("j", "j", "space", "/")
	c.Type("8841")
	c.Press("enter")
	c.See("1 match")
	c.Press("space")
	c.See("2 marked (1 not shown)")
	c.Press("R")
	c.See("1 of them are hidden by the filter")
	c.See("reward:player-8841")
	c.See("type 2-release")
}

// One of the set changes: nothing of it is released until a fresh look is taken.
func TestMarkedLeaseThatChangedRefusesTheSet(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	askMarked(c)
	c.Type("3-release")
	c.See("ready:")
	c.World.SetLease(tuitest.Lease("reward:player-77", 33, 28*time.Second))
	c.See("CHANGED while you looked: reward:player-77")
	c.Press("enter", "enter")
	c.World.Drop("reward:player-1120")
	c.Clock.Advance(2 * time.Second)
	c.See("≠ reward:player-1120")
	c.Press("f")
	c.See("1 that were marked ended by themselves")
	c.See("type 2-release to confirm")
	c.Type("2-release")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("2 of 2 released or gone")
	if got := c.World.Released(); len(got) != 2 || got[1].Token != 73 {
		t.Errorf("released %+v", got)
	}
}

func TestTokenIsBurnedAndItsLockLeft(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j", "B")
	c.See("lease burn")
	c.See("would be burned")
	c.See("lease burn reward:player-42 --token 49 --owner 'worker-09@game-1/809#9f2c09'")
	c.Type("hangs")
	c.Press("tab")
	c.Type("42-burn")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("burned now, its holder can never write again")
	if got := c.World.Burned(); len(got) != 1 || got[0].Token != 49 || got[0].Reason != "hangs" {
		t.Errorf("burned %+v", got)
	}
}

func TestCountersAreReseeded(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.World.Behind("reward:player-1", 41, 48)
	c.World.Behind("reward:player-2", 7, 9)
	c.Press("8")
	c.See("ledger unique key")
	c.Press("F")
	c.See("raise counters that fell behind")
	c.Press("enter")
	c.See("fence reseed --all --reason ''")
	c.See("behind  41 → 48")
	c.Type("redis lost them")
	c.Press("tab")
	c.Type("2-reseed")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("2 raised, 0 were raised before, 0 left")
	c.See("✓ reward:player-2  raised 9")
	got := c.World.Reseeded()
	if len(got) != 1 || got[0].Fences || got[0].Reason != "redis lost them" {
		t.Errorf("reseeded %+v", got)
	}
}

// Waiting is the way out that changes nothing: the lease ends, or its holder turns out to live.
func TestReleaseCanBeWaitedFor(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		happens func(w *tuitest.World)
		says    string
	}{
		{func(w *tuitest.World) { w.Drop("reward:player-42") }, "it ended by itself"},
		{func(w *tuitest.World) {
			w.SetLease(tuitest.Lease("reward:player-42", 9, 29*time.Second))
		}, "it was renewed: its holder lives"},
	} {
		c := sample(t, 120, 32, nil)
		c.See("7 total")
		c.Press("j", "j", "R")
		c.See("now, live")
		c.Press("ctrl+t")
		c.See("waiting 20.0s reward:player-42")
		end.happens(c.World)
		c.See("reward:player-42: " + end.says)
		if n := len(c.World.Released()); n != 0 {
			t.Errorf("%d leases were released by waiting", n)
		}
	}
}
