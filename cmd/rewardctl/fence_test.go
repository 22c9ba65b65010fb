package main

import (
	"testing"

	"pgregory.net/rapid"

	"rewardctl/repair"
)

// Every deed shows a command. Typed, it must mean the same deed again.
func TestBurnAndReseedCommandLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		burn := repair.BurnRequest{
			Resource: odd().Draw(t, "resource"), Reason: odd().Draw(t, "reason"), Token: 7,
		}
		cmd, args := parse(t, burn.CLI())
		if cmd.CommandPath() != "rewardctl lease burn" || args[0] != burn.Resource ||
			cmd.Flags().Lookup("reason").Value.String() != burn.Reason {
			t.Fatalf("%q is %s of %q", burn.CLI(), cmd.CommandPath(), args)
		}
		reseed := repair.ReseedRequest{
			Resource: odd().Draw(t, "resource"), Reason: odd().Draw(t, "reason"),
		}
		cmd, args = parse(t, reseed.CLI())
		if cmd.CommandPath() != "rewardctl fence reseed" || args[0] != reseed.Resource ||
			cmd.Flags().Lookup("reason").Value.String() != reseed.Reason {
			t.Fatalf("%q is %s of %q", reseed.CLI(), cmd.CommandPath(), args)
		}
	})
}
