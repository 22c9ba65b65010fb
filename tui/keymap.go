package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// keyOff takes the key of a deed away.
const keyOff = "off"

// keymap gives deeds other keys: by "screen/name", or by name for all screens.
type keymap map[string]string

// parseKeys reads the configuration's entries. Every problem is one error.
func parseKeys(list []string) (keymap, []error) {
	m := keymap{}
	var problems []error
	for _, entry := range list {
		name, key, ok := strings.Cut(entry, "=")
		name, key = strings.TrimSpace(name), strings.TrimSpace(key)
		if !ok || name == "" || key == "" {
			problems = append(problems, fmt.Errorf("%q is not NAME=KEY or SCREEN/NAME=KEY", entry))
			continue
		}
		if key == "space" {
			key = " "
		}
		if key != keyOff && !isKey(key) {
			problems = append(problems, wrongKey(entry, key))
			continue
		}
		m[name] = key
	}
	return m, problems
}

// wrongKey says that nobody can press a key of that name.
func wrongKey(entry, key string) error {
	if better := strings.ToLower(key); better != key && isKey(better) {
		return fmt.Errorf("%q: no key is called %q; did you mean %s?", entry, key, better)
	}
	return fmt.Errorf("%q: no key is called %q; write such as x, X, ctrl+x, alt+x, f6, space, or %s",
		entry, key, keyOff)
}

// isKey reports whether a terminal can send a key of that name.
func isKey(name string) bool {
	name = strings.TrimPrefix(name, "alt+")
	if one := []rune(name); len(one) == 1 {
		return unicode.IsGraphic(one[0]) && safetext.Cell(name) == name
	}
	const first, last = -128, 128 // the library's keys without text have numbers below 0
	for k := tea.KeyType(first); k < last; k++ {
		if k != tea.KeyRunes && k.String() == name && name != "" {
			return true
		}
	}
	return false
}

// apply gives the bindings of a layer the keys that the operator wants.
func (m keymap) apply(layer string, list []Binding) []Binding {
	if len(m) == 0 {
		return list
	}
	for i := range list {
		key, ok := m[layer+"/"+list[i].name()]
		if !ok {
			key, ok = m[list[i].name()]
		}
		switch {
		case !ok:
		case key == keyOff:
			list[i].Keys, list[i].Show = nil, ""
		default:
			list[i].Keys, list[i].Show = []string{key}, ""
		}
	}
	return list
}

// globalLayer is the name of the bindings that work on every screen.
const globalLayer = "everywhere"

// CheckKeys reports what is wrong with the configuration of keys: an entry that cannot be read,
// a name that no deed has, a key that would mean two things. The errors are joined.
func CheckKeys(ctx context.Context, list []string) []error {
	m, problems := parseKeys(list)
	if len(m) == 0 {
		return problems
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRoot(newDesk(ctx, Options{Output: io.Discard}.withDefaults()))
	known := map[string]bool{}
	name := func(layer string, bindings []Binding) {
		for _, b := range bindings {
			known[b.name()], known[layer+"/"+b.name()] = true, true
		}
	}
	name(globalLayer, r.global())
	for _, s := range r.screens {
		name(string(s.ID()), s.Bindings())
	}
	for entry := range m {
		if !known[entry] {
			problems = append(problems, fmt.Errorf("no deed is called %q; ? lists them", entry))
		}
	}
	for _, s := range r.screens {
		all := slices.Concat(m.apply(globalLayer, r.global()),
			m.apply(string(s.ID()), s.Bindings()))
		problems = append(problems, conflicts(string(s.ID()), all)...)
	}
	return problems
}

// conflicts names the keys that mean two things in one place.
func conflicts(screen string, list []Binding) []error {
	var problems []error
	taken := map[string]string{}
	for _, b := range list {
		for _, key := range b.Keys {
			if have, ok := taken[key]; ok && have != b.name() {
				problems = append(problems, fmt.Errorf("on screen %s the key %q would mean both %q "+
					"and %q", screen, key, have, b.name()))
			}
			taken[key] = b.name()
		}
	}
	return problems
}
