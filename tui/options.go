package tui

import (
	"context"
	"io"
	"time"

	"rewardctl/tui/paint"
)

// Size is a terminal's size in cells.
type Size struct{ Width, Height int }

// Options say what the console shows and where. Inspector, Input and Output are required.
type Options struct {
	Inspector Inspector
	// Operator carries out deeds. Nil makes the console read-only.
	Operator Operator

	Context     string // the name of the context, such as "eu-live"
	Environment string // its environment word, such as "prod": shown at both ends of every screen
	User        string // the operator's name, recorded as actor
	ReadOnly    bool   // deeds are shown as disabled, with this reason
	// Flags lead a command of this program to what the console shows, such as --context eu-live:
	// they stand in every command that is shown or copied, which without them would be carried out
	// wherever the shell leads. Empty when a shell leads here anyway.
	Flags     []string
	Endpoints string // what the console talks to, shown in the help; never with secrets

	// LeaseTTL is the configured time of a lease, the full scale of the heat bar; 0 means 30 s.
	LeaseTTL time.Duration
	// AmountMax is the limit of one grant, shown in the form; 0 means that none is shown.
	AmountMax int64
	// Refresh is the time between two reads of what is on the screen; default 1 s.
	Refresh time.Duration
	// Home is the screen to open with, by its name, or a kind of work that has one: "oncall" (the
	// default) opens now, "support" player, "liveops" plans. With "auto" the database role says
	// which, as soon as it is known: see Roles.
	Home string
	// Roles say what "auto" means for members of a database role, as ROLE=HOME; the first that
	// fits counts. Where none does, a role that may neither release nor plan is support's, one that
	// may plan but not release live-ops', any other on-call's.
	Roles []string
	// Contexts are those of the configuration. CanOpen says whether one of them can be opened in
	// place of this; it may read files. SwitchTo is told which one was chosen, just before the
	// console ends: opening it is the caller's. Nil keeps the console where it is.
	Contexts []Target
	CanOpen  func(name string) error
	SwitchTo func(name string)
	// Protected contexts are changed only while a write window is open, which the operator opens
	// for a reason and which closes by itself.
	Protected bool
	// Language is one of text.Languages; empty means English.
	Language string
	// Keys gives deeds other keys, as "NAME=KEY" or "SCREEN/NAME=KEY"; see CheckKeys.
	Keys []string
	// Mouse lets the terminal's mouse scroll and select from the start; a key toggles it.
	Mouse bool
	// Commands is the grammar of the command line for ":". Nil leaves the screens' own words.
	Commands Commands
	// RunAudit runs an audit, keeps it and returns its number. Nil disables that.
	RunAudit func(ctx context.Context, ask AuditAsk, tell func(AuditTold)) (
		run int64, err error)
	// Plans makes plans of files and carries them out; nil leaves its screen empty.
	Plans Planner
	// Reverser takes postings back; nil disables that.
	Reverser Reverser
	// Drills plays scripted failures; nil means that there are none.
	Drills Drills
	// Export writes rows to a file and returns its path. Nil disables exports.
	Export func(ctx context.Context, rows Export) (path string, err error)
	// State is what SaveState was given by an earlier console; nil starts afresh. SaveState is
	// called once, at the end. Nil forgets.
	State     []byte
	SaveState func(state []byte)

	// Now tells this machine's time, with a monotonic reading; default time.Now.
	Now func() time.Time

	Color paint.Mode // see paint.Detect
	ASCII bool       // draw with ASCII only
	// NoSync leaves out the marks of synchronized output, for terminals that print them.
	NoSync bool
	// Multiplexer is "tmux", "screen" or empty: how the clipboard sequence is wrapped.
	Multiplexer string
	// Clipboard puts text where the operator's paste takes it from, such as the buffer of the
	// multiplexer, which drops what programs ask of the terminal behind it. Nil, or an error, has
	// the terminal asked.
	Clipboard func(ctx context.Context, text string) error

	// Input and Output are the terminal, usually os.Stdin and os.Stdout. Whether they are one is
	// the caller's question.
	Input  io.Reader
	Output io.Writer
	// Sizes reports the size of a terminal that is no file of this system, first and after each
	// change. Nil means that Output is asked.
	Sizes <-chan Size
	// Handled is called after each message of the program was handled, with what it was: a way to
	// measure, and to wait for, what the console does. Nil is fine.
	Handled func(msg any)
	// Timed is told how long each "update" and each "view" took: a way to measure. Nil is fine.
	Timed func(part string, took time.Duration)
	// Log receives the stack of a crash; nil discards it. The returned *CrashError has it too.
	Log io.Writer
}

const (
	refreshDefault  = time.Second
	leaseTTLDefault = 30 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refresh <= 0 {
		o.Refresh = refreshDefault
	}
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = leaseTTLDefault
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Environment == "" {
		o.Environment = "unnamed"
	}
	return o
}
