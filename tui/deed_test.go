package tui_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// askRelease opens the release dialog of player-42 and gives a reason.
func askRelease(c *tuitest.Console) {
	c.See("7 total")
	c.Press("j", "j", "R")
	c.See("now, live")
	c.Type("worker is gone")
	c.Press("tab")
}

func TestReleaseDoesWhatItShows(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askRelease(c)
	c.Type("42-release")
	c.See("ready:")
	c.Press("enter")
	c.See("[▶release ]")
	c.Press("enter")
	c.See("✓ released: reward:player-42")
	got := c.World.Released()
	want := repair.ReleaseRequest{
		Resource: "reward:player-42", Owner: "worker-09@game-1/809#9f2c09", Token: 49,
		Reason: "worker is gone",
	}
	if len(got) != 1 || got[0] != want {
		t.Errorf("released %+v, want %+v", got, want)
	}
}

func TestEnterAloneNeverReleases(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j", "R")
	c.See("now, live")
	for range 12 {
		c.Press("enter")
	}
	afterHold(c)
	c.Press("ctrl+l")
	if n := len(c.World.Released()); n != 0 {
		t.Errorf("enter alone released %d leases", n)
	}
}

func TestOwnerDriftClearsAndRefuses(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askRelease(c)
	c.Type("42-release")
	c.See("ready:")
	other := tuitest.Lease("reward:player-42", 33, 28*time.Second)
	c.World.SetLease(other)
	c.See("CHANGED while you looked: owner, token")
	c.Press("enter", "enter", "f") // absorbed: they were meant for what was there before
	c.See("CHANGED while you looked")
	c.Clock.Advance(2 * time.Second)
	c.Press("enter")
	c.See("CHANGED while you looked")
	if n := len(c.World.Released()); n != 0 {
		t.Fatalf("released %d leases after the drift", n)
	}
	c.Press("f")
	c.NotSee("CHANGED while you looked")
	c.See("--token 73")
	c.See("type 42-release to confirm")
	c.Type("42-release")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("✓ released")
	if got := c.World.Released(); len(got) != 1 || got[0].Token != 73 {
		t.Errorf("released %+v, want the new holder's token 73", got)
	}
}

func TestDriftBetweenListAndDialogIsSeen(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j")
	c.World.Drop("reward:player-42")
	c.Press("R")
	c.See("CHANGED while you looked")
	c.Clock.Advance(2 * time.Second)
	c.Press("f")
	c.See("the lease ended by itself")
}

func TestStaleLookIsNotActedUpon(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askRelease(c)
	c.Type("42-release")
	c.See("ready:")
	c.Clock.Advance(2 * time.Minute)
	c.See("more than a minute old")
	c.Press("enter", "enter")
	afterHold(c)
	if n := len(c.World.Released()); n != 0 {
		t.Errorf("released %d leases on an old look", n)
	}
}

func askGrant(c *tuitest.Console, amount string) {
	c.See("7 total")
	c.Press("3")
	fillGrant(c.Type, c.Press, amount)
	c.See("ZD-5519:gems:v1")
}

func confirmGrant(c *tuitest.Console) {
	c.See("would be posted now")
	c.Press("ctrl+s")
	c.See("now, live")
	c.Type("42-grant")
	c.See("ready:")
	c.Press("enter", "enter")
}

func TestGrantIsPreviewedConfirmedAndReplayed(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askGrant(c, "200")
	c.See("300 → 500 gems (+200)")
	confirmGrant(c)
	c.See("APPLIED: 200 gems to player-42")
	got := c.World.Granted()
	if len(got) != 1 || got[0].EventID != "outage:player-42:ZD-5519:gems:v1" ||
		got[0].Actor != "mlee" || got[0].Amount != 200 || got[0].Reason != "outage 2026-11-30" {
		t.Fatalf("granted %+v", got)
	}
	c.Clock.Advance(2 * time.Second)
	c.Press("esc")
	c.See("REPLAYED")
	c.Press("ctrl+s")
	c.See("it is granted already")
	c.Press("esc", "up")
	c.Press("backspace")
	c.See("MISMATCH")
	c.See("amount differs: posted 200, asked 20")
}

func TestOutcomesAreSaidInWords(t *testing.T) {
	t.Parallel()
	for _, o := range []struct {
		result grant.Result
		want   []string
	}{
		{grant.Result{Outcome: grant.Unknown}, []string{"UNKNOWN", "r do exactly the same again"}},
		{
			grant.Result{Outcome: grant.LeaseHeld, Holder: &grant.Holder{Owner: "w-9", Token: 5}},
			[]string{"LEASE HELD", "held by w-9, token 5"},
		},
		{
			grant.Result{Outcome: grant.StaleToken, Fence: &grant.Fence{Token: 9, Owner: "w-8"}},
			[]string{"REFUSED by the fence", "9 by w-8"},
		},
		{grant.Result{Outcome: grant.Mismatch, Differs: []grant.Difference{{
			Field: "kind", Have: "gold", Want: "gems",
		}}}, []string{"MISMATCH", "kind differs: posted gold, asked gems"}},
		{grant.Result{Outcome: grant.Rejected, Rejected: &grant.Rejection{
			Field: "amount", Value: "5", Problem: "is over the limit", WayOut: "grant less",
		}}, []string{"REJECTED", "is over the limit"}},
		{
			grant.Result{Outcome: grant.Failed, Err: errors.New("no route to postgresql")},
			[]string{"FAILED", "no route to postgresql"},
		},
	} {
		t.Run(o.result.Outcome.String(), func(t *testing.T) {
			t.Parallel()
			c := sample(t, 120, 32, nil)
			askGrant(c, "200")
			c.World.Answer(&o.result)
			confirmGrant(c)
			for _, want := range o.want {
				c.See(want)
			}
		})
	}
}

func TestUnknownIsResolvedByDoingTheSame(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askGrant(c, "200")
	c.World.Answer(&grant.Result{Outcome: grant.Unknown})
	confirmGrant(c)
	c.See("UNKNOWN")
	c.World.Answer(nil)
	c.Clock.Advance(2 * time.Second)
	c.Press("r")
	c.See("APPLIED: 200 gems")
	got := c.World.Granted()
	if len(got) != 2 || !reflect.DeepEqual(got[0], got[1]) {
		t.Errorf("the second try differs: %+v", got)
	}
}

func TestReadOnlyDisablesDeeds(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.ReadOnly = true })
	c.See("READ-ONLY")
	c.Press("j", "j", "R")
	c.See("is read-only")
}

func TestCursorThroughEmptyAndBack(t *testing.T) {
	t.Parallel()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	fill := func(n int) {
		for i := range 5 {
			r := "reward:p-" + string(rune('a'+i))
			if i < n {
				l := tuitest.Lease(r, i, 20*time.Second)
				l.At = clock.Now()
				world.SetLease(l)
			} else {
				world.Drop(r)
			}
		}
	}
	fill(5)
	c := tuitest.Start(t, world, clock, 120, 32, func(o *tui.Options) {
		o.Refresh = 10 * time.Millisecond
	})
	c.See("5 total")
	c.Press("G")
	onRow(c, "reward:p-e")
	for _, n := range []int{1, 0, 5} {
		fill(n)
		c.See(string(rune('0'+n)) + " total")
		c.Press(".")
		c.Wait("the new order", func(s string) bool {
			return strings.Count(s, "  reward:p-")+strings.Count(s, "▶ reward:p-") == n+min(n, 1) ||
				n == 0 && strings.Contains(s, "nobody holds a lease")
		})
		c.Press("R")
		if n == 0 {
			c.See("there is no row under the cursor")
			c.Press("enter")
			c.See("there is no row under the cursor")
			continue
		}
		c.See("lease release")
		c.Press("esc", "H")
		c.See("History, newest first")
		c.Press("esc")
		c.NotSee("History, newest first")
	}
	if cursorRow(c) == "" {
		t.Error("no cursor after the leases came back")
	}
}

func TestRowUnderTheCursorKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	c := live(t, 120, 32)
	c.See("7 total")
	c.Press("j", "j")
	onRow(c, "reward:player-42")
	for i := range 20 {
		c.World.SetLease(tuitest.Lease("reward:a-"+string(rune('a'+i)), i, time.Second))
	}
	c.See("20 new wait")
	onRow(c, "reward:player-42")
	c.World.Drop("reward:player-42")
	c.See("○ gone")
	onRow(c, "reward:player-42")
	c.Press("R")
	c.See("this row is gone already")
}

func TestFailedReadKeepsTheLastGoodRows(t *testing.T) {
	t.Parallel()
	c := live(t, 120, 32)
	c.See("7 total")
	c.World.Fail(&grant.BackendError{
		Backend: grant.Redis, Op: "list", Err: errors.New("connection refused"),
	})
	c.See("not current: redis: list: connection refused")
	c.See("redis DOWN")
	c.See("reward:player-42")
	c.World.Fail(nil)
	c.See("everything answers again")
	c.See("redis ●")
}

// With Redis down and PostgreSQL up nothing is known of the leases: they are not called gone.
func TestUnreadLeasesAreNotGone(t *testing.T) {
	t.Parallel()
	c := live(t, 120, 32)
	c.See("7 total")
	c.Press("j", "j")
	c.World.Blind(&grant.BackendError{
		Backend: grant.Redis, Op: "list", Err: errors.New("i/o timeout"),
	})
	c.See("not current: redis: list: i/o timeout")
	c.See("redis DOWN")
	onRow(c, "reward:player-42")
	if text := c.Text(); strings.Contains(text, "○ gone") || !strings.Contains(text, "7 total") {
		t.Errorf("leases are called gone:\n%s", text)
	}
	c.World.Blind(nil)
	c.See("everything answers again")
}

func TestOwnTimeLeftCountsDown(t *testing.T) {
	t.Parallel()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	world.SetLease(tuitest.Lease("reward:p", 1, 20*time.Second))
	c := tuitest.Start(t, world, clock, 120, 32, nil)
	c.See("20.0s")
	clock.Advance(5 * time.Second)
	c.See("15.0s")
	clock.Advance(30 * time.Second)
	c.See("ended")
}
