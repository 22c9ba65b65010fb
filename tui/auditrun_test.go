package tui_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// An audit that runs says how far it is, on its row's screen too; what it finds comes in while it
// runs, x stops it, and it can go on.
func TestAuditIsFollowedStoppedAndGoesOn(t *testing.T) {
	t.Parallel()
	asks := make(chan tui.AuditAsk, 4)
	var world *tuitest.World
	c := sample(t, 120, 32, func(o *tui.Options) {
		o.Refresh = 10 * time.Millisecond
		o.RunAudit = func(
			ctx context.Context, ask tui.AuditAsk, tell func(tui.AuditTold),
		) (int64, error) {
			asks <- ask
			run := inspect.AuditRun{
				ID: 13, State: "running", Checks: []string{"near-duplicate"}, Operator: "mlee",
				Started: o.Now(), Seen: o.Now(),
			}
			found := []inspect.Finding{{
				ID: 31, Check: "near-duplicate", Word: "respelled", Severity: inspect.Critical,
				What: "found while it runs", Fingerprint: "f",
			}}
			world.SetAudits([]inspect.AuditRun{run}, map[int64][]inspect.Finding{13: found})
			tell(tui.AuditTold{Run: 13, AuditProgress: inspect.AuditProgress{
				Check: "near-duplicate", UnitsDone: 3, Units: 8, Rate: 1_900_000, Findings: 1,
				Elapsed: 3 * time.Second, Left: 2 * time.Second,
			}})
			<-ctx.Done()
			run.State, run.Ended = "stopped", o.Now()
			world.SetAudits([]inspect.AuditRun{run}, map[int64][]inspect.Finding{13: found})
			return 13, ctx.Err()
		}
	})
	world = c.World
	c.See("7 total")
	c.Press("4")
	c.See("2 total")
	c.Press("a")
	c.See("run an audit: it only reads")
	c.Press("enter")
	c.See("60%  near-duplicate  part 3 of 8")
	c.See("1.9M rows/s")
	c.See("2s left")
	c.See("● running")
	if got := <-asks; !got.SinceLast {
		t.Errorf("asked for %+v", got)
	}
	c.Press("enter")
	c.See("found while it runs")
	c.See("60%  near-duplicate  part 3 of 8")
	c.Press("x")
	c.NotSee("part 3 of 8")
	c.Press("4")
	c.See("○ stopped")
	c.Press("u")
	c.See("part 3 of 8")
	if got := <-asks; got.Resume != 13 || len(got.CLI()) != 5 || got.CLI()[4] != "13" {
		t.Errorf("asked for %+v", got)
	}
	c.Press("x")
	c.See("○ stopped")
}

// Whatever ends the console ends the audit that runs in it, too: within the bound, and with the
// audit told. What it has read is kept, so nobody is asked; main_test looks for goroutines left.
func TestQuitEndsTheAuditThatRuns(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *tuitest.Console){
		"q": func(c *tuitest.Console) {
			c.Clock.Advance(time.Second) // keys that arrive together do not quit
			c.Send("q")
		},
		"ctrl+c": func(c *tuitest.Console) {
			c.Press("ctrl+c")
			c.Send("\x03")
		},
		"signal":  func(c *tuitest.Console) { c.Stop() },
		"hang up": func(c *tuitest.Console) { c.Hangup() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, told := make(chan struct{}), make(chan error, 1)
			c := sample(t, 120, 32, func(o *tui.Options) {
				o.RunAudit = func(
					ctx context.Context, _ tui.AuditAsk, _ func(tui.AuditTold),
				) (int64, error) {
					close(begun)
					<-ctx.Done()
					told <- ctx.Err()
					return 13, ctx.Err()
				}
			})
			c.See("7 total")
			c.Press("4")
			c.See("2 total")
			c.Press("a")
			c.See("run an audit: it only reads")
			c.Press("enter")
			<-begun
			c.See("the audit runs")
			err := quickly(t, c, func() { end(c) })
			if asked := name == "q" || name == "ctrl+c"; asked != (err == nil) {
				t.Errorf("ended with %v", err)
			}
			select {
			case why := <-told:
				if !errors.Is(why, context.Canceled) {
					t.Errorf("the audit was told %v", why)
				}
			default:
				t.Error("the console ended before the audit did")
			}
		})
	}
}

// Two runs that are marked are compared with each other.
func TestMarkedAuditsAreCompared(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("4")
	c.See("2 total")
	c.Press("g", "space", "=")
	c.See("mark two audits to compare them, not 1")
	c.Press("j", "space", "=")
	c.See("Audits › run 12")
	c.See("since run 11: 1 new, 1 still there, 1 gone")
	c.See("3 total")
}

// The remedy is looked at before anything is done: its deed opens with what would happen.
func TestRemedyIsLookedAt(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	openFindings(c)
	c.Press("enter")
	c.See("What to do; Z looks at it")
	c.Press("s")
	c.See("copied the proof")
	c.Press("Z")
	c.See("ledger reverse 88122")
	if n := len(c.World.Reversed()); n != 0 {
		t.Errorf("%d reversals by looking", n)
	}
}
