package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rewardctl/config/embedded"
)

// testLimit bounds the tests of one package.
const testLimit = 13 * time.Minute

// event is a line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output
	FailedBuild string
	Test        string
	Output      string
	Elapsed     float64
}

// withServers runs a stage with one PostgreSQL and one Redis at hand that all its tests share.
func withServers(
	ctx context.Context, run func(servers []string) error,
) (err error) {
	servers, stop, err := startServers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return run(servers)
}

// raced are the packages that are tested under the race detector: those that share memory between
// goroutines. The others run the program itself, hundreds of times, only read, or are made of
// these; under the detector they take several times as long.
func raced() []string {
	return []string{
		"rewardctl/grant", "rewardctl/grant/lease", "rewardctl/grant/outbox", "rewardctl/tui",
	}
}

// drawn are tests of raced packages that compare what is drawn, screen by screen. They are run
// without the detector: what runs at once in them, the others run, too.
const drawn = "^(TestGolden|TestHostile)"

// runTests runs the tests of all packages and counts them. More arguments choose among them.
func runTests(
	ctx context.Context, out io.Writer, c *counts, servers []string, more ...string,
) error {
	list, err := output(ctx, "go", append([]string{"list"}, packages()...)...)
	if err != nil {
		return fmt.Errorf("%s%w", list, err)
	}
	others := slices.DeleteFunc(strings.Fields(list), func(p string) bool {
		return slices.Contains(raced(), p)
	})
	s := newScore(out, c)
	err = errors.Join(
		s.run(ctx, servers, slices.Concat([]string{"-race", "-skip", drawn}, more, raced())),
		// They mostly wait, for servers and programs: a third package at a time costs little.
		s.run(ctx, servers, slices.Concat([]string{"-p", "3"}, more, others)),
		s.screens(ctx, servers, more),
		s.virtual(ctx, servers, more),
	)
	s.slowest(out)
	s.board.print(out)
	return err
}

// screens runs the tests that compare what is drawn.
func (s *score) screens(ctx context.Context, servers, more []string) error {
	if slices.Contains(more, "-run") {
		return nil // a choice of tests
	}
	// They wait for screens to come to rest.
	return s.run(ctx, servers, slices.Concat(more, []string{
		"-parallel", "8", "-run", drawn, "rewardctl/tui",
	}))
}

// virtualSchedules is how many schedules in virtual time are played besides those under the race
// detector, which takes four times as long for each. One thread does it best.
const virtualSchedules = 1000

// virtual plays more schedules in virtual time, with seeds that the others do not have.
func (s *score) virtual(ctx context.Context, servers, more []string) error {
	if slices.Contains(more, "-run") {
		return nil // a choice of tests, with numbers of its own
	}
	return s.run(ctx, append(slices.Clone(servers), "GOMAXPROCS=1", "REWARDCTL_VIRTUAL_SEED=10000",
		fmt.Sprintf("REWARDCTL_VIRTUAL_SCHEDULES=%d", virtualSchedules)),
		[]string{"-run", "^TestVirtualTime$", "rewardctl/grant/lease"})
}

// run runs the tests that the arguments name and takes their events.
func (s *score) run(ctx context.Context, servers, args []string) error {
	// The stage before has vetted the tests.
	args = slices.Concat([]string{"test", "-json", "-vet=off", "-timeout", testLimit.String()}, args)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), servers...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var complaints strings.Builder
	cmd.Stderr = &complaints
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.read(events)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%sgo test: %w", complaints.String(), err)
	}
	return nil
}

// startServers starts the servers for tests and returns the variables that name them.
func startServers(ctx context.Context) ([]string, func() error, error) {
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{
		Settings: map[string]string{"max_connections": "500"},
	})
	if err != nil {
		return nil, nil, err
	}
	rd, err := embedded.StartRedis(ctx, embedded.RedisOptions{})
	if err != nil {
		return nil, nil, errors.Join(err, pg.Stop())
	}
	return []string{"REWARDCTL_TEST_POSTGRES=" + pg.URL(), "REWARDCTL_TEST_REDIS=" + rd.Addr()},
		func() error { return errors.Join(pg.Stop(), rd.Stop()) }, nil
}

// score follows the events of all packages: one line per package, and everything a failed test
// wrote.
type score struct {
	out    io.Writer
	counts *counts
	output map[string][]string // by package and test
	failed map[string][]string // failed tests by package, in order
	passed map[string]int      // passed tests by package
	times  []timed
	board  scoreboard
}

type timed struct {
	name    string
	seconds float64
}

func newScore(out io.Writer, c *counts) *score {
	return &score{
		out: out, counts: c, output: map[string][]string{},
		failed: map[string][]string{}, passed: map[string]int{}, board: scoreboard{},
	}
}

func (s *score) read(events io.Reader) {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) == nil {
			s.take(e)
		} else if strings.TrimSpace(line) != "" {
			fmt.Fprint(s.out, line)
		}
		if err != nil {
			return
		}
	}
}

// take notes one event.
func (s *score) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.output[key] = append(s.output[key], e.Output)
		s.board.take(e.Output)
	case "build-output":
		s.output[e.ImportPath] = append(s.output[e.ImportPath], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.closePackage(e)
			return
		}
		s.times = append(s.times, timed{key, e.Elapsed})
		if e.Action == "pass" {
			s.counts.passed++
			s.passed[e.Package]++
			delete(s.output, key)
			return
		}
		// A skipped test is one that did not pass.
		s.counts.failed++
		s.failed[e.Package] = append(s.failed[e.Package], e.Test)
	}
}

// closePackage prints a package's line, and all that its failed tests wrote.
func (s *score) closePackage(e event) {
	failed := s.failed[e.Package]
	if e.Action != "fail" && len(failed) == 0 {
		if s.passed[e.Package] > 0 {
			fmt.Fprintf(s.out, "     %-34s %4d tests %6.1fs\n", e.Package, s.passed[e.Package],
				e.Elapsed)
		}
		return
	}
	fmt.Fprintf(s.out, "FAIL %-34s %4d of %d tests failed\n", e.Package, len(failed),
		len(failed)+s.passed[e.Package])
	for _, test := range failed {
		fmt.Fprint(s.out, strings.Join(s.output[e.Package+" "+test], ""))
	}
	if len(failed) == 0 {
		// It did not even get to its tests, or fell over between them.
		s.counts.failed++
		for _, key := range []string{e.FailedBuild, e.Package + " "} {
			fmt.Fprint(s.out, strings.Join(s.output[key], ""))
		}
		for key, lines := range s.output {
			if strings.HasPrefix(key, e.Package+" ") && key != e.Package+" " {
				fmt.Fprint(s.out, strings.Join(lines, ""))
			}
		}
	}
}

// slowest names the tests that took longest, which is where a slow run can be mended.
func (s *score) slowest(out io.Writer) {
	slices.SortFunc(s.times, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range s.times[:min(8, len(s.times))] {
		if t.seconds > 10 {
			fmt.Fprintf(out, "     slow: %s %.1fs\n", t.name, t.seconds)
		}
	}
}
