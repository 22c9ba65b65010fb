package tui

import (
	"strings"
	"time"
)

// filter is a parsed filter line: terms that must all hold.
type filter struct{ terms []term }

// term is one word of a filter: free text, field:text, or a comparison such as left:<5s.
type term struct {
	not   bool
	field string // empty: any field
	text  string // lower case
	op    byte   // '<' or '>' for durations, 0 for text
	limit time.Duration
}

// parseFilter reads a filter line. Every line means something: what is no known form is text.
func parseFilter(line string, fields ...string) filter {
	var f filter
	for _, word := range strings.Fields(line) {
		t := term{text: strings.ToLower(word)}
		if rest, ok := strings.CutPrefix(t.text, "!"); ok && rest != "" {
			t.not, t.text = true, rest
		}
		if field, rest, ok := strings.Cut(t.text, ":"); ok {
			for _, known := range fields {
				if field == known {
					t.field, t.text = field, rest
				}
			}
		}
		if t.field != "" && len(t.text) > 1 && (t.text[0] == '<' || t.text[0] == '>') {
			if limit, err := time.ParseDuration(t.text[1:]); err == nil {
				t.op, t.limit = t.text[0], limit
			}
		}
		f.terms = append(f.terms, t)
	}
	return f
}

// empty reports whether the filter lets everything through.
func (f filter) empty() bool { return len(f.terms) == 0 }

// match reports whether a row passes. get returns a field's text, "" meaning all fields; left is
// the duration that < and > compare.
func (f filter) match(get func(field string) string, left time.Duration) bool {
	for _, t := range f.terms {
		if t.holds(get, left) == t.not {
			return false
		}
	}
	return true
}

func (t term) holds(get func(field string) string, left time.Duration) bool {
	switch t.op {
	case '<':
		return left < t.limit
	case '>':
		return left > t.limit
	default:
		return strings.Contains(strings.ToLower(get(t.field)), t.text)
	}
}
