package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

func flag(cmd *cobra.Command, name string) string {
	return cmd.Flags().Lookup(name).Value.String()
}

// oddColumns draws names of columns that a shell could take for something else.
func oddColumns(t *rapid.T) []batchfile.Column {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z,;=$"']{0,5}[0-9]{3}`), 0, 3,
		rapid.ID).Draw(t, "columns")
	var columns []batchfile.Column
	for i, name := range names {
		columns = append(columns, batchfile.Column{Target: batchfile.Targets()[i], Source: name})
	}
	return columns
}

func columnsFrom(t interface{ Fatal(...any) }, cmd *cobra.Command) []batchfile.Column {
	texts, err := cmd.Flags().GetStringArray("column")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := batchfile.ParseColumns(texts)
	if err != nil {
		t.Fatal(err)
	}
	return columns
}

// The grant of a file and its command mean the same.
func TestFileCommandLineMeansTheSameFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := repair.FileRequest{
			Path: odd().Draw(t, "path"), Campaign: odd().Draw(t, "campaign"),
			Version: rapid.IntRange(1, 3).Draw(t, "version"), Sheet: odd().Draw(t, "sheet"),
			Reason: odd().Draw(t, "reason"), Columns: oddColumns(t),
			SkipInvalid: rapid.Bool().Draw(t, "skip"),
		}
		cmd, args := parse(t, want.CLI())
		f := applyFlags{
			campaign: flag(cmd, "campaign"), reason: flag(cmd, "reason"), sheet: flag(cmd, "sheet"),
			skipInvalid: flag(cmd, "skip-invalid") == "true",
		}
		f.version, _ = strconv.Atoi(flag(cmd, "version"))
		f.columns, _ = cmd.Flags().GetStringArray("column")
		if got := f.deed(args[0]); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q means %+v, want %+v", want.CLI(), got, want)
		}
	})
}

// The commands that plans show and log mean the same deeds again when they are typed.
func TestPlanCommandLinesMeanTheSameDeeds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		reason, hash := odd().Draw(t, "reason"), strings.Repeat("ab", 32)
		id := rapid.Int64Range(1, 1<<62).Draw(t, "plan")
		number := digits(id)
		path := odd().Draw(t, "path")
		plan := repair.PlanRequest{
			Campaign: odd().Draw(t, "campaign"), Version: rapid.IntRange(1, 3).Draw(t, "version"),
			Reason: reason, SkipInvalid: rapid.Bool().Draw(t, "skip"), Columns: oddColumns(t),
		}
		cmd, args := parse(t, plan.Action(path).CLI())
		if args[0] != path || flag(cmd, "campaign") != plan.Campaign ||
			flag(cmd, "reason") != reason || flag(cmd, "version") != digits(int64(plan.Version)) ||
			(flag(cmd, "skip-invalid") == "true") != plan.SkipInvalid ||
			!slices.Equal(columnsFrom(t, cmd), plan.Columns) {
			t.Fatalf("%q", plan.Action(path).CLI())
		}
		word := rapid.SampledFrom([]string{"approve", "reject", "pause", "cancel"}).Draw(t, "word")
		decide := repair.DecideRequest{
			Plan: repair.PlanRef{ID: id, Version: 3, Hash: hash}, Reason: reason,
			BreakGlass: word == "approve" && rapid.Bool().Draw(t, "glass"),
		}
		cmd, args = parse(t, decide.Action(word).CLI())
		said := "reason"
		if decide.BreakGlass {
			said = "break-glass"
		}
		if args[0] != number || flag(cmd, said) != reason || flag(cmd, "if-version") != "3" ||
			flag(cmd, "hash") != hash || cmd.CommandPath() != "rewardctl grant "+word {
			t.Fatalf("%q", decide.Action(word).CLI())
		}
		run := repair.PlanRun{
			Plan: repair.PlanRef{ID: id}, AcceptDrift: rapid.Bool().Draw(t, "drift"),
			Rate: 12.5, MaxErrors: 7,
		}
		cmd, args = parse(t, run.Action().CLI())
		if args[0] != number || flag(cmd, "rate") != "12.5" || flag(cmd, "max-errors") != "7" ||
			(flag(cmd, "accept-drift") == "true") != run.AcceptDrift {
			t.Fatalf("%q", run.Action().CLI())
		}
	})
}
