package tui

import (
	"slices"
	"strings"

	"rewardctl/repair"
)

// The kinds of work that have a home.
const (
	homeByRole  = "auto"
	homeOncall  = "oncall"
	homeSupport = "support"
	homeLiveops = "liveops"
)

// homeScreen returns the screen that a kind of work opens with, or the screen of that name.
func homeScreen(home string) ScreenID {
	switch home {
	case "", homeByRole, homeOncall:
		return ScreenNow
	case homeSupport:
		return ScreenPlayer
	case homeLiveops:
		return ScreenPlans
	}
	return ScreenID(home)
}

// rolesOf returns the database roles that entries ROLE=HOME name.
func rolesOf(entries []string) []string {
	roles := make([]string, len(entries))
	for i, one := range entries {
		roles[i], _, _ = strings.Cut(one, "=")
	}
	return roles
}

// homeFor returns the home of a role: the first entry ROLE=HOME that it is a member of, or the kind
// of work that its rights are enough for.
func homeFor(entries []string, rights repair.Rights) string {
	for _, one := range entries {
		if role, home, _ := strings.Cut(one, "="); slices.Contains(rights.Member, role) {
			return home
		}
	}
	switch {
	case rights.Lacks(repair.WordRelease) == "":
		return homeOncall
	case rights.Lacks(repair.WordPlan) == "":
		return homeLiveops
	}
	return homeSupport
}
