package tui_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

func TestDeliveryIsRequeuedAsItWasSeen(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("6")
	c.See("400: unknown item")
	c.Press("T")
	c.See("now, live")
	c.See("--state dead --attempts 8")
	c.Type("fixed")
	c.Press("tab")
	c.Type("88-requeue")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("1 deliveries changed: requeue")
	got := c.World.Changed()
	if len(got) != 1 || got[0].LedgerID != 88 || got[0].State != "dead" || got[0].Attempts != 8 ||
		got[0].Reason != "fixed" {
		t.Errorf("changed %+v", got)
	}
}

func TestAllDeadAreCountedAndConfirmedByTheirNumber(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("6")
	c.See("400: unknown item")
	c.Press("V")
	c.See("all 1 are sent again at once")
	c.See("type 1-requeue")
	c.See("--expect 1")
	c.Type("sent")
	c.Press("tab")
	c.Type("1-requeue")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("1 deliveries changed: requeue")
	if got := c.World.Changed(); len(got) != 1 || got[0].Expect != 1 || got[0].LedgerID != 0 {
		t.Errorf("changed %+v", got)
	}
}

func askApproval(c *tuitest.Console) {
	c.Press("5")
	c.See("outage-48")
	c.Press("V")
	c.See("now, live")
	c.Type("checked")
	c.Press("tab")
}

func TestPlanIsApprovedAsItWasSeen(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askApproval(c)
	c.Type("12-approve")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("plan 12 is now approved")
	got := c.World.Decided()
	if len(got) != 1 || got[0].Plan.Version != 3 || got[0].Plan.Hash == "" || got[0].Seen == nil ||
		got[0].Reason != "checked" {
		t.Errorf("decided %+v", got)
	}
}

func TestPlanThatChangedIsNotApproved(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	askApproval(c)
	c.Type("12-approve")
	c.See("ready:")
	c.World.Touch(12)
	c.See("CHANGED while you looked: version")
	c.Press("enter", "enter")
	afterHold(c)
	if n := len(c.World.Decided()); n != 0 {
		t.Errorf("%d decisions after the drift", n)
	}
}

// What ran under broken glass is first in the list and on the home screen, and is signed for there.
func TestBrokenGlassIsReviewed(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.World.Break(12)
	c.Press("0")
	c.See("1  plans under broken glass to review")
	c.Press("5")
	c.See("not reviewed")
	c.Press("V")
	c.See("rewardctl grant approve 12")
	c.Type("it was right")
	c.Press("tab")
	c.Type("12-approve")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("plan 12 is now done")
	if got := c.World.Decided(); len(got) != 1 || got[0].Reason != "it was right" {
		t.Errorf("decided %+v", got)
	}
}

// A plan that was begun goes on: what it granted meanwhile is no change that nobody saw.
func TestBegunPlanGoesOn(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press(":")
	c.Type("plans")
	c.Press("enter")
	c.See("outage-48")
	c.Press("/")
	c.Type("plan:11")
	c.Press("enter")
	c.See("▶     11")
	c.Press("B")
	c.See("now, live")
	c.NotSee("CHANGED")
	c.Type("1800-grant")
	c.See("ready:")
	c.Press("enter", "enter")
	c.Until("the plan is applied", func() bool { return len(c.World.Applied()) == 1 })
}

func TestOwnPlanIsNotApproved(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.User = "jo" })
	c.Press("5")
	c.See("outage-48")
	c.See("it is your own plan") // beside the queue, before anybody asks
	c.Press("V")
	c.See("approve: it is your own plan")
	c.See("it is your own plan")
}

func TestPlanIsAppliedAndFileIsPlanned(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("5")
	c.See("outage-48")
	c.Press("F")
	c.Paste("'testdata/bulk/named.jsonl'\n")
	c.See("JSON lines, 45 B")
	c.Press("tab")
	c.See("▶ campaign")
	c.Type("week-48")
	c.Press("tab", "tab")
	c.Type("outage")
	c.See("rewardctl grant plan --campaign week-48 --reason outage -- testdata/bulk/named.jsonl")
	c.Press("ctrl+s")
	c.See("1 rows: 1 good, 0 bad")
	c.Press("ctrl+s")
	afterHold(c)
	c.See("plan 24: 1 rows, ready")
	c.See("plan 24  ● ready")
	c.Press("B")
	c.See("rewardctl grant apply 24")
	c.See("now, live")
	c.Type("1-grant")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("plan 24 is now done")
	if got := c.World.Applied(); len(got) != 1 || got[0] != 24 {
		t.Errorf("applied %v", got)
	}
}

func TestPostingIsReversed(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("2")
	c.Type("player-42")
	c.Press("enter")
	c.See("4 entries")
	c.Press("X")
	c.See("it is taken back in full")
	c.Type("paid twice")
	c.Press("tab")
	c.Type("4-reverse")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("reversed: posting 4")
	got := c.World.Reversed()
	if len(got) != 1 || got[0].LedgerID != 4 || got[0].Reason != "paid twice" {
		t.Errorf("reversed %+v", got)
	}
}

func TestExportIsExactlyWhatIsShown(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got tui.Export
	c := sample(t, 120, 32, func(o *tui.Options) {
		o.Export = func(_ context.Context, rows tui.Export) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			got = rows
			return "rows.csv", nil
		}
	})
	c.See("7 total")
	c.Press("/")
	c.Type("state:held")
	c.Press("enter")
	c.See("4 match")
	c.Press("e")
	c.See("the 4 rows that match the filter, as shown")
	c.Press("enter")
	c.See("4 rows written to rows.csv")
	mu.Lock()
	defer mu.Unlock()
	if len(got.Rows) != 4 || got.Format != "csv" || got.Header[0] != "resource" ||
		got.Rows[0][0] != "reward:player-1120" {
		t.Errorf("exported %+v", got)
	}
}

// commands is a grammar of two commands.
type commands struct{}

func (commands) Complete(_ context.Context, words []string) []tui.Completion {
	if strings.Join(words, " ") == "lease scan " {
		return []tui.Completion{{Text: "reward:player-42", Help: "held"}}
	}
	return nil
}

func (commands) Describe(words []string) (usage, purpose string) {
	return "rewardctl " + words[0], "tells"
}

func (commands) Read(_ context.Context, words []string) (string, error) {
	if words[0] != "lease" {
		return "", context.Canceled
	}
	return "TOKEN 7\x1b[2J\nof " + words[len(words)-1], nil
}

func TestPromptCompletesFromLiveDataAndReads(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Commands = commands{} })
	c.See("7 total")
	c.Press(":")
	c.Type("lease scan ")
	c.See("tab: lease scan reward:player-42")
	c.Press("tab", "enter")
	c.See("TOKEN 7␛[2J")
	c.See("of reward:player-42")
	c.Clock.Advance(2 * time.Second)
	c.Press("esc", ":")
	c.Type("itemserver")
	c.Press("enter")
	c.See("itemserver: context canceled")
}

func TestPaletteFindsAndDoes(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("ctrl+p")
	c.Type("relea")
	c.See("release (changes")
	c.See("not now: other data is under the key")
	c.Press("enter")
	c.See("not now: other data is under the key")
	for range 5 {
		c.Press("backspace")
	}
	c.Type("doctor")
	c.Press("enter")
	c.See("ledger unique key")
}

func TestMergedKeysChooseNothing(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("ctrl+p")
	c.Burst("doctor\r", 2)
	c.See("keys arrived together: nothing was chosen")
	if strings.Contains(c.Text(), "ledger unique key") {
		t.Error("pasted text chose from the palette")
	}
}

func TestMouseIsOffUntilAskedFor(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("m")
	c.See("mouse on")
	c.Send("\x1b[<65;10;10M") // the wheel, downwards
	onRow(c, "reward:player-1120")
	c.Send("\x1b[<0;10;7M") // a click on the first row
	onRow(c, "reward:legacy")
	c.Press("m")
	c.See("mouse off")
}

func TestKeysCanBeChanged(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Keys = []string{"release=ctrl+x", "quit=off"} })
	c.See("ctrl+x (release)")
	c.See("7 total")
	c.Press("j", "j", "R", "q")
	onRow(c, "reward:player-42")
	c.Press("ctrl+x")
	c.See("lease release")
}

func TestHistoryGoesBackAndForward(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("4")
	c.See("duplicates")
	c.Press("j", "k", "enter")
	c.See("Audits › run 12")
	c.Press("[")
	c.See("[4 Audits]")
	c.See("2 total")
	c.Press("]")
	c.See("Audits › run 12")
	c.See("paid twice")
	c.Press("esc", "esc")
	c.See("[1 Leases]")
}

func TestNowLeadsToWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) {
		o.Home = "oncall"
		o.State = []byte(`{"looked":"2026-11-29T10:00:00Z","counts":{"dead":1,"waiting":5}}`)
	})
	c.See("changes since 11-29 10:00")
	c.See("+1")
	c.See("-2")
	c.Press("enter")
	c.See("filter state:orphan_suspect")
	c.See("1 match")
}

// What does not answer comes first, and the bars stay in sight in the smallest terminal.
func TestNowShowsAllBarsWithProblems(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, func(o *tui.Options) {
		o.Home, o.Refresh = "oncall", 10*time.Millisecond
	})
	c.See("plans that wait for approval")
	c.World.Down("postgresql", context.DeadlineExceeded)
	c.See("✗ postgresql: read: context deadline exceeded")
	for _, bar := range []string{"grants", "refusals", "ending", "redis", "postgresql  "} {
		c.See(bar)
	}
	c.Press("G")
	c.See("▶▲      1  plans with rows left")
	c.See("Needs attention")
	c.See("postgresql  ")
}

func TestHandoverTellsTheDeeds(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	askRelease(c)
	c.Type("42-release")
	c.See("ready:")
	c.Press("enter", "enter")
	c.See("✓ released")
	c.Clock.Advance(2 * time.Second)
	c.Press("esc", ":")
	c.Type("handover")
	c.Press("enter")
	c.See("# Handover local, 2026-11-30 14:02, mlee")
	c.See("lease release: released: reward:player-42")
}
