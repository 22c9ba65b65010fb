package inspect

import (
	"slices"
	"strings"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// selection is a filter made ready.
type selection struct {
	LeaseFilter
	glob  pattern
	names map[string]bool // nil selects all
}

func newSelection(f LeaseFilter) (selection, error) {
	s := selection{LeaseFilter: f}
	for _, name := range f.Resources {
		if s.names == nil {
			s.names = make(map[string]bool, len(f.Resources))
		}
		s.names[name] = true
	}
	reject := func(field, value, problem, wayOut string) error {
		return &grant.Rejection{Field: field, Value: value, Problem: problem, WayOut: wayOut}
	}
	for _, state := range f.States {
		if !slices.Contains(States(), state) {
			return s, reject("state", string(state), "is no state of a lease",
				"choose among "+stateWords())
		}
	}
	switch f.Sort {
	case "", SortResource, SortLeft, SortOwner, SortToken, SortState:
	default:
		return s, reject("sort", string(f.Sort), "is no order of leases",
			"choose among resource, left, owner, token, state")
	}
	if f.Limit < 0 || f.ExpiringWithin < 0 {
		return s, reject("limit", "", "or the time left is below zero", "give zero or more")
	}
	if f.Glob && f.Resource != "" {
		glob, err := parsePattern(f.Resource)
		if err != nil {
			return s, reject("resource", f.Resource, err.Error(), "close it, or write \\[")
		}
		s.glob = glob
	}
	return s, nil
}

func stateWords() string {
	words := make([]string, 0, len(States()))
	for _, s := range States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

func (s selection) needsState() bool { return len(s.States) > 0 || s.Sort == SortState }

// takesName applies what can be told by the name of the resource.
func (s selection) takesName(resource string) bool {
	if s.names != nil {
		return s.names[resource]
	}
	if s.glob != nil {
		return s.glob.matches(resource)
	}
	return s.Resource == "" || s.Resource == resource
}

// takes applies everything but the state.
func (s selection) takes(e *lease.Entry) bool {
	switch {
	case !s.takesName(e.Resource):
		return false
	case s.ExpiringWithin > 0 && (e.NoExpiry || e.Left > s.ExpiringWithin):
		return false
	case s.Owner == "" || s.Owner == e.Owner:
		return true
	}
	worker := lease.Identity(e.Owner)
	name, _, _ := strings.Cut(worker, "@")
	return e.Owner != "" && (s.Owner == worker || s.Owner == name)
}
