package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// soakTests are the tests that find more the longer they run.
const soakTests = "^(TestSchedules|TestLikeness|TestVirtualTime|TestModel|TestFault|TestServer|" +
	"TestCluster|TestSentinel|TestB3[0-3]|TestPlan|TestReverse|TestRelease|TestWriteSurvives|" +
	"TestExportSurvives|TestConsole(Killed|Terminated)|TestRelayTerminated|TestFailover)"

// soak repeats the fault suite, whole, and the fuzz targets with new seeds until the time is over
// or something fails.
//
//	go run ./.ci soak -for 2h [-seed N]
func soak(ctx context.Context, out io.Writer, c *counts, args []string) error {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	length := flags.Duration("for", 2*time.Hour, "how long")
	seed := flags.Uint64("seed", uint64(time.Now().Unix()), "the first round's seed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := ensureTools(ctx); err != nil {
		return err
	}
	targets, err := fuzzTargets(".")
	if err != nil {
		return err
	}
	for what, t := range required() {
		if !slices.Contains(targets, target{"rewardctl/" + t.pkg, t.name}) {
			return fmt.Errorf("nothing fuzzes %s: there is no %s in %s", what, t.name, t.pkg)
		}
	}
	return withServers(ctx, func(servers []string) error {
		end := time.Now().Add(*length)
		for round := uint64(0); time.Now().Before(end) && ctx.Err() == nil; round++ {
			fmt.Fprintf(out, "round %d, seed %d\n", round, *seed+round)
			more := append(servers, fmt.Sprintf("REWARDCTL_SIM_SEED=%d", *seed+round),
				"REWARDCTL_SOAK=1", fmt.Sprintf("REWARDCTL_SIM_SCHEDULES=%d", simulated(*length)),
				"REWARDCTL_SIM_LIKENESS=500",
				"REWARDCTL_VIRTUAL_SCHEDULES=1000",
				fmt.Sprintf("REWARDCTL_VIRTUAL_SEED=%d", 1000*(*seed+round)),
				fmt.Sprintf("FAULT_SEED=%d", *seed+round))
			if err := runTests(ctx, out, c, more, "-run", soakTests, "-count=1"); err != nil {
				return fmt.Errorf("round %d, seed %d; again: go run ./.ci soak -for %v -seed %d\n%w",
					round, *seed+round, *length, *seed+round, err)
			}
			for _, t := range targets {
				if err := fuzz(ctx, out, t); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// simulated is how many schedules the simulator plays in one round: a million in a long soak, as
// many as in any run in one that is to be short.
func simulated(length time.Duration) int64 {
	const most, least = 1_000_000, 60_000
	return max(least, min(most, most*int64(length/time.Minute)/60))
}

// target is a fuzz target.
type target struct{ pkg, name string }

// fuzzTime is how long one target runs in one round.
const fuzzTime = 10 * time.Second

// required are the targets that there must be: what comes from outside, and what decides.
func required() map[string]target {
	return map[string]target{
		"RESP frames":                   {"grant/granttest", "FuzzRedisReplies"},
		"lock values":                   {"grant/lease", "FuzzParseValue"},
		"CSV":                           {"repair/batchfile", "FuzzRead"},
		"configuration":                 {"config", "FuzzLoad"},
		"what reaches the terminal":     {"tui/safetext", "FuzzCell"},
		"the verdict on an error":       {"grant", "FuzzJudge"},
		"identifiers":                   {"config", "FuzzIdentifiers"},
		"the canonical form of the log": {"inspect", "FuzzCanonicalForm"},
		"keys of the console":           {"tui", "FuzzConsole"},
	}
}

// fuzzTargets finds the fuzz targets of all packages in the sources below a folder. Asking the
// tests would build them all first.
func fuzzTargets(root string) ([]target, error) {
	var all []target
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, found := range declared.FindAllSubmatch(text, -1) {
			all = append(all, target{"rewardctl/" + filepath.ToSlash(dir), string(found[1])})
		}
		return err
	})
	return all, err
}

func fuzz(ctx context.Context, out io.Writer, t target) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$",
		"-fuzztime", fuzzTime.String(), t.pkg)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s of %s: %w\n%s", t.name, t.pkg, err, text)
	}
	fmt.Fprintf(out, "ok   %s of %s\n", t.name, t.pkg)
	return nil
}
