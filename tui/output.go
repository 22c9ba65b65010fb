package tui

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"sync"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
)

const (
	syncOpen  = "\x1b[?2026h"
	syncClose = "\x1b[?2026l"
	// syncFrom is the size from which a write is a frame rather than a mode switch.
	syncFrom = 64
	// clipboardMax is what common terminals take in one clipboard sequence, in encoded bytes.
	clipboardMax = 74_994
)

// syncWriter wraps each frame in the marks of synchronized output, so that terminals which know
// them show no half-drawn frame; the others ignore them. Clipboard sequences go through it too,
// so that they never land inside a frame.
type syncWriter struct {
	mu   sync.Mutex
	out  io.Writer
	sync bool
	buf  []byte
}

func newSyncWriter(out io.Writer, marks bool) *syncWriter {
	return &syncWriter{out: out, sync: marks}
}

func (w *syncWriter) frame(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.sync || len(p) < syncFrom {
		return w.out.Write(p)
	}
	w.buf = append(append(append(w.buf[:0], syncOpen...), p...), syncClose...)
	if _, err := w.out.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *syncWriter) write(seq string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.out, seq)
}

// fileOutput keeps the file's descriptor visible, so that size and raw mode work.
type fileOutput struct {
	*os.File
	w *syncWriter
}

// Write writes one frame.
func (f fileOutput) Write(p []byte) (int, error) { return f.w.frame(p) }

// plainOutput is an output that is no file.
type plainOutput struct{ w *syncWriter }

// Write writes one frame.
func (f plainOutput) Write(p []byte) (int, error) { return f.w.frame(p) }

func (w *syncWriter) asOutput() io.Writer {
	if f, ok := w.out.(*os.File); ok {
		return fileOutput{f, w}
	}
	return plainOutput{w}
}

// clipLimit bounds what puts text into a clipboard besides the terminal.
const clipLimit = 2 * time.Second

// clippedMsg says what became of a text that was given to Options.Clipboard.
type clippedMsg struct {
	what, words string
	err         error
}

// clip puts text into the clipboard, and says what was done.
func (d *desk) clip(what, words string) tea.Cmd {
	if d.opts.Clipboard == nil {
		return d.clipByTerminal(what, words)
	}
	return d.command(func() tea.Msg {
		ctx, cancel := context.WithTimeout(d.ctx, clipLimit)
		defer cancel()
		return clippedMsg{what, words, d.opts.Clipboard(ctx, words)}
	})
}

// clipped tells that text was taken, or asks the terminal when it was not.
func (d *desk) clipped(got clippedMsg) tea.Cmd {
	if got.err != nil {
		return d.clipByTerminal(got.what, got.words)
	}
	d.say(Info, d.tr("copied %s, %d bytes, into the buffer of %s", got.what, len(got.words),
		d.opts.Multiplexer))
	return nil
}

// clipByTerminal asks the terminal to take text into its clipboard. It does not confirm it.
func (d *desk) clipByTerminal(what, words string) tea.Cmd {
	if base64.StdEncoding.EncodedLen(len(words)) > clipboardMax {
		d.say(Warned, d.tr("%s is too long for the terminal's clipboard", what))
		return nil
	}
	seq := osc52.New(words)
	switch d.opts.Multiplexer {
	case "tmux":
		seq = seq.Tmux()
	case "screen":
		seq = seq.Screen()
	}
	d.say(Info, d.tr("copied %s, %d bytes (OSC 52, not confirmed)", what, len(words)))
	return d.command(func() tea.Msg {
		d.copy(seq.String())
		return nil
	})
}
