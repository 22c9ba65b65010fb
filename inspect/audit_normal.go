package inspect

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// EventForms are what is left of an event id once everything is taken out of it that a retry may
// change. Two ids with a form in common probably mean the same reward.
type EventForms struct {
	// Spelling is the id without case, blanks, invisible characters and a retry suffix.
	Spelling string
	// Bare is Spelling without UUIDs, ULIDs and instants. Dates, day numbers, whole hours and
	// every other period stay: they tell one daily reward from the next.
	Bare string
	// Pattern is Bare with marks such as {uuid} where something was taken out.
	Pattern string
}

// The marks in a Pattern.
const (
	markUUID    = "{uuid}"
	markULID    = "{ulid}"
	markInstant = "{instant}"
)

// NormalEvent returns the forms of an event id.
func NormalEvent(id string) EventForms {
	text := visible(id)
	spelling := closeGaps(dropRetry(text))
	marked := takeOut(text)
	if marked == text { // most ids: nothing in them is random
		return EventForms{spelling, spelling, spelling}
	}
	return EventForms{
		Spelling: spelling, Bare: closeGaps(dropRetry(dropMarks(marked))),
		Pattern: closeGaps(dropRetry(marked)),
	}
}

// gap stands for blanks until it is known whether they part two numbers. It is no character that
// visible lets through.
const gap = '\x00'

// visible folds case and forms of writing, and leaves out what cannot be seen. Blanks become gaps.
func visible(id string) string {
	var b strings.Builder
	open := false
	for _, r := range norm.NFKC.String(strings.ToValidUTF8(id, "\uFFFD")) {
		switch {
		case unicode.IsSpace(r) || r == '\u2800' || r == '\u3164' || r == '\uFFA0':
			open = b.Len() > 0
			continue
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Variation_Selector) || r == '\u034F' || r == '\u115F' || r == '\u1160':
			continue
		}
		if open {
			b.WriteRune(gap)
			open = false
		}
		b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
	}
	return b.String()
}

// closeGaps removes gaps, except between two digits: "level 1 2" is not "level 12".
func closeGaps(s string) string {
	if strings.IndexByte(s, gap) < 0 {
		return norm.NFC.String(s)
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != gap {
			out = append(out, s[i])
			continue
		}
		if len(out) > 0 && digit(out[len(out)-1]) && i+1 < len(s) && digit(s[i+1]) {
			out = append(out, '_')
		}
	}
	return norm.NFC.String(string(out))
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// retrySuffix is what programs append when they try again. It needs a separator before the word,
// so that "entry" is not "en" tried again, and never takes a bare number: "rank-2" is a rank.
var retrySuffix = regexp.MustCompile(`(?:[-_.:/#|+~&?;,\x00]*[-_.:/#|+~&?;,\x00(\[]` +
	`(?:re-?try|retried|attempt|try|re-?sen[dt]|re-?run|re-?do|re-?play|again|copy|dup|duplicate)` +
	`[-_.:#=\x00]*(?:no|nr)?[-_.:#=\x00]*[0-9]*[)\]]*|\x00*\([0-9]{1,3}\))$`)

// dropRetry removes retry suffixes and separators at the end.
func dropRetry(s string) string {
	const ends = "-_.:/#|+~&?;,\x00"
	for {
		s = strings.TrimRight(s, ends)
		if !speaksOfRetry(s) {
			return s
		}
		at := retrySuffix.FindStringIndex(s)
		if at == nil || at[0] == 0 {
			return s
		}
		s = s[:at[0]]
	}
}

// speaksOfRetry spares most ids the search for a suffix: it must stand near the end.
func speaksOfRetry(s string) bool {
	tail := s[max(0, len(s)-60):]
	if strings.HasSuffix(tail, ")") || strings.HasSuffix(tail, "]") {
		return true
	}
	for _, w := range [...]string{"re", "try", "attempt", "again", "copy", "dup"} {
		if strings.Contains(tail, w) {
			return true
		}
	}
	return false
}

// parts of ids that are made anew on every try. Each is looked for between characters that are
// no letters and no digits, except the UUID with its hyphens, which cannot be anything else.
var (
	dashedUUID = regexp.MustCompile(
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	dateTime = regexp.MustCompile(`([0-9]{4})-?([0-9]{2})-?([0-9]{2})` +
		`(?:[t_\x00]([0-9]{2}):?([0-9]{2})(?::?([0-9]{2}))?|` +
		`[t_\x00-]([0-9]{2})[:-]([0-9]{2})[:-]([0-9]{2}))` +
		`(?:[.,]([0-9]{1,9}))?(?:\x00?z|\x00?[+-][0-9]{2}:?[0-9]{2})?`)
	wordRun   = regexp.MustCompile(`[0-9a-z]+`)
	digitRuns = regexp.MustCompile(`[0-9]+`)
)

// takeOut replaces UUIDs, ULIDs and instants by marks.
func takeOut(s string) string {
	if strings.Count(s, "-") >= 4 && len(s) >= 36 {
		s = dashedUUID.ReplaceAllLiteralString(s, markUUID)
	}
	digits, longest := runs(s)
	if digits >= 14 || digits >= 12 && joinsDigits(s) {
		s = replaceBounded(s, dateTime, func(found string, groups []string) string {
			if instantOf(groups) {
				return markInstant
			}
			return found
		})
	}
	if longest < 10 {
		return s
	}
	return replaceBounded(s, wordRun, func(found string, _ []string) string {
		switch {
		case len(found) == 32 && isHex(found) && mixedText(found):
			return markUUID
		case len(found) == 26 && isCrockford(found):
			return markULID
		case epochInstant(found) || compactInstant(found):
			return markInstant
		}
		return found
	})
}

// runs counts the digits of a text and the length of its longest run of letters and digits.
func runs(s string) (digits, longest int) {
	run := 0
	for i := range len(s) {
		c := s[i]
		if digit(c) {
			digits++
		}
		if !digit(c) && (c < 'a' || c > 'z') {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return digits, longest
}

// joinsDigits reports whether two digits stand around a sign that parts a date from a time.
func joinsDigits(s string) bool {
	for i := 1; i+1 < len(s); i++ {
		if (s[i] == 't' || s[i] == '_' || s[i] == gap) && digit(s[i-1]) && digit(s[i+1]) {
			return true
		}
	}
	return false
}

// replaceBounded replaces matches that are not part of a longer word.
func replaceBounded(s string, re *regexp.Regexp, by func(string, []string) string) string {
	var b strings.Builder
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
		start, end := m[0], m[1]
		if start > 0 && wordByte(s[start-1]) || end < len(s) && wordByte(s[end]) {
			continue
		}
		groups := make([]string, 0, len(m)/2)
		for i := 0; i < len(m); i += 2 {
			group := ""
			if m[i] >= 0 {
				group = s[m[i]:m[i+1]]
			}
			groups = append(groups, group)
		}
		b.WriteString(s[last:start])
		b.WriteString(by(s[start:end], groups))
		last = end
	}
	b.WriteString(s[last:])
	return b.String()
}

// wordByte includes braces, so that nothing is found inside a mark.
func wordByte(c byte) bool {
	return digit(c) || 'a' <= c && c <= 'z' || c == '{' || c == '}'
}

func isHex(s string) bool       { return strings.Trim(s, "0123456789abcdef") == "" }
func isDigits(s string) bool    { return s != "" && strings.Trim(s, "0123456789") == "" }
func mixedText(s string) bool   { return strings.ContainsAny(s, "0123456789") && !isDigits(s) }
func isCrockford(s string) bool { return s[0] <= '7' && mixedText(s) && crockford(s) }
func crockford(s string) bool {
	return strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// instantOf judges a date with a time of day. A whole five minutes is the name of a period.
func instantOf(groups []string) bool {
	hour, minute, second := groups[4], groups[5], groups[6]
	if hour == "" {
		hour, minute, second = groups[7], groups[8], groups[9]
	}
	at, ok := stampTime(groups[1]+groups[2]+groups[3]+hour+minute, second)
	return ok && !(at.Unix()%periodSeconds == 0 && strings.Trim(groups[10], "0") == "")
}

// periodSeconds is the shortest period that rewards are named after.
const periodSeconds = 5 * 60

func stampTime(stamp, second string) (time.Time, bool) {
	if second == "" {
		second = "00"
	}
	at, err := time.Parse("20060102150405", stamp+second)
	return at, err == nil && at.Year() >= 2000 && at.Year() < 2100
}

// compactInstant knows YYYYMMDDHHMM and YYYYMMDDHHMMSS with up to nine more digits.
func compactInstant(s string) bool {
	if !isDigits(s) || len(s) != 12 && len(s) != 14 && len(s) != 17 {
		return false
	}
	second := ""
	if len(s) >= 14 {
		second = s[12:14]
	}
	at, ok := stampTime(s[:12], second)
	whole := len(s) <= 14 || strings.Trim(s[14:], "0") == ""
	return ok && !(at.Unix()%periodSeconds == 0 && whole)
}

// The years 2015 to 2039, in which an epoch is taken for a time.
const (
	epochFrom = 1_420_070_400
	epochTo   = 2_208_988_800
)

// epochInstant knows seconds, milli-, micro- and nanoseconds since 1970 that are no whole period.
func epochInstant(s string) bool {
	switch len(s) {
	case 10, 13, 16, 19:
	default:
		return false
	}
	seconds, ok := epochSeconds(s)
	if !ok || periodHour(s) {
		return false
	}
	return seconds%periodSeconds != 0 || strings.Trim(s[10:], "0") != ""
}

// epochSeconds reads the seconds of an epoch.
func epochSeconds(s string) (int64, bool) {
	if !isDigits(s) {
		return 0, false
	}
	seconds, err := strconv.ParseInt(s[:10], 10, 64)
	return seconds, err == nil && seconds >= epochFrom && seconds < epochTo
}

// periodHour knows YYYYMMDDHH, which has as many digits as an epoch.
func periodHour(s string) bool {
	if len(s) != 10 {
		return false
	}
	_, ok := stampTime(s+"00", "")
	return ok
}

var markAndSeparators = regexp.MustCompile(
	`[-_.:/#|+~@=&?;,\x00]*\{(?:uuid|ulid|instant)\}`)

// dropMarks removes marks with the separators before them.
func dropMarks(s string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	return strings.TrimLeft(markAndSeparators.ReplaceAllLiteralString(s, ""), "-_.:/#|+~&?;,\x00")
}
