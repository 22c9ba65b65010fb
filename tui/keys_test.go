package tui_test

import (
	"strings"
	"testing"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/tuitest"
)

func colour(mode int) paint.Mode {
	return [...]paint.Mode{paint.Mono, paint.ANSI16, paint.ANSI256}[mode]
}

// cursorRow returns the line with the cursor of the list.
func cursorRow(c *tuitest.Console) string {
	for _, line := range c.Lines() {
		if strings.HasPrefix(line, "▶") {
			return line
		}
	}
	return ""
}

func onRow(c *tuitest.Console, text string) {
	c.Wait("the cursor on "+text, func(string) bool {
		return strings.Contains(cursorRow(c), text)
	})
}

func TestMergedKeysMoveByTheirNumber(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Burst("jjj", 1)
	onRow(c, "reward:player-1120")
	c.Burst("kk", 1)
	onRow(c, "reward:event:5")
}

func TestMergedColonOpensThePrompt(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Burst(":player history player-42\r", 6)
	c.See("4 entries")
}

func TestMergedSlashFilters(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Burst("/state:orphan", 1)
	c.See("1 match")
	c.Press("enter")
	c.See("filter state:orphan")
	c.Press("2", "esc", "1")
	c.See("filter state:orphan")
	c.Press("esc")
	c.NotSee("filter state")
	c.See("reward:legacy")
}

func TestPasteNeverActs(t *testing.T) {
	t.Parallel()
	const text = "yes\nq\nd\n"
	for name, open := range map[string]func(c *tuitest.Console){
		"list": func(*tuitest.Console) {},
		"release dialog": func(c *tuitest.Console) {
			c.Press("j", "j", "R")
			c.See("now, live")
		},
		"confirmation": func(c *tuitest.Console) {
			c.Press("j", "j", "R")
			c.See("now, live")
			c.Press("tab")
		},
		"filter": func(c *tuitest.Console) { c.Press("/") },
		"search": func(c *tuitest.Console) { c.Press("2") },
		"form":   func(c *tuitest.Console) { c.Press("3") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for marked := range 2 {
				c := sample(t, 120, 32, nil)
				c.See("7 total")
				open(c)
				if marked == 1 {
					c.Paste(text)
				} else {
					c.Burst(strings.ReplaceAll(text, "\n", "\r"), 6)
				}
				afterHold(c)
				if c.Ended() {
					t.Fatal("pasted text quit the console")
				}
				if n := len(c.World.Released()) + len(c.World.Granted()); n > 0 {
					t.Fatalf("pasted text did %d deeds", n)
				}
				c.Stop()
				_ = c.End()
			}
		})
	}
}

// afterHold waits until a held key would have acted: it asks for the help and closes it, both of
// which take longer than the hold.
func afterHold(c *tuitest.Console) {
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	c.Resize(121, 32)
	c.Wait("the new size", func(s string) bool { return strings.Contains(s, "DEMO") })
}

func TestQuitCommandIsTypedByHand(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Burst(":q\r", 2)
	c.See("type it by hand")
	c.Press(":", "q", "enter")
	if err := c.End(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestPasteBecomesTextOfOneLine(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("2")
	c.Paste("player-42\nq\n")
	c.See("player-42")
	if strings.Contains(c.Text(), "4 entries") {
		t.Error("the paste searched by itself")
	}
	c.Press("enter")
	c.See("4 entries")
}

func TestConfirmationCannotBePasted(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j", "R")
	c.See("now, live")
	c.Type("dead")
	c.Press("tab")
	c.Paste("42-release")
	c.See("pasted text is not taken")
	c.Burst("42-release\r", 2)
	c.See("type 42-release to confirm")
	c.Type("42-release")
	c.See("ready:")
	if n := len(c.World.Released()); n != 0 {
		t.Fatalf("%d releases before enter", n)
	}
}

func TestLongPasteDoesNotFreeze(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("2")
	c.Paste(strings.Repeat("x", 10_000))
	c.See("xxxxxxxx")
	c.Press("enter")
	c.See("nobody knows this player")
}

func TestUnknownKeysInADialogDoNothing(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("?")
	c.See("On this screen")
	c.Press("R", "2", "x", ":")
	c.See("On this screen")
	c.Press("esc")
	c.NotSee("On this screen")
	onRow(c, "reward:legacy")
}

func TestDisabledKeysSayWhy(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("R")
	c.See("other data is under the key")
	c.Press("3", "ctrl+s")
	c.See("amount")
}

func TestControlCAsksTwice(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("ctrl+c")
	c.See("press ctrl+c again to quit")
	c.Clock.Advance(3 * time.Second)
	c.Press("ctrl+c")
	c.See("press ctrl+c again to quit")
	c.Press("ctrl+c")
	if err := c.End(); err != nil {
		t.Errorf("ended with %v", err)
	}
}
