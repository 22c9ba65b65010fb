package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rewardctl/grant/drill"
)

// Ctrl-C in the middle of a drill ends it at once, and neither servers nor files stay.
func TestCtrlCStopsDrill(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	temp := shortTemp(t)
	if err := os.Chmod(temp, 0o777); err != nil { // the account that runs PostgreSQL makes its folder
		t.Fatal(err)
	}
	run := c.command("drill", "run", "kill-after-commit", "--ttl", "1m")
	run.Env = append(run.Env, "TMPDIR="+temp, "REWARDCTL_CONFIG=")
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	run.Stderr = &messages
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	played := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "has paid, nobody knows") {
			played = true
			if err := run.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = run.Wait() // the exit code is looked at below
	if code := run.ProcessState.ExitCode(); !played || code != int(exitInterrupted) {
		t.Fatalf("played %v, exit %d: %s", played, code, messages.String())
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("the drill left %v behind", left)
	}
}

// A report goes into reviews: whatever a drill reports, it is text there and nothing else.
func TestDrillReportIsHarmless(t *testing.T) {
	t.Parallel()
	const hostile = "<img src=x onerror=alert(1)> [a](javascript:b) `c` | d\n# e\x1b[31m @f " +
		"https://g.h"
	row := drill.Row{WorkerA: hostile, Lease: hostile, WorkerB: hostile}
	report := drill.Report{
		Name: hostile, Plays: hostile, Defence: drill.Defence(hostile), Timeline: []drill.Row{row},
		Columns: [3]string{hostile, hostile, hostile}, Notes: []string{hostile},
		Refusals: []drill.Refusal{{Worker: hostile, Line: drill.Fence, Detail: hostile}},
		Checks:   []drill.Check{{Name: hostile, Want: hostile, Have: hostile}},
	}
	path := filepath.Join(t.TempDir(), "out.md")
	if err := os.WriteFile(path, bytes.Repeat([]byte("old\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := openDrillReport(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.write([]drill.Proof{{Control: report, Defended: report}}, 1); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`\\.`).ReplaceAll(text, nil) // without what is escaped
	for _, bad := range []string{"<img", "](java", "`c", "\n# e", "\x1b", "@f", "https://", "old\n"} {
		if bytes.Contains(bare, []byte(bad)) {
			t.Errorf("the report holds %q:\n%s", bad, text)
		}
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.HasPrefix(line, "|") && cells != 5 {
			t.Errorf("a row has %d bars, not 5: %s", cells, line)
		}
	}
}

// A drill that is killed while its worker is frozen leaves neither the worker nor servers.
func TestKilledDrillLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	temp := shortTemp(t)
	if err := os.Chmod(temp, 0o777); err != nil { // the account that runs PostgreSQL makes its folder
		t.Fatal(err)
	}
	run := c.command("drill", "run", "paused-holder", "--ttl", "2s", "--defence", "none")
	run.Env = append(run.Env, "TMPDIR="+temp, "REWARDCTL_CONFIG=")
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	frozen := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), "SIGSTOP") {
			continue
		}
		frozen = len(processesOf(t, temp))
		if err := run.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	_ = run.Wait() // "signal: killed"
	if frozen == 0 {
		t.Fatal("no worker ran, so this shows nothing")
	}
	until(t, "the end of everything", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0 && len(processesOf(t, temp)) == 0
	})
}

// processesOf finds the workers that were started with something in a folder.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		if bytes.Contains(line, []byte(folder)) && bytes.HasSuffix(line, []byte("worker\x00")) {
			found = append(found, path)
		}
	}
	return found
}

// On private servers the failover is a real one: the primary is killed, a replica takes its place.
func TestDrillFailoverIsReal(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	cmd := c.command("drill", "run", "failover", "--ttl", "300ms")
	cmd.Env = append(cmd.Env, "REWARDCTL_CONFIG=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, words := range []string{"was really killed", "really stopped and started", "proved:"} {
		if !strings.Contains(string(out), words) {
			t.Errorf("%q is missing: %s", words, out)
		}
	}
	if strings.Contains(string(out), "emulated") {
		t.Errorf("something was emulated: %s", out)
	}
}
