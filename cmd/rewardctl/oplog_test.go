package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Text from outside is one code span of one line in a report, whatever it holds.
func TestMarkdownIsACodeSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "(empty)", " ": "(empty)", "a": "`a`", "a`b": "`` a`b ``", "`": "`` ` ``",
		"[x](http://y) @all #1 <b>": "`[x](http://y) @all #1 <b>`",
	} {
		if got := markdown(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	parts := rapid.SampledFrom([]string{
		"`", "``", "```", "\n", "\r", "# x", "|", "<script>", "\x1b[2J", "\u202e", "a", " ", "\\",
	})
	rapid.Check(t, func(rt *rapid.T) {
		got := markdown(strings.Join(rapid.SliceOfN(parts, 0, 8).Draw(rt, "parts"), ""))
		if got == "(empty)" {
			return
		}
		fence := got[:len(got)-len(strings.TrimLeft(got, "`"))]
		inside := strings.TrimSuffix(strings.TrimPrefix(got, fence), fence)
		if strings.ContainsAny(got, "\n\r\x1b\u202e") || strings.HasPrefix(inside, "`") ||
			strings.HasSuffix(inside, "`") || fence == "" {
			rt.Fatalf("%q", got)
		}
		for run := range strings.FieldsFuncSeq(inside, func(r rune) bool { return r != '`' }) {
			if len(run) >= len(fence) {
				rt.Fatalf("%q ends its fence early", got)
			}
		}
	})
}
