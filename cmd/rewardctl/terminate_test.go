package main

import (
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewardctl/grant/outbox/itemserver"
)

// The console is to be gone two seconds after SIGTERM, other programs when the batch in hand is
// done; the rest is for a busy machine.
const (
	consoleLimit = 6 * time.Second
	commandLimit = 15 * time.Second
)

// terminate sends SIGTERM and returns the exit code. A program that does not end in time fails the
// test.
func terminate(t *testing.T, cmd *exec.Cmd, limit time.Duration) exitCode {
	t.Helper()
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the exit code says how it went
	}()
	select {
	case <-ended:
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		<-ended
		t.Fatalf("not gone %v after SIGTERM", limit)
	}
	t.Logf("gone %v after SIGTERM", time.Since(began).Round(time.Millisecond))
	t.Log("scoreboard: terminations=1 kill_points=1")
	return exitCode(cmd.ProcessState.ExitCode())
}

// SIGTERM in the middle of a plan: it stops after the batch in hand, what it wrote down is what is
// posted, and the plan can be applied further.
func TestPlanTerminatedInTheMiddle(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	c := newChild(t)
	plan := c.plan(c.file("many.csv", rows))
	run := c.start("grant", "apply", *plan.Plan, "-o", "json")
	until(t, "the middle of the plan", func() bool { return c.rows() >= rows/10 })
	if code := terminate(t, run, commandLimit); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	posted := c.rows()
	if posted >= rows {
		t.Fatalf("all %d rows were granted before the signal, so this shows nothing", posted)
	}
	if decided := c.decided(*plan.Plan); decided != posted {
		t.Errorf("%d rows are posted, %d written down", posted, decided)
	}
	if out, err := c.command("lease", "list", "-o", "csv").Output(); err != nil ||
		strings.Count(string(out), "\n") != 1 {
		t.Errorf("leases left behind: %v: %s", err, out)
	}
	if out, err := c.command("grant", "apply", *plan.Plan).CombinedOutput(); err != nil {
		t.Errorf("again: %v: %s", err, out)
	}
	if n := c.rows(); n != rows {
		t.Errorf("%d postings of %d rows", n, rows)
	}
	c.world.CheckInvariants(t)
}

// SIGTERM to a relay at work: it finishes what is on its way, keeps no claim, and its successor
// delivers the rest. The receiver applies every posting once.
func TestRelayTerminatedAtWork(t *testing.T) {
	t.Parallel()
	const rows = 3000
	c := newChild(t)
	if report, code := c.apply(c.file("grants.csv", rows)); code != exitOK ||
		report.Counts["applied"] != rows {
		t.Fatalf("exit %d, %v", code, report.Counts)
	}
	items, err := itemserver.New(t.Context(), c.world.Pool, itemserver.Options{
		Delay: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(items)
	t.Cleanup(server.Close)
	count := func(query string) (n int) {
		t.Helper()
		if err := c.world.Pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	relay := func(more ...string) *exec.Cmd {
		cmd := c.command(append([]string{"outbox", "relay", "--context", "owner"}, more...)...)
		cmd.Env = append(cmd.Env, "REWARDCTL_OUTBOX_HTTP_URL="+server.URL)
		return cmd
	}
	run := relay()
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the middle of the delivery", func() bool {
		return count("select count(*) from itemserver_receipt") >= rows/10
	})
	if code := terminate(t, run, commandLimit); code != exitOK && code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	delivered := count("select count(*) from reward_outbox where state = 'delivered'")
	receipts := count("select count(*) from itemserver_receipt")
	if delivered >= rows || delivered != receipts {
		t.Errorf("%d marked, %d received, of %d", delivered, receipts, rows)
	}
	if n := count("select count(*) from reward_outbox where state = 'claimed'"); n != 0 {
		t.Errorf("%d rows are still claimed by a relay that has gone", n)
	}
	if out, err := relay("--once").CombinedOutput(); err != nil {
		t.Errorf("its successor: %v: %s", err, out)
	}
	if n := count("select count(*) from itemserver_receipt"); n != rows {
		t.Errorf("%d receipts of %d postings", n, rows)
	}
	c.world.CheckInvariants(t)
}

// SIGTERM to the console while a release waits for a server that does not answer: it is gone soon
// and the terminal is given back; what was on its way is whole or absent.
func TestConsoleTerminatedInTheMiddleOfARelease(t *testing.T) {
	t.Parallel()
	for _, s := range releaseSteps(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newProxied(t)
			held := p.hold(p.longLeases(), "reward:p-1001", "worker-1@host/1#a")
			term := p.releasing(held, s)
			terminate(t, term.cmd, consoleLimit)
			until(t, "the terminal to be given back", func() bool {
				return strings.Contains(term.shown(), "\x1b[?1049l")
			})
			p.cut()
			p.finishRelease(held, s)
		})
	}
}
