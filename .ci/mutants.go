package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// mutant is a bug that is built in on purpose, and the tests that must notice it. The source
// files stay as they are.
//
// Building a test program costs far more than running one, so there is one program for each
// package. The compiler reads the changed Go files from another folder; each bug in them waits
// behind a switch, which is what MUTANT stands for. Scripts and statements are embedded as they
// are, so theirs are changed in the finished program.
type mutant struct {
	name  string // what is broken
	edits []edit
	pkg   string
	tests string // the tests that must fail: a pattern for -run
	rapid bool   // those tests draw examples at random
}

// edit replaces one piece of text, which must occur exactly once in the file. In the new text of a
// Go file, MUTANT is an expression that is true when the bug is wanted.
type edit struct{ file, old, new string }

// errSurvived: the tests passed all the same.
var errSurvived = errors.New("survived")

// mutantTest bounds the tests of one mutant. A test that hangs because of the bug has noticed it
// as well, but nobody can wait for all of those.
const mutantTest = time.Minute

// killMutants builds every mutant and demands that its tests fail. REWARDCTL_MUTANT names the only
// one to build.
func killMutants(ctx context.Context, out io.Writer, servers []string) error {
	all := mutants()
	if only := os.Getenv("REWARDCTL_MUTANT"); only != "" {
		all = slices.DeleteFunc(all, func(m mutant) bool { return m.name != only })
		if len(all) == 0 {
			return fmt.Errorf("no mutant is called %q", only)
		}
	}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	h := &hunt{
		folder: folder, servers: servers, problems: make([]error, len(all)),
		times: make([]time.Duration, len(all)), all: all,
		build: make(chan struct{}, runtime.NumCPU()),
		test:  make(chan struct{}, 3*runtime.NumCPU()), // they mostly wait
	}
	h.run(ctx, out)
	killed := 0
	for i, m := range all {
		if h.problems[i] == nil {
			killed++
		}
		fmt.Fprintf(out, "     %5.1fs to kill %q\n", h.times[i].Seconds(), m.name)
	}
	fmt.Fprintf(out, "     mutants killed: %d of %d, of a catalogue of %d\n", killed, len(all),
		len(mutants()))
	fmt.Fprintf(out, "     {\"mutants\":%d,\"mutants_killed\":%d}\n", len(all), killed)
	return errors.Join(h.problems...)
}

// hunt builds and tests mutants.
type hunt struct {
	folder      string
	servers     []string
	all         []mutant
	problems    []error         // by mutant
	times       []time.Duration // by mutant
	build, test chan struct{}   // how many at a time
}

// run builds a program for each package, and tests its mutants as soon as it is there.
func (h *hunt) run(ctx context.Context, out io.Writer) {
	var pkgs []string
	for _, m := range h.all {
		if !slices.Contains(pkgs, m.pkg) {
			pkgs = append(pkgs, m.pkg)
		}
	}
	var group sync.WaitGroup
	for n, pkg := range pkgs {
		group.Go(func() {
			h.build <- struct{}{}
			begin := time.Now()
			p, err := buildMutants(ctx, filepath.Join(h.folder, fmt.Sprint(n)), pkg, h.all)
			took := time.Since(begin)
			<-h.build
			if err == nil {
				fmt.Fprintf(out, "     %5.1fs to build the mutants of %s\n", took.Seconds(), pkg)
			}
			controls := map[string]func() error{} // by pattern
			for i, m := range h.all {
				if m.pkg != pkg {
					continue
				}
				control := controls[m.tests]
				if control == nil {
					control = sync.OnceValue(func() error { return h.control(ctx, m, p) })
					controls[m.tests] = control
				}
				group.Go(func() {
					problem := err
					if problem == nil {
						problem = errors.Join(h.kill(ctx, i, p), control())
					}
					if problem != nil {
						h.problems[i] = fmt.Errorf("mutant %q: %w", m.name, problem)
					}
				})
			}
		})
	}
	group.Wait()
}

// control returns nil when the tests of a mutant pass without it: a test that fails either way has
// noticed nothing.
func (h *hunt) control(ctx context.Context, m mutant, p *program) error {
	h.test <- struct{}{}
	defer func() { <-h.test }()
	m.name = ""
	switch err := m.test(ctx, p.path, h.servers); {
	case errors.Is(err, errSurvived):
		return nil
	case err == nil:
		return fmt.Errorf("%s fails without it as well", m.tests)
	default:
		return fmt.Errorf("without it: %w", err)
	}
}

// kill returns nil when the tests of a mutant fail as they should.
func (h *hunt) kill(ctx context.Context, i int, p *program) error {
	m := h.all[i]
	h.test <- struct{}{}
	defer func() { <-h.test }()
	begin := time.Now()
	defer func() { h.times[i] = time.Since(begin) }()
	binary, err := p.with(m, fmt.Sprintf("%s-%d", p.path, i))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(binary) }()
	return m.test(ctx, binary, h.servers)
}

// test runs the mutant's tests and returns nil as soon as one of them fails.
func (m mutant) test(ctx context.Context, binary string, servers []string) error {
	bounded, cancel := context.WithTimeout(ctx, mutantTest)
	defer cancel()
	args := []string{"-test.run", m.tests, "-test.failfast", "-test.v"}
	if m.rapid {
		// The first example that fails is enough, and is not to be written beside the sources.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	}
	cmd := exec.CommandContext(bounded, binary, args...)
	cmd.Dir = m.pkg
	cmd.Env = append(append(os.Environ(), servers...), mutantSwitch+"="+m.name)
	// The tests start processes of their own, which must not outlive them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	w := &failureWatch{failed: cancel}
	cmd.Stdout, cmd.Stderr = w, w
	err := cmd.Run()
	switch text := w.String(); {
	case w.seen:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && strings.Contains(text, "no tests to run"):
		return fmt.Errorf("no test is called %s", m.tests)
	case err == nil:
		return errSurvived
	case bounded.Err() != nil:
		return fmt.Errorf("%s did not fail within %v; name a quicker test\n%s", m.tests,
			mutantTest, text)
	default:
		return fmt.Errorf("did not come to its tests: %w\n%s", err, text)
	}
}

// failureWatch keeps the output of tests and tells when one of them has failed: the others need
// not come to their ends.
type failureWatch struct {
	strings.Builder
	failed func()
	seen   bool
}

func (w *failureWatch) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if !w.seen && (strings.Contains(w.String(), "--- FAIL: ") ||
		strings.Contains(w.String(), "panic: ")) {
		w.seen = true
		w.failed()
	}
	return n, err
}
