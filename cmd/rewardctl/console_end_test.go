package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewardctl/config/embedded"
	"rewardctl/grant/granttest"

	"github.com/creack/pty"
)

// settings returns what a terminal is set to, in the form that stty restores.
func settings(t *testing.T, tty *os.File) string {
	t.Helper()
	cmd := exec.Command("stty", "-g")
	cmd.Stdin = tty
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// ownTerminal starts a command on a terminal that stays when the command has ended, so that it can
// be seen how that left it.
func ownTerminal(t *testing.T, cmd *exec.Cmd) (term *terminal, tty *os.File, before string) {
	t.Helper()
	file, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	if err := pty.Setsize(file, &pty.Winsize{Rows: 40, Cols: 140}); err != nil {
		t.Fatal(err)
	}
	odd := exec.Command("stty", "-ixon", "-echoctl", "erase", "^H") // nobody's defaults
	odd.Stdin = tty
	if out, err := odd.CombinedOutput(); err != nil {
		t.Fatalf("stty: %v: %s", err, out)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	before = settings(t, tty)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return watch(t, cmd, file), tty, before
}

// gone waits for the end of the command, for so long, and returns its exit code.
func (term *terminal) gone(limit time.Duration) exitCode {
	term.t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = term.cmd.Wait() // the exit code says how it went
	}()
	select {
	case <-ended:
	case <-time.After(limit):
		_ = term.cmd.Process.Kill()
		<-ended
		term.t.Fatalf("not gone in %v: %q", limit, term.shown())
	}
	return exitCode(term.cmd.ProcessState.ExitCode())
}

// restored fails the test when a mode that the console has switched on is still on.
func (term *terminal) restored() {
	term.t.Helper()
	off := map[string]string{
		"the alternate screen": "1049", "pastes that are marked": "2004", "the focus": "1004",
		"the mouse": "1002", "the mouse's coordinates": "1006", "frames": "2026",
	}
	until(term.t, "the terminal to be given back", func() bool {
		return strings.Contains(term.shown(), "\x1b[?1049l")
	})
	sent := term.shown()
	for what, mode := range off {
		if on := strings.LastIndex(sent, "\x1b[?"+mode+"h"); on > strings.LastIndex(sent,
			"\x1b[?"+mode+"l") {
			term.t.Errorf("%s is still on: %q", what, sent[on:])
		}
	}
	if hidden := strings.LastIndex(sent, "\x1b[?25l"); hidden > strings.LastIndex(sent, "\x1b[?25h") {
		term.t.Errorf("the cursor is still hidden: %q", sent[hidden:])
	}
}

// leaving is a way to end the console.
type leaving struct {
	name string
	end  func(term *terminal)
	exit exitCode
}

func leavings() []leaving {
	send := func(sig syscall.Signal) func(*terminal) {
		return func(term *terminal) { _ = term.cmd.Process.Signal(sig) }
	}
	return []leaving{
		{"ctrl+c twice", (*terminal).leave, exitOK},
		{"SIGTERM", send(syscall.SIGTERM), exitInterrupted},
		{"SIGHUP", send(syscall.SIGHUP), exitInterrupted},
		{"SIGINT", send(syscall.SIGINT), exitInterrupted},
	}
}

// Whatever the console shows and however it ends, it is gone soon, the exit code tells a wish from
// a signal, and the terminal is as it was.
func TestConsoleLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	c.hold(c.longLeases(), "reward:p-1001", "worker-1@host/1#a")
	type state struct {
		name string
		keys []string
		see  string
	}
	states := []state{
		{"start", nil, "\x1b[?1049h"},
		{"mouse", []string{"m"}, "mouse on"},
		{"dialog", []string{"R"}, "now, live"},
		{"text in a dialog", []string{"R", "a"}, "now, live"},
		{"picker", []string{"o"}, "sort by"},
		{"prompt", []string{":", "l"}, "cancel"},
		{"filter", []string{"/", "x"}, "cancel"},
		{"help", []string{"?"}, "On this screen"},
		{"palette", []string{"\x10"}, "what do you want"},
		{"form with text", []string{"3", "a", "b"}, "[3 Grants"},
	}
	for digit := range 10 {
		d := strconv.Itoa(digit)
		states = append(states, state{"screen " + d, []string{d}, "[" + d + " "})
	}
	ways := append(leavings(), leaving{"q", func(term *terminal) { term.press("q") }, exitOK})
	for i, s := range states {
		way := ways[i%len(leavings())]
		if s.name == "screen 4" || s.name == "start" {
			way = ways[len(ways)-1]
		}
		t.Run(s.name+" "+way.name, func(t *testing.T) {
			t.Parallel()
			cmd := c.command("--home", "leases")
			cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "XDG_STATE_HOME="+t.TempDir())
			term, tty, before := ownTerminal(t, cmd)
			if s.name != "start" {
				term.waitFor("1 total")
			}
			for _, key := range s.keys {
				term.press(key)
				breathe()
			}
			term.waitFor(s.see)
			way.end(term)
			if code := term.gone(consoleLimit); code != way.exit {
				t.Errorf("exit %d, want %d", code, way.exit)
			}
			term.restored()
			if after := settings(t, tty); after != before {
				t.Errorf("the terminal was %s and is %s", before, after)
			}
		})
	}
}

// A server that does not answer keeps nobody: the console is gone soon, also while it starts.
func TestConsoleLeavesServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		t.Run(map[bool]string{true: "from the start", false: "later"}[early], func(t *testing.T) {
			t.Parallel()
			p := newProxied(t)
			p.hold(p.longLeases(), "reward:p-1001", "worker-1@host/1#a")
			silent := func() {
				p.pg.SetPath(granttest.BlackHole)
				p.redis.SetPath(granttest.BlackHole)
			}
			if early {
				silent()
			}
			cmd := p.command("--home", "leases")
			cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "XDG_STATE_HOME="+t.TempDir())
			term, tty, before := ownTerminal(t, cmd)
			if !early {
				term.waitFor("1 total")
				silent()
				term.press("r")
				breathe()
			}
			term.waitFor("\x1b[?1049h")
			term.leave()
			if code := term.gone(consoleLimit); code != exitOK {
				t.Errorf("exit %d", code)
			}
			term.restored()
			if after := settings(t, tty); after != before {
				t.Errorf("the terminal was %s and is %s", before, after)
			}
		})
	}
}

// PostgreSQL is killed with kill -9 under the console and comes back: what was read stays and says
// how old it is, deeds say why they cannot be done, and everything goes on by itself.
func TestConsoleSeesPostgresKilledAndBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shortTemp(t), "pg")
	var server *embedded.Postgres
	t.Cleanup(func() { _ = server.Stop() }) // after everything that still needs it
	start := func(port int) {
		var err error
		server, err = embedded.StartPostgres(context.WithoutCancel(t.Context()),
			embedded.PostgresOptions{
				Dir: dir, Port: port, Settings: map[string]string{"max_connections": "60"},
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	start(0)
	c := newChildOn(t, granttest.NewOn(t, server.URL()))
	c.hold(c.longLeases(), "reward:p-1001", "worker-1@host/1#a")
	p := c.inTmux("rewardctl --home leases")
	p.see("1 total")
	p.press("4")
	p.see("no audit was run yet")
	if err := syscall.Kill(server.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-server.Done()
	t.Log("scoreboard: kill_9=1")
	p.see("pg DOWN")
	p.see("not current")
	p.press("1", "R")
	p.see("release: a server does not answer: postgresql")
	p.see("reward:p-1001")
	p.press("4")
	p.see("STALE")
	start(server.Port())
	p.see("everything answers again")
	p.see("pg ●")
	p.press("1")
	p.see("1 total")
	p.press("q")
}
