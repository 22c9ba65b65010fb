package inspect

import (
	"path"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "reward:p1", true},
		{"reward:*", "reward:", true},
		{"reward:*", "rewards", false},
		{"*:p?", "reward:p1", true},
		{"*:p?", "reward:p12", false},
		{"[a-c]x", "bx", true},
		{"[^a-c]x", "bx", false},
		{"[^a-c]x", "dx", true},
		{"[]]", "]", true},
		{`\*`, "*", true},
		{`\*`, "x", false},
		{`[\]]`, "]", true},
		{"日?", "日本", true},
		{"a*b*c", "aXbYbc", true},
		{"a*b*c", "aXbYb", false},
		{"[z-a]", "m", true},
		{"[a-]", "-", true},
		{"*/*", "a/b", true},
	} {
		p, err := parsePattern(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		if p.matches(c.text) != c.want {
			t.Errorf("%q on %q: %v", c.glob, c.text, !c.want)
		}
	}
	for _, bad := range []string{"[", "[a", "[^", `\`, `[\`, "[]"} {
		if _, err := parsePattern(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// The standard library's matcher agrees, where the two know the same signs.
func TestPatternAgreesWithPath(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]string{"a", "b", "ab", "*", "?", "[ab]", "[^b]", "x", `\*`})
	rapid.Check(t, func(rt *rapid.T) {
		glob := strings.Join(rapid.SliceOfN(letters, 0, 8).Draw(rt, "glob"), "")
		text := rapid.StringMatching(`[abx*]{0,8}`).Draw(rt, "text")
		want, err := path.Match(glob, text)
		if err != nil {
			rt.Skip()
		}
		p, err := parsePattern(glob)
		if err != nil {
			rt.Fatal(err)
		}
		if p.matches(text) != want {
			rt.Fatalf("%q on %q: want %v", glob, text, want)
		}
	})
}

// A hostile pattern does not take exponential time.
func TestPatternIsNotExponential(t *testing.T) {
	t.Parallel()
	p, err := parsePattern(strings.Repeat("*a", 30) + "b")
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if p.matches(strings.Repeat("a", 5000)) {
		t.Fatal("matched")
	}
	if took := time.Since(started); took > 2*time.Second {
		t.Fatalf("took %s", took)
	}
}
