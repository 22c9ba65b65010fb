package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// crumbLine is the line that names the screen.
const crumbLine = 2

// slow is from when a frame is kept for a look at it.
const slow = 100 * time.Millisecond

// act is a key and how its frame is known; nil: the cursor is on another line.
type act struct {
	kind, raw string
	met       func(s *screen) bool
}

func crumb(name string) func(*screen) bool {
	return func(s *screen) bool { return strings.HasPrefix(s.line(crumbLine), " "+name) }
}

func shown(words string) func(*screen) bool {
	return func(s *screen) bool { return s.shows(words) }
}

func hidden(words string) func(*screen) bool {
	return func(s *screen) bool { return !s.shows(words) }
}

func hasCursor(s *screen) bool { return s.cursor() >= 0 }

// cursor is the line that the cursor is on; -1 for none.
func (s *screen) cursor() int {
	for y := range s.h {
		if strings.HasPrefix(s.line(y), "▶") {
			return y
		}
	}
	return -1
}

func cursorAt(y int) func(*screen) bool {
	return func(s *screen) bool { return strings.HasPrefix(s.line(y), "▶") }
}

// acts is a round through the console: moves, screens, sorting, a filter and dialogs.
func acts() []act {
	const esc = "\x1b"
	list := []act{{"screen", "1", crumb("Leases")}, {"rows", "g", hasCursor}}
	for range 3 {
		for range 12 {
			list = append(list, act{"move", "j", nil})
		}
		for range 12 {
			list = append(list, act{"move", "k", nil})
		}
	}
	list = append(list,
		act{"move far", "G", nil}, act{"move far", "g", nil},
		act{"dialog", "o", shown("sort by")}, act{"dialog", esc, hidden("sort by")},
		act{"dialog", "?", shown("On this screen")}, act{"dialog", esc, hidden("On this screen")},
		act{"dialog", "\x10", shown("what do you want")},
		act{"dialog", esc, hidden("what do you want")},
		act{"dialog", "R", shown("lease release")}, act{"dialog", esc, hidden("lease release")},
		act{"filter", "/", hidden("/ filter")},
	)
	typed := ""
	for _, r := range "player-0042" {
		typed += string(r)
		list = append(list, act{"filter", string(r), shown("/" + typed)})
	}
	list = append(list, act{"filter", "\r", hidden("/" + typed)},
		act{"rows", "", shown(" match")}, act{"rows", esc, hidden(" match")})
	for _, tab := range []struct{ key, name string }{
		{"0", "Now"},
		{"2", "Player"},
		{"4", "Audits"},
		{"5", "Approvals"},
		{"P", "Grants › Plans"},
		{"6", "Outbox"},
		{"8", "Doctor"},
		{"9", "Drills"},
		{"0", "Now"},
		{"1", "Leases"},
	} {
		list = append(list, act{"screen", tab.key, crumb(tab.name)})
		if tab.key == "2" { // its field takes the keys
			list = append(list, act{"screen", esc, func(*screen) bool { return true }})
		}
	}
	return list
}

// drive presses keys for a while, and until it is enough, and prints how long their frames took,
// beside those of an empty program that is driven in turn.
func (w *consoleWorld) drive(ctx context.Context, what string, s, empty *screen,
	enough func() (bool, error),
) error {
	took, idle := map[string][]time.Duration{}, []time.Duration{}
	var all []time.Duration
	_ = s.cmd.Process.Signal(syscall.SIGUSR1) // from here on
	before, sent, begin := s.usage(), s.sent(), time.Now()
	var press time.Duration
	for {
		done, err := enough()
		if err != nil {
			return err
		}
		if done && time.Since(begin) >= w.size.length {
			break
		}
		start := time.Now()
		top := -1
		for _, a := range acts() {
			if a.raw == "k" && s.cursor() == top {
				continue // a list that came anew moved it there
			}
			at, err := s.press(ctx, a)
			if err != nil {
				return fmt.Errorf("%s, %q: %w", a.kind, a.raw, err)
			}
			if a.raw == "g" {
				top = s.cursor()
			}
			if a.kind != "rows" { // they come when they are there
				all = append(all, at)
			}
			took[a.kind] = append(took[a.kind], at)
		}
		press += time.Since(start)
		for i := range 40 {
			at, err := empty.press(ctx, act{raw: "j", met: cursorAt((i + 1) % 2)})
			if err != nil {
				return fmt.Errorf("the empty program: %w", err)
			}
			idle = append(idle, at)
		}
	}
	u := s.usage()
	w.say("%s: %d keys at 200x60, CPU %s, %s/s sent, %s", what, len(all), u.since(before),
		sized(float64(s.sent()-sent)/time.Since(begin).Seconds()), u.memory())
	w.say("  key to frame   %s", spread(all))
	w.say("  empty program  %s; ratio of p50 %.2f, of p95 %.2f", spread(idle),
		float64(share(all, 50))/float64(share(idle, 50)),
		float64(share(all, 95))/float64(share(idle, 95)))
	for _, kind := range slices.Sorted(maps.Keys(took)) {
		w.say("    %-14s %s", kind, spread(took[kind]))
	}
	return w.sayParts(ctx, s)
}

// press sends a key and waits for its frame; then it rests as a held key does.
func (s *screen) press(ctx context.Context, a act) (time.Duration, error) {
	if a.met == nil {
		at := s.cursor()
		a.met = func(s *screen) bool { return s.cursor() != at }
	}
	begin := time.Now()
	s.send(a.raw)
	took, err := s.until(ctx, begin, func() bool {
		// A dialog whose facts have just changed takes no keys that were in flight.
		if a.raw == "\x1b" && time.Since(begin) > time.Second {
			begin = time.Now()
			s.send(a.raw)
		}
		return a.met(s)
	})
	if err != nil {
		return 0, err
	}
	if took > slow && s.slow != nil {
		fmt.Fprintf(s.slow, "%s %q took %v\n%s\n", a.kind, a.raw, took, s.text())
	}
	rest := 40 * time.Millisecond
	if a.kind == "dialog" || a.kind == "screen" {
		rest = 150 * time.Millisecond
	}
	return took, pass(ctx, rest)
}

// sayParts prints how long the parts of the console's loop took, as it counted itself.
func (w *consoleWorld) sayParts(ctx context.Context, s *screen) error {
	_ = s.cmd.Process.Signal(syscall.SIGUSR1)
	if err := pass(ctx, time.Second); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(w.size.keep, "times.jsonl"))
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var report struct {
		Parts map[string]struct {
			N   int     `json:"n"`
			P50 float64 `json:"p50_us"`
			P95 float64 `json:"p95_us"`
			P99 float64 `json:"p99_us"`
			Max float64 `json:"max_us"`
		} `json:"parts"`
		Heap float64 `json:"heap"`
		GCs  int     `json:"gcs"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &report); err != nil {
		return err
	}
	for _, part := range slices.Sorted(maps.Keys(report.Parts)) {
		p := report.Parts[part]
		w.say("  %-14s p50 %.2f ms p95 %.2f ms p99 %.2f ms max %.2f ms (%d)", part, p.P50/1000,
			p.P95/1000, p.P99/1000, p.Max/1000, p.N)
	}
	w.say("  heap in use    %s, %d collections so far", sized(report.Heap), report.GCs)
	return nil
}

// startAudit runs an audit of everything in the console.
func (w *consoleWorld) startAudit(ctx context.Context, s *screen) error {
	return s.presses(ctx,
		act{"", "4", crumb("Audits")}, act{"", "a", shown("run an audit")},
		act{"", "\x1b[B", shown("everything")}, act{"", "\r", shown("the audit runs")})
}

// startPlan applies the plan in the console and leaves its dialog.
func (w *consoleWorld) startPlan(ctx context.Context, s *screen) error {
	list := []act{
		{"", "5", crumb("Approvals")},
		{"", "P", crumb("Grants › Plans")},
		{"", "", shown("console-load")},
		{"", "B", shown("now, live")},
	}
	for _, r := range fmt.Sprintf("%d-grant", w.size.plan) {
		list = append(list, act{"", string(r), func(*screen) bool { return true }})
	}
	// A small plan is through before its dialog can be left.
	runs := func(s *screen) bool { return shown("it goes on")(s) || crumb("Grants › Plans › plan")(s) }
	return s.presses(ctx, append(list, act{"", "\r", func(*screen) bool { return true }},
		act{"", "\r", runs}, act{"", "\x1b", hidden("it goes on")})...)
}

func (s *screen) presses(ctx context.Context, list ...act) error {
	for _, a := range list {
		a.kind = "dialog"
		if _, err := s.press(ctx, a); err != nil {
			return fmt.Errorf("%q: %w", a.raw, err)
		}
	}
	return nil
}
