package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mutant is a bug that is built in on purpose, and the tests that must notice it. The source
// files stay as they are: the compiler reads the changed ones from another folder.
type mutant struct {
	name  string // what is broken
	edits []edit
	pkg   string
	tests string // the tests that must fail: a pattern for -run
}

// edit replaces one piece of text, which must occur exactly once in the file.
type edit struct{ file, old, new string }

// errSurvived: the tests passed all the same.
var errSurvived = errors.New("survived")

// sampled is how many mutants a run of all stages builds: which ones depends on the commit. Asked
// for alone, the stage builds all.
const sampled = 6

// sampleTime is what a sample needs on a slow machine.
const sampleTime = 3 * time.Minute

// sample picks the mutants of a commit.
func sample(ctx context.Context, all []mutant) []mutant {
	commit, err := output(ctx, "git", "rev-parse", "--short=7", "HEAD")
	if err != nil {
		return all[:sampled] // not a checkout
	}
	start, err := strconv.ParseUint(strings.TrimSpace(commit), 16, 64)
	if err != nil {
		return all[:sampled]
	}
	some := make([]mutant, sampled)
	for i := range some {
		// Steps that spread over the catalogue, whose neighbours are alike.
		some[i] = all[(int(start%uint64(len(all)))+i*len(all)/sampled)%len(all)]
	}
	return some
}

// killMutants builds each mutant, or a sample, and demands that its tests fail. REWARDCTL_MUTANT
// names the only one to build.
func killMutants(ctx context.Context, out io.Writer, servers []string, whole bool) error {
	all := mutants()
	if !whole {
		all = sample(ctx, all)
		if end, bounded := ctx.Deadline(); bounded && time.Until(end) < sampleTime {
			fmt.Fprintln(out, "     no time is left for mutants: go run ./.ci mutants")
			return nil
		}
	}
	if only := os.Getenv("REWARDCTL_MUTANT"); only != "" {
		all = slices.DeleteFunc(all, func(m mutant) bool { return m.name != only })
	}
	problems := make([]error, len(all))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i, m := range all {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := m.kill(ctx, servers); err != nil {
				problems[i] = fmt.Errorf("mutant %q: %w", m.name, err)
			}
		})
	}
	group.Wait()
	killed := 0
	for _, err := range problems {
		if err == nil {
			killed++
		}
	}
	fmt.Fprintf(out, "     mutants killed: %d of %d, of a catalogue of %d\n", killed, len(all),
		len(mutants()))
	return errors.Join(problems...)
}

// kill returns nil when the mutant's tests fail as they should.
func (m mutant) kill(ctx context.Context, servers []string) error {
	folder, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	overlay, err := m.overlay(folder)
	if err != nil {
		return err
	}
	args := []string{
		"test", "-overlay", overlay, "-count=1", "-vet=off", "-failfast", "-timeout=3m", "-run",
		m.tests, m.pkg,
	}
	if m.tests == "TestModel" || m.pkg == "./tui/safetext" {
		args = append(args, "-rapid.nofailfile") // which it would write beside the sources
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), servers...)
	text, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && strings.Contains(string(text), "no tests to run"):
		return fmt.Errorf("no test is called %s", m.tests)
	case err == nil:
		return errSurvived
	case strings.Contains(string(text), "--- FAIL"), strings.Contains(string(text), "panic: "):
		return nil
	}
	return fmt.Errorf("did not come to its tests: %w\n%s", err, text)
}

// overlay writes the changed files and the list by which the go command finds them.
func (m mutant) overlay(folder string) (string, error) {
	replace := map[string]string{}
	for _, e := range m.edits {
		original, err := filepath.Abs(e.file)
		if err != nil {
			return "", err
		}
		from, to := original, filepath.Join(folder, fmt.Sprintf("%d", len(replace)))
		if changed, again := replace[original]; again {
			from, to = changed, changed
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.old); n != 1 {
			return "", fmt.Errorf("%s has %d times what is to be changed: %s", e.file, n, e.old)
		}
		changed := strings.Replace(string(text), e.old, e.new, 1)
		if err := os.WriteFile(to, []byte(changed), 0o600); err != nil {
			return "", err
		}
		replace[original] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
