package tui

import (
	"context"
	"time"

	"rewardctl/repair"
	"rewardctl/tui/paint"
)

// Action is one deed of an operator. The dialog, the preview, the preconditions, the command line
// and the execution are all taken from this one value, so they cannot differ.
type Action interface {
	repair.Action // Word, Target and CLI: what it is called, about what, and the same as a command

	// Observe looks at what the deed is about. It is asked when the dialog opens and again while
	// it is open.
	Observe(ctx context.Context) (Observed, error)
	// NeedsReason reports whether the operator must still say why.
	NeedsReason() bool
	// WithReason returns the action with the operator's reason.
	WithReason(reason string) Action
	// Verb is the word that is typed to confirm, after a part of the target.
	Verb() string
	// Execute does it and says in words what became of it. It is called at most once at a time;
	// calling it again after an unknown answer is safe.
	Execute(ctx context.Context) Answer
}

// Observed is what an action is about, as it stood when it was looked at.
type Observed struct {
	At      time.Time
	Facts   []Fact
	Rows    []Fact   // what it changes one by one, when that is more than one thing; may be long
	Effects []string // what will happen, one sentence each
	Block   string   // why it cannot be done; empty when it can
	next    Action   // the action for what is there now; nil when it is the same
}

// Fact is one line of "you saw" beside "now".
type Fact struct {
	Name string
	// Value is compared and shown. Show, when set, is shown instead, computed for the moment.
	Value string
	Show  func(now time.Time) string
	// Guard facts must not change under the dialog: when one does, the action is refused.
	Guard bool
	Role  paint.Role
}

// text returns what is shown of the fact at a moment.
func (f Fact) text(now time.Time) string {
	if f.Show != nil {
		return f.Show(now)
	}
	return f.Value
}

// AnswerKind says how a deed ended.
type AnswerKind uint8

// The ways a deed ends.
const (
	AnswerDone    AnswerKind = iota // it was done, or had been done before
	AnswerRefused                   // nothing was changed, for a reason
	AnswerFailed                    // nothing was changed: something is broken
	AnswerUnknown                   // it may have been done: doing it again tells
)

// Answer is what became of a deed, in words.
type Answer struct {
	Kind  AnswerKind
	Title string   // one line
	Lines []string // the rest
	Rows  []string // what became of each of many things; may be long
	// Spent is the screen whose marks were acted upon, so that they go; empty for none.
	Spent ScreenID
}

// drift returns the names of guard facts and rows that changed between two looks; "you saw" first.
func drift(saw, now Observed) []string {
	return append(changed(saw.Facts, now.Facts), changed(saw.Rows, now.Rows)...)
}

func changed(saw, now []Fact) []string {
	have := make(map[string]string, len(now))
	for _, f := range now {
		have[f.Name] = f.Value
	}
	var names []string
	for _, f := range saw {
		if f.Guard && have[f.Name] != f.Value {
			names = append(names, f.Name)
		}
	}
	return names
}

// confirmText is what is typed to confirm: the last characters of the target and the verb, such
// as "8841-release". It differs from target to target, so it cannot become a habit.
//
// Deeds that change many say how many instead, such as "812-requeue".
func confirmText(a Action) string {
	if c, ok := a.(interface{ Confirm() string }); ok && c.Confirm() != "" {
		return c.Confirm()
	}
	const tailMax = 4
	target := a.Target()
	end := len(target)
	for end > 0 && !plainLetter(target[end-1]) {
		end--
	}
	start := end
	for start > 0 && end-start < tailMax && plainLetter(target[start-1]) {
		start--
	}
	if start == end {
		return "confirm-" + a.Verb() // nothing in the name can be typed on every keyboard
	}
	return target[start:end] + "-" + a.Verb()
}

func plainLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
