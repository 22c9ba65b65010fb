package main

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewardctl/repair"
	"rewardctl/tui"
)

// What the console shows for its deeds on deliveries means the same deed again when it is typed.
func TestOutboxCommandLineMeansTheSameDeed(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp("table")
	rapid.Check(t, func(t *rapid.T) {
		want := repair.OutboxRequest{
			Deed: rapid.SampledFrom([]repair.OutboxDeed{
				repair.OutboxRequeue, repair.OutboxPark,
			}).Draw(t, "deed"),
			Attempts: -1, Reason: odd().Draw(t, "reason"), DryRun: rapid.Bool().Draw(t, "dry"),
		}
		if rapid.Bool().Draw(t, "one") {
			want.LedgerID = rapid.Int64Range(1, 1<<62).Draw(t, "row")
			want.State, want.Attempts = "dead", rapid.IntRange(0, 99).Draw(t, "attempts")
		} else {
			want.Filter = repair.OutboxFilter{State: "dead", Player: odd().Draw(t, "player")}
			if !want.DryRun {
				want.Expect = rapid.Int64Range(1, 1<<40).Draw(t, "expect")
			}
		}
		cmd, args := parse(t, want.CLI())
		attempts, expect := -1, int64(0)
		if f := cmd.Flags().Lookup("attempts"); f.Changed {
			attempts = want.Attempts
		}
		if f := cmd.Flags().Lookup("expect"); f.Changed {
			expect = want.Expect
		}
		f := outboxFlags{
			all: flag(cmd, "all") == "true", dryRun: flag(cmd, "dry-run") == "true",
			state: flag(cmd, "state"), player: flag(cmd, "player"), kind: flag(cmd, "kind"),
			text: flag(cmd, "error"), reason: flag(cmd, "reason"), attempts: attempts, expect: expect,
		}
		got, err := a.outboxRequest(cmd, want.Deed, f, args)
		if err != nil || got != want || cmd.CommandPath() != "rewardctl "+want.Word() {
			t.Fatalf("%q means %+v (%v), want %+v", want.CLI(), got, err, want)
		}
	})
}

// What the console shows for marked deliveries names the same rows, held to what was seen.
func TestOutboxSetCommandLineNamesTheSameRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1<<62), 2, 9, rapid.ID[int64]).Draw(t, "ids")
		requests := make([]repair.OutboxRequest, len(ids))
		for i, id := range ids {
			requests[i] = repair.OutboxRequest{
				LedgerID: id, State: "dead", Attempts: rapid.IntRange(0, 99).Draw(t, "attempts"),
			}
		}
		deed := rapid.SampledFrom([]repair.OutboxDeed{
			repair.OutboxRequeue, repair.OutboxPark,
		}).Draw(t, "deed")
		set, err := repair.NewOutboxSet(deed, requests)
		if err != nil {
			t.Fatal(err)
		}
		set = set.WithReason(odd().Draw(t, "reason"))
		cmd, args := parse(t, set.CLI())
		if cmd.CommandPath() != "rewardctl "+set.Word() || flag(cmd, "set") != set.Digest ||
			flag(cmd, "reason") != set.Requests[0].Reason || len(args) != len(ids) {
			t.Fatalf("%q", set.CLI())
		}
		for i, arg := range args {
			if id, err := parseLedgerID(arg); err != nil || id != set.Requests[i].LedgerID {
				t.Fatalf("%q: row %d is %d, %v", set.CLI(), i, id, err)
			}
		}
	})
}

func TestAckCommandLineMeansTheSameDecision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := repair.AckRequest{
			Finding: rapid.Int64Range(1, 1<<62).Draw(t, "finding"),
			Version: rapid.Int64Range(repair.AckAny, 1<<40).Draw(t, "version"),
			Reopen:  rapid.Bool().Draw(t, "reopen"), DryRun: rapid.Bool().Draw(t, "dry"),
			Reason: odd().Draw(t, "reason"),
		}
		cmd, args := parse(t, want.CLI())
		version, err := strconv.ParseInt(flag(cmd, "version"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := ackFlags{
			version: version, reopen: flag(cmd, "reopen") == "true",
			dryRun: flag(cmd, "dry-run") == "true", reason: flag(cmd, "reason"),
		}
		got, err := f.request(cmd, args[0])
		if err != nil || got != want || cmd.CommandPath() != "rewardctl "+want.Word() {
			t.Fatalf("%q means %+v (%v), want %+v", want.CLI(), got, err, want)
		}
	})
}

func TestConsoleAsksAsCommandsDo(t *testing.T) {
	t.Parallel()
	for _, ask := range []tui.AuditAsk{
		{},
		{SinceLast: true},
		{Checks: []string{"schema"}},
		{Checks: []string{"duplicate-key", "balance"}},
	} {
		cmd, args := parse(t, ask.CLI())
		if cmd.CommandPath() != "rewardctl audit run" ||
			strings.Join(args, " ") != strings.Join(ask.Checks, " ") ||
			(flag(cmd, "all") == "true") != (len(ask.Checks) == 0) ||
			(flag(cmd, "since-last") == "true") != ask.SinceLast {
			t.Errorf("%q", ask.CLI())
		}
	}
}

// What the screen of a file shows means the same file, read in the same way, when it is typed.
func TestFileOfTheConsoleAsksAsTheCommandDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := tui.PlanAsk{
			Path: odd().Draw(t, "path"), Sheet: odd().Draw(t, "sheet"),
			Campaign: odd().Draw(t, "campaign"), Reason: odd().Draw(t, "reason"),
			Version: rapid.IntRange(1, 3).Draw(t, "version"), Columns: oddColumns(t),
			SkipInvalid: rapid.Bool().Draw(t, "skip"),
		}
		cmd, args := parse(t, want.CLI())
		got := tui.PlanAsk{
			Path: args[0], Sheet: flag(cmd, "sheet"), Campaign: flag(cmd, "campaign"),
			Reason: flag(cmd, "reason"), SkipInvalid: flag(cmd, "skip-invalid") == "true",
			Columns: columnsFrom(t, cmd),
		}
		got.Version, _ = strconv.Atoi(flag(cmd, "version"))
		if !reflect.DeepEqual(got, want) || cmd.CommandPath() != "rewardctl grant plan" {
			t.Fatalf("%q means %+v, want %+v", want.CLI(), got, want)
		}
	})
}

// Every command that the console runs by itself is there, and only reads.
func TestConsoleRunsReadingCommandsOnly(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp("table")
	root := a.rootCommand()
	for path := range readingCommands() {
		cmd, rest, err := root.Find(strings.Fields(path)[1:])
		if err != nil || len(rest) > 0 {
			t.Errorf("there is no command %q", path)
			continue
		}
		for _, name := range []string{"reason", "confirm", "dry-run"} {
			if cmd.Flags().Lookup(name) != nil {
				t.Errorf("%s has --%s: it changes something", path, name)
			}
		}
	}
}
