package tui

import (
	"strings"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// modal is a dialog over the screen. It gets all keys while it is on top.
type modal interface {
	typist
	Title() string
	Update(msg tea.Msg) tea.Cmd
	// Body returns the lines inside the frame, at most h, each at most w columns wide.
	Body(w, h int) []string
	// Width returns the width it wants when w columns are there.
	Width(w int) int
	Bindings() []Binding
	Close() // its context ends
}

// layer is a modal on the stack.
type layer struct {
	modal modal
	grace grace
}

const (
	graceQuiet = 425 * time.Millisecond
	graceMax   = 1500 * time.Millisecond
)

// grace absorbs the keys that were meant for what a dialog covered or changed: until the keyboard
// was quiet for a moment, but not longer than a bound.
type grace struct {
	on          bool
	since, last time.Time
}

func (g *grace) start(now time.Time) { *g = grace{on: true, since: now, last: now} }

func (g *grace) absorbs(now time.Time) bool {
	if !g.on {
		return false
	}
	if now.Sub(g.last) >= graceQuiet || now.Sub(g.since) >= graceMax {
		g.on = false
		return false
	}
	g.last = now
	return true
}

// top returns the dialog on top, or nil.
func (r *root) top() *layer {
	if len(r.modals) == 0 {
		return nil
	}
	return r.modals[len(r.modals)-1]
}

// open puts a dialog on top. unasked dialogs, which no key of the operator opened, absorb keys.
func (r *root) open(m modal, unasked bool) {
	l := &layer{modal: m}
	if unasked {
		l.grace.start(r.d.now())
	}
	r.modals = append(r.modals, l)
}

// changed makes a dialog absorb keys because its content changed by itself.
func (r *root) changed(m modal) {
	for _, l := range r.modals {
		if l.modal == m {
			l.grace.start(r.d.now())
		}
	}
}

// close takes a dialog off the stack, with everything above it.
func (r *root) close(m modal) {
	for i, l := range r.modals {
		if l.modal == m {
			for _, gone := range r.modals[i:] {
				gone.modal.Close()
			}
			r.modals = r.modals[:i]
			return
		}
	}
}

// closeTop takes the dialog on top off the stack.
func (r *root) closeTop() {
	if top := r.top(); top != nil {
		r.close(top.modal)
	}
}

// box draws a dialog's frame around its body. It returns nothing when there is no room.
func (r *root) box(m modal, w, h int) []string {
	width := min(max(m.Width(w), 20), w)
	inner := width - 4
	if inner < 1 || h < 3 {
		return nil
	}
	t := r.d.theme
	g := t.Glyphs
	edge := paint.Border{
		TopLeft: g.TopLeft, TopRight: g.TopRight, BottomLeft: g.BottomLeft,
		BottomRight: g.BottomRight, Horizontal: g.Horizontal, Vertical: g.Vertical,
	}
	role := paint.Accent
	if paint.Banner(r.d.opts.Environment) == paint.BannerProd {
		edge, role = g.Double, paint.Bad // production is seen without colour too
	}
	title := " " + safetext.Cell(strings.ToUpper(r.d.opts.Environment)) + " " + g.Bar + " " +
		safetext.Cell(m.Title()) + " "
	title = safetext.Cut(title, width-4, g.Ellipsis)
	top := t.Text(role, edge.TopLeft+edge.Horizontal) + t.Text(paint.Strong, title) +
		t.Text(role, strings.Repeat(edge.Horizontal, width-3-safetext.Width(title))+edge.TopRight)
	side := t.Text(role, edge.Vertical)
	lines := []string{top}
	body := m.Body(inner, h-2)
	for _, line := range body[:min(len(body), h-2)] {
		lines = append(lines, side+" "+safetext.Fit(line, inner, g.Ellipsis)+" "+side)
	}
	bottom := edge.BottomLeft + strings.Repeat(edge.Horizontal, width-2) + edge.BottomRight
	return append(lines, t.Text(role, bottom))
}

// overlay lays box over the lines of a screen, in the middle. Widths stay exact.
func overlay(lines, box []string, w int) {
	if len(box) == 0 {
		return
	}
	bw := safetext.Width(box[0])
	x, y := max((w-bw)/2, 0), max((len(lines)-len(box))/2, 0)
	for i, b := range box {
		if y+i >= len(lines) {
			return
		}
		under := lines[y+i]
		lines[y+i] = safetext.Fit(under, x, "") + paint.Reset + b + paint.Reset +
			safetext.Skip(under, x+bw) + paint.Reset
	}
}
