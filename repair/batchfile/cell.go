package batchfile

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// hiddenRune reports characters that nobody sees or that move other text about: controls,
// formats such as zero-width and bidirectional marks, line and paragraph separators, fillers,
// variation selectors, and the mark that stands for damaged text.
func hiddenRune(c rune) bool {
	if c < 0x80 {
		return c < 0x20 || c == 0x7f
	}
	switch c {
	case utf8.RuneError, 0x2800: // damaged text, a braille cell without dots
		return true
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// runeName is what people call the hidden characters that tables really contain.
func runeName(c rune) string {
	switch c {
	case '\t':
		return " (tab)"
	case '\n', '\r', 0x85, 0x2028, 0x2029:
		return " (line end)"
	case 0xa0, 0x202f:
		return " (no-break space)"
	case 0x3000:
		return " (ideographic space)"
	case 0x200b:
		return " (zero-width space)"
	case 0x200c, 0x200d:
		return " (zero-width joiner or non-joiner)"
	case 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069:
		return " (direction mark)"
	case 0x2060:
		return " (word joiner)"
	case 0xfeff:
		return " (byte-order mark)"
	case utf8.RuneError:
		return " (damaged text)"
	case ' ':
		return " (blank)"
	}
	return ""
}

// trim drops outer white space, no-break and ideographic spaces included.
func trim(cell []byte) []byte {
	if len(cell) == 0 || (cell[0] > ' ' && cell[0] < 0x7f &&
		cell[len(cell)-1] > ' ' && cell[len(cell)-1] < 0x7f) {
		return cell
	}
	return bytes.TrimFunc(cell, unicode.IsSpace)
}

// fault is what is wrong with a cell; the zero value means nothing.
type fault struct {
	problem, wayOut string
}

func (f fault) found() bool { return f.problem != "" }

const asText = "the digits are lost: format the column as text and fill it again"

// idFault judges a trimmed id. blanks says whether single blanks inside are allowed.
func idFault(id []byte, blanks bool) fault {
	if len(id) == 0 {
		return fault{"is empty", "fill it in or delete the row"}
	}
	if f := hiddenFault(id, blanks); f.found() {
		return f
	}
	switch {
	case scientific(id):
		return fault{"is a number in scientific notation", asText}
	case decimalZeros(id):
		return fault{"is a number with decimals", asText}
	case grouped(id):
		return fault{"is a number with separators", "format the column as text, digits only"}
	}
	return fault{}
}

func hiddenFault(id []byte, blanks bool) fault {
	position := 0
	var before rune
	for i := 0; i < len(id); {
		c, size := rune(id[i]), 1
		if c >= 0x80 {
			c, size = utf8.DecodeRune(id[i:])
		}
		position++
		blank := unicode.IsSpace(c) && !(blanks && c == ' ' && before != ' ')
		if blank || (c != ' ' && hiddenRune(c)) {
			return fault{
				fmt.Sprintf("contains U+%04X%s at character %d", c, runeName(c), position),
				"take that character out",
			}
		}
		before = c
		i += size
	}
	return fault{}
}

// digits returns how many ASCII digits a text begins with.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func unsigned(s []byte) []byte {
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// scientific knows 7.65612E+16, 7,65612E+16, 7.6e16 and 7E+16. A text such as 12e5 may be an id
// in hexadecimal, so without a point or a sign it is not one.
func scientific(s []byte) bool {
	s = unsigned(s)
	n := digits(s)
	if n == 0 {
		return false
	}
	s = s[n:]
	telling := false
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') {
		s = s[1:]
		s = s[digits(s):]
		telling = true
	}
	if len(s) < 2 || (s[0] != 'e' && s[0] != 'E') {
		return false
	}
	exponent := unsigned(s[1:])
	telling = telling || len(exponent) < len(s)-1
	return telling && len(exponent) > 0 && digits(exponent) == len(exponent)
}

// decimalZeros knows 123.0 and 123,00: whole numbers that went through a spreadsheet.
func decimalZeros(s []byte) bool {
	s = unsigned(s)
	n := digits(s)
	if n == 0 || len(s) < n+2 || (s[n] != '.' && s[n] != ',') {
		return false
	}
	return len(bytes.Trim(s[n+1:], "0")) == 0
}

// grouped knows 76,561,198,308 and 76'561'198'308, and with points only what is longer than an
// IP address.
func grouped(s []byte) bool {
	first := digits(s)
	if first < 1 || first > 3 || len(s) == first {
		return false
	}
	mark, groups := s[first], 1
	for s = s[first:]; len(s) > 0; s = s[4:] {
		if len(s) < 4 || s[0] != mark || digits(s[1:4]) != 3 {
			return false
		}
		groups++
	}
	return mark == ',' || mark == '\'' || (mark == '.' && groups > 4)
}

const plainDigits = "write plain digits, such as 1500"

// parseAmount reads a trimmed amount: plain ASCII digits from 1 to max, nothing else. Forms with
// separators mean different numbers in different countries, so none of them is guessed.
func parseAmount(s []byte, max int64) (int64, fault) {
	if len(s) == 0 {
		return 0, fault{"is empty", plainDigits}
	}
	if digits(s) != len(s) {
		return 0, fault{amountProblem(s), plainDigits}
	}
	over := fault{
		fmt.Sprintf("is over the limit of %d per grant", max),
		"grant less, or have the limit raised",
	}
	var n int64
	for _, c := range s {
		d := int64(c - '0')
		if n > (max-d)/10 || n*10+d > max {
			return 0, over
		}
		n = n*10 + d
	}
	if n == 0 {
		return 0, fault{"is not above zero", "give a whole number from 1, or delete the row"}
	}
	return n, fault{}
}

func amountProblem(s []byte) string {
	switch rest := unsigned(s); {
	case len(rest) < len(s) && len(rest) > 0 && digits(rest) == len(rest):
		if s[0] == '-' {
			return "is negative"
		}
		return "has a sign"
	case scientific(s), allOf(s, "0123456789eE"):
		return "is in scientific notation"
	case allOf(s, "0123456789.,'_ \u00a0\u202f\u2009’"):
		return "has a separator or decimals, which different countries read differently"
	case bytes.ContainsFunc(s, func(c rune) bool { return c > 0x7f && unicode.IsDigit(c) }):
		return "has digits of another script"
	}
	return "is not a whole number"
}

func allOf(s []byte, set string) bool { return len(bytes.Trim(s, set)) == 0 }
