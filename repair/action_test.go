package repair_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"

	"rewardctl/grant"
	"rewardctl/repair"

	"pgregory.net/rapid"
)

func TestActionsAreCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		action repair.Action
		want   string
	}{
		{
			repair.ReleaseRequest{
				Resource: "reward:p 1", Owner: "w@h/1#ab", Token: 42, Reason: "it's stuck",
				DryRun: true,
			},
			`rewardctl lease release 'reward:p 1' --owner 'w@h/1#ab' --token 42 ` +
				`--reason 'it'\''s stuck' --dry-run`,
		},
		{
			repair.ReleaseRequest{Resource: "-r", Value: "x;rm", Reason: "r"},
			`rewardctl lease release --value 'x;rm' --reason r -- -r`,
		},
		{
			repair.GrantRequest{Request: grant.Request{
				PlayerID: "p1", EventID: "e:1", Kind: "gems", Amount: 5, Reason: "\x1b[2J",
			}},
			`rewardctl grant create --player p1 --event e:1 --kind gems --amount 5 ` +
				`--reason $'\033[2J'`,
		},
	} {
		if got := repair.CommandLine(c.action.CLI()); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if c.action.Word() == "" || c.action.Target() == "" {
			t.Errorf("%s has no word or target", c.want)
		}
	}
}

// A command line is read back by a shell as exactly the arguments, and holds nothing invisible.
func TestCommandLineSurvivesAShell(t *testing.T) {
	t.Parallel()
	hostile := rapid.SampledFrom([]string{
		"", "'", `\`, "$(id)", "`id`", "a b", "\t", "\n", "\x1b[2J", "\u202e", "\u200b", "\x9b",
		"\xff", "!x", "*", "~", "-n", "日本", "'\\''", "$'x'", "0", "7",
	})
	argument := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(hostile, 0, 4).Draw(rt, "parts"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.SliceOfN(argument, 1, 4).Draw(rt, "args")
		line := repair.CommandLine(args)
		for _, c := range line {
			if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
				rt.Fatalf("%q holds %U", line, c)
			}
		}
		out, err := exec.CommandContext(t.Context(), "bash", "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			rt.Fatalf("%s: %v", line, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got, args) {
			rt.Fatalf("%s\nread back as %q\nwant %q", line, got, args)
		}
	})
}
