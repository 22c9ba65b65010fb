package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// screen is a program on a terminal of its own, whose cells can be read.
type screen struct {
	cmd  *exec.Cmd
	file *os.File
	gone chan struct{}

	mu      sync.Mutex // guards em and bytes
	em      *vt.Emulator
	bytes   int
	w, h    int
	changed chan struct{}
	slow    io.Writer // gets the screens that took long; nil: nobody
}

// openScreen starts a command on a terminal.
func openScreen(cmd *exec.Cmd, w, h int) (*screen, error) {
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		return nil, err
	}
	s := &screen{
		cmd: cmd, file: file, gone: make(chan struct{}), em: vt.NewEmulator(w, h), w: w, h: h,
		changed: make(chan struct{}, 1),
	}
	go s.drain()
	go s.read()
	return s, nil
}

// drain drops the answers of the terminal to questions, which nobody asks.
func (s *screen) drain() {
	var dropped [256]byte
	for {
		if _, err := s.em.Read(dropped[:]); err != nil {
			return
		}
	}
}

func (s *screen) read() {
	defer close(s.gone)
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.file.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bytes += n
		_, _ = s.em.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// sent is how many bytes the program has sent so far.
func (s *screen) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// line returns the text of a line.
func (s *screen) line(y int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for x := 0; x < s.w; x++ {
		cell := s.em.CellAt(x, y)
		switch {
		case cell == nil || cell.Content == "":
			b.WriteByte(' ')
		default:
			b.WriteString(cell.Content)
			x += max(cell.Width-1, 0)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// shows says whether any line has a text.
func (s *screen) shows(words string) bool {
	for y := range s.h {
		if strings.Contains(s.line(y), words) {
			return true
		}
	}
	return false
}

func (s *screen) text() string {
	var b strings.Builder
	for y := range s.h {
		b.WriteString(s.line(y) + "\n")
	}
	return b.String()
}

func (s *screen) send(raw string) { _, _ = s.file.WriteString(raw) }

// until waits for a condition, which is looked at after each output, and returns how long it took.
func (s *screen) until(ctx context.Context, begin time.Time, met func() bool) (
	time.Duration, error,
) {
	const patience = 60 * time.Second
	limit := time.NewTimer(patience)
	defer limit.Stop()
	early, said := time.After(patience/30), "" // messages do not stay for long
	for !met() {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-limit.C:
			return 0, fmt.Errorf("it did not happen in %v; at first it said %q, now the screen is\n%s",
				patience, said, s.text())
		case <-s.gone:
			return 0, fmt.Errorf("the program ended; the screen is\n%s", s.text())
		case <-early:
			said = strings.TrimSpace(s.line(s.h - 2))
		case <-s.changed:
		}
	}
	return time.Since(begin), nil
}

// when waits until the screen shows a text.
func (s *screen) when(ctx context.Context, begin time.Time, words string) (time.Duration, error) {
	took, err := s.until(ctx, begin, func() bool { return s.shows(words) })
	if err != nil {
		return 0, fmt.Errorf("%q: %w", words, err)
	}
	return took, nil
}

// end asks the program to end, and makes it.
func (s *screen) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.gone:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
	}
	_ = s.cmd.Wait() // it was told to end
	_ = s.file.Close()
	if pipe, ok := s.em.InputPipe().(interface{ Close() error }); ok {
		_ = pipe.Close()
	}
}

// errAsleep says that the time was cut short.
var errAsleep = errors.New("stopped while it measured")

// pass lets time go by.
func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return errors.Join(errAsleep, ctx.Err())
	case <-timer.C:
		return nil
	}
}
