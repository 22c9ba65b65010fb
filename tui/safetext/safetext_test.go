package safetext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestCell(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"plain", "player-42", "player-42"},
		{"clear screen", "a\x1b[2Jb", "a␛[2Jb"},
		{"question", "\x1b[6n", "␛[6n"},
		{"open clipboard sequence", "x\x1b]52;c;AAAA and more", "x␛]52;c;AAAA and more"},
		{"closed link", "\x1b]8;;http://x\x07t\x1b]8;;\x07", "␛]8;;http://x␇t␛]8;;␇"},
		{"device control", "\x1bP1$r\x1b\\z", "␛P1$r␛\\z"},
		{"C1 as UTF-8", "a\u009b2Jb", "a�2Jb"},
		{"C1 as a byte", "a\x9b2Jb", "a�2Jb"},
		{"return and bell", "ok\rgone\a", "ok␍gone␇"},
		{"line ends", "a\nb\u2028c\u2029d\u0085e", "a⏎b⏎c⏎d⏎e"},
		{"bidi", "abc\u202etxt.exe", "abc·txt.exe"},
		{"zero width", "a\u200bb\ufeffc\u2060d", "a·b·c·d"},
		{"soft hyphen and filler", "a\u00adb\u3164c", "a·b·c"},
		{"look-alike space", "a\u00a0b", "a␣b"},
		{"delete", "a\x7fb", "a␡b"},
		{"not UTF-8", "a\xffb\xc3", "a�b�"},
		{"korean and emoji", "미라 日本 😀", "미라 日本 😀"},
		{"combining", "e\u0301a", "e\u0301a"},
		{"mark without base", "\u0301a", "◌\u0301a"},
		{"tag characters", "a\U000e0041b", "a·b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Cell(c.in); got != c.want {
				t.Errorf("Cell(%q) = %q, want %q", c.in, got, c.want)
			}
			if Dirty(c.in) != (c.in != c.want) {
				t.Errorf("Dirty(%q) = %v", c.in, Dirty(c.in))
			}
		})
	}
}

func TestCellLeavesNoEmojiOnWhichTerminalsDisagree(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "⚠\ufe0f", "🇰🇷", "한국어", "\u1112\u1161\u11ab", "e\u0301",
	} {
		safe := Cell(raw)
		if a, b := ansi.StringWidth(safe), ansi.StringWidthWc(safe); a != b {
			t.Errorf("%q: %d columns by cluster, %d by character", safe, a, b)
		}
	}
}

func TestCellLimitsTowersOfMarks(t *testing.T) {
	t.Parallel()
	got := Cell("a" + strings.Repeat("\u0301", 40) + "b")
	run := 0
	for _, r := range got {
		if unicode.Is(unicode.Mn, r) {
			run++
		} else {
			run = 0
		}
		if run > marksMax {
			t.Fatalf("more than %d marks on one base: %q", marksMax, got)
		}
	}
	if !strings.HasSuffix(got, "b") {
		t.Errorf("what follows is lost: %q", got)
	}
}

func TestLinesKeepsLineEnds(t *testing.T) {
	t.Parallel()
	got := Lines("one\r\n\ttwo\x1b[2J\nthree")
	want := []string{"one", "    two␛[2J", "three"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("Lines = %q, want %q", got, want)
	}
}

// harmless fails the test when safe holds anything that acts on a terminal or hides text.
func harmless(t testing.TB, raw, safe string) {
	if !utf8.ValidString(safe) {
		t.Fatalf("Cell(%q) is not UTF-8: %q", raw, safe)
	}
	for _, r := range safe {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 {
			t.Fatalf("Cell(%q) holds %U: %q", raw, r, safe)
		}
	}
	if ansi.Strip(safe) != safe {
		t.Fatalf("Cell(%q) holds a sequence: %q", raw, safe)
	}
	if got := Cell(safe); got != safe {
		t.Fatalf("Cell is not stable: %q then %q", safe, got)
	}
	if utf8.RuneCountInString(safe) < utf8.RuneCountInString(raw) {
		t.Fatalf("Cell(%q) lost characters: %q", raw, safe)
	}
}

func FuzzCell(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "\x1b[31m", "\u009b", "\x9b", "한국어", "e\u0301", "\u202e", "👨\u200d👩",
		"🇰🇷", "❤\ufe0f", "👍🏽", "\u1112\u1161\u11ab", "\xff\xfe", "क\u094dष", "ก\u0e33",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		harmless(t, raw, Cell(raw))
	})
}

func TestCellIsHarmlessForAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.String().Draw(t, "raw")
		safe := Cell(raw)
		for _, r := range safe {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("Cell(%q) holds %U", raw, r)
			}
		}
	})
}

func TestFitIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Cell(rapid.String().Draw(t, "s"))
		w := rapid.IntRange(0, 40).Draw(t, "w")
		for _, tail := range []string{"", "…", "..."} {
			if got := Width(Fit(s, w, tail)); got != w {
				t.Fatalf("Fit(%q, %d, %q) is %d wide", s, w, tail, got)
			}
			if got := Width(FitRight(s, w, tail)); got != w {
				t.Fatalf("FitRight(%q, %d, %q) is %d wide", s, w, tail, got)
			}
		}
		if got, want := Width(Skip(s, w)), max(0, Width(s)-w); got != want {
			t.Fatalf("Skip(%q, %d) is %d wide, want %d", s, w, got, want)
		}
	})
}

// Width is a fast way to what the terminal's own rules say.
func TestWidthIsThatOfTerminals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(
			rapid.StringMatching(`[ -~]{0,8}`), rapid.String(),
			rapid.SampledFrom([]string{
				"\x1b[0m", "\x1b[1;38;5;74m", "─", "│", "╭", "█", "░", "▲", "●", "▶", "…", "≠", "미라", "日本",
				"👩‍🚀", "é", "◌́", "⏎", "␛",
			}),
		)).Draw(t, "parts")
		s := ""
		for _, part := range parts {
			if !strings.HasPrefix(part, "\x1b[") {
				part = Cell(part)
			}
			s += part
		}
		if got, want := Width(s), ansi.StringWidthWc(s); got != want {
			t.Fatalf("%q is %d wide, terminals say %d", s, got, want)
		}
		for w := range 12 {
			if got := Width(Fit(s, w, "…")); got != w {
				t.Fatalf("%q fits %d columns at %d", s, w, got)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"", 5, ""},
		{"one two", 10, "one two"},
		{"one two", 5, "one|two"},
		{"a --reason b", 8, "a|--reason|b"},
		{"abcdefghij k", 4, "abcd|efgh|ij k"},
		{"日本語 日本", 4, "日本|語|日本"},
		{"a  b", 9, "a  b"},
	} {
		if got := strings.Join(Wrap(c.in, c.w), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestWrapLosesNothingAndStaysWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Cell(rapid.String().Draw(t, "s"))
		w := rapid.IntRange(2, 30).Draw(t, "w")
		lines := Wrap(s, w)
		for _, line := range lines {
			if Width(line) > w {
				t.Fatalf("%q is wider than %d", line, w)
			}
		}
		strip := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := strip(strings.Join(lines, "")); got != strip(s) {
			t.Fatalf("Wrap(%q, %d) lost text: %q", s, w, lines)
		}
	})
}

func BenchmarkCellASCII(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = Cell("reward:daily:player-884112")
	}
}

func BenchmarkFitASCII(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = Fit("worker-12@host-3/4411", 24, "…")
	}
}

// What is taken for one column wide and harmless without a look is so.
func TestDrawnGlyphsAreOneColumnAndSafe(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !drawn(r) {
			continue
		}
		if _, replaced := substitute(r); replaced || ansi.StringWidthWc(string(r)) != 1 ||
			unicode.In(r, unicode.M) {
			t.Errorf("%U is not safe, or not one column wide", r)
		}
	}
}

// What is measured without the library is as wide as the library says.
func TestUsualWidths(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if w := usual(r); w > 0 && ansi.StringWidthWc(string(r)) != w {
			t.Errorf("%U is %d wide, not %d", r, ansi.StringWidthWc(string(r)), w)
		}
	}
}
