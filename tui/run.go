package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	notifyEvery = 220 * time.Millisecond // between two redraws for new data: 4 to 5 a second
	quitLimit   = 1500 * time.Millisecond
)

// ErrStopped is returned when a signal, the end of the context or the loss of the terminal ended
// the console.
var ErrStopped = errors.New("the console was stopped from outside")

// Run shows the console until the operator leaves it. It returns nil then, ErrStopped when it was
// ended from outside, and a *CrashError after a panic; in each case the terminal is as it was.
// Within two seconds of the end all background work has ended or was abandoned.
func Run(ctx context.Context, opts Options) error {
	if opts.Inspector == nil || opts.Input == nil || opts.Output == nil {
		return errors.New("tui: Inspector, Input and Output are required")
	}
	opts = opts.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := newDesk(ctx, opts)
	lost := make(chan struct{}, 1)
	out := newSyncWriter(opts.Output, !opts.NoSync)
	r := newRoot(d)
	p := tea.NewProgram(r,
		tea.WithInput(watchInput(opts.Input, lost)), tea.WithOutput(out.asOutput()),
		tea.WithAltScreen(), tea.WithReportFocus(), tea.WithoutSignalHandler())
	d.kill = p.Kill
	d.copy = out.write
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go watchOutside(ctx, p, lost, ended, stopped)
	go watchSizes(ctx, p, opts.Sizes)
	go pump(ctx, p, d.dirty)
	_, err := p.Run()
	close(ended)
	left, done := context.WithTimeout(context.WithoutCancel(ctx), quitLimit/2)
	d.leaveLog(left)
	done()
	cancel()
	waitIdle(d)
	if opts.SaveState != nil && d.crash.Load() == nil {
		opts.SaveState(r.state())
	}
	return verdict(d, err, stopped)
}

// verdict turns the ways a console ends into its error.
func verdict(d *desk, err error, stopped <-chan struct{}) error {
	if crash := d.crash.Load(); crash != nil {
		_, _ = fmt.Fprintf(d.opts.Log, "%v\n%s\n", crash, crash.Stack)
		return crash
	}
	select {
	case <-stopped:
		return ErrStopped
	default:
	}
	if err != nil {
		return fmt.Errorf("tui: %w", err)
	}
	return nil
}

// waitIdle waits for background work, which is told to end, but not for long.
func waitIdle(d *desk) {
	limit := time.NewTimer(quitLimit)
	defer limit.Stop()
	select {
	case <-d.crew.idle():
	case <-limit.C:
	}
}

// watchOutside ends the program when the context ends, a signal comes or the terminal is gone.
func watchOutside(ctx context.Context, p *tea.Program, lost <-chan struct{},
	ended <-chan struct{}, stopped chan<- struct{},
) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	select {
	case <-ended:
		return
	case <-ctx.Done():
	case <-signals:
	case <-lost:
	}
	select {
	case <-ended: // the context ended because the program did
		return
	default:
	}
	close(stopped)
	go p.Send(quitMsg{})
	limit := time.NewTimer(quitLimit / 3)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
		p.Kill() // Update does not answer, or the terminal takes no output any more
	}
}

// watchSizes tells the program the size of a terminal that it cannot ask.
func watchSizes(ctx context.Context, p *tea.Program, sizes <-chan Size) {
	for {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-sizes:
			if !ok {
				return
			}
			p.Send(tea.WindowSizeMsg{Width: s.Width, Height: s.Height})
		}
	}
}

// pump turns "something changed" into messages, at most four to five a second.
func pump(ctx context.Context, p *tea.Program, dirty <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-dirty:
			p.Send(dataMsg{})
		}
		rest := time.NewTimer(notifyEvery)
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}

// ttyInput is a terminal's input that tells when the terminal is gone.
type ttyInput struct {
	*os.File
	lost chan<- struct{}
}

// Read reads from the terminal.
func (t ttyInput) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	report(err, t.lost)
	return n, err
}

// pipeInput is the same for an input that is no file.
type pipeInput struct {
	io.Reader
	lost chan<- struct{}
}

// Read reads from the pipe.
func (t pipeInput) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	report(err, t.lost)
	return n, err
}

func report(err error, lost chan<- struct{}) {
	if err == nil {
		return
	}
	select {
	case lost <- struct{}{}:
	default:
	}
}

func watchInput(in io.Reader, lost chan<- struct{}) io.Reader {
	if f, ok := in.(*os.File); ok {
		return ttyInput{f, lost}
	}
	return pipeInput{in, lost}
}
