// Package paint turns roles such as "warning" into terminal attributes, and holds the glyphs.
//
// Colours are the terminal's own sixteen, so they follow the user's palette on light and dark
// backgrounds; 256-colour terminals get a few calmer shades. Without colour (NO_COLOR) bold,
// reverse and underline are still sent, since they are not colour. Nothing is ever said by colour
// alone: every role goes with a word or a glyph.
package paint

import "strings"

// Mode says how many colours the terminal shows.
type Mode uint8

// The modes.
const (
	Mono    Mode = iota // attributes only: bold, reverse, underline
	ANSI16              // the sixteen colours of the user's palette
	ANSI256             // sixteen plus calmer shades
)

// Role is what a piece of text means.
type Role uint8

// The roles.
const (
	Plain  Role = iota
	Muted       // labels, what is not important now
	Strong      // titles, the value that matters
	Accent      // keys, links, the current choice
	Good
	Warn
	Bad
	Head       // column headings
	Cursor     // the row under the cursor
	Marked     // marked rows
	Field      // a text field
	FieldFocus // the text field that takes the keys
	Caret      // the cell of the text cursor
	Button
	ButtonFocus
	BannerProd
	BannerStaging
	BannerDev
	BannerOther
	rolesEnd
)

// sgr holds the attribute parameters of each role in each mode.
type sgr [3]string

// Theme paints text. The zero value is not usable; see New.
type Theme struct {
	mode   Mode
	Glyphs Glyphs
	open   [rolesEnd]string
}

// Reset ends all attributes.
const Reset = "\x1b[0m"

// New returns a theme for a terminal with mode's colours. ascii restricts the glyphs to ASCII,
// for locales that are not UTF-8.
func New(mode Mode, ascii bool) *Theme {
	t := &Theme{mode: mode, Glyphs: unicodeGlyphs()}
	if ascii {
		t.Glyphs = asciiGlyphs()
	}
	for role, attrs := range attributes() {
		if attrs[mode] != "" {
			t.open[role] = "\x1b[" + attrs[mode] + "m"
		}
	}
	return t
}

// attributes lists role, then mono, 16 colours, 256 colours.
func attributes() map[Role]sgr {
	return map[Role]sgr{
		Muted:         {"", "90", "38;5;245"},
		Strong:        {"1", "1", "1"},
		Accent:        {"1", "36", "38;5;74"},
		Good:          {"", "32", "38;5;71"},
		Warn:          {"1", "33", "38;5;179"},
		Bad:           {"1", "1;31", "1;38;5;167"},
		Head:          {"1;4", "1;90", "1;38;5;245"},
		Cursor:        {"7", "7", "1;48;5;24;38;5;255"},
		Marked:        {"1", "35", "38;5;176"},
		Field:         {"4", "4", "48;5;236;38;5;252"},
		FieldFocus:    {"4", "1;4", "48;5;238;38;5;255"},
		Caret:         {"7", "7", "7"},
		Button:        {"", "", "38;5;250;48;5;237"},
		ButtonFocus:   {"7", "7", "1;38;5;255;48;5;24"},
		BannerProd:    {"7", "1;97;41", "1;38;5;255;48;5;124"},
		BannerStaging: {"7", "30;43", "38;5;16;48;5;178"},
		BannerDev:     {"7", "30;42", "38;5;255;48;5;29"},
		BannerOther:   {"7", "30;46", "38;5;255;48;5;24"},
	}
}

// Mode returns the mode of the theme.
func (t *Theme) Mode() Mode { return t.mode }

// Open returns the sequence that starts role; empty when the role has none.
func (t *Theme) Open(role Role) string { return t.open[role] }

// Text returns s in role. s must be safe text.
func (t *Theme) Text(role Role, s string) string {
	if t.open[role] == "" || s == "" {
		return s
	}
	return t.open[role] + s + Reset
}

// Banner returns the role of the banner for a context's environment word.
func Banner(environment string) Role {
	switch environment {
	case "prod", "production", "live":
		return BannerProd
	case "staging", "stage", "test", "qa":
		return BannerStaging
	case "dev", "development", "demo", "local":
		return BannerDev
	default:
		return BannerOther
	}
}

// Detect reads the colour mode and whether only ASCII can be drawn from the environment variables
// that getenv looks up: NO_COLOR, COLORTERM, TERM, LC_ALL, LC_CTYPE and LANG.
func Detect(getenv func(string) string) (mode Mode, ascii bool) {
	term := getenv("TERM")
	switch {
	case getenv("NO_COLOR") != "":
		mode = Mono
	case getenv("COLORTERM") != "", strings.Contains(term, "256color"):
		mode = ANSI256
	case term == "", term == "dumb", strings.HasPrefix(term, "vt"):
		mode = Mono
	default:
		mode = ANSI16
	}
	locale := getenv("LC_ALL")
	if locale == "" {
		locale = getenv("LC_CTYPE")
	}
	if locale == "" {
		locale = getenv("LANG")
	}
	locale = strings.ToLower(locale)
	return mode, !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
