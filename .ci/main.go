// Command .ci runs everything a change has to pass: it builds, vets, lints, checks the rules of
// style and runs every test, the concurrent ones under the race detector, on a PostgreSQL and a
// Redis that it starts. What is missing on the machine it installs, on Debian and as root, or else
// names.
//
//	go run ./.ci
//	go run ./.ci STAGE...     only these stages, such as vet style
//	go run ./.ci soak -for 2h [-seed N]
//	                          the fault suite and the fuzz targets, again and again, with new seeds
//	go run ./.ci console [-leases N] [-rows N] [-plan N] [-for D] [-keep DIR]
//	                          the built console under load: key to frame, CPU, memory, output
//
// The last line counts tests and stages: "N passed, N failed". The exit status is 1 when
// anything failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The pinned tools. They are run by version, so that they are no dependencies of the module.
const (
	staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
	gofumpt     = "mvdan.cc/gofumpt@v0.12.0"
)

// runLimit bounds the whole run.
const runLimit = 14*time.Minute + 30*time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c := &counts{}
	switch word := strings.Join(os.Args[1:min(len(os.Args), 2)], ""); word {
	case "soak":
		c.run(ctx, os.Stdout, stage{word, func(ctx context.Context) error {
			return soak(ctx, os.Stdout, c, os.Args[2:])
		}})
	case "console":
		c.run(ctx, os.Stdout, stage{word, func(ctx context.Context) error {
			return console(ctx, os.Stdout, os.Args[2:])
		}})
	case emptyWord:
		_ = runEmpty(ctx) // whoever started it sees its screen
		return
	default:
		ctx, cancel := context.WithTimeout(ctx, runLimit)
		runStages(ctx, os.Stdout, c, os.Args[1:])
		cancel()
	}
	stop()
	fmt.Printf("%d passed, %d failed\n", c.passed, c.failed)
	if c.failed > 0 || c.passed == 0 {
		os.Exit(1)
	}
}

// counts is the score of a run: tests and stages.
type counts struct{ passed, failed int }

// stage is one step of a run. Its error says what is wrong, in full.
type stage struct {
	name string
	run  func(context.Context) error
}

// packages are what the go command works on. Hidden folders are not a part of ./... .
func packages() []string { return []string{"./...", "./.ci"} }

// stages lists the steps of a run, in order.
func stages(out io.Writer, c *counts) []stage {
	return []stage{
		{"tools", ensureTools},
		{"modules", command("go", "mod", "verify")},
		{"build", command("go", append([]string{"build", "-o", os.DevNull}, packages()...)...)},
		{"vet", command("go", append([]string{"vet"}, packages()...)...)},
		{"gofumpt", format},
		{"style", func(context.Context) error { return tidy(".") }},
		{"staticcheck", command("go", append([]string{"run", staticcheck}, packages()...)...)},
		{"tests", func(ctx context.Context) error {
			return withServers(ctx, func(servers []string) error {
				return runTests(ctx, out, c, servers, "-short")
			})
		}},
		{"mutants", func(ctx context.Context) error {
			return withServers(ctx, func(servers []string) error {
				return killMutants(ctx, out, servers)
			})
		}},
	}
}

// runStages runs the stages with the given names, or all if none is given.
func runStages(ctx context.Context, out io.Writer, c *counts, only []string) {
	all := stages(out, c)
	for _, name := range only {
		if !slices.ContainsFunc(all, func(s stage) bool { return s.name == name }) {
			c.failed++
			fmt.Fprintf(out, "FAIL there is no stage %q\n", name)
		}
	}
	for _, s := range all {
		if len(only) == 0 || slices.Contains(only, s.name) {
			c.run(ctx, out, s)
		}
	}
}

// run runs one stage, and prints what is wrong or how long it took.
func (c *counts) run(ctx context.Context, out io.Writer, s stage) {
	begin := time.Now()
	err := s.run(ctx)
	took := time.Since(begin).Round(100 * time.Millisecond)
	if err != nil {
		c.failed++
		fmt.Fprintf(out, "FAIL %s (%v)\n%v\n", s.name, took, err)
		return
	}
	c.passed++
	fmt.Fprintf(out, "ok   %s (%v)\n", s.name, took)
}

// command returns a stage that fails when a command does, with all its output.
func command(name string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, err := output(ctx, name, args...)
		if err != nil {
			return fmt.Errorf("%s%w", out, err)
		}
		return nil
	}
}

// output runs a command without input and returns what it wrote, also when it fails.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), err
}

// format fails for files that gofumpt would write otherwise.
func format(ctx context.Context) error {
	out, err := output(ctx, "go", "run", gofumpt, "-l", ".", ".ci")
	if err != nil {
		return fmt.Errorf("%s%w", out, err)
	}
	// While go downloads the tool it says so; file names do not start like that.
	var files []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "go: ") {
			files = append(files, line)
		}
	}
	if len(files) > 0 {
		return errors.New("not formatted; run `go run " + gofumpt + " -w .`:\n" +
			strings.Join(files, "\n"))
	}
	return nil
}
