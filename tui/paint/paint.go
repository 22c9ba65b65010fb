// Package paint turns roles such as "warning" into terminal attributes, and holds the glyphs.
//
// Colours are the terminal's own sixteen, so they follow the user's palette on light and dark
// backgrounds; 256-colour terminals get a few calmer shades. Without colour (NO_COLOR) bold,
// reverse and underline are still sent, since they are not colour. Nothing is ever said by colour
// alone: every role goes with a word or a glyph.
package paint

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Mode says how many colours the terminal shows.
type Mode uint8

// The modes.
const (
	Mono      Mode = iota // attributes only: bold, reverse, underline
	ANSI16                // the sixteen colours of the user's palette
	ANSI256               // sixteen plus calmer shades
	TrueColor             // the same shades, exactly
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

// Theme paints text. The zero value is not usable; see New.
type Theme struct {
	mode   Mode
	Glyphs Glyphs
	styles [rolesEnd]lipgloss.Style
	// open is what each style sends before its text. Rendering through lipgloss costs about ten
	// microseconds a piece, and a screen has a thousand pieces.
	open [rolesEnd]string
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
	r := renderer(mode)
	for role := Plain; role < rolesEnd; role++ {
		t.styles[role] = style(r, mode, role)
		t.open[role], _, _ = strings.Cut(t.styles[role].Render("x"), "x")
	}
	return t
}

// Mode returns the mode of the theme.
func (t *Theme) Mode() Mode { return t.mode }

// Style returns role as a lipgloss style, for what is laid out rather than drawn cell by cell.
func (t *Theme) Style(role Role) lipgloss.Style { return t.styles[role] }

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
//
// NO_COLOR wins; a terminal of unknown kind gets attributes only.
func Detect(getenv func(string) string) (mode Mode, ascii bool) {
	term := getenv("TERM")
	switch {
	case getenv("NO_COLOR") != "":
		mode = Mono
	case getenv("COLORTERM") == "truecolor", getenv("COLORTERM") == "24bit":
		mode = TrueColor
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
