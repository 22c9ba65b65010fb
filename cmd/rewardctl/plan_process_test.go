package main

import (
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// decided counts the rows of a plan that have a final answer.
func (c *child) decided(plan string) int {
	c.t.Helper()
	var n int
	err := c.world.Pool.QueryRow(c.t.Context(),
		"select coalesce(sum(decided), 0) from grant_plan_chunk where plan_id = $1::bigint",
		plan).Scan(&n)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// plan plans a file and returns the number of the plan.
func (c *child) plan(path string, more ...string) planJSON {
	c.t.Helper()
	out, err := c.command(append([]string{
		"grant", "plan", path, "--campaign", "c", "--reason", "why", "-o", "json",
	}, more...)...).Output()
	var plan planJSON
	if jerr := json.Unmarshal(out, &plan); jerr != nil || plan.Plan == nil {
		c.t.Fatalf("%v: %v: %s", jerr, err, out)
	}
	return plan
}

// start starts the program in the background. It is killed when the test ends.
func (c *child) start(args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := c.command(args...)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

// Three processes apply one plan of 10,000 rows (100,000 in a soak) at once; two of them are
// killed at random moments and started again. Every row is posted once, and the result has a line
// for each.
func TestPlanOfManyRowsSurvivesKilledProcesses(t *testing.T) {
	t.Parallel()
	rows := 10_000
	if os.Getenv("REWARDCTL_SOAK") != "" {
		rows = 100_000
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	c := newChild(t)
	plan := c.plan(c.file("many.csv", rows))
	if plan.Due != int64(rows) || plan.State != "ready" {
		t.Fatalf("%+v", plan)
	}
	id := *plan.Plan
	apply := []string{"grant", "apply", id, "-o", "json"}
	first, second := c.start(apply...), c.start(apply...)
	result := filepath.Join(c.dir, "result.csv")
	third := c.command(append(apply, "--result", result)...)
	ended := make(chan []byte, 1)
	go func() {
		out, err := third.Output()
		if err != nil {
			t.Errorf("the process that was not killed: %v", err)
		}
		ended <- out
	}()
	for i, run := range []*exec.Cmd{first, second} {
		at := rows/10 + i*rows/3 + random.IntN(rows/4)
		untilWithin(t, time.Minute, "a moment to kill", func() bool { return c.decided(id) >= at })
		if err := run.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = run.Wait() // "signal: killed", or it had ended
		t.Logf("killed process %d after row %d", i+1, at)
		t.Log("scoreboard: kill_9=1")
		again := c.start(apply...)
		defer func() {
			if err := again.Wait(); err != nil {
				t.Errorf("the process that was started again: %v", err)
			}
		}()
	}
	var report planRunJSON
	if err := json.Unmarshal(<-ended, &report); err != nil {
		t.Fatal(err)
	}
	posted := report.Counts["applied"] + report.Counts["replayed"]
	if !report.Complete || posted != rows || c.rows() != rows {
		t.Errorf("complete %v, counts %v, %d postings", report.Complete, report.Counts, c.rows())
	}
	t.Logf("applied %d, replayed %d (granted by a killed process before it wrote that down)",
		report.Counts["applied"], report.Counts["replayed"])
	if lines := resultLines(t, result); len(lines) != rows {
		t.Errorf("the result has %d lines", len(lines))
	}
	c.world.CheckInvariants(t)
}

// resultLines reads a result file without its header and wants each line of the input once.
func resultLines(t *testing.T, path string) [][]string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool, len(all))
	for _, line := range all[1:] {
		if seen[line[0]] || line[6] == "" {
			t.Fatalf("%v", line)
		}
		seen[line[0]] = true
	}
	return all[1:]
}

// untilWithin is until with its own bound.
func untilWithin(t *testing.T, limit time.Duration, what string, met func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
