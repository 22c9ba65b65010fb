package paint

import "strings"

// Glyphs are the drawing characters. Each is one column wide.
type Glyphs struct {
	Ellipsis, Cursor, Mark, SortUp, SortDown, Rule, Bar, Dot, Hollow string
	Full, Empty, Thumb, Track, Left, Right                           string
	OK, Wrong, Warning, Equal, NotEqual, Arrow, Dash, Times, Badge   string
	SpanBegin, SpanEnd, Faint                                        string
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical string
	Double                                                           Border
	Sparks                                                           []string
}

// Border is the drawing set of a box.
type Border struct {
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical string
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Ellipsis: "…", Cursor: "▶", Mark: "◆", SortUp: "▲", SortDown: "▼", Rule: "─", Bar: "│",
		Dot: "●", Hollow: "○", Full: "█", Empty: "░", Thumb: "█", Track: "│", Left: "◀",
		Right: "▶", OK: "✓", Wrong: "✗", Warning: "▲", Equal: "=", NotEqual: "≠", Arrow: "→",
		Dash: "–", Times: "×", Badge: "·", SpanBegin: "├", SpanEnd: "┤", Faint: "┄",
		TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─",
		Vertical: "│",
		Double:   Border{"╔", "╗", "╚", "╝", "═", "║"},
		Sparks:   []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Ellipsis: "~", Cursor: ">", Mark: "*", SortUp: "^", SortDown: "v", Rule: "-", Bar: "|",
		Dot: "o", Hollow: ".", Full: "#", Empty: ".", Thumb: "#", Track: "|", Left: "<",
		Right: ">", OK: "+", Wrong: "x", Warning: "!", Equal: "=", NotEqual: "#", Arrow: ">",
		Dash: "-", Times: "x", Badge: ":", SpanBegin: "[", SpanEnd: "]", Faint: ".",
		TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Horizontal: "-",
		Vertical: "|",
		Double:   Border{"#", "#", "#", "#", "=", "#"},
		Sparks:   []string{".", "_", "-", "=", "+", "*", "%", "#"},
	}
}

// Heat returns a bar of w columns that is filled by the share of used, from 0 to 1. The bar says
// nothing by itself: put the number beside it.
func (g Glyphs) Heat(share float64, w int) string {
	if w <= 0 {
		return ""
	}
	full := int(share*float64(w) + 0.5)
	full = min(max(full, 0), w)
	return strings.Repeat(g.Full, full) + strings.Repeat(g.Empty, w-full)
}

// Spark draws one column per value, scaled to the highest; a blank for one below zero, which was
// not measured.
func (g Glyphs) Spark(values []int) string {
	top := 0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range values {
		if v < 0 {
			b.WriteByte(' ')
			continue
		}
		step := 0
		if top > 0 {
			step = v * (len(g.Sparks) - 1) / top
		}
		b.WriteString(g.Sparks[step])
	}
	return b.String()
}
