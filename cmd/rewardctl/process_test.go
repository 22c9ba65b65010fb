package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewardctl/grant/granttest"
)

// childTTL is short, so that the leases of a killed run end soon.
const childTTL = 2 * time.Second

// child is the program as a process of its own, in a world of its own.
type child struct {
	t      *testing.T
	world  *granttest.World
	dir    string
	config string
}

func newChild(t *testing.T) *child {
	t.Helper()
	return newChildOn(t, granttest.New(t))
}

// newChildOn is newChild in a world that is there already.
func newChildOn(t *testing.T, w *granttest.World) *child {
	t.Helper()
	c := &child{t: t, world: w, dir: programDir(t)}
	c.config = filepath.Join(c.dir, "rewardctl.yaml")
	if err := writeScriptConfig(t, c.config, c.world, childTTL); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *child) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(c.dir, "rewardctl"), args...)
	for _, setting := range os.Environ() {
		// What tests are told is no configuration of the program, which refuses what it does not know.
		if !strings.HasPrefix(setting, "REWARDCTL_") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.Env = append(cmd.Env, "REWARDCTL_CONFIG="+c.config, "TERM=xterm-256color")
	return cmd
}

// rows counts the postings.
func (c *child) rows() int {
	c.t.Helper()
	var n int
	err := c.world.Pool.QueryRow(c.t.Context(), "select count(*) from reward_ledger").Scan(&n)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// file writes a file of that many grants.
func (c *child) file(name string, rows int) string {
	c.t.Helper()
	var text strings.Builder
	text.WriteString("player_id,kind,amount\n")
	for n := range rows {
		fmt.Fprintf(&text, "p-%06d,gems,%d\n", n, 1+n%9)
	}
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// apply applies a file and returns the counts by outcome.
func (c *child) apply(path string, more ...string) (applyJSON, exitCode) {
	c.t.Helper()
	cmd := c.command(append([]string{
		"grant", "apply", path, "--campaign", "c", "--reason", "why", "-o", "json",
	}, more...)...)
	out, err := cmd.Output()
	var report applyJSON
	if jerr := json.Unmarshal(out, &report); jerr != nil {
		c.t.Fatalf("%v: %v: %s", jerr, err, out)
	}
	return report, exitCode(cmd.ProcessState.ExitCode())
}

// until polls a condition, with a bound.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// B42: a run that is killed in the middle, then the whole file again, then under another name.
func TestB42KilledRunIsCompletedAndNothingIsDoubled(t *testing.T) {
	t.Parallel()
	const rows = 6000
	c := newChild(t)
	path := c.file("grants.csv", rows)
	run := c.command("grant", "apply", path, "--campaign", "c", "--reason", "why")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the middle of the file", func() bool { return c.rows() >= rows/3 })
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // "signal: killed"
	t.Log("scoreboard: kill_9=1")
	// What the killed process had sent may still commit; then the count stands.
	granted := -1
	until(t, "the last commit", func() bool {
		last := granted
		granted = c.rows()
		return granted == last
	})
	if granted < rows/3 || granted >= rows {
		t.Fatalf("%d rows were granted before the kill, so this shows nothing", granted)
	}
	// Given again at once, it waits for the leases that the killed process holds.
	second, code := c.apply(path)
	if code != exitOK || second.Counts["applied"]+second.Counts["replayed"] != rows ||
		second.Counts["replayed"] < granted {
		t.Errorf("after %d: exit %d, %v", granted, code, second.Counts)
	}
	third, code := c.apply(c.file("other name.csv", rows))
	if code != exitOK || third.Counts["replayed"] != rows || third.Counts["applied"] != 0 {
		t.Errorf("third run: exit %d, %v", code, third.Counts)
	}
	if n := c.rows(); n != rows {
		t.Errorf("%d postings of %d rows", n, rows)
	}
	c.world.CheckInvariants(t)
}

// Ctrl-C stops after the batch in hand, says what was done, and the rest can be granted.
func TestCtrlCStopsBetweenBatches(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	c := newChild(t)
	path := c.file("grants.csv", rows)
	rest := filepath.Join(c.dir, "rest.csv")
	run := c.command("grant", "apply", path, "--campaign", "c", "--reason", "why", "-o", "json",
		"--rest", rest)
	var out, messages bytes.Buffer
	run.Stdout, run.Stderr = &out, &messages
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first batches", func() bool { return c.rows() >= 1000 })
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // the exit code is looked at below
	if code := run.ProcessState.ExitCode(); code != int(exitInterrupted) {
		t.Fatalf("exit %d: %s", code, messages.String())
	}
	var report applyJSON
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	granted := c.rows()
	if report.Complete || report.Counts["applied"] != granted ||
		report.Counts["not_run"] != rows-granted || report.GoOn == nil {
		t.Errorf("%d are granted, the report says %+v", granted, report)
	}
	for _, words := range []string{
		"stopping after the batch in hand", "to go on, apply the same file",
	} {
		if !strings.Contains(messages.String(), words) {
			t.Errorf("stderr does not say %q: %s", words, messages.String())
		}
	}
	left, code := c.apply(rest)
	if code != exitOK || left.Counts["applied"] != rows-granted || left.Rows != rows-granted {
		t.Errorf("the rest: exit %d, %v", code, left.Counts)
	}
	if n := c.rows(); n != rows {
		t.Errorf("%d postings of %d rows", n, rows)
	}
}

// A watch ends at Ctrl-C at once, and its exit code says so.
func TestCtrlCEndsWatch(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	run := c.command("lease", "watch", "--every", "100ms", "-o", "jsonl")
	lines, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.Stderr = io.Discard
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, world: c.world}
	s.take("reward:p-1", "worker@host/1#x", time.Minute)
	if line, err := bufio.NewReader(lines).ReadString('\n'); err != nil ||
		!strings.Contains(line, `"change":"added"`) {
		t.Fatalf("%q, %v", line, err)
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if code := run.ProcessState.ExitCode(); code != int(exitInterrupted) {
		t.Errorf("exit %d", code)
	}
}

// The demo is ready, works, and leaves neither a process nor a file behind, also when it is told
// to go by SIGTERM.
func TestDemoHeadless(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	temp := shortTemp(t)
	run := c.command("demo", "--headless", "--dir", filepath.Join(temp, "demo"))
	run.Env = append(run.Env, "TMPDIR="+temp)
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	run.Stderr = &messages
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	config := waitReady(t, out, &messages)
	for _, step := range []struct {
		args []string
		exit exitCode
	}{
		{[]string{"lease", "list"}, exitOK},
		{[]string{
			"grant", "create", "--player", "p-1001", "--event", "e", "--kind", "gems", "--amount", "5",
			"--reason", "why",
		}, exitOK},
		{[]string{"player", "history", "p-1001"}, exitOK},
		{[]string{"player", "history", "00123"}, exitOK},
		{[]string{"doctor"}, exitOK},
		{[]string{"token", "list", "reward:p-1036"}, exitOK},
	} {
		cmd := c.command(append([]string{"--config", config}, step.args...)...)
		if text, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != int(step.exit) {
			t.Errorf("%v: exit %d: %s", step.args, cmd.ProcessState.ExitCode(), text)
		}
	}
	checkDemoScene(t, c, config)
	if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration: %v, %v", info, err)
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil {
		t.Errorf("the demo ended with %v: %s", err, messages.String())
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("the demo left %v behind", left)
	}
}

// shortTemp is a folder that the account which runs PostgreSQL can reach.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rewardctl-demo-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// waitReady reads until the last line of the greeting and returns the configuration it names.
func waitReady(t *testing.T, out io.Reader, messages *bytes.Buffer) string {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if config, ok := strings.CutPrefix(lines.Text(), "ready: rewardctl --config "); ok {
			return config
		}
	}
	t.Fatalf("the demo is not ready: %v: %s", lines.Err(), messages.String())
	return ""
}

// checkDemoScene wants every kind of lock that the demo promises.
func checkDemoScene(t *testing.T, c *child, config string) {
	t.Helper()
	out, err := c.command("--config", config, "lease", "list", "-o", "json").Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var list leaseListJSON
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	states := map[string]int{}
	for _, l := range list.Leases {
		states[l.State]++
	}
	for _, want := range []string{"held", "orphan_suspect", "no_expiry", "foreign", "superseded"} {
		if states[want] == 0 {
			t.Errorf("no lease is %s: %v", want, states)
		}
	}
}
