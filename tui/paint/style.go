package paint

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// renderer returns a lipgloss renderer that knows its terminal from us: it never asks it. Without
// colour it still renders attributes, which lipgloss's own profile for that case drops; the styles
// then simply name no colour.
func renderer(mode Mode) *lipgloss.Renderer {
	profile := map[Mode]termenv.Profile{
		Mono: termenv.ANSI, ANSI16: termenv.ANSI, ANSI256: termenv.ANSI256,
		TrueColor: termenv.TrueColor,
	}[mode]
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(profile), termenv.WithUnsafe())
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(true) // no style of ours depends on it, and nobody is to be asked
	return r
}

// look is what a role looks like: with attributes only, in the user's sixteen colours, in shades.
type look struct{ mono, sixteen, shades lipgloss.Style }

// shade is a colour of the 256 with its exact value.
func shade(ansi256, exact string) lipgloss.TerminalColor {
	return lipgloss.CompleteColor{TrueColor: exact, ANSI256: ansi256, ANSI: ansi256}
}

// style returns the style of a role.
func style(r *lipgloss.Renderer, mode Mode, role Role) lipgloss.Style {
	plain := r.NewStyle()
	look, ok := textLooks(plain)[role]
	if !ok {
		look, ok = blockLooks(plain)[role]
	}
	switch {
	case !ok:
		return plain
	case mode == Mono:
		return look.mono
	case mode == ANSI16:
		return look.sixteen
	default:
		return look.shades
	}
}

// textLooks are the roles of running text.
func textLooks(s lipgloss.Style) map[Role]look {
	c := func(name string) lipgloss.TerminalColor { return lipgloss.Color(name) }
	bold := s.Bold(true)
	fore := func(base lipgloss.Style, ansi256, exact string) lipgloss.Style {
		return base.Foreground(shade(ansi256, exact))
	}
	return map[Role]look{
		Muted:  {s, s.Foreground(c("8")), fore(s, "245", "#8a8a8a")},
		Strong: {bold, bold, bold},
		Accent: {bold, s.Foreground(c("6")), fore(s, "74", "#5fafd7")},
		Good:   {s, s.Foreground(c("2")), fore(s, "71", "#5faf5f")},
		Warn:   {bold, s.Foreground(c("3")), fore(s, "179", "#d7af5f")},
		Bad:    {bold, bold.Foreground(c("1")), fore(bold, "167", "#d75f5f")},
		Head: {
			bold.Underline(true), bold.Foreground(c("8")), fore(bold, "245", "#8a8a8a"),
		},
		Marked: {bold, s.Foreground(c("5")), fore(s, "176", "#d787d7")},
	}
}

// blockLooks are the roles that fill their cells.
func blockLooks(s lipgloss.Style) map[Role]look {
	c := func(name string) lipgloss.TerminalColor { return lipgloss.Color(name) }
	bold, reverse, under := s.Bold(true), s.Reverse(true), s.Underline(true)
	on := func(base lipgloss.Style, fore, foreExact, back, backExact string) lipgloss.Style {
		return base.Foreground(shade(fore, foreExact)).Background(shade(back, backExact))
	}
	const white, black, blue = "#eeeeee", "#000000", "#005f87"
	return map[Role]look{
		Cursor:     {reverse, reverse, on(bold, "255", white, "24", blue)},
		Caret:      {reverse, reverse, reverse},
		Field:      {under, under, on(s, "252", "#d0d0d0", "236", "#303030")},
		FieldFocus: {under, bold.Underline(true), on(s, "255", white, "238", "#444444")},
		Button:     {s, s, on(s, "250", "#bcbcbc", "237", "#3a3a3a")},
		ButtonFocus: {
			reverse, reverse, on(bold, "255", white, "24", blue),
		},
		BannerProd: {
			reverse, bold.Foreground(c("15")).Background(c("1")),
			on(bold, "255", white, "124", "#af0000"),
		},
		BannerStaging: {
			reverse, s.Foreground(c("0")).Background(c("3")), on(s, "16", black, "178", "#d7af00"),
		},
		BannerDev: {
			reverse, s.Foreground(c("0")).Background(c("2")), on(s, "255", white, "29", "#00875f"),
		},
		BannerOther: {
			reverse, s.Foreground(c("0")).Background(c("6")), on(s, "255", white, "24", blue),
		},
	}
}
