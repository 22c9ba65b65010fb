package granttest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// NewPostgresProxy starts a proxy that understands PostgreSQL's protocol, to the server at
// target (host:port). It answers a request for TLS with "no". It stops when the test ends.
func NewPostgresProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	return newProxy(tb, target, func() wire {
		w := &pgWire{statements: map[string]string{}, portals: map[string]string{}}
		return wire{requests: w.requests, replies: w.replies}
	})
}

// SQL matches a statement whose text contains the piece, in any case.
func SQL(piece string) func(Frame) bool {
	piece = strings.ToLower(piece)
	return func(f Frame) bool { return strings.Contains(strings.ToLower(f.SQL), piece) }
}

// Commit matches a COMMIT statement: its request, and its answer only if the server really
// committed (a COMMIT of a failed transaction is answered with ROLLBACK).
func Commit(f Frame) bool {
	var words []string
	for line := range strings.Lines(f.SQL) {
		code, _, _ := strings.Cut(line, "--")
		words = append(words, strings.Fields(code)...)
	}
	word := strings.TrimSuffix(strings.Join(words, " "), ";")
	return strings.EqualFold(word, "commit") && (f.Tag == "" || f.Tag == "COMMIT")
}

// Message types of the protocol that matter here; a letter means something else in each
// direction.
const (
	pgParse    = 'P'
	pgBind     = 'B'
	pgExecute  = 'E'
	pgSync     = 'S'
	pgQuery    = 'Q'
	pgDataRow  = 'D'
	pgComplete = 'C'
	pgEmpty    = 'I'
	pgSuspend  = 's'
	pgError    = 'E'
	pgReady    = 'Z'

	pgMessageMax = 256 << 20
	pgTLS        = 80877103
	pgGSS        = 80877104
)

// pgWire follows one connection: prepared statements, portals, and what waits for its answer.
type pgWire struct {
	statements map[string]string // by name: the text; used by requests only
	portals    map[string]string

	mu      sync.Mutex
	waiting []pgWait
	last    string // the text of the statement answered last since the server was ready
}

// pgWait is a message that the server will answer.
type pgWait struct {
	frame Frame
	sync  bool // ends with ReadyForQuery: a Sync or a simple Query
	begun bool // the first frame of its answer was seen
}

func (w *pgWire) requests(l *link) error {
	in := bufio.NewReader(l.client)
	if err := w.startup(l, in); err != nil {
		return err
	}
	for {
		raw, err := pgMessage(in)
		if err != nil {
			return err
		}
		f := Frame{}
		switch raw[0] {
		case pgParse:
			name, rest := pgText(raw[5:])
			w.statements[name], _ = pgText(rest)
		case pgBind:
			portal, rest := pgText(raw[5:])
			name, _ := pgText(rest)
			w.portals[portal] = w.statements[name]
		case pgExecute:
			portal, _ := pgText(raw[5:])
			f.Name, f.SQL = "Execute", w.portals[portal]
		case pgQuery:
			f.Name = "Query"
			f.SQL, _ = pgText(raw[5:])
		case pgSync:
			w.push(pgWait{sync: true})
		}
		if f.Name == "" {
			if err := l.toServer.send(raw); err != nil {
				return err
			}
			continue
		}
		if err := w.forward(l, raw, f); err != nil {
			return err
		}
	}
}

// forward passes a message that runs a statement.
func (w *pgWire) forward(l *link, raw []byte, f Frame) error {
	f.At = BeforeSend
	if err := l.hit(f); err != nil {
		return err
	}
	w.push(pgWait{frame: f, sync: f.Name == "Query"})
	if err := l.toServer.send(raw); err != nil {
		return err
	}
	f.At = AfterSend
	return l.hit(f)
}

// startup passes the packets without a type that open a connection.
func (w *pgWire) startup(l *link, in *bufio.Reader) error {
	for {
		head, err := in.Peek(8)
		if err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(head)
		if size < 8 || size > 1<<16 {
			return fmt.Errorf("granttest: a start packet of %d bytes", size)
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(in, raw); err != nil {
			return err
		}
		switch binary.BigEndian.Uint32(raw[4:]) {
		case pgTLS, pgGSS:
			if err := l.toClient.send([]byte{'N'}); err != nil {
				return err
			}
		default:
			return l.toServer.send(raw)
		}
	}
}

func (w *pgWire) replies(l *link) error {
	in := bufio.NewReader(l.server)
	for {
		raw, err := pgMessage(in)
		if err != nil {
			return err
		}
		for _, f := range w.answer(raw) {
			if err := l.hit(f); err != nil {
				return err
			}
		}
		if err := l.toClient.send(raw); err != nil {
			return err
		}
	}
}

// answer assigns a message of the server to the statement that waits for it, and returns the
// frames that rules may see.
func (w *pgWire) answer(raw []byte) []Frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return nil
	}
	head := &w.waiting[0]
	tag := pgTag(raw)
	var frames []Frame
	see := func(at Point) {
		f := head.frame
		f.At, f.Tag = at, tag
		frames = append(frames, f)
	}
	switch raw[0] {
	case pgDataRow:
		if !head.begun {
			head.begun = true
			see(AtReply)
		}
	case pgComplete, pgEmpty, pgSuspend:
		if !head.begun {
			see(AtReply)
		}
		see(AtComplete)
		if head.begun = false; !head.sync {
			w.next()
		}
	case pgError:
		see(AtReply)
		see(AtComplete)
		for len(w.waiting) > 0 && !w.waiting[0].sync {
			w.next() // the server skips everything up to the next Sync
		}
	case pgReady:
		if head.frame.Name == "" {
			head.frame = Frame{Name: "Sync", SQL: w.last}
		}
		see(AtReady)
		w.last = ""
		w.waiting = w.waiting[1:]
	}
	return frames
}

// next drops the head and remembers what it ran, a COMMIT aside, for rules at AtReady.
func (w *pgWire) next() {
	if done := w.waiting[0].frame; !Commit(done) {
		w.last = done.SQL
	}
	w.waiting = w.waiting[1:]
}

func (w *pgWire) push(wait pgWait) {
	w.mu.Lock()
	w.waiting = append(w.waiting, wait)
	w.mu.Unlock()
}

// pgTag reads the command tag or the SQLSTATE of a server's message.
func pgTag(raw []byte) string {
	switch raw[0] {
	case pgComplete:
		tag, _ := pgText(raw[5:])
		return tag
	case pgError:
		for rest := raw[5:]; len(rest) > 1; {
			field := rest[0]
			var text string
			text, rest = pgText(rest[1:])
			if field == 'C' {
				return "ERROR " + text
			}
		}
		return "ERROR"
	}
	return ""
}

// pgMessage reads one message: a type byte, a length, a body.
func pgMessage(in *bufio.Reader) ([]byte, error) {
	head, err := in.Peek(5)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > pgMessageMax {
		return nil, fmt.Errorf("granttest: a message of %d bytes", size)
	}
	raw := make([]byte, size+1)
	_, err = io.ReadFull(in, raw)
	return raw, err
}

// pgText cuts a text that ends in a zero byte.
func pgText(b []byte) (string, []byte) {
	text, rest, _ := bytes.Cut(b, []byte{0})
	return string(text), rest
}
