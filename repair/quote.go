package repair

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote makes one argument safe to paste into a shell. Invisible characters are written as
// escapes, so that a pasted line contains nothing that the eye does not see.
func quote(arg string) string {
	if arg == "" {
		return "''"
	}
	if !utf8.ValidString(arg) || strings.IndexFunc(arg, hidden) >= 0 {
		return quoteEscaped(arg)
	}
	if strings.IndexFunc(arg, special) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

func quoteEscaped(arg string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(arg) > 0 {
		c, size := utf8.DecodeRuneInString(arg)
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case (c == utf8.RuneError && size == 1) || hidden(c):
			for i := range size {
				fmt.Fprintf(&b, `\%03o`, arg[i])
			}
		default:
			b.WriteRune(c)
		}
		arg = arg[size:]
	}
	b.WriteString("'")
	return b.String()
}

// hidden reports characters that a reader cannot see or that move other text about.
func hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
}

// special reports characters that mean something to a shell, and everything not known not to.
func special(c rune) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:@%+,=", c)
}
