package tui_test

import (
	"context"
	"strings"
	"testing"

	"rewardctl/tui"
)

// Every command that is shown or copied says where it leads: in a shell whose own configuration
// leads elsewhere it would otherwise do there what was looked at here.
func TestEveryCommandLeadsToWhereItWasShown(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	c := sample(t, 120, 40, func(o *tui.Options) {
		o.Flags = []string{"--config", "/etc/my games/rewardctl.yaml", "--context", "eu-live"}
		o.Clipboard = func(_ context.Context, words string) error {
			got <- words
			return nil
		}
	})
	c.See("7 total")
	const want = "rewardctl --config '/etc/my games/rewardctl.yaml' --context eu-live "
	leads := func(what string) {
		t.Helper()
		if words := <-got; !strings.HasPrefix(words, want) {
			t.Errorf("%s: %q leads elsewhere", what, words)
		}
	}
	for _, v := range []struct{ keys, see string }{
		{"1", "7 total"},
		{":outbox list\r", "given up"},
		{":oplog list\r", "lease release"},
		{":grant list\r", "outage-48"},
		{":audit list\r", "duplicates fences"},
		{":token refused\r", "late write"},
		{":token list reward:player-42\r", "fenced off"},
	} {
		for _, key := range strings.SplitAfter(v.keys, "\r") {
			c.Send(key)
		}
		c.See(v.see)
		c.Press("y")
		c.See("a letter, or enter")
		c.Press("c")
		leads(v.keys)
		c.NotSee("a letter, or enter")
	}
	c.Send(":oplog list")
	c.Send("\r")
	c.See("lease release")
	c.Press("Y")
	leads("a deed of the log")
	c.Send(":lease list")
	c.Send("\r")
	c.See("7 total")
	c.Press("j")
	c.Press("j")
	c.See("worker-09@game-1/809#9f2c09") // by the inspector
	c.Press("R")
	c.See("you saw")
	c.See("--context eu-live")
	c.Press("ctrl+y")
	leads("the deed of a dialog")
	c.Press("esc")
	c.Send(":grant create --player p-1 --event e --kind gems --amount 5 --reason why")
	c.Send("\r")
	c.See("$ rewardctl --config '/etc/my games/rewardctl.yaml'")
	c.Press("esc") // the fields have no keys any more
	c.Send(":grant plan")
	c.Send("\r")
	c.NotSee("grant create")
	c.See("$ rewardctl --config '/etc/my games/rewardctl.yaml'")
}

// A command that was copied here may come back: it opens its screen here.
func TestCommandsThatLeadHereAreTakenHere(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Flags = []string{"--context", "eu-live"} })
	c.See("7 total")
	c.Send(":rewardctl --context eu-live token list reward:player-42")
	c.Send("\r")
	c.See("tokens of reward:player-42")
}

// The flags of the command line mean after ":" what they mean there: they are no words to look for.
func TestFlagsOfCommandsThatHaveAScreen(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"lease list --state held", "lease --state held", "lease list -o json",
		"lease show reward:player-42 --output=json",
	} {
		c := sample(t, 120, 32, func(o *tui.Options) { o.Commands = commands{} })
		c.See("7 total")
		c.Send(":" + line)
		c.Send("\r")
		c.See("TOKEN 7")
		c.NotSee("filter --")
	}
	c := sample(t, 120, 32, func(o *tui.Options) { o.Commands = commands{} })
	c.Send(":player history p-1 --limit 5")
	c.Send("\r")
	c.See("player history p-1 --limit 5: ") // the command's own word about its flags
}
