package inspect

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"rewardctl/grant"
)

// LogAnchor is a head of the operator log to be kept where the database's administrator cannot
// write. Everything up to it can then be proved to be there, as it was.
type LogAnchor struct {
	LogHead
	Key       ed25519.PublicKey // who signed it; nil when it is not signed
	Signature []byte
}

const (
	anchorWord = "rewardctl operator log"
	anchorForm = 1
	// anchorLineMax bounds a line of a file of anchors, in bytes.
	anchorLineMax = 4096
)

// anchorLine is an anchor as a line of JSON.
type anchorLine struct {
	Anchor    string  `json:"anchor"`
	Version   int     `json:"version"`
	Chain     string  `json:"chain"`
	ID        string  `json:"id"`
	Hash      string  `json:"hash"`
	At        string  `json:"at"`
	Key       *string `json:"public_key"`
	Signature *string `json:"signature"`
}

// signed is the text that is signed: a line for each field, none of which can hold a line end.
func (a LogAnchor) signed() []byte {
	return fmt.Appendf(nil, "%s anchor %d\n%s\n%d\n%x\n%s\n", anchorWord, anchorForm, a.Chain, a.ID,
		a.Hash, a.At.UTC().Format(time.RFC3339Nano))
}

// NewLogAnchor signs a head. Without a key it is not signed: then its place alone vouches for it.
func NewLogAnchor(head LogHead, key ed25519.PrivateKey) LogAnchor {
	a := LogAnchor{LogHead: head}
	if key != nil {
		a.Key, _ = key.Public().(ed25519.PublicKey)
		a.Signature = ed25519.Sign(key, a.signed())
	}
	return a
}

// Line is the anchor as one line of JSON, without a line end.
func (a LogAnchor) Line() string {
	line := anchorLine{
		Anchor: anchorWord, Version: anchorForm, Chain: a.Chain,
		ID: strconv.FormatInt(a.ID, 10), Hash: hex.EncodeToString(a.Hash),
		At: a.At.UTC().Format(time.RFC3339Nano),
	}
	if a.Key != nil {
		key := base64.StdEncoding.EncodeToString(a.Key)
		signature := base64.StdEncoding.EncodeToString(a.Signature)
		line.Key, line.Signature = &key, &signature
	}
	text, err := json.Marshal(line)
	if err != nil {
		return "" // texts and a number cannot fail
	}
	return string(text)
}

// ReadLogAnchors reads a file of anchors, one a line, and checks every signature. With a trusted
// key, each anchor has to be signed by exactly that key. It returns a *grant.Rejection that names
// the line which is no anchor, was changed, or is signed by nobody or somebody else, and the
// reader's error.
func ReadLogAnchors(from io.Reader, trusted ed25519.PublicKey) ([]LogAnchor, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, anchorLineMax), anchorLineMax)
	var all []LogAnchor
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		a, problem := parseAnchor(lines.Bytes(), trusted)
		if problem != "" {
			return nil, badAnchor(n, problem)
		}
		all = append(all, a)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, badAnchor(0, "a line is longer than any anchor")
	}
	return all, lines.Err()
}

func badAnchor(line int, problem string) error {
	return &grant.Rejection{
		Field: "anchor", Value: "line " + strconv.Itoa(line), Problem: problem,
		WayOut: "compare the file with another copy of it before you trust either",
	}
}

// parseAnchor reads one line. It returns what is wrong with it, or "".
func parseAnchor(text []byte, trusted ed25519.PublicKey) (a LogAnchor, problem string) {
	var line anchorLine
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&line); err != nil || line.Anchor != anchorWord {
		return a, "it is no anchor of an operator log"
	}
	if line.Version != anchorForm {
		return a, fmt.Sprintf("it has form %d, this program knows %d", line.Version, anchorForm)
	}
	var err [3]error
	a.Chain = line.Chain
	a.ID, err[0] = strconv.ParseInt(line.ID, 10, 64)
	a.Hash, err[1] = hex.DecodeString(line.Hash)
	a.At, err[2] = time.Parse(time.RFC3339Nano, line.At)
	if errors.Join(err[:]...) != nil || a.ID < 0 || len(a.Hash) != 32 {
		return a, "its number, hash or time cannot be read"
	}
	if line.Key == nil || line.Signature == nil {
		if trusted != nil {
			return a, "it is not signed"
		}
		return a, ""
	}
	a.Key, err[0] = base64.StdEncoding.DecodeString(*line.Key)
	a.Signature, err[1] = base64.StdEncoding.DecodeString(*line.Signature)
	switch {
	case errors.Join(err[:2]...) != nil || len(a.Key) != ed25519.PublicKeySize:
		return a, "its key or signature cannot be read"
	case !ed25519.Verify(a.Key, a.signed(), a.Signature):
		return a, "its signature does not fit: the line was changed"
	case trusted != nil && !trusted.Equal(a.Key):
		return a, "it is signed by another key"
	}
	return a, ""
}

// KeyName is a short name of a public key, to compare by eye; "none" without a key.
func KeyName(key ed25519.PublicKey) string {
	if key == nil {
		return "none"
	}
	return base64.RawStdEncoding.EncodeToString(key)[:16]
}
