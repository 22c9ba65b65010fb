package tui

import (
	"context"
	"time"

	"rewardctl/repair"

	tea "github.com/charmbracelet/bubbletea"
)

// deed is an Action that is put together from its parts, for deeds that differ only in those.
type deed struct {
	word, target, verb string
	reason             string
	settled            bool   // the reason was given before, with what the deed is about
	confirm            string // what is typed, when not the end of the target
	cli                func(reason string) []string
	observe            func(ctx context.Context) (Observed, error)
	execute            func(ctx context.Context, reason string) Answer
	// run is execute for deeds that take long: it tells how far it is.
	run func(ctx context.Context, reason string, tell func(string)) Answer
	// aside has the deed run beside a screen that shows how far it is, which it opens, instead of in
	// its dialog. Nil keeps the dialog open.
	aside func() tea.Cmd
	// looks bounds one look, where that can take long; 0 is readLimit.
	looks time.Duration
	// limit bounds the deed, where that grows with what it is about; 0 is deedLimit.
	limit time.Duration
}

// by fills in what one request tells of a deed: its word, what it is about, its command and what it
// does. The last two work on a copy of the request that has the operator's reason, each on one of
// its own, for a dialog asks for both at once.
func by[Q repair.Action](a deed, req Q, reason func(*Q) *string,
	do func(ctx context.Context, req Q) Answer,
) deed {
	with := func(words string) Q {
		q := req
		*reason(&q) = words
		return q
	}
	a.word = req.Word()
	if a.target == "" {
		a.target = req.Target()
	}
	a.cli = func(words string) []string { return with(words).CLI() }
	a.execute = func(ctx context.Context, words string) Answer { return do(ctx, with(words)) }
	return a
}

// Word names the deed.
func (a deed) Word() string { return a.word }

// Target is what it is about.
func (a deed) Target() string { return a.target }

// CLI is the same as a command.
func (a deed) CLI() []string { return a.cli(a.reason) }

// NeedsReason is true unless the reason was given before: what changes something is recorded with
// it.
func (a deed) NeedsReason() bool { return !a.settled }

// WithReason returns the deed with a reason.
func (a deed) WithReason(reason string) Action {
	a.reason = reason
	return a
}

// Verb is what is typed to confirm, after a part of the target.
func (a deed) Verb() string { return a.verb }

// Confirm is what is typed to confirm; empty for the end of the target and the verb.
func (a deed) Confirm() string { return a.confirm }

// Observe looks at what it is about.
func (a deed) Observe(ctx context.Context) (Observed, error) { return a.observe(ctx) }

// Execute does it.
func (a deed) Execute(ctx context.Context) Answer { return a.execute(ctx, a.reason) }

// long reports whether the deed takes long, and returns how it is then run.
func (a deed) long() func(ctx context.Context, tell func(string)) Answer {
	if a.run == nil {
		return nil
	}
	return func(ctx context.Context, tell func(string)) Answer { return a.run(ctx, a.reason, tell) }
}

// besides returns what opens the screen that the deed runs beside; nil when there is none.
func (a deed) besides() func() tea.Cmd { return a.aside }

// asideDeed is an action that may run beside a screen instead of in its dialog.
type asideDeed interface{ besides() func() tea.Cmd }

// longDeed is an action that takes longer than one answer.
type longDeed interface {
	// long returns how the deed is run; nil when it is a short one.
	long() func(ctx context.Context, tell func(string)) Answer
}

// slowLook is an action that takes long to look at.
type slowLook interface{ lookLimit() time.Duration }

func (a deed) lookLimit() time.Duration { return a.looks }

// slowDeed is an action that takes longer the more it is about, and cannot tell how far it is.
type slowDeed interface{ deedLimit() time.Duration }

func (a deed) deedLimit() time.Duration { return max(a.limit, deedLimit) }

// longLimit bounds what takes long: whoever starts it can stop it.
const longLimit = 7 * 24 * time.Hour
