package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Binding ties keys to a deed. The same list drives dispatch, the footer and the help.
type Binding struct {
	Keys []string // as Bubble Tea names them, such as "ctrl+s"
	Show string   // how the keys are shown when not as they are, such as "j k"
	Help string   // a few words, such as "release"
	Note string   // said behind Help, such as "3 marked"; translated already
	// Action runs on the key. Move is for navigation instead: merged keys are repeated by n.
	Action func() tea.Cmd
	Move   func(n int) tea.Cmd
	// Dangerous deeds never start from keys that arrive together, as pasted text does.
	Dangerous bool
	// Changes says that the deed, at its end, changes state: it is marked where it is listed.
	Changes bool
	// Enabled says whether the deed can be done now, and why not. Nil means always.
	Enabled func() (ok bool, reason string)
	// Quiet bindings are in the help but not in the footer.
	Quiet bool
}

func (b Binding) label() string {
	if b.Show != "" {
		return b.Show
	}
	if len(b.Keys) == 0 {
		return ""
	}
	return b.Keys[0]
}

// says are the words for the operator.
func (b Binding) says(d *desk) string {
	more := d.theme.Glyphs.Ellipsis // it asks on: the dots are no part of the words
	name, asks := strings.CutSuffix(b.Help, more)
	words := d.tr(name)
	if asks {
		words += more
	}
	if b.Note != "" {
		words += " " + b.Note
	}
	return words
}

// name is what the configuration calls the deed.
func (b Binding) name() string { return strings.TrimRight(b.Help, "…~ ") }

func (b Binding) enabled() (bool, string) {
	if b.Enabled == nil {
		return true, ""
	}
	return b.Enabled()
}

// find returns the binding of a key, or nil.
func find(list []Binding, key string) *Binding {
	for i := range list {
		if slices.Contains(list[i].Keys, key) {
			return &list[i]
		}
	}
	return nil
}
