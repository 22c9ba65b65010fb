package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"rewardctl/inspect"
)

// What looks like one reward that was paid again is told apart from two rewards.
func TestPaidTwice(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	post := func(id int64, event string, amount int64, after time.Duration) inspect.PlayerEntry {
		return inspect.PlayerEntry{
			Type: inspect.EntryPosting, ID: id, EventID: event, Kind: "gems", Amount: amount,
			At: at.Add(after),
		}
	}
	back := post(9, "reverse:2", -50, time.Hour)
	back.Reverses = 2
	twoOf := func(a, b inspect.PlayerEntry) []inspect.PlayerEntry {
		return []inspect.PlayerEntry{a, b}
	}
	for what, c := range map[string]struct {
		entries []inspect.PlayerEntry
		want    string
	}{
		"case":         {twoOf(post(2, "Daily:1", 50, 1), post(1, "daily:1", 50, 0)), "[[1 2]]"},
		"retry":        {twoOf(post(1, "daily:1", 50, 0), post(2, "daily:1-retry2", 50, 1)), "[[1 2]]"},
		"other amount": {twoOf(post(1, "daily:1", 50, 0), post(2, "Daily:1", 51, 1)), "[]"},
		"other day":    {twoOf(post(1, "daily:1", 50, 0), post(2, "daily:2", 50, 1)), "[]"},
		"far apart":    {twoOf(post(1, "d:1", 50, 0), post(2, "D:1", 50, 13*time.Hour)), "[]"},
		"taken back": {
			append(twoOf(back, post(2, "D:1", 50, 1)), post(1, "d:1", 50, 0)), "[]",
		},
		"no posting": {[]inspect.PlayerEntry{{Type: inspect.EntryClaim, ID: 1}}, "[]"},
		"three of them": {
			append(twoOf(post(1, "d:1", 5, 0), post(2, "D:1", 5, 1)), post(3, "d:1 ", 5, 2)),
			"[[1 2 3]]",
		},
	} {
		if got := fmt.Sprint(inspect.PaidTwice("p", c.entries)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
