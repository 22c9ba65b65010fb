package safetext

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// blanks serves padding without allocation.
const blanks = "                                                                " +
	"                                                                "

// Width returns the number of columns that s takes on a terminal. Colour sequences take none.
// It adds up the widths of the characters, as terminals do. Counting by grapheme cluster would
// give fewer columns for Thai and Indic text than tmux and most terminals use; the emoji
// sequences on which the two ways differ are taken apart by Cell.
func Width(s string) int {
	cols := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c <= 0x7e {
			cols++
			i++
			continue
		}
		if n := sequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if w := usual(r); w > 0 {
			cols += w
		} else {
			cols += ansi.StringWidthWc(s[i : i+n])
		}
		i += n
	}
	return cols
}

// usual returns the width of a character that our screens and most of the world's texts are made
// of; 0 for others, which the library knows. The library's own table takes milliseconds to make:
// a console that shows none of those opens without it.
func usual(r rune) int {
	switch {
	case drawn(r), r >= 0xa1 && r < 0x300 && r != 0xad, // Latin
		r >= 0x2010 && r <= 0x2027, // dashes, dots
		r >= 0x2190 && r <= 0x22ff, // arrows, mathematics
		r >= 0x2713 && r <= 0x2718: // check marks
		return 1
	case r >= 0xac00 && r <= 0xd7a3, r >= 0x4e00 && r <= 0x9fff, // Hangul, Han
		r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa: // Kana
		return 2
	}
	return 0
}

// drawn reports whether r is one of the lines, blocks and shapes that screens are drawn with: they
// are seen, harmless and one column wide, and there are thousands of them on a screen.
func drawn(r rune) bool { return r >= 0x2500 && r <= 0x25fc }

// Spaces returns n spaces; none when n is not above zero.
func Spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	default:
		return strings.Repeat(" ", n)
	}
}

// Cut returns s, shortened to at most w columns. A shortened text ends in tail, such as "…".
// Colour sequences are kept, also those behind the cut, so that a colour is always ended.
func Cut(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return cut(s, w, tail)
}

// cut is Cut for a text that is too wide.
func cut(s string, w int, tail string) string {
	if plainASCII(s) {
		return cutASCII(s, w, tail)
	}
	if Width(tail) > w {
		tail = ""
	}
	return cutAny(s, w-Width(tail), tail)
}

// cutAny keeps the first w columns of s, then tail, then the colour sequences of the rest.
func cutAny(s string, w int, tail string) string {
	var b strings.Builder
	b.Grow(len(s))
	col, full := 0, false
	for i := 0; i < len(s); {
		if n := sequence(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		cols := ansi.StringWidthWc(s[i : i+n])
		if !full && col+cols > w {
			full = true
			b.WriteString(tail)
		}
		if !full {
			b.WriteString(s[i : i+n])
			col += cols
		}
		i += n
	}
	return b.String()
}

// sequence returns the length of the control sequence that s starts with; 0 when there is none.
func sequence(s string) int {
	if len(s) < 2 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

func cutASCII(s string, w int, tail string) string {
	t := Width(tail)
	if t > w {
		return s[:w]
	}
	return s[:w-t] + tail
}

// Fit returns s at exactly w columns: cut with tail when longer, filled with spaces on the right
// when shorter.
func Fit(s string, w int, tail string) string {
	s, have := fitting(s, w, tail)
	if have >= w {
		return s
	}
	return s + Spaces(w-have)
}

// fitting returns s at no more than w columns, and how many those are.
func fitting(s string, w int, tail string) (string, int) {
	if w <= 0 {
		return "", 0
	}
	have := Width(s)
	if have > w {
		s = cut(s, w, tail)
		have = Width(s)
	}
	return s, have
}

// FitRight is Fit with the fill on the left, for numbers.
func FitRight(s string, w int, tail string) string {
	s, have := fitting(s, w, tail)
	if have >= w {
		return s
	}
	return Spaces(w-have) + s
}

// AppendFit appends s at exactly w columns to b, as Fit does, or as FitRight when right is set.
func AppendFit(b []byte, s string, w int, right bool, tail string) []byte {
	s, have := fitting(s, w, tail)
	if right {
		return append(append(b, Spaces(w-have)...), s...)
	}
	return append(append(b, s...), Spaces(w-have)...)
}

// Skip returns s without its first n columns. A wide character that is cut in
// half leaves a space. Colour sequences are kept.
func Skip(s string, n int) string {
	if n <= 0 {
		return s
	}
	if plainASCII(s) {
		if n >= len(s) {
			return ""
		}
		return s[n:]
	}
	var b strings.Builder
	b.Grow(len(s))
	col := 0
	for i := 0; i < len(s); {
		if seq := sequence(s[i:]); seq > 0 {
			b.WriteString(s[i : i+seq])
			i += seq
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		cols := ansi.StringWidthWc(s[i : i+size])
		switch {
		case col >= n && (col > n || cols > 0 || b.Len() > 0):
			b.WriteString(s[i : i+size])
		case col < n && col+cols > n:
			b.WriteString(Spaces(col + cols - n))
		}
		col += cols
		i += size
	}
	return b.String()
}

// Wrap breaks plain safe text into lines of at most w columns, at spaces only: a hyphen belongs to
// its word, since "--reason" in two pieces is another command. Longer words are cut.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range strings.Split(s, " ") {
		switch {
		case line == "" && len(lines) == 0 && Width(word) <= w:
			line = word
			lines = append(lines, line)
			continue
		case len(lines) > 0 && Width(line)+1+Width(word) <= w:
			line += " " + word
			lines[len(lines)-1] = line
			continue
		}
		for Width(word) > w {
			part := Cut(word, w, "")
			if part == "" {
				part = word // a character that is wider than the line
			}
			lines = append(lines, part)
			word = word[len(part):]
		}
		line = word
		lines = append(lines, line)
	}
	return lines
}
