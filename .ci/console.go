package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// consoleSize says how much there is, and for how long the console is driven.
type consoleSize struct {
	leases, rows, plan int
	length             time.Duration
	parts              string // what is measured: start, rest, work
	through            bool   // the audit and the plan are driven to their ends
	keep               string // where profiles and measurements go; empty: nowhere
}

// console measures the built console: with all of its leases ticking, an audit of the whole ledger
// and a large plan being applied by the console itself, on servers of its own.
//
//	go run ./.ci console [-leases N] [-rows N] [-plan N] [-for D] [-parts LIST]
//		[-through] [-keep DIR]
//
// It fails when an aim is missed that does not depend on the machine: memory, and what is sent to
// the terminal. Times are printed beside those of an empty program on the same terminal.
func console(ctx context.Context, out io.Writer, args []string) (err error) {
	var size consoleSize
	flags := flag.NewFlagSet("console", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&size.leases, "leases", 100_000, "how many leases are held")
	flags.IntVar(&size.rows, "rows", 10_000_000, "how many postings the ledger has")
	flags.IntVar(&size.plan, "plan", 1_000_000, "how many rows the plan has")
	flags.DurationVar(&size.length, "for", time.Minute, "how long each part is driven")
	flags.StringVar(&size.parts, "parts", "start,rest,work", "what is measured")
	flags.BoolVar(&size.through, "through", false, "drive the audit and the plan to their ends")
	flags.StringVar(&size.keep, "keep", "", "a folder for profiles and measurements")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := ensureTools(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rewardctl-console-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if size.keep == "" {
		size.keep = dir
	} else if err := os.MkdirAll(size.keep, 0o755); err != nil {
		return err
	}
	program := filepath.Join(dir, "rewardctl")
	text, err := output(ctx, "go", "build", "-tags", "measure", "-o", program, "./cmd/rewardctl")
	if err != nil {
		return fmt.Errorf("%s%w", text, err)
	}
	w, err := newConsoleWorld(ctx, out, size, dir, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	return w.measure(ctx)
}

// measure drives the console through its parts.
func (w *consoleWorld) measure(ctx context.Context) error {
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"start", w.starts}, {"rest", w.rests}, {"work", w.works}} {
		if !slices.Contains(strings.Split(w.size.parts, ","), part.name) {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// starts measures the time from the start of the process to its first frame and its first rows.
func (w *consoleWorld) starts(ctx context.Context) error {
	const tries = 7
	for _, home := range []struct{ name, rows string }{
		{"now", "leases whose owner is gone"}, {"leases", "reward:player-"},
	} {
		var frame, rows []time.Duration
		for range tries {
			begin := time.Now()
			s, err := w.open(ctx, 120, 50, "--home", home.name)
			if err != nil {
				return err
			}
			at, err := s.when(ctx, begin, "0 Now")
			if err == nil {
				frame = append(frame, at)
				at, err = s.when(ctx, begin, home.rows)
				rows = append(rows, at)
			}
			s.end()
			if err != nil {
				return err
			}
		}
		w.say("start of %-6s  first frame %s, first rows %s", home.name, spread(frame), spread(rows))
	}
	return nil
}

// rests measures the console while nobody presses a key: what it costs and what it sends.
func (w *consoleWorld) rests(ctx context.Context) error {
	for _, home := range []string{"now", "leases"} {
		s, err := w.open(ctx, 120, 50, "--home", home)
		if err != nil {
			return err
		}
		_, err = s.when(ctx, time.Now(), "0 Now")
		for _, seen := range []string{"seen", "out of sight"} {
			if seen != "seen" {
				s.send("\x1b[O") // the terminal lost the focus
			}
			if err = errors.Join(err, pass(ctx, w.size.length/3)); err != nil {
				break
			}
			before, sent := s.usage(), s.sent()
			if err = pass(ctx, w.size.length); err != nil {
				break
			}
			u := s.usage()
			w.say("%-6s at rest, %-12s  CPU %s, %s/s sent, %s", home, seen, u.since(before),
				sized(float64(s.sent()-sent)/w.size.length.Seconds()), u.memory())
		}
		s.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// works drives the console with keys: first with the leases alone, then with an audit and a plan.
func (w *consoleWorld) works(ctx context.Context) error {
	s, err := w.open(ctx, 200, 60, "--home", "leases")
	if err != nil {
		return err
	}
	defer s.end()
	empty, err := w.openEmpty(ctx, 200, 60)
	if err != nil {
		return err
	}
	defer empty.end()
	if _, err := s.when(ctx, time.Now(), "reward:player-"); err != nil {
		return err
	}
	kept, err := os.Create(filepath.Join(w.size.keep, "slow.txt"))
	if err != nil {
		return err
	}
	defer kept.Close()
	s.slow = kept
	soon := func() (bool, error) { return true, nil }
	if err := w.drive(ctx, "leases alone", s, empty, soon); err != nil {
		return err
	}
	if err := w.startAudit(ctx, s); err != nil {
		return fmt.Errorf("start the audit: %w", err)
	}
	if err := w.startPlan(ctx, s); err != nil {
		return fmt.Errorf("start the plan: %w", err)
	}
	if w.size.through {
		soon = func() (bool, error) { return w.isThrough(ctx) }
	}
	err = w.drive(ctx, "leases, audit and plan", s, empty, soon)
	w.say("then: %s", s.line(1))
	w.say("      %s", w.progress)
	peak := s.usage()
	w.say("peak memory of the console %s", sized(float64(peak.peak)))
	const memoryMax = 150 << 20
	if err == nil && peak.peak > memoryMax {
		err = fmt.Errorf("the console took %s of memory, more than %s", sized(float64(peak.peak)),
			sized(memoryMax))
	}
	return err
}
