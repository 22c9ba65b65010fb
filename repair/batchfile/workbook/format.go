package workbook

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// Shown says how much of a number a person sees in its cell.
type Shown uint8

const (
	// ShownExactly: its digits and nothing else.
	ShownExactly Shown = iota
	// ShownInFull: its value, with separators, decimal zeros, leading zeros or a currency.
	ShownInFull
	// ShownAsDate: a date, a time, or both.
	ShownAsDate
	// ShownAsOther: another value, such as 1 for 1000, 100% for 1, or nothing at all.
	ShownAsOther
)

const (
	stylesPartMax = 32 << 20
	stylesMax     = 1 << 16 // cell styles, and number formats; Excel has 65,490
)

// style is what the cells of one style show of a number.
type style struct {
	shown Shown
	zeros int    // a format of so many zeros: a number of as many digits is shown exactly
	code  string // the format, for messages
	// hidesText: a text in the cell is not shown.
	hidesText bool
}

// readStyles reads what each cell style shows of a number.
func readStyles(p *part) ([]style, error) {
	codes := make(map[string]string)
	var styles []style
	err := p.walk(func(tag xml.StartElement) error {
		switch {
		case p.at("styleSheet", "numFmts", "numFmt"):
			codes[attr(tag, "numFmtId")] = attr(tag, "formatCode")
		case p.at("styleSheet", "cellXfs", "xf"):
			styles = append(styles, styleOf(attr(tag, "numFmtId"), codes))
		}
		if len(styles) > stylesMax || len(codes) > stylesMax {
			return p.damage(errTooMany)
		}
		return nil
	})
	return styles, err
}

// styleOf judges a format. Those that a workbook does not spell out have numbers of their own.
func styleOf(id string, codes map[string]string) style {
	if code, ok := codes[id]; ok {
		return judge(code)
	}
	n, err := strconv.ParseUint(id, 10, 32)
	switch {
	case err != nil && id != "":
		return style{shown: ShownAsOther, code: clip(id)}
	case n == 0, n == 1, n == 49: // General, 0, @
		return style{}
	case n <= 8, n >= 37 && n <= 44: // decimals, groups, currencies
		return style{shown: ShownInFull, code: "number " + id}
	case n >= 14 && n <= 22, n >= 27 && n <= 36, n >= 45 && n <= 47, n >= 50 && n <= 58:
		return style{shown: ShownAsDate, code: "number " + id}
	}
	return style{shown: ShownAsOther, code: "number " + id} // percent, fractions, exponents
}

// judge judges a format code by its first section, which is the one for numbers above zero. What
// it does not know it calls another value: a cell is then refused, not guessed at.
func judge(code string) style {
	s := style{code: clip(code), shown: ShownAsOther}
	bare, literal := bareFormat(code)
	if sections := strings.Split(bare, ";"); len(sections) > 3 {
		s.hidesText = !strings.Contains(sections[3], "@")
	}
	first, _, _ := strings.Cut(code, ";")
	switch plain := strings.ToLower(strings.TrimSpace(first)); {
	case plain == "general" || plain == "@" || plain == "#" || plain == "0":
		s.shown = ShownExactly
		return s
	case plain != "" && strings.Trim(plain, "0") == "":
		s.shown, s.zeros = ShownInFull, len(plain)
		return s
	}
	bare, _, _ = strings.Cut(bare, ";")
	bare = strings.ToLower(bare)
	if strings.ContainsAny(bare, "ymdhs") {
		s.shown = ShownAsDate
		return s
	}
	places := strings.Trim(bare, " ")
	// A comma behind the last place divides by a thousand.
	scaled := strings.HasSuffix(places, ",") || strings.Contains(places, ",.")
	if !literal && !scaled && strings.ContainsAny(places, "0#?") &&
		strings.Trim(places, "0#?,. ") == "" && strings.Count(places, ".") <= 1 {
		s.shown = ShownInFull
	}
	return s
}

// bareFormat drops what a format shows literally. literal reports whether that was more than
// blanks and colours, up to the end of the first section.
func bareFormat(code string) (bare string, literal bool) {
	var b strings.Builder
	sections := 0
	for i := 0; i < len(code); i++ {
		shows := false
		switch c := code[i]; c {
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				end = len(code) - i - 2
			}
			i, shows = i+end+1, true
		case '\\':
			i, shows = i+1, true
		case '_', '*': // a blank as wide as the next character, or that character repeated
			shows = c == '*' && i+1 < len(code) && code[i+1] != ' '
			i++
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				end = len(code) - i - 1
			}
			inside := strings.ToLower(code[i+1 : max(i+1, i+end)])
			switch {
			case strings.Trim(inside, "hms") == "" && inside != "": // elapsed time
				b.WriteString(inside)
			default:
				shows = !colours(inside)
			}
			i += end
		default:
			if c == ';' {
				sections++
			}
			b.WriteByte(c)
		}
		literal = literal || shows && sections == 0
	}
	return b.String(), literal
}

func colours(word string) bool {
	switch word {
	case "black", "blue", "cyan", "green", "magenta", "red", "white", "yellow":
		return word != "white" // which nobody sees
	}
	return false
}
