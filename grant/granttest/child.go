package granttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// childVariable carries what a child process is to do: this test binary, run again.
const childVariable = "REWARDCTL_TEST_CHILD"

// childOrders is what it carries.
type childOrders struct {
	Test   string          // the test that is the child's side
	Orders json.RawMessage // what StartChild was given
}

// childReport is the file by which a child reports: the first beyond the standard three.
const childReport = 3

// childLimit is how long a child may run: longer than any test should, so that one that nobody
// kills ends by itself.
const childLimit = 5 * time.Minute

// Child is a process of its own, as its parent sees it: it may be killed as kill -9 does.
type Child struct {
	tb     testing.TB
	cmd    *exec.Cmd
	lines  *bufio.Reader
	ended  chan struct{}
	result error // once ended is closed
	output strings.Builder
}

// StartChild runs one test of this binary again, alone and in a process of its own, which finds its
// orders by Ordered. They pass through JSON. The process is killed when the test ends, and what it
// printed is shown when that fails.
func StartChild(tb testing.TB, test string, orders any) *Child {
	tb.Helper()
	text, err := json.Marshal(orders)
	if err == nil {
		text, err = json.Marshal(childOrders{test, text})
	}
	if err != nil {
		tb.Fatalf("granttest: orders of a child: %v", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	c := &Child{tb: tb, lines: bufio.NewReader(read), ended: make(chan struct{})}
	c.cmd = exec.CommandContext(tb.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.count=1",
		"-test.timeout="+childLimit.String())
	c.cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	c.cmd.ExtraFiles = []*os.File{write}
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	err = c.cmd.Start()
	_ = write.Close() // the child has its own
	if err != nil {
		_ = read.Close()
		tb.Fatalf("granttest: %v", err)
	}
	go func() {
		c.result = c.cmd.Wait()
		close(c.ended)
	}()
	tb.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it may have ended
		<-c.ended
		_ = read.Close()
		if tb.Failed() {
			tb.Logf("child %s: %v\n%s", test, c.result, c.output.String())
		}
	})
	return c
}

// Line returns the child's next report. It fails the test when the child ends without one.
func (c *Child) Line() string {
	c.tb.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.tb.Fatalf("granttest: the child ended without a report: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Kill ends the child the hard way and waits until it is gone.
func (c *Child) Kill() {
	c.tb.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.tb.Fatalf("granttest: kill the child: %v", err)
	}
	<-c.ended
	c.tb.Log("scoreboard: kill_9=1 kill_points=1")
}

// KillAt waits until the child has reached a step, by Stop, and kills it there.
func (c *Child) KillAt(step string) {
	c.tb.Helper()
	if got := c.Line(); got != step {
		c.tb.Fatalf("granttest: the child reports %q, want the step %q", got, step)
	}
	c.Kill()
}

// Ended is closed when the child is gone.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Result waits for the end of the child: nil when its side of the test passed.
func (c *Child) Result() error {
	<-c.ended
	return c.result
}

// Orders is a child's own side: by it the child reports to its parent.
type Orders struct {
	tb     testing.TB
	report *os.File
}

// Ordered reads what StartChild ordered of this very test into orders. It returns nil when the test
// runs as any other: it then has nothing to do.
func Ordered(tb testing.TB, orders any) *Orders {
	tb.Helper()
	text, there := os.LookupEnv(childVariable)
	if !there {
		return nil
	}
	var given childOrders
	err := json.Unmarshal([]byte(text), &given)
	if err == nil && given.Test != tb.Name() {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(given.Orders, orders)
	}
	if err != nil {
		tb.Fatalf("granttest: orders: %v", err)
	}
	return &Orders{tb, os.NewFile(childReport, "report")}
}

// Report tells the parent one line.
func (o *Orders) Report(line string) {
	if _, err := fmt.Fprintln(o.report, line); err != nil {
		o.tb.Errorf("granttest: report to the parent: %v", err)
	}
}

// Stop tells the parent that a step is reached, and stops there: the parent kills this process. It
// returns only when the child's own test is over.
func (o *Orders) Stop(step string) {
	o.Report(step)
	<-o.tb.Context().Done()
}
