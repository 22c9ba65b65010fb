package tui

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// ScreenID names a screen, as ":" commands and Options.Home do.
type ScreenID string

// The screens.
const (
	ScreenNow       ScreenID = "now"
	ScreenLeases    ScreenID = "leases"
	ScreenTokens    ScreenID = "tokens"
	ScreenRefused   ScreenID = "refused"
	ScreenPlayer    ScreenID = "player"
	ScreenGrant     ScreenID = "grant"
	ScreenAudits    ScreenID = "audits"
	ScreenFindings  ScreenID = "findings"
	ScreenPlans     ScreenID = "plans"
	ScreenApprovals ScreenID = "approvals"
	ScreenPlanRows  ScreenID = "plan"
	ScreenFile      ScreenID = "file"
	ScreenPlan      ScreenID = "overview"
	ScreenOutbox    ScreenID = "outbox"
	ScreenLog       ScreenID = "log"
	ScreenDoctor    ScreenID = "doctor"
	ScreenDrills    ScreenID = "drills"
)

// Args are what a screen is opened with, such as {"player": "p-1"}.
type Args map[string]string

// equal reports whether both say the same.
func (a Args) equal(b Args) bool { return maps.Equal(a, b) }

// without returns a copy that lacks some names.
func (a Args) without(names ...string) Args {
	out := Args{}
	for name, value := range a {
		if !slices.Contains(names, name) {
			out[name] = value
		}
	}
	return out
}

// child is a screen that is reached from another one, and has no place among the tabs.
type child interface {
	// Parent names the screen that it belongs to; empty when it stands for itself.
	Parent() ScreenID
}

// crumb is the line above a screen: where we are, what is filtered, how much there is.
type crumb struct {
	path   string
	filter string
	counts string
}

// seen says how old what a screen shows is.
type seen struct {
	at      time.Time // zero: nothing was read yet
	problem string    // why it is not newer; empty when all is well
	live    bool      // it is read again and again by itself
	paused  bool      // the operator stopped that
	denied  bool      // the database role may not read it
}

// screen is one page of the console. Its methods are called by the root only, never at once.
type screen interface {
	typist
	ID() ScreenID
	Title() string
	// Open shows the screen. ctx ends when another screen is shown.
	Open(ctx context.Context, args Args) tea.Cmd
	Update(msg tea.Msg) tea.Cmd // no waiting, no IO
	View(w, h int) string       // exactly h lines of exactly w columns
	Bindings() []Binding
	Crumb() crumb
	Seen() seen
	// State is what is remembered of the screen: sort, filter.
	State() json.RawMessage
}

// filterer is a screen whose rows can be filtered with "/".
type filterer interface {
	Filter() string
	SetFilter(text string)
}

// clicker is a screen whose rows can be clicked.
type clicker interface {
	// Click puts the cursor on what is at x, y of the body.
	Click(x, y int)
}

// unfocuser is a screen with text fields: esc takes the keys away from them first.
type unfocuser interface {
	// Unfocus reports whether a text field had the keys.
	Unfocus() bool
}

// dataMsg says that snapshots were replaced.
type dataMsg struct{}

// tickMsg lets time pass: countdowns are drawn anew.
type tickMsg struct{}

// backMsg says that somebody is there again: what was read less often meanwhile is read now.
type backMsg struct{}
