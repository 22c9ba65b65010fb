package lease

import (
	"fmt"
	"strconv"
	"strings"
)

// Owner is the name of one acquisition in parts. Its text is "worker@host/pid#nonce". The part
// before the '#' is the worker's identity, which its heartbeat carries; the nonce makes the
// acquisition unique. A process id is shown to people and is never evidence of life.
type Owner struct {
	Worker string // role or name of the worker; not empty, without '@' and '#'
	Host   string // without '/' and '#'
	PID    int    // above zero
	Nonce  string // 128 random bits as text, without '#'; empty in an identity
}

// NewOwner returns the owner text of one acquisition. It fails when a part would make the text
// ambiguous.
func NewOwner(worker, host string, pid int, nonce string) (string, error) {
	switch {
	case worker == "" || strings.ContainsAny(worker, "@#"):
		return "", fmt.Errorf("lease: worker %q is empty or holds '@' or '#'", worker)
	case host == "" || strings.ContainsAny(host, "/#"):
		return "", fmt.Errorf("lease: host %q is empty or holds '/' or '#'", host)
	case pid <= 0:
		return "", fmt.Errorf("lease: process id %d is not above zero", pid)
	case nonce == "" || strings.Contains(nonce, "#"):
		return "", fmt.Errorf("lease: nonce %q is empty or holds '#'", nonce)
	}
	return Owner{worker, host, pid, nonce}.String(), nil
}

// String returns "worker@host/pid#nonce", without "#nonce" when there is none.
func (o Owner) String() string {
	s := o.Worker + "@" + o.Host + "/" + strconv.Itoa(o.PID)
	if o.Nonce != "" {
		s += "#" + o.Nonce
	}
	return s
}

// Identity returns the part of an owner text before the '#': the worker whose heartbeat tells
// whether the owner lives. Text without '#' is its own identity.
func Identity(owner string) string {
	identity, _, _ := strings.Cut(owner, "#")
	return identity
}

// ParseOwner takes an owner text or an identity apart. It answers false for text of another
// form, which is legal in a lock: workers in other languages may name themselves differently.
func ParseOwner(text string) (Owner, bool) {
	identity, nonce, marked := strings.Cut(text, "#")
	worker, place, ok := strings.Cut(identity, "@")
	if !ok {
		return Owner{}, false
	}
	host, digits, ok := strings.Cut(place, "/")
	if !ok {
		return Owner{}, false
	}
	pid, err := strconv.Atoi(digits)
	if err != nil || marked && nonce == "" {
		return Owner{}, false
	}
	o := Owner{worker, host, pid, nonce}
	if worker == "" || host == "" || pid <= 0 || strings.Contains(nonce, "#") || o.String() != text {
		return Owner{}, false
	}
	return o, true
}
