package tui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	"github.com/charmbracelet/lipgloss"
)

// bodyAt is the line of the screen on which the body begins.
const bodyAt = 4

// frameLines is what the frame takes of the screen: banner, tabs, crumb, rule above the body;
// rule, message, footer below.
const frameLines = 7

// View draws the whole screen: exactly as many lines as the terminal has.
func (r *root) View() (out string) {
	defer func() {
		if v := recover(); v != nil {
			r.d.crashed(v)
			r.d.kill()
			out = ""
		}
	}()
	if r.failed || !r.sized || r.w <= 0 || r.h <= 0 {
		return ""
	}
	defer r.timed("view")()
	var lines []string
	if r.w < widthMin || r.h < heightMin {
		lines = r.tooSmall()
	} else {
		lines = r.frame()
	}
	out = strings.Join(lines, "\n")
	if r.d.opts.ASCII {
		out = asciiOnly(out)
	}
	return out
}

// tooSmall says in the middle of the screen that it is too small.
func (r *root) tooSmall() []string {
	words := r.d.tr("too small: need %dx%d, have %dx%d", widthMin, heightMin, r.w, r.h)
	part := strings.Join(safetext.Wrap(words, r.w), "\n")
	lines := strings.Split(lipgloss.Place(r.w, r.h, lipgloss.Left, lipgloss.Center, part), "\n")
	for len(lines) < r.h {
		lines = append(lines, "")
	}
	for i := range lines[:r.h] {
		lines[i] = safetext.Fit(lines[i], r.w, "")
	}
	return lines[:r.h]
}

func (r *root) frame() []string {
	t := r.d.theme
	rule := t.Text(paint.Muted, strings.Repeat(t.Glyphs.Rule, r.w))
	lines := make([]string, 0, r.h)
	lines = append(lines, r.banner(), r.tabLine(), r.crumb(), rule)
	body := strings.Split(r.screen().View(r.w, r.h-frameLines), "\n")
	for i := range r.h - frameLines {
		line := ""
		if i < len(body) {
			line = body[i]
		}
		lines = append(lines, safetext.Fit(line, r.w, ""))
	}
	lines = append(lines, rule, r.messageLine(), r.footer())
	if top := r.top(); top != nil {
		under := lines[3 : r.h-2]
		for _, l := range r.modals {
			overlay(under, r.box(l.modal, r.w, len(under)), r.w)
		}
	}
	return lines
}

// spread puts left and right at the ends of w columns; left is cut first, a blank before right.
func spread(left, right string, w int, ellipsis string) string {
	room := w - safetext.Width(right)
	switch {
	case room < 0:
		return safetext.Fit(right, w, ellipsis)
	case room > 0 && safetext.Width(left) > room:
		return safetext.Fit(left, room-1, ellipsis) + " " + right
	}
	return safetext.Fit(left, room, ellipsis) + right
}

func (r *root) banner() string {
	o, t := r.d.opts, r.d.theme
	word := " " + safetext.Cell(strings.ToUpper(o.Environment)) + " "
	sep := " " + t.Glyphs.Bar + " "
	write := safetext.Cell(r.d.writeWord())
	left := word
	for _, part := range []string{safetext.Cell(o.Context), safetext.Cell(o.User), write} {
		if part != "" {
			left += sep + part
		}
	}
	line := spread(left, r.healthText()+sep+r.age()+" "+word, r.w, t.Glyphs.Ellipsis)
	return t.Text(paint.Banner(o.Environment), line)
}

func (r *root) healthText() string {
	h := r.d.health
	text := func(name string, b backend) string {
		switch {
		case !b.known:
			return name + " " + r.d.theme.Glyphs.Hollow
		case b.down:
			return name + " " + r.d.tr("DOWN")
		default:
			return name + " " + r.d.theme.Glyphs.Dot
		}
	}
	s := text("redis", h.redis) + " " + text("pg", h.postgres)
	if h.took > 0 {
		s += " " + brief(h.took)
	}
	return s
}

// age says how old what is on the screen is.
func (r *root) age() string {
	s := r.screen().Seen()
	switch {
	case s.denied:
		return r.d.tr("not allowed")
	case s.at.IsZero() && s.problem != "":
		return r.d.tr("nothing read")
	case s.at.IsZero() && s.live:
		return r.d.tr("reading") + r.d.theme.Glyphs.Ellipsis
	case s.at.IsZero():
		return ""
	}
	age := max(r.d.now().Sub(s.at), 0)
	ago := r.d.tr("%.1fs ago", age.Seconds())
	if age >= time.Minute {
		ago = r.d.tr("%s ago", brief(age))
	}
	switch {
	case s.problem != "":
		return r.d.tr("STALE %s", ago)
	case s.paused:
		return r.d.tr("PAUSED %s", ago)
	}
	return ago
}

// tabLine draws the tabs, tighter when there is little room, and the job that runs.
func (r *root) tabLine() string {
	t := r.d.theme
	right := ""
	if j := r.d.jobs.shown(); j != nil {
		right = " " + safetext.Cell(j.name+" "+orEllipsis(j.progress(), t)) + " "
		right = safetext.Cut(right, r.w/3, t.Glyphs.Ellipsis)
	}
	left := ""
	for _, tight := range tabFits {
		line, width := r.drawTabs(tight)
		if left = line; width+safetext.Width(right) <= r.w {
			break
		}
	}
	return spread(left, t.Text(paint.Warn, right), r.w, t.Glyphs.Ellipsis)
}

// tabFit is a way to write the tabs: the blanks around each, and how much of the names of those
// that are not shown there is room for.
type tabFit struct {
	pad  string
	name int
}

// tabFits go from roomy to tight.
var tabFits = []tabFit{{" ", 99}, {"", 99}, {"", 6}, {"", 5}, {"", 4}, {"", 3}}

func orEllipsis(words string, t *paint.Theme) string {
	if words == "" {
		return t.Glyphs.Ellipsis
	}
	return words
}

func (r *root) drawTabs(fit tabFit) (line string, width int) {
	t, here := r.d.theme, r.standing()
	var b strings.Builder
	b.WriteString(" ")
	width = 1
	for _, tab := range r.tabs() {
		name := r.d.tr(tab.Title())
		bad := r.badges.of(tab.ID())
		sign := bad.text(t.Glyphs)
		if tab.ID() != here {
			name = safetext.Cut(name, fit.name, "")
		}
		words, role := tab.digit+fit.pad+name, paint.Muted
		edge := [2]string{fit.pad, fit.pad}
		if tab.ID() == here {
			edge, role = [2]string{"[", "]"}, paint.ButtonFocus
		}
		b.WriteString(t.Text(role, edge[0]+words))
		if sign != "" {
			mark := paint.Warn
			if bad.bad {
				mark = paint.Bad
			}
			b.WriteString(t.Text(mark, sign))
		}
		b.WriteString(t.Text(role, edge[1]) + " ")
		width += safetext.Width(edge[0]+words+sign+edge[1]) + 1
	}
	return b.String(), width
}

func (r *root) crumb() string {
	t := r.d.theme
	c := r.screen().Crumb()
	left := " " + t.Text(paint.Strong, c.path)
	if c.filter != "" {
		left += t.Text(paint.Muted, "  "+r.d.tr("filter")+" ") +
			t.Text(paint.Warn, safetext.Cell(c.filter))
	}
	return spread(left, t.Text(paint.Muted, c.counts)+" ", r.w, t.Glyphs.Ellipsis)
}

func (r *root) messageLine() string {
	if r.prompt.open {
		return r.prompt.view(r.w)
	}
	t := r.d.theme
	m := r.d.messages.show(r.d.now())
	if m == nil {
		return safetext.Spaces(r.w)
	}
	sign, role := t.Glyphs.OK, paint.Good
	tail := ""
	switch m.level {
	case Warned:
		sign, role = t.Glyphs.Warning, paint.Warn
	case Erred:
		sign, role = t.Glyphs.Wrong, paint.Bad
		tail = r.d.tr("  ! details  esc")
	case Info:
	}
	tail = " " + m.at.Format("15:04:05") + tail + " "
	return spread(" "+t.Text(role, sign+" "+m.text), t.Text(paint.Muted, tail), r.w,
		t.Glyphs.Ellipsis)
}

// footer lists the keys that matter now, from the bindings that dispatch them.
func (r *root) footer() string {
	t := r.d.theme
	var list []Binding
	if r.top() == nil && !r.prompt.open {
		list = append(r.screenKeys(), r.globalKeys()...)
	} else {
		list = r.bindings()
	}
	typing := r.layer().Typing()
	if typing && r.top() == nil && !r.prompt.open {
		list = append(list, Binding{Keys: []string{"esc"}, Help: "leave the field"})
	}
	var b strings.Builder
	used := 1
	b.WriteString(" ")
	for _, bind := range list {
		if bind.Quiet || len(bind.Keys) == 0 || typing && utf8.RuneCountInString(bind.label()) == 1 {
			continue
		}
		label := bind.label()
		help := bind.says(r.d)
		ok, _ := bind.enabled()
		if !ok {
			help = "(" + help + ")"
		}
		w := safetext.Width(label) + 1 + safetext.Width(help) + 2
		if used+w > r.w {
			break
		}
		used += w
		if ok {
			b.WriteString(t.Text(paint.Accent, label) + " " + t.Text(paint.Muted, help))
		} else {
			b.WriteString(t.Text(paint.Muted, label+" "+help))
		}
		b.WriteString("  ")
	}
	return safetext.Fit(b.String(), r.w, "")
}

// brief writes a duration in at most six columns, such as "0.9s", "4m11s" or "2h03m".
func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dus", d.Microseconds())
	case d < time.Second/10:
		return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// asciiOnly replaces what a terminal without UTF-8 cannot draw, column by column.
func asciiOnly(frame string) string {
	var b strings.Builder
	b.Grow(len(frame))
	for _, c := range frame {
		if c < 0x7f {
			b.WriteRune(c)
			continue
		}
		for range safetext.Width(string(c)) {
			b.WriteByte('?')
		}
	}
	return b.String()
}
