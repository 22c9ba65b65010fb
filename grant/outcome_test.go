package grant_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"rewardctl/grant"
)

// The list of outcomes is written three times: here, in SQL and in the README. All three must
// name the same words in the same order of precedence.
func TestOutcomeOrderIsSharedWithReadmeAndSQL(t *testing.T) {
	t.Parallel()
	var want []string
	for _, o := range grant.Outcomes() {
		want = append(want, o.String())
	}

	readme := read(t, "../README.md")
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` +\\|.*\\| +\\d+[^|]*\\|$")
	var documented []string
	for _, row := range row.FindAllStringSubmatch(readme, -1) {
		documented = append(documented, row[1])
	}
	if !slices.Equal(documented, want) {
		t.Errorf("README lists %v, want %v", documented, want)
	}

	// In SQL the arms after the first two are the list; those two recognise this very batch.
	function := read(t, "schema/sql/00002_reward_grant.sql")
	arms := regexp.MustCompile(`then '([a-z_]+)'`).FindAllStringSubmatch(function, -1)
	last := -1
	for _, arm := range arms[2:] {
		place := slices.Index(want, arm[1])
		if place < 0 {
			t.Errorf("SQL answers %q, which is not in the list", arm[1])
		}
		if place < last {
			t.Errorf("SQL answers %q after a later outcome", arm[1])
		}
		last = max(last, place)
	}
	if len(arms) < 7 {
		t.Errorf("found %d arms in SQL, want at least 7", len(arms))
	}
}

func TestOutcomeFinalAndWords(t *testing.T) {
	t.Parallel()
	final := []grant.Outcome{grant.Rejected, grant.Mismatch, grant.Replayed, grant.Applied}
	for _, o := range append(grant.Outcomes(), grant.Failed) {
		if got := o.Final(); got != slices.Contains(final, o) {
			t.Errorf("%s: Final() = %v", o, got)
		}
	}
	for _, o := range grant.Outcomes() {
		back, err := grant.ParseOutcome(o.String())
		if err != nil || back != o {
			t.Errorf("ParseOutcome(%q) = %v, %v", o.String(), back, err)
		}
	}
	for _, word := range []string{"", "failed", "Applied", "granted"} {
		if _, err := grant.ParseOutcome(word); err == nil {
			t.Errorf("ParseOutcome(%q) succeeded", word)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
