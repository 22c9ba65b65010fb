// Package safetext makes text from outside harmless before it is drawn.
//
// Player names, owners, reasons and server messages come from Redis, PostgreSQL and files. Printed
// raw they can move the cursor, repaint a dialog, set the clipboard or hide what follows. Cell
// replaces every such character by a visible one, so that nothing acts and nothing disappears.
// The width functions measure and cut text that Cell has made safe, with or without our own
// colour sequences in it.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The visible substitutes.
const (
	newlineMark   = '⏎'
	invisibleMark = '·'
	spaceMark     = '␣'
	brokenMark    = utf8.RuneError // �
	dottedCircle  = '◌'            // carries a combining mark that has no base
	marksMax      = 3              // combining marks kept per base character
)

// Cell returns s with every character that could act on a terminal, or that cannot be seen,
// replaced by a visible substitute: control pictures such as ␛ for C0 controls, ⏎ for line ends,
// · for bidirectional and zero-width characters, ␣ for spaces that only look like one, � for C1
// controls and for bytes that are not UTF-8. The result is one line and holds no control byte.
// Plain ASCII is returned unchanged and without allocation.
func Cell(s string) string {
	if plainASCII(s) || allDrawn(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	c := cleaner{out: &b}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		c.put(r)
		i += size
	}
	return b.String()
}

// Dirty reports whether Cell changes s: whether s holds characters that an operator should be
// told about.
func Dirty(s string) bool { return !plainASCII(s) && Cell(s) != s }

// Lines returns text as safe lines: it splits at line ends and makes each line safe by Cell. It
// is for long messages that are shown on a page of their own.
func Lines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	parts := strings.Split(text, "\n")
	for i, part := range parts {
		parts[i] = Cell(strings.ReplaceAll(part, "\t", "    "))
	}
	return parts
}

type cleaner struct {
	out   *strings.Builder
	base  bool // a visible base character stands before
	marks int  // combining marks on that base so far
}

func (c *cleaner) put(r rune) {
	if sub, ok := substitute(r); ok {
		c.out.WriteRune(sub)
		c.base, c.marks = true, 0
		return
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		c.mark(r)
		return
	}
	if !c.base && unicode.Is(unicode.Mc, r) {
		c.out.WriteRune(dottedCircle)
	}
	c.out.WriteRune(r)
	c.base, c.marks = true, 0
}

// mark writes a combining mark. A mark without a base would join the character that stands before
// the cell on the screen, and a tower of marks covers the lines around it.
func (c *cleaner) mark(r rune) {
	switch {
	case !c.base:
		c.out.WriteRune(dottedCircle)
		c.out.WriteRune(r)
		c.base, c.marks = true, 1
	case c.marks >= marksMax:
		c.out.WriteRune(invisibleMark)
		c.base, c.marks = true, 0
	default:
		c.out.WriteRune(r)
		c.marks++
	}
}

// substitute returns the visible character that stands for r, and whether there is one.
func substitute(r rune) (rune, bool) {
	switch {
	case r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029:
		return newlineMark, true
	case r < 0x20:
		return 0x2400 + r, true // control pictures: ␀ ␁ … ␛ …
	case r < 0x7f:
		return r, false
	case r == 0x7f:
		return '␡', true
	case r < 0xa0 || r == utf8.RuneError:
		return brokenMark, true
	case r == 0x3000: // the ideographic space belongs to CJK text and is seen as wide
		return r, false
	case unicode.Is(unicode.Zs, r):
		return spaceMark, true
	case invisible(r):
		return invisibleMark, true
	case !assignedOrPrivate(r):
		return brokenMark, true
	}
	return r, false
}

// invisible reports whether r draws nothing of its own, or changes how its neighbours are drawn
// in ways on which terminals disagree.
func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones: one or two columns, depending on who asks
		return true
	case r == 0x2800: // braille blank
		return true
	case r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff:
		return true // Hangul vowels and finals outside a composed syllable
	}
	return false
}

// assignedOrPrivate is false for code points that Unicode has not assigned: their width is
// anybody's guess.
func assignedOrPrivate(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Co)
}

// allDrawn reports whether s holds nothing but plain ASCII and what screens are drawn with.
func allDrawn(s string) bool {
	for i := 0; i < len(s); {
		if s[i] >= 0x20 && s[i] <= 0x7e {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !drawn(r) {
			return false
		}
		i += n
	}
	return true
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
