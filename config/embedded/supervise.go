package embedded

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed supervise.sh
var superviseScript string

// stopLimit bounds Stop: the supervisor itself kills a server that has not ended after 30 s.
const stopLimit = 40 * time.Second

// errEnded says that the server process ended although nobody asked it to.
var errEnded = errors.New("the server ended by itself")

// spec says what a supervisor runs.
type spec struct {
	dir     string // the server's folder
	remove  bool   // the folder disappears with the server
	signal  string // the signal that stops the server cleanly, such as "INT"
	command []string
	initdb  string // path of initdb, for the line "init"
	runAs   *account
}

// supervised is a server process together with its supervisor.
type supervised struct {
	spec  spec
	cmd   *exec.Cmd
	pipe  io.WriteCloser
	lines chan string   // what the supervisor says before the server runs
	done  chan struct{} // closed when server and supervisor have ended
	pid   int           // of the server, once it runs

	stopOnce sync.Once
	stopErr  error
	log      []string // the server's last words; read after done
}

// supervise starts a supervisor, which makes the folder and then waits for orders.
func supervise(ctx context.Context, s spec) (*supervised, error) {
	remove := "keep"
	if s.remove {
		remove = "remove"
	}
	// The script goes through the environment, so that process lists stay readable.
	args := append([]string{"-c", `eval "$SUPERVISE"`, "supervise", s.dir, remove, s.signal},
		s.command...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = serverEnvironment(s)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.runAs.credential()}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor of %s: %w", s.command[0], err)
	}
	p := &supervised{
		spec: s, cmd: cmd, pipe: pipe,
		lines: make(chan string, 8), done: make(chan struct{}),
	}
	go p.listen(out)
	if err := p.expect(ctx, "ready"); err != nil {
		return nil, errors.Join(fmt.Errorf("make the folder %s: %w", s.dir, err), p.stop())
	}
	return p, nil
}

// listen reads what the supervisor says until it has ended.
func (p *supervised) listen(out io.Reader) {
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		if line, isLog := strings.CutPrefix(scanner.Text(), "log "); isLog {
			p.log = append(p.log, line)
			continue
		}
		p.lines <- scanner.Text()
	}
	// The supervisor's own exit status repeats the server's; the log says more.
	_ = p.cmd.Wait()
	close(p.done)
}

// say sends an order. An error means that the supervisor is gone, which expect then reports.
func (p *supervised) say(order string) { _, _ = io.WriteString(p.pipe, order+"\n") }

// expect waits for one line of the supervisor.
func (p *supervised) expect(ctx context.Context, want string) error {
	line, err := p.hear(ctx)
	if err != nil {
		return err
	}
	if line != want {
		return fmt.Errorf("the supervisor said %q instead of %q", line, want)
	}
	return nil
}

func (p *supervised) hear(ctx context.Context) (string, error) {
	select {
	case line := <-p.lines:
		return line, nil
	default:
	}
	select {
	case line := <-p.lines:
		return line, nil
	case <-p.done:
		return "", p.ended()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// start orders the server to run and notes its process id.
func (p *supervised) start(ctx context.Context) error {
	p.say("start")
	line, err := p.hear(ctx)
	if err != nil {
		return err
	}
	word, number, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(number)
	if word != "pid" || err != nil {
		return fmt.Errorf("the supervisor said %q instead of a process id", line)
	}
	p.pid = pid
	return nil
}

// await polls ready until it answers true, the server ends, or ctx does.
func (p *supervised) await(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ready() {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ended describes a server that is gone. It is called after done.
func (p *supervised) ended() error {
	if len(p.log) == 0 {
		return errEnded
	}
	return fmt.Errorf("%w; its last words:\n%s", errEnded, strings.Join(p.log, "\n"))
}

// stop ends server and supervisor, and returns when both are gone. It may be called repeatedly.
func (p *supervised) stop() error {
	p.stopOnce.Do(func() {
		_ = p.pipe.Close()
		limit := time.NewTimer(stopLimit)
		defer limit.Stop()
		select {
		case <-p.done:
		case <-limit.C:
			// The supervisor leads a process group of its own, which the server belongs to.
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			p.stopErr = fmt.Errorf("%s did not stop within %s and was killed",
				p.spec.command[0], stopLimit)
		}
		p.stopErr = errors.Join(p.stopErr, p.spec.removeRest())
	})
	return p.stopErr
}
