package granttest

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// NewRedisProxy starts a proxy that understands RESP 2 and 3, to the Redis at target. It stops
// when the test ends.
func NewRedisProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	return newProxy(tb, target, func() wire {
		w := &respWire{}
		return wire{requests: w.requests, replies: w.replies}
	})
}

// Command matches a Redis command by its name, in any case.
func Command(name string) func(Frame) bool {
	name = strings.ToUpper(name)
	return func(f Frame) bool { return f.Name == name }
}

// Script matches the run of a Lua script, by EVALSHA or by EVAL. The source must be exactly what
// the client sends.
func Script(source string) func(Frame) bool {
	sum := sha1.Sum([]byte(source))
	sha := hex.EncodeToString(sum[:])
	return func(f Frame) bool {
		switch f.Name {
		case "EVALSHA", "EVALSHA_RO":
			return len(f.Args) > 0 && strings.EqualFold(f.Args[0], sha)
		case "EVAL", "EVAL_RO":
			return len(f.Args) > 0 && f.Args[0] == source
		}
		return false
	}
}

// respWire follows one connection: the requests that wait for their reply, in order.
type respWire struct {
	mu      sync.Mutex
	waiting []Frame
}

func (w *respWire) push(f Frame) {
	w.mu.Lock()
	w.waiting = append(w.waiting, f)
	w.mu.Unlock()
}

func (w *respWire) pop() (Frame, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return Frame{}, false
	}
	f := w.waiting[0]
	w.waiting = w.waiting[1:]
	return f, true
}

func (w *respWire) requests(l *link) error {
	r := &respReader{in: bufio.NewReader(l.client)}
	for {
		raw, words, err := r.request()
		if err != nil {
			return err
		}
		f := Frame{At: BeforeSend}
		if len(words) > 0 {
			f.Name, f.Args = strings.ToUpper(words[0]), words[1:]
		}
		if err := l.hit(f); err != nil {
			return err
		}
		w.push(f)
		if err := l.toServer.send(raw); err != nil {
			return err
		}
		f.At = AfterSend
		if err := l.hit(f); err != nil {
			return err
		}
	}
}

func (w *respWire) replies(l *link) error {
	r := &respReader{in: bufio.NewReader(l.server)}
	for {
		raw, err := r.reply()
		if err != nil {
			return err
		}
		if raw[0] != '>' { // a push message answers no request
			if f, ok := w.pop(); ok {
				for _, at := range []Point{AtReply, AtComplete} {
					f.At = at
					if err := l.hit(f); err != nil {
						return err
					}
				}
			}
		}
		if err := l.toClient.send(raw); err != nil {
			return err
		}
	}
}

// Limits that a well-behaved peer never reaches; they keep a broken frame from eating memory.
const (
	respBulkMax  = 64 << 20
	respItemsMax = 1 << 20
	respDepthMax = 32
)

var errRESP = errors.New("granttest: not a RESP frame")

// respReader cuts a byte stream into RESP frames.
type respReader struct {
	in *bufio.Reader
}

// request reads one command: an array of bulk strings, or an inline command.
func (r *respReader) request() (raw []byte, words []string, err error) {
	first, err := r.in.Peek(1)
	if err != nil {
		return nil, nil, err
	}
	if first[0] != '*' {
		line, err := r.line()
		if err != nil {
			return nil, nil, err
		}
		return line, strings.Fields(string(line)), nil
	}
	return r.value(nil, nil, 0)
}

// reply reads one reply with the attributes that stand before it.
func (r *respReader) reply() ([]byte, error) {
	raw, _, err := r.value(nil, nil, 0)
	return raw, err
}

// value appends one value of any type to raw, and its bulk strings to words.
func (r *respReader) value(raw []byte, words []string, depth int) ([]byte, []string, error) {
	if depth > respDepthMax {
		return nil, nil, fmt.Errorf("%w: nested too deep", errRESP)
	}
	line, err := r.line()
	if err != nil {
		if len(raw) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	raw = append(raw, line...)
	switch line[0] {
	case '+', '-', ':', ',', '_', '#', '(':
		return raw, words, nil
	case '$', '=', '!':
		return r.bulk(raw, words, line)
	case '*', '~', '>':
		return r.items(raw, words, line, 1, depth)
	case '%':
		return r.items(raw, words, line, 2, depth)
	case '|':
		if raw, words, err = r.items(raw, words, line, 2, depth); err != nil {
			return nil, nil, err
		}
		return r.value(raw, words, depth+1)
	}
	return nil, nil, fmt.Errorf("%w: type %q", errRESP, line[0])
}

func (r *respReader) bulk(raw []byte, words []string, line []byte) ([]byte, []string, error) {
	n, err := respLength(line, respBulkMax)
	if err != nil || n < 0 {
		return raw, words, err
	}
	start := len(raw)
	raw = slices.Grow(raw, n+2)[:start+n+2]
	if _, err := io.ReadFull(r.in, raw[start:]); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errRESP, io.ErrUnexpectedEOF)
	}
	if raw[start+n] != '\r' || raw[start+n+1] != '\n' {
		return nil, nil, fmt.Errorf("%w: a bulk string without its end", errRESP)
	}
	return raw, append(words, string(raw[start:start+n])), nil
}

func (r *respReader) items(
	raw []byte, words []string, line []byte, per, depth int,
) ([]byte, []string, error) {
	n, err := respLength(line, respItemsMax)
	for range n * per {
		if err == nil {
			raw, words, err = r.value(raw, words, depth+1)
		}
	}
	return raw, words, err
}

// line reads up to and with the next CR LF.
func (r *respReader) line() ([]byte, error) {
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		if len(line) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("%w: a line without CR LF", errRESP)
	}
	return line, nil
}

// respLength reads the number of a header line; -1 means null.
func respLength(line []byte, limit int) (int, error) {
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil || n < -1 || n > limit {
		return 0, fmt.Errorf("%w: length %q", errRESP, line)
	}
	return n, nil
}
