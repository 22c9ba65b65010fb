package tui

import (
	"encoding/json"
	"time"
)

// saved is what a console remembers for the next one: per screen its sort, filter and columns, and
// the lines that were typed after ":". It is a file of the program around the console.
type saved struct {
	Screens map[string]json.RawMessage `json:"screens"`
	History []string                   `json:"history,omitempty"`
	// Looked is when a console that had shown the home screen was last left, for "since you last
	// looked".
	Looked time.Time `json:"looked,omitzero"`
	// Counts is what the home screen counted then.
	Counts map[string]int64 `json:"counts,omitempty"`
}

// readState reads a state. What cannot be read is as if there were none.
func readState(raw []byte) saved {
	var s saved
	if json.Unmarshal(raw, &s) != nil {
		return saved{}
	}
	return s
}

// screen returns what is remembered of a screen.
func (s saved) screen(id ScreenID) json.RawMessage { return s.Screens[string(id)] }

// state collects what is to be remembered.
func (r *root) state() []byte {
	s := saved{
		Screens: map[string]json.RawMessage{}, History: r.prompt.history, Looked: r.d.now(),
		Counts: r.d.counted,
	}
	if len(s.Counts) == 0 { // nobody looked at the home screen: what was counted last still counts
		s.Looked, s.Counts = r.d.saved.Looked, r.d.saved.Counts
	}
	for _, one := range r.screens {
		if raw := one.State(); len(raw) > 0 && json.Valid(raw) {
			s.Screens[string(one.ID())] = raw
		}
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil
	}
	return raw
}
