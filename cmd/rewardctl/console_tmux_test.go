package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewardctl/grant/granttest"
)

// pane is a program in a tmux server of its own: what a person sees who works that way.
type pane struct {
	t      *testing.T
	socket string
}

// inTmux starts a command line of a shell in tmux, at 120 columns and 40 lines.
func (c *child) inTmux(line string, env ...string) *pane {
	c.t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // a socket's path has to be short
	if err != nil {
		c.t.Fatal(err)
	}
	p := &pane{t: c.t, socket: filepath.Join(dir, "s")}
	state := c.t.TempDir()
	args := []string{
		"-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40",
		"-e", "REWARDCTL_CONFIG=" + c.config, "-e", "XDG_STATE_HOME=" + state, "-e", "LANG=C.UTF-8",
	}
	for _, one := range env {
		args = append(args, "-e", one)
	}
	program := filepath.Join(c.dir, "rewardctl")
	p.tmux(append(args, strings.ReplaceAll(line, "rewardctl", program))...)
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = exec.CommandContext(ctx, "tmux", "-S", p.socket, "kill-server").Run() // it may have ended
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...)
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "TMUX") && !strings.HasPrefix(one, "REWARDCTL_") {
			cmd.Env = append(cmd.Env, one)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// see waits until the screen shows a text.
func (p *pane) see(words string) {
	p.t.Helper()
	last := ""
	defer func() {
		if p.t.Failed() {
			p.t.Logf("the screen was\n%s", last)
		}
	}()
	untilWithin(p.t, time.Minute, words, func() bool {
		last = p.screen()
		return strings.Contains(last, words)
	})
}

// press presses keys as a person does, one after the other.
func (p *pane) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		pause := time.NewTimer(150 * time.Millisecond)
		<-pause.C
		p.tmux("send-keys", key)
	}
}

// burst sends the keys of a text at once, as a script does.
func (p *pane) burst(words string) { p.tmux("send-keys", "-l", words) }

// paste pastes a text, marked as pasted where the program asks for that.
func (p *pane) paste(words string) {
	p.tmux("set-buffer", "-b", "pasted", words)
	p.tmux("paste-buffer", "-p", "-b", "pasted")
}

// Keys that arrive together, pasted text and sizes of all kinds do nothing to the built console
// that a person did not want, and copies arrive.
func TestConsoleInTmux(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	store := c.longLeases()
	for i := range 5 {
		c.hold(store, fmt.Sprintf("reward:p-100%d", i), "worker-1@host/1#a")
	}
	p := c.inTmux("rewardctl --home leases")
	p.see("5 total")
	p.burst("jjj")
	p.see("▶ reward:p-1003")
	p.burst("kkR1003-release")
	p.see("the rest was dropped")
	p.see("lease release")
	p.paste("reason from a ticket\n1001-release\n")
	p.see("reason    reason from a ticket")
	p.press("Tab")
	p.paste("1001-release")
	p.see("pasted text is not taken")
	p.burst("1001-release")
	p.see("keys that arrive together are not taken")
	p.press("Enter", "Enter", "Enter")
	p.press("Escape")
	p.press("y", "Enter")
	p.see("into the buffer of tmux")
	if got := p.tmux("show-buffer"); got != "reward:p-1001" {
		t.Errorf("the buffer has %q", got)
	}
	p.press("m")
	p.see("mouse on")
	rng := rand.New(rand.NewPCG(7, 2026))
	for range 200 {
		p.tmux("resize-window", "-x", strconv.Itoa(1+rng.IntN(250)), "-y", strconv.Itoa(1+rng.IntN(80)))
	}
	p.tmux("resize-window", "-x", "60", "-y", "20")
	p.see("too small: need 80x24, have 60x20")
	p.tmux("resize-window", "-x", "100", "-y", "30")
	p.see("5 total")
	for _, line := range strings.Split(strings.TrimRight(p.screen(), "\n"), "\n")[:4] {
		if !strings.Contains(line, " ") && !strings.Contains(line, "─") {
			t.Errorf("a line of the frame is %q", line)
		}
	}
	list, err := store.List(t.Context())
	if err != nil || len(list) != 5 {
		t.Errorf("%d leases are left, %v", len(list), err)
	}
}

// Suspended and resumed, the console reads again and has its screen; left, the shell has its own.
func TestConsoleIsSuspendedAndResumed(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	c.hold(c.longLeases(), "reward:p-1001", "worker-1@host/1#a")
	p := c.inTmux("bash --norc --noprofile -i")
	p.see("bash")
	p.burst("echo before the console; " + filepath.Join(c.dir, "rewardctl") + " --home leases")
	p.press("Enter")
	p.see("1 total")
	p.press("C-z")
	p.see("Stopped")
	p.see("before the console")
	p.burst("fg")
	p.press("Enter")
	p.see("back: everything is read again")
	p.see("1 total")
	p.press("q")
	p.see("before the console")
	p.burst("echo the shell is $((40+2)); stty -a | grep -o ' echo '")
	p.press("Enter")
	p.see("the shell is 42")
	p.see(" echo")
}

// When the terminal is gone, the program is, too.
func TestConsoleEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	c.hold(c.longLeases(), "reward:p-1001", "worker-1@host/1#a")
	for _, keys := range [][]string{nil, {"R"}, {":"}, {"2"}} {
		p := c.inTmux("exec rewardctl --home leases")
		p.see("1 total")
		p.press(keys...)
		pid, err := strconv.Atoi(strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}")))
		if err != nil {
			t.Fatal(err)
		}
		p.tmux("kill-server")
		untilWithin(t, 10*time.Second, "the end of the program", func() bool {
			return syscall.Kill(pid, 0) != nil
		})
	}
}

// A server that is killed and comes back is seen going and coming; the last good rows stay.
func TestConsoleSeesAServerKilledAndBack(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	port := strconv.Itoa(granttest.FreePort(t))
	server := startRedis(t, port)
	p := c.inTmux("rewardctl --home leases", "REWARDCTL_REDIS_ADDRS=127.0.0.1:"+port)
	p.see("nobody holds a lease")
	p.see("redis ●")
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	p.see("redis DOWN")
	p.see("! details")
	startRedis(t, port)
	p.see("everything answers again")
	p.see("redis ●")
	p.press("q")
}

// startRedis starts a Redis of this test.
func startRedis(t *testing.T, port string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
		"--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}
