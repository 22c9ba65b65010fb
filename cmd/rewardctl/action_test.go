package main

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"rewardctl/grant"
	"rewardctl/repair"
)

// parse finds the command of a command line in the tree and parses its flags, without running it.
func parse(t interface {
	Helper()
	Fatalf(string, ...any)
}, argv []string,
) (*cobra.Command, []string) {
	t.Helper()
	a := &app{process: process{
		stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{},
		env: func(string) string { return "" }, now: time.Now,
	}}
	cmd, rest, err := a.rootCommand().Find(argv[1:])
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	args := cmd.Flags().Args()
	if err := cmd.ValidateArgs(args); err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return cmd, args
}

// createFrom reads flag values back into the struct that the command itself fills.
func createFrom(cmd *cobra.Command) createFlags {
	get := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	return createFlags{
		player: get("player"), event: get("event"), kind: get("kind"), amount: get("amount"),
		reason: get("reason"), dryRun: get("dry-run") == "true", version: 1,
	}
}

// odd draws texts that a shell or a flag parser could take for something else.
func odd() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9:._-]{1,12}`),
		rapid.StringMatching(`[-=+@'"$ \\*?#!;&|<>(){}~^%]{1,8}x`),
		rapid.SampledFrom([]string{"--event", "-o", "json", "プレイヤー", "a b", "00123", "-5", "--"}),
	)
}

// Every deed shows a command. Typed, it must mean the same deed again.
func TestGrantCommandLineMeansTheSameGrant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := repair.GrantRequest{
			Request: grant.Request{
				PlayerID: odd().Draw(t, "player"), EventID: odd().Draw(t, "event"),
				Kind: odd().Draw(t, "kind"), Reason: odd().Draw(t, "reason"),
				Amount: rapid.Int64Range(1, 1<<62).Draw(t, "amount"),
			},
			DryRun: rapid.Bool().Draw(t, "dry run"),
		}
		cmd, _ := parse(t, want.CLI())
		f := createFrom(cmd)
		request, err := f.request(cmd)
		if err != nil {
			t.Fatalf("%q: %v", want.CLI(), err)
		}
		got := repair.GrantRequest{Request: request, DryRun: f.dryRun}
		if !reflect.DeepEqual(got, want) || cmd.CommandPath() != "rewardctl "+want.Word() {
			t.Fatalf("%q means %+v, want %+v", want.CLI(), got, want)
		}
	})
}

func TestReleaseCommandLineMeansTheSameRelease(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := repair.ReleaseRequest{
			Resource: odd().Draw(t, "resource"), Reason: odd().Draw(t, "reason"),
			DryRun: rapid.Bool().Draw(t, "dry run"),
		}
		if rapid.Bool().Draw(t, "foreign") {
			want.Value = odd().Draw(t, "value")
		} else {
			want.Owner = odd().Draw(t, "owner")
			want.Token = rapid.Int64Range(1, 1<<62).Draw(t, "token")
		}
		cmd, args := parse(t, want.CLI())
		get := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
		f := releaseFlags{
			owner: get("owner"), token: get("token"), value: get("value"), reason: get("reason"),
			dryRun: get("dry-run") == "true",
		}
		got, err := f.request(cmd, args[0])
		if err != nil {
			t.Fatalf("%q: %v", want.CLI(), err)
		}
		if got != want || cmd.CommandPath() != "rewardctl "+want.Word() {
			t.Fatalf("%q means %+v, want %+v", want.CLI(), got, want)
		}
	})
}

// The command that is shown for marked leases names every one of them and the set that was seen.
func TestReleaseSetCommandLineMeansTheSameSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		reason, dry := odd().Draw(t, "reason"), rapid.Bool().Draw(t, "dry run")
		var requests []repair.ReleaseRequest
		for _, r := range rapid.SliceOfNDistinct(odd(), 1, 5, rapid.ID).Draw(t, "resources") {
			requests = append(requests, repair.ReleaseRequest{
				Resource: r, Owner: "w", Token: 7, Reason: reason, DryRun: dry,
			})
		}
		want, err := repair.NewReleaseSet(requests)
		if err != nil {
			t.Fatal(err)
		}
		cmd, names := parse(t, want.CLI())
		f := releaseFlags{
			names: names, set: flag(cmd, "set"), reason: flag(cmd, "reason"),
			dryRun: flag(cmd, "dry-run") == "true",
		}
		got := make([]string, len(want.Requests))
		for i, r := range want.Requests {
			got[i] = r.Resource
		}
		if err := f.checkSelection(cmd); err != nil || !slices.Equal(names, got) ||
			f.set != want.Digest || f.reason != reason || f.dryRun != dry ||
			cmd.CommandPath() != "rewardctl "+want.Word() {
			t.Fatalf("%q means %+v (%v), want %+v", want.CLI(), f, err, want)
		}
	})
}

// The tree is the contract: a word or flag that goes missing breaks somebody's script.
func TestCommandTree(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp("table")
	flags := map[string]string{
		"demo": "headless dir keep",
		"grant create": "player event campaign subject version kind amount reason dry-run token " +
			"owner wait confirm",
		"grant apply":    "campaign reason dry-run result skip-invalid rest confirm",
		"lease list":     "owner resource glob state expiring-within sort reverse limit",
		"lease scan":     "pattern rate",
		"lease show":     "",
		"lease watch":    "",
		"lease release":  "owner token value reason dry-run confirm",
		"player history": "from to kind event campaign outcome type limit after before all",
		"player export":  "output-file",
		"player find":    "",
		"audit list":     "limit",
		"audit run":      "all since-last resume",
		"audit show":     "",
		"audit diff":     "",
		"audit ack":      "reason version reopen dry-run confirm",
		"explain":        "",
		"token list":     "",
		"token refused":  "since until limit",
		"drill list":     "",
		"drill run":      "ttl pause defence workers rounds seed report",
		"doctor":         "",
		"migrate up":     "dry-run confirm",
		"migrate status": "",
		"config show":    "",
		"config path":    "",
		"version":        "",
		"completion":     "",
	}
	flags["config contexts"] = ""
	global := []string{"config", "context", "operator", "no-color", "output"}
	root := a.rootCommand()
	for path, names := range flags {
		cmd, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			t.Errorf("there is no command %q", path)
			continue
		}
		cmd.InheritedFlags()
		for _, name := range slices.Concat(global, strings.Fields(names)) {
			if cmd.Flag(name) == nil {
				t.Errorf("%s has no flag --%s", path, name)
			}
		}
		if cmd.Short == "" {
			t.Errorf("%s has no description", path)
		}
	}
}
