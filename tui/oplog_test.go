package tui_test

import (
	"context"
	"strings"
	"testing"

	"rewardctl/tui"
)

// A row of the log is read on two levels: what was intended and the command, and below it what came
// of it, with what changed.
func TestLogRowOnTwoLevels(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.Press("7")
	c.See("3 total")
	c.Press("enter")
	c.See("mlee at 2026-11-30 13:44:03, because: worker is gone")
	c.See("    $ rewardctl lease release reward:player-9 --owner w-9")
	c.See("╰ ✓ released  begun in row 2 at 2026-11-30 13:44:03")
	c.See("ticket          INC-77")
	c.See("fence           6                          → 7")
	c.Press("esc", "j", "enter")
	c.See("╰ ○ begun  ended in row 3 at 2026-11-30 13:44:03: ✓ released")
	c.Press("esc", "j", "enter")
	c.See("repeats known by")
	c.See("player-42/outage:player-42:ZD-5512:gems:v1")
}

// Z shows what the deed of a row would do now, and does nothing.
func TestLogRowIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.Press("7")
	c.See("3 total")
	c.Press("Z")
	c.See("Then, in row 3 at 2026-11-30 13:44:03")
	c.See("nothing: the lease ended by itself: there is nothing to release")
	c.See("$ rewardctl lease release --dry-run reward:player-9 --owner w-9 --token 7")
	c.Press("esc", "n") // over the intent, which has a result, to what was denied
	c.See("▶      1  11-30")
	c.Press("Z")
	c.See("replayed")
	c.See("$ rewardctl grant create --dry-run --player player-42")
	if len(c.World.Granted())+len(c.World.Released()) > 0 {
		t.Error("a look changed something")
	}
}

// reads answers the command of a handover.
type reads struct{ asked chan []string }

func (r reads) Complete(context.Context, []string) []tui.Completion { return nil }

func (r reads) Describe([]string) (usage, purpose string) { return "", "" }

func (r reads) Read(_ context.Context, words []string) (string, error) {
	r.asked <- words
	return "# Handover 10:00 to 14:00 (UTC)\n\n## Deeds\n\n* row 3: lease release", nil
}

// A handover of a time comes from the operator log: of this operator, or of everybody; it is
// copied, and written to a file.
func TestHandoverOfATime(t *testing.T) {
	t.Parallel()
	r := reads{make(chan []string, 1)}
	files := make(chan tui.Export, 1)
	c := sample(t, 120, 40, func(o *tui.Options) {
		o.Commands = r
		o.Export = func(_ context.Context, file tui.Export) (string, error) {
			files <- file
			return "handover.md", nil
		}
	})
	c.Press("0")
	c.See("leases whose owner is gone")
	for line, want := range map[string]string{
		"handover 4h":     "oplog handover --since 4h0m0s --actor mlee",
		"handover 8h all": "oplog handover --since 8h0m0s",
	} {
		c.Press(":")
		c.Type(line)
		c.Press("enter")
		c.See("* row 3: lease release")
		c.See("- 1 leases whose owner is gone")
		if got := strings.Join(<-r.asked, " "); got != want {
			t.Errorf("%s asks %q, want %q", line, got, want)
		}
		c.Press("e")
		c.See("handover.md")
		if file := <-files; file.Format != tui.ExportMarkdown || file.Rows[4][0] !=
			"* row 3: lease release" {
			t.Errorf("%+v", file)
		}
		c.Press("esc")
		c.NotSee("* row 3")
	}
	c.Press(":")
	c.Type("handover soon")
	c.Press("enter")
	c.See("usage: handover [4h [all]]")
}
