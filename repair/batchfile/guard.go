package batchfile

import "strings"

// Guard makes a text safe to open in a spreadsheet: a text that a spreadsheet would take for a
// formula gets a leading apostrophe, the spreadsheets' own mark for text. That is a text whose
// first character is = + - @ or a full-width twin of these, also behind blanks, quotes or
// apostrophes, or whose first character is a tab or a line end. Number cells must not be guarded:
// a negative number is no formula.
//
// Unguard takes exactly that mark off again, so Unguard(Guard(s)) == s for every s.
func Guard(text string) string {
	if looksLikeFormula(text) {
		return "'" + text
	}
	return text
}

// Unguard is the inverse of Guard.
func Unguard(text string) string {
	if strings.HasPrefix(text, "'") && looksLikeFormula(text[1:]) {
		return text[1:]
	}
	return text
}

func looksLikeFormula(text string) bool {
	text = strings.TrimLeft(text, "'")
	if text == "" {
		return false
	}
	if strings.IndexByte("\t\r\n", text[0]) >= 0 {
		return true
	}
	text = strings.TrimLeft(text, " '\"\u00a0")
	for _, trigger := range [...]string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(text, trigger) {
			return true
		}
	}
	return false
}
