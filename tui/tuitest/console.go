package tuitest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/tui"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/vt"
)

// patience bounds every wait. It is long because test machines are busy; nothing waits for it
// unless something is wrong.
const patience = 20 * time.Second

// Clock is a clock that only moves when it is told to, so that screens can be compared.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at the time of the goldens.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 11, 30, 14, 2, 3, 0, time.UTC)}
}

// Now tells the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Console is a console that runs in a terminal emulator.
type Console struct {
	t     testing.TB
	World *World
	Clock *Clock

	mu      sync.Mutex // guards em, keys, written and bad
	em      *vt.Emulator
	keys    int // key messages handled so far
	written int
	bad     string // the first escape sequence that is none of ours
	w, h    int

	in      *io.PipeWriter
	sizes   chan tui.Size
	changed chan struct{} // has one element when something was drawn or handled
	done    chan struct{}
	err     error
	cancel  context.CancelFunc
}

// Start runs a console of w by h cells on a world. edit may change its options.
func Start(t testing.TB, world *World, clock *Clock, w, h int, edit func(*tui.Options)) *Console {
	t.Helper()
	read, write := io.Pipe()
	c := &Console{
		t: t, World: world, Clock: clock, em: vt.NewEmulator(w, h), w: w, h: h, in: write,
		sizes: make(chan tui.Size, 1), changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	opts := tui.Options{
		Inspector: world, Operator: world, Context: "local", Environment: "demo", User: "mlee",
		Plans: world, Reverser: world,
		Home: "leases", AmountMax: 1000, Refresh: time.Hour, Now: clock.Now,
		Input: read, Output: screenWriter{c},
		Sizes: c.sizes, Handled: c.handled,
	}
	if edit != nil {
		edit(&opts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.sizes <- tui.Size{Width: w, Height: h}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, c.em) // answers of the emulator to questions nobody asks
	}()
	go func() {
		defer close(c.done)
		c.err = tui.Run(ctx, opts)
	}()
	t.Cleanup(func() {
		cancel()
		_ = write.Close()
		c.End()
		// Ending the pipe first lets the reader go: Close and Read of the emulator do not get on.
		if pipe, ok := c.em.InputPipe().(io.Closer); ok {
			_ = pipe.Close()
			<-drained
		}
		_ = c.em.Close()
	})
	return c
}

// screenWriter is the console's output: it feeds the emulator.
type screenWriter struct{ c *Console }

// Write draws on the emulator.
func (s screenWriter) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.written += len(p)
	if bad := foreign(p); bad != "" && s.c.bad == "" {
		s.c.bad = bad
	}
	n, err := s.c.em.Write(p)
	s.c.touch()
	return n, err
}

func (c *Console) touch() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *Console) handled(msg any) {
	if _, ok := msg.(tea.KeyMsg); !ok {
		return
	}
	c.mu.Lock()
	c.keys++
	c.mu.Unlock()
	c.touch()
}

// Lines returns the screen's text, one string per line, trailing blanks kept.
func (c *Console) Lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]string, c.h)
	for y := range lines {
		var b strings.Builder
		for x := 0; x < c.w; x++ {
			cell := c.em.CellAt(x, y)
			switch {
			case cell == nil || cell.Content == "" && cell.Width != 0:
				b.WriteByte(' ')
			case cell.Width > 0:
				b.WriteString(cell.Content)
				x += cell.Width - 1
			}
		}
		lines[y] = b.String()
	}
	return lines
}

// Text returns the screen's text.
func (c *Console) Text() string {
	lines := c.Lines()
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Wait waits until ok holds for the screen's text, and fails the test after a bound.
func (c *Console) Wait(what string, ok func(text string) bool) {
	c.t.Helper()
	if err := c.poll(func() bool { return ok(c.Text()) }); err != nil {
		c.t.Fatalf("waiting for %s: %v; the screen is\n%s", what, err, c.Text())
	}
}

// See waits until the screen shows a text.
func (c *Console) See(text string) {
	c.t.Helper()
	c.Wait(fmt.Sprintf("%q", text), func(s string) bool { return strings.Contains(s, text) })
}

// NotSee waits until the screen no longer shows a text.
func (c *Console) NotSee(text string) {
	c.t.Helper()
	c.Wait(fmt.Sprintf("%q to go", text), func(s string) bool { return !strings.Contains(s, text) })
}

func (c *Console) poll(ok func() bool) error { return c.pollFor(patience, ok) }

func (c *Console) pollFor(bound time.Duration, ok func() bool) error {
	limit := time.NewTimer(bound)
	defer limit.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-limit.C:
			return errors.New("it did not happen in " + bound.String())
		case <-c.done:
			if ok() {
				return nil
			}
			return fmt.Errorf("the console ended: %w", errOr(c.err))
		case <-c.changed:
		case <-again.C:
		}
	}
	return nil
}

func errOr(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

// bytesOf names what a terminal sends for a key.
func bytesOf(key string) string {
	named := map[string]string{
		"enter": "\r", "esc": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "backspace": "\x7f",
		"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H",
		"end": "\x1b[F", "pgdown": "\x1b[6~", "pgup": "\x1b[5~", "space": " ", "f1": "\x1bOP",
	}
	if b, ok := named[key]; ok {
		return b
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok && len(rest) == 1 {
		return string(rest[0] - 'a' + 1)
	}
	return key
}

// Press presses keys one after the other, as a person does: each is handled before the next, and
// the clock moves on in between.
func (c *Console) Press(keys ...string) {
	c.t.Helper()
	for _, key := range keys {
		c.Clock.Advance(50 * time.Millisecond)
		before := c.count()
		c.Send(bytesOf(key))
		if err := c.poll(func() bool { return c.count() > before }); err != nil {
			c.t.Fatalf("pressing %q: %v; the screen is\n%s", key, err, c.Text())
		}
	}
}

// Type presses the keys of a text.
func (c *Console) Type(text string) {
	c.t.Helper()
	for _, r := range text {
		c.Press(string(r))
	}
}

func (c *Console) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys
}

// Send writes raw bytes to the console's input at once, as a paste or a script does.
func (c *Console) Send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, raw); err != nil {
		select {
		case <-c.done:
		default:
			c.t.Fatalf("sending %q: %v", raw, err)
		}
	}
}

// Burst sends raw bytes and waits until n key messages were handled.
func (c *Console) Burst(raw string, n int) {
	c.t.Helper()
	before := c.count()
	c.Clock.Advance(time.Second)
	c.Send(raw)
	if err := c.poll(func() bool { return c.count() >= before+n }); err != nil {
		c.t.Fatalf("burst %q: %v; the screen is\n%s", raw, err, c.Text())
	}
}

// Paste pastes text, marked as pasted.
func (c *Console) Paste(text string) {
	c.t.Helper()
	c.Burst("\x1b[200~"+text+"\x1b[201~", 1)
}

// Resize changes the size of the terminal.
func (c *Console) Resize(w, h int) {
	c.t.Helper()
	c.mu.Lock()
	c.w, c.h = w, h
	c.em.Resize(max(w, 1), max(h, 1))
	c.mu.Unlock()
	select {
	case c.sizes <- tui.Size{Width: w, Height: h}:
	case <-time.After(patience):
		c.t.Fatalf("the console takes no new size")
	}
}

// End waits until the console has ended and returns what it returned.
func (c *Console) End() error {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Errorf("the console does not end; the screen is\n%s", c.Text())
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad != "" {
		c.t.Errorf("the console sent a sequence that is not its own: %q", c.bad)
	}
	return c.err
}

// Ended reports whether the console has ended.
func (c *Console) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Stop ends the console's context, as the program around it does.
func (c *Console) Stop() { c.cancel() }

// Hangup closes the console's input, as a closed terminal does.
func (c *Console) Hangup() { _ = c.in.Close() }

// AltScreen reports whether the terminal shows the alternate screen.
func (c *Console) AltScreen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.em.IsAltScreen()
}

// Written returns how many bytes the console has sent to its terminal.
func (c *Console) Written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// Until waits for a condition that is not about the text of the whole screen.
func (c *Console) Until(what string, ok func() bool) {
	c.t.Helper()
	if err := c.poll(ok); err != nil {
		c.t.Fatalf("waiting for %s: %v", what, err)
	}
}

// Cell returns what stands in one cell.
func (c *Console) Cell(x, y int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cell := c.em.CellAt(x, y); cell != nil {
		return cell.Content
	}
	return ""
}
