package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// soakTests are the tests that find more the longer they run.
const soakTests = "^(TestSchedules|TestLikeness|TestVirtualTime|TestModel|TestFault|TestServer|" +
	"TestCluster|TestSentinel|TestB3[0-3]|TestPlan|TestReverse)"

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
	targets, err := fuzzTargets(ctx)
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
	}
}

// fuzzTargets lists the fuzz targets of all packages.
func fuzzTargets(ctx context.Context) ([]target, error) {
	out, err := output(ctx, "go", "test", "-list", "^Fuzz", "./...")
	if err != nil {
		return nil, fmt.Errorf("%s%w", out, err)
	}
	var all []target
	var names []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				all = append(all, target{fields[1], name})
			}
			names = nil
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no fuzz target found in\n%s", out)
	}
	return all, nil
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
