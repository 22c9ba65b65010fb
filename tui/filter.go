package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/tui/table"
)

// filter is a parsed filter line: terms that must all hold.
type filter struct {
	terms []term
	// strange are the words before a colon that are no column here; they are looked for as text,
	// as names may have colons.
	strange []string
	// vague are comparisons that do not say with what, such as "left:<": they hold for all.
	vague []string
}

// term is one word of a filter: free text, field:text, or a comparison such as left:<5s.
type term struct {
	word  string // as it is written
	not   bool
	field string // empty: any field
	text  string // lower case
	op    string // "<", "<=", ">" or ">=" for comparisons, empty for text
	limit limit
}

// limit is what a comparison compares with. What it is a limit of, the cell says: 5 is five
// seconds of a duration.
type limit struct {
	number   *int64
	duration *time.Duration
	at       *time.Time
}

// parseFilter reads a filter line. Every line means something: what is no known form is text.
func parseFilter(line string, fields ...string) filter {
	var f filter
	for _, word := range strings.Fields(line) {
		t := term{word: word, text: strings.ToLower(word)}
		if rest, ok := strings.CutPrefix(t.text, "!"); ok && rest != "" {
			t.not, t.text = true, rest
		}
		if field, rest, ok := strings.Cut(t.text, ":"); ok {
			if known := fieldNamed(field, fields); known != "" {
				t.field, t.text = known, rest
			} else if field != "" {
				f.strange = append(f.strange, field)
			}
		}
		if t.field != "" {
			t.compare()
		}
		if t.op != "" && t.limit == (limit{}) {
			f.vague = append(f.vague, word)
			continue
		}
		f.terms = append(f.terms, t)
	}
	return f
}

// fieldNamed returns the field that a word names, or nothing. What is left of a lease is its TTL.
func fieldNamed(word string, fields []string) string {
	if word == "ttl" && !slices.Contains(fields, word) {
		word = colLeft
	}
	if slices.Contains(fields, word) {
		return word
	}
	return ""
}

// compare takes the operator and the limit off the text.
func (t *term) compare() {
	for _, op := range []string{"<=", ">=", "<", ">"} {
		if rest, ok := strings.CutPrefix(t.text, op); ok {
			t.op, t.text, t.limit = op, rest, readLimitOf(rest)
			return
		}
	}
}

// readLimitOf reads a number, a duration or a moment; the zero limit is none of them.
func readLimitOf(text string) limit {
	var l limit
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		l.number = &n
		return l
	}
	if d, err := time.ParseDuration(text); err == nil {
		l.duration = &d
		return l
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			l.at = &at
			return l
		}
	}
	return l
}

// empty reports whether the filter lets everything through.
func (f filter) empty() bool { return len(f.terms) == 0 }

// row is what a filter looks at: the text of a field, "" meaning all of them, and what a field
// says as a number.
type filtered struct {
	text  func(field string) string
	value func(field string) table.Value
	now   time.Time
}

// match reports whether a row passes.
func (f filter) match(r filtered) bool {
	for _, t := range f.terms {
		if t.holds(r) == t.not {
			return false
		}
	}
	return true
}

func (t term) holds(r filtered) bool {
	if t.op == "" {
		return strings.Contains(strings.ToLower(r.text(t.field)), t.text)
	}
	if r.value == nil {
		return false
	}
	have := r.value(t.field)
	want, ok := t.limit.of(&have, r.now)
	if !ok {
		return false
	}
	switch t.op {
	case "<":
		return have.N < want
	case "<=":
		return have.N <= want
	case ">":
		return have.N > want
	default:
		return have.N >= want
	}
}

// of returns the limit in the unit of a value. A moment that is compared with a duration becomes
// its age.
func (l limit) of(v *table.Value, now time.Time) (want int64, ok bool) {
	switch {
	case v.Kind == table.Number && l.number != nil:
		return *l.number, true
	case v.Kind == table.Duration && l.number != nil:
		return *l.number * int64(time.Second), true
	case v.Kind == table.Duration && l.duration != nil:
		return int64(*l.duration), true
	case v.Kind == table.Instant && l.at != nil:
		return l.at.UnixNano(), true
	case v.Kind == table.Instant && l.duration != nil:
		v.N = now.UnixNano() - v.N
		return int64(*l.duration), true
	}
	return 0, false
}

// note says what in a filter line is odd: a column that is not there, with the nearest one, or a
// comparison without an end. matched is whether any row matches: a name may well have a colon.
func (f filter) note(d *desk, matched bool, fields []string) string {
	for _, word := range f.vague {
		return d.tr("%s: compare with a number, a time such as 5s, or a day", word)
	}
	for _, word := range f.strange {
		near := nearest(word, fields)
		switch {
		case near != "":
			return d.tr("there is no column %s: did you mean %s? It is looked for as text", word, near)
		case !matched:
			return d.tr("there is no column %s; there are: %s", word, strings.Join(fields, " "))
		}
	}
	return ""
}

// nearest returns the field that a word was probably meant to be, or nothing.
func nearest(word string, fields []string) string {
	best, least := "", 3
	for _, f := range fields {
		n := typos(word, f)
		if strings.HasPrefix(f, word) && len(word) > 1 {
			n = 1
		}
		if n < least && n*2 <= len(f) {
			best, least = f, n
		}
	}
	return best
}

// typos counts the letters to change, add, leave out or swap between two words.
func typos(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}
