package inspect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// filled returns a statement that a person can paste into psql: every value is written into it.
func (u *unitRun) filled(name string, d draft) (string, error) {
	sql, err := u.source.fill(name, scope{parts: 1})
	if err != nil {
		return "", err
	}
	events := d.events
	if len(events) == 0 {
		events = []string{d.EventID}
	}
	literals := make([]string, len(events))
	for i, event := range events {
		literals[i] = sqlLiteral(event)
	}
	player := u.source.player + " || '' = " + sqlLiteral(d.PlayerID)
	if d.folded {
		player = u.source.playerFold + " = " + sqlLiteral(d.PlayerID)
	}
	key := strings.Trim(d.Key, "-0123456789")
	number := d.Key
	if key != "" || number == "" {
		number = "0" // the statement does not use it: keys that are numbers are only digits
	}
	return strings.NewReplacer(
		"{player_match}", player, "{player_value}", sqlLiteral(d.PlayerID),
		"{event_values}", strings.Join(literals, ", "), "{key}", number,
		"{key_value}", sqlLiteral(d.Key),
	).Replace(sql), nil
}

// sqlLiteral writes a text as a constant of SQL. What cannot be seen is written as an escape.
func sqlLiteral(s string) string {
	if strings.IndexFunc(s, hiddenRune) < 0 && !strings.Contains(s, `\`) && utf8.ValidString(s) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteString("E'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case hiddenRune(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// hiddenRune reports characters that a reader cannot see or that move other text about.
func hiddenRune(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) ||
		r != ' ' && unicode.IsSpace(r)
}

// shellLine writes a command that bash and zsh read back as exactly these words. Flags are pairs
// of a name and a value; a flag without a value has an empty one. Words that would be taken for
// flags are put behind a double hyphen.
func shellLine(words []string, flags ...string) string {
	line := []string{"rewardctl"}
	var rest []string
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			rest = append([]string{"--"}, quoteShell(words[i:])...)
			break
		}
		line = append(line, shellQuote(w))
	}
	for i := 0; i+1 < len(flags); i += 2 {
		name, value := "--"+flags[i], flags[i+1]
		switch {
		case value == "":
			line = append(line, name)
		case strings.HasPrefix(value, "-"):
			line = append(line, name+"="+shellQuote(value))
		default:
			line = append(line, name, shellQuote(value))
		}
	}
	return strings.Join(append(line, rest...), " ")
}

func quoteShell(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellQuote(w)
	}
	return out
}

func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) ||
			strings.ContainsRune("-_./:@%+,=", r))
	}
	switch {
	case s == "":
		return "''"
	case strings.IndexFunc(s, hiddenRune) >= 0 || !utf8.ValidString(s):
		var b strings.Builder
		b.WriteString("$'")
		for i := range len(s) {
			if c := s[i]; c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				b.WriteByte(c)
			}
		}
		return b.String() + "'"
	case strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0:
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// stuckCommand is the command that pays a claim by hand. Its values are in the evidence.
func stuckCommand(d draft) string { return payCommand(d, "claim was stuck") }

func payCommand(d draft, reason string) string {
	kind, amount := "KIND", "AMOUNT"
	for _, c := range d.claim {
		switch {
		case c.value == nil:
		case c.name == "kind":
			kind = *c.value
		case c.name == "amount":
			amount = *c.value
		}
	}
	return shellLine([]string{"grant", "create"}, "player", d.PlayerID, "event", d.EventID,
		"kind", kind, "amount", amount, "reason", reason, "dry-run", "")
}
