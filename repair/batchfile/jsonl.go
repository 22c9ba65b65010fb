package batchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// jsonCells are the cells of a JSON line, in order.
var jsonCells = [...]string{"player_id", "kind", "amount", "subject", "event"}

const (
	jsonPlayer = iota
	jsonKind
	jsonAmount
	jsonSubject
	jsonEvent
)

// numberDigits is how many digits of a number every JSON program keeps.
const numberDigits = 15

// isJSON reports whether the text begins as JSON does. An array is refused: it would have to be
// read whole.
func isJSON(text io.Reader) (bool, error) {
	head := make([]byte, headLen)
	n, err := io.ReadFull(text, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	head = bytes.TrimSpace(head[:n])
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		return true, nil
	case bytes.HasPrefix(head, []byte("[")):
		return false, &FileError{
			Problem: "it is a JSON array", WayOut: "write one object per line: jq -c '.[]' FILE",
		}
	}
	return false, nil
}

// jsonLayout finds the known keys of the first object; the others must have the same.
func (n *naming) jsonLayout(text io.Reader) (layout, error) {
	s := newScanner(text, 0)
	s.json = &jsonLine{naming: n}
	if err := s.next(); err != nil {
		return layout{}, err
	}
	l := layout{
		json: true, width: len(jsonCells), player: jsonPlayer, kind: jsonKind, amount: jsonAmount,
		subject: jsonSubject, event: jsonEvent, ignored: s.json.unknown,
	}
	has := s.json.has
	if !has[jsonSubject] {
		l.subject = -1
	}
	if !has[jsonEvent] {
		l.event = -1
	}
	if l.event >= 0 && l.subject >= 0 {
		l.ignored = append(l.ignored, s.json.called(jsonSubject))
		l.subject = -1
	}
	if err := n.check(has, s.json.names, "key"); err != nil {
		return l, atLine(err, s.start)
	}
	l.keys = has
	return l, nil
}

// jsonLine is what a scanner of JSON lines knows beside its cells.
type jsonLine struct {
	*naming
	keys    *[len(jsonCells)]bool // those of the first line; nil while that is read
	raw     []byte
	has     [len(jsonCells)]bool
	faults  [len(jsonCells)]fault
	unknown []string // names of keys that are not used; only of the first line
	names   []string // of all keys; only of the first line
	values  []string // of all keys, as they stand; only of the first line
}

// nextObject reads one line and cuts the object on it into cells.
func (s *scanner) nextObject() error {
	for {
		if err := s.rawLine(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(s.json.raw)) > 0 {
			break
		}
	}
	if !utf8.Valid(s.json.raw) {
		return &FileError{Line: s.start, Problem: "it is not UTF-8", WayOut: "save it as UTF-8"}
	}
	return s.object()
}

// rawLine reads one physical line without its end.
func (s *scanner) rawLine() error {
	j := s.json
	j.raw = j.raw[:0]
	begun := false
	for {
		c, err := s.read()
		if err == io.EOF && begun {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '\n' && s.cr && !begun {
			s.cr = false // the second half of a line end
			continue
		}
		if !begun {
			begun, s.start = true, s.line
		}
		s.count(c)
		if c == '\n' || c == '\r' {
			return nil
		}
		if j.raw = append(j.raw, c); len(j.raw) > recordMax {
			return &FileError{
				Line: s.start, Problem: fmt.Sprintf("a line is longer than %d bytes", recordMax),
				WayOut: "write one object per line",
			}
		}
	}
}

// object cuts the object on the line into cells.
func (s *scanner) object() error {
	j := s.json
	j.has, j.faults = [len(jsonCells)]bool{}, [len(jsonCells)]fault{}
	var texts [len(jsonCells)][]byte
	dec := json.NewDecoder(bytes.NewReader(j.raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return s.notJSON(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return s.notJSON(err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return s.notJSON(err)
		}
		name, _ := key.(string) // keys are texts, or the decoder has complained
		at := j.place(columnName(name))
		if j.keys == nil {
			j.names, j.values = append(j.names, name), append(j.values, string(raw))
		}
		if at < 0 {
			if j.keys == nil {
				j.unknown = append(j.unknown, name)
			}
			continue
		}
		if j.keys != nil && !j.keys[at] {
			return &FileError{
				Line: s.start, WayOut: "give every line the same keys",
				Problem: fmt.Sprintf("the key %s is here, but not in the first line", j.called(at)),
			}
		}
		if texts[at], j.faults[at] = jsonText(raw, at == jsonAmount); j.has[at] {
			j.faults[at] = fault{"is there twice", "keep one"}
		}
		j.has[at] = true
	}
	if _, err := dec.Token(); err != nil {
		return s.notJSON(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &FileError{
			Line: s.start, Problem: "something follows the object", WayOut: "write one object per line",
		}
	}
	s.text, s.ends = s.text[:0], s.ends[:0]
	for _, text := range texts {
		s.text = append(s.text, text...)
		s.ends = append(s.ends, len(s.text))
	}
	return nil
}

func (s *scanner) notJSON(err error) error {
	problem := "the line is no JSON object"
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		problem += ": " + err.Error()
	}
	return &FileError{
		Line: s.start, Problem: problem,
		WayOut: `write one object per line: {"player_id": "p-1", "kind": "gems", "amount": 10}`,
	}
}

// jsonText reads a value as it stands: a number never becomes a float.
func jsonText(raw []byte, amount bool) ([]byte, fault) {
	switch c := raw[0]; {
	case c == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, fault{"is not a text", "write it in quotes"}
		}
		return []byte(text), fault{}
	case c == 'n':
		return nil, fault{} // null: nothing, like an empty cell
	case c != '-' && (c < '0' || c > '9'):
		return raw, fault{"is neither a text nor a number", "write it in quotes"}
	case amount:
		return raw, fault{}
	case digits(raw) != len(raw) || len(raw) > numberDigits:
		return raw, fault{
			"is a number whose digits programs may change", "write it as a text, in quotes",
		}
	}
	return raw, fault{}
}
