package inspect

import "time"

// Level says what a failed check means.
type Level string

// The levels of a check.
const (
	Gate    Level = "gate"    // granting is refused, or must be, until it is fixed
	Warning Level = "warning" // granting is correct, something else suffers
)

// Status is the result of a check.
type Status string

// The results of a check.
const (
	Pass   Status = "pass"
	Fail   Status = "fail"
	Unseen Status = "unseen" // could not be seen: server down, or the account may not look
)

// Check is one thing that Doctor looked at.
type Check struct {
	Name   string // such as "ledger unique key"
	Level  Level
	Status Status
	Value  string // what was found
	Why    string // why it matters, one sentence
	Fix    string // what to do exactly; empty when it passed
}

// Diagnosis is everything that Doctor looked at.
type Diagnosis struct {
	At      time.Time // this machine's clock
	Checks  []Check
	Missing []Missing
}

// Refuses reports whether a gate failed: granting must not go on.
func (d Diagnosis) Refuses() bool { return d.count(Gate, Fail) > 0 }

// Healthy reports whether every check was seen and passed.
func (d Diagnosis) Healthy() bool {
	for _, c := range d.Checks {
		if c.Status != Pass {
			return false
		}
	}
	return len(d.Missing) == 0
}

func (d Diagnosis) count(level Level, status Status) int {
	n := 0
	for _, c := range d.Checks {
		if c.Level == level && c.Status == status {
			n++
		}
	}
	return n
}
