package tui_test

import (
	"context"
	"strings"
	"testing"

	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// copying is a console whose clipboard the test reads.
type copying struct {
	*tuitest.Console

	got chan string
}

func copies(t *testing.T, w, h int) copying {
	t.Helper()
	got := make(chan string, 1)
	return copying{sample(t, w, h, func(o *tui.Options) {
		o.Clipboard = func(_ context.Context, words string) error {
			got <- words
			return nil
		}
	}), got}
}

// take chooses a line of the copy menu, once it is offered, and returns what it copied.
func (c copying) take(key string) string {
	offered := func() bool { return strings.Contains(c.Text(), "a letter, or enter") }
	c.Until("the row is there to be copied", func() bool {
		c.Press("y")
		c.Until("the menu is open", offered)
		if strings.Contains(c.Text(), "the row as JSON") {
			return true
		}
		c.Press("esc")
		c.Until("the menu is closed", func() bool { return !offered() })
		return false
	})
	c.Press(key)
	c.NotSee("a letter, or enter")
	words := ""
	c.Until("something is copied", func() bool {
		select {
		case words = <-c.got:
			return true
		default:
			return false
		}
	})
	return words
}

// Every list of rows of the servers offers the statement that shows the row under the cursor again.
func TestEveryListProvesItsRow(t *testing.T) {
	t.Parallel()
	c := copies(t, 120, 32)
	c.See("7 total")
	for _, v := range []struct{ keys, see, key, from, where string }{
		{":outbox list\r", "given up", "s", "from reward_outbox o", "where o.ledger_id = 88"},
		{":oplog list\r", "lease release", "s", "from operator_action", "where id = "},
		{":grant list\r", "outage-48", "s", "from grant_plan p", "where p.plan_id = 12"},
		{"5", "ASKED BY", "s", "from grant_plan p", "where p.plan_id = 12"},
		{"\r\r", "player-44", "s", "from grant_plan_row", "where plan_id = 12 and line = 2"},
		{":token refused\r", "late write", "s", "from grant_refusal", "where id = "},
		{":token list reward:player-42\r", "fenced off", "s", "redis-cli", "lock:{reward:player-42"},
		{"", "fenced off", "f", "from reward_fence", ""},
	} {
		for _, key := range strings.SplitAfter(v.keys, "\r") {
			c.Send(key)
		}
		c.See(v.see)
		words := c.take(v.key)
		if !strings.Contains(words, v.from) || !strings.Contains(words, v.where) {
			t.Errorf("%q copies %q, want %q and %q", v.keys, words, v.from, v.where)
		}
	}
}

// The command of a filtered list says what the filter says, and names the words for which it has
// no flag.
func TestCommandSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	c := copies(t, 120, 32)
	c.See("7 total")
	for _, v := range []struct{ open, filter, counts, want, without string }{
		{"1", "resource:player-42", "1 match", "lease list --resource '*player-42*' --glob", ""},
		{"1", "owner:ER-09 token:>=1 ttl:<5h", "1 match", "lease list --owner worker-09", "token:>=1"},
		{"6", "state:dead !error:x", " match", "outbox list --limit 1000 --state dead", "!error:x"},
		{"7", "by:m", " match", "oplog list --limit 1000 --actor mlee", ""},
		{"4", "state:findings", "1 match", "audit list --limit 200", "state:findings"},
	} {
		c.Press(v.open, "/")
		c.Type(v.filter)
		c.Press("enter")
		c.See(v.counts)
		// What was typed last is searched for a moment later.
		c.Until(v.want+" is copied", func() bool {
			return strings.Contains(c.take("c"), "rewardctl "+v.want)
		})
		want := "copied the command that lists the same"
		if v.without != "" {
			want = "copied the command, which leaves out: " + v.without
		}
		c.See(want)
		c.Press("esc")
		c.NotSee(" match")
	}
}
