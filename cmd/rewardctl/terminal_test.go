package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// terminal is a program on a terminal of its own.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	done chan struct{} // closed when the program has closed the terminal

	mu     sync.Mutex
	screen bytes.Buffer
}

// onTerminal starts a command with a terminal as stdin, stdout and stderr.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 140})
	if err != nil {
		t.Fatal(err)
	}
	return watch(t, cmd, file)
}

// watch reads what a command writes to its terminal.
func watch(t *testing.T, cmd *exec.Cmd, file *os.File) *terminal {
	term := &terminal{t: t, cmd: cmd, file: file, done: make(chan struct{})}
	go func() {
		defer close(term.done)
		buffer := make([]byte, 4096)
		for {
			n, err := file.Read(buffer)
			term.mu.Lock()
			term.screen.Write(buffer[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = file.Close() })
	return term
}

// shown returns everything that was written to the terminal so far.
func (term *terminal) shown() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.screen.String()
}

func (term *terminal) waitFor(words string) {
	term.t.Helper()
	until(term.t, words, func() bool { return strings.Contains(term.shown(), words) })
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.file.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code.
func (term *terminal) exit() exitCode {
	_ = term.cmd.Wait() // the exit code says how it went
	<-term.done
	return exitCode(term.cmd.ProcessState.ExitCode())
}

// rewardctl alone on a terminal is the console; q leaves it well.
func TestConsoleOnATerminal(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	term := onTerminal(t, c.command())
	term.waitFor("Leases")
	term.waitFor("quit")
	term.press("q")
	if code := term.exit(); code != exitOK {
		t.Errorf("exit %d: %q", code, term.shown())
	}
	if !strings.Contains(term.shown(), "\x1b[?1049l") { // back from the alternate screen
		t.Errorf("the terminal is not given back: %q", term.shown())
	}
}

// What is typed after ":" may be no flag at all. The library that completes it says so on standard
// error by itself, which on this terminal would stand across the screen.
func TestNoLibraryWritesAcrossTheConsole(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	term := onTerminal(t, c.command())
	term.waitFor("quit")
	term.press(":lease list --stat h")
	term.waitFor("lease list [flags]") // the usage, which comes with what is offered
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := term.exit(); code != exitInterrupted {
		t.Errorf("exit %d: %q", code, term.shown())
	}
	if strings.Contains(term.shown(), "[Debug]") {
		t.Errorf("a library wrote across the screen: %q", term.shown())
	}
}

// A terminal that can only print is refused as that, not as one that is missing.
func TestConsoleSaysWhatADumbTerminalLacks(t *testing.T) {
	t.Parallel()
	cmd := newChild(t).command()
	cmd.Env = append(cmd.Env, "TERM=dumb")
	term := onTerminal(t, cmd)
	if code := term.exit(); code != exitUsage || !strings.Contains(term.shown(), "TERM=dumb") ||
		!strings.Contains(term.shown(), "rewardctl lease list") {
		t.Errorf("exit %d: %q", code, term.shown())
	}
}

// A protected context asks on a terminal, and only the right words are a yes.
func TestProtectedContextAsks(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	for _, try := range []struct {
		typed string
		exit  exitCode
		rows  int
	}{
		{"yes\n", exitDenied, 0},
		{"\n", exitDenied, 0},
		{"\x03", exitInterrupted, 0},
		{"1001-grant\n", exitOK, 1},
	} {
		term := onTerminal(t, c.command("--context", "live", "grant", "create", "--player", "p-1001",
			"--event", "e", "--kind", "gems", "--amount", "1", "--reason", "why"))
		term.waitFor("type 1001-grant: ")
		term.press(try.typed)
		if code := term.exit(); code != try.exit {
			t.Errorf("%q: exit %d, want %d: %q", try.typed, code, try.exit, term.shown())
		}
		if n := c.rows(); n != try.rows {
			t.Errorf("%q: %d postings, want %d", try.typed, n, try.rows)
		}
	}
}

// Progress, rate and colour belong on a terminal, and only there.
func TestProgressOnATerminalOnly(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	path := c.file("grants.csv", 3000)
	term := onTerminal(t, c.command("grant", "apply", path, "--campaign", "c", "--reason", "why"))
	if code := term.exit(); code != exitOK {
		t.Fatalf("exit %d: %q", code, term.shown())
	}
	for _, words := range []string{"granting  [", "/s  ", " left", "\r\x1b[K", "\x1b[32m3000"} {
		if !strings.Contains(term.shown(), words) {
			t.Errorf("the terminal does not show %q: %q", words, term.shown())
		}
	}
	plain := c.command("grant", "apply", path, "--campaign", "c", "--reason", "why")
	text, err := plain.CombinedOutput()
	if err != nil || bytes.ContainsAny(text, "\x1b\r") || bytes.Contains(text, []byte("granting  [")) {
		t.Errorf("without a terminal: %q, %v", text, err)
	}
	mono := c.command("grant", "apply", path, "--campaign", "c", "--reason", "why")
	mono.Env = append(mono.Env, "NO_COLOR=1")
	term = onTerminal(t, mono)
	if code := term.exit(); code != exitOK || strings.Contains(term.shown(), "\x1b[3") {
		t.Errorf("NO_COLOR: exit %d: %q", code, term.shown())
	}
}

// A command asks the terminal nothing: one that never answers would cost seconds.
func TestNoQuestionToTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	cmd := c.command("version")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool { return strings.HasPrefix(e, "CI=") })
	term := onTerminal(t, cmd)
	if code := term.exit(); code != exitOK {
		t.Fatalf("exit %d: %q", code, term.shown())
	}
	for _, question := range []string{"\x1b]11", "\x1b]10", "\x1b[6n", "\x1b[c"} {
		if strings.Contains(term.shown(), question) {
			t.Errorf("the terminal was asked %q: %q", question, term.shown())
		}
	}
}
