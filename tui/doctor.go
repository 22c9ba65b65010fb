package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// doctorList is the screen of everything that granting depends on.
type doctorList = list[inspect.Check]

func newDoctorScreen(d *desk) *doctorList {
	return newList(d, listSpec[inspect.Check]{
		id: ScreenDoctor, title: "Doctor", columns: doctorColumns(d), every: 2 * readSlowly,
		rowID: func(c *inspect.Check) string { return c.Name },
		load: func(ctx context.Context, _ Args) (batch[inspect.Check], error) {
			got, err := d.opts.Inspector.Doctor(ctx)
			return batch[inspect.Check]{rows: got.Checks, missing: got.Missing}, err
		},
		servers: []grant.Backend{grant.Redis, grant.PostgreSQL}, sortKey: "status",
		empty: "nothing was looked at", digest: diagnose, summary: doctorLine,
		attention: func(c *inspect.Check) bool { return c.Status != inspect.Pass },
		detail: func(it *item[inspect.Check], w int) (a, b []string) {
			return checkDetail(d, it.row, w)
		},
		keys: func(l *doctorList) []Binding {
			return []Binding{{
				Keys: []string{"F"}, Help: "counters and fences" + d.theme.Glyphs.Ellipsis, Changes: true,
				Enabled: func() (bool, string) {
					why := d.cannot(repair.WordReseed)
					return why == "", why
				},
				Action: func() tea.Cmd { return askReseed(d) },
			}, {
				Keys: []string{"T"}, Help: "this terminal", Action: func() tea.Cmd {
					d.root.open(newPage(d.root, d.tr("this terminal"), d.terminalText()), false)
					return nil
				},
			}}
		},
		cli: func(Args, string) []string { return []string{"rewardctl", "doctor"} },
	})
}

func doctorColumns(d *desk) []column[inspect.Check] {
	type row = inspect.Check
	return []column[row]{
		plainColumn(table.Column{Key: "check", Title: "CHECK", Min: 22, Flex: 1, Max: 32},
			func(c *row) string { return c.Name }),
		{
			table.Column{Key: "status", Title: "STATUS", Min: 12},
			func(c *row, _ time.Time) table.Cell {
				words, role := checkWord(d, c)
				return table.Cell{Text: words, Role: role}
			},
			func(a, b *row) int { return cmp.Compare(checkRank(a), checkRank(b)) },
		},
		plainColumn(table.Column{Key: "level", Title: "LEVEL", Min: 9, Priority: 2},
			func(c *row) string { return string(c.Level) }),
		plainColumn(table.Column{Key: "value", Title: "FOUND", Min: 24, Flex: 4, Max: 90, Priority: 1},
			func(c *row) string { return c.Value }),
	}
}

// checkRank puts what needs attention first.
func checkRank(c *inspect.Check) int {
	rank := slices.Index([]inspect.Status{inspect.Fail, inspect.Unseen, inspect.Pass}, c.Status) * 2
	if c.Level != inspect.Gate {
		rank++
	}
	return rank
}

func checkWord(d *desk, c *inspect.Check) (string, paint.Role) {
	g := d.theme.Glyphs
	switch {
	case c.Status == inspect.Pass:
		return g.OK + " " + d.tr("fit"), paint.Good
	case c.Status == inspect.Unseen:
		return g.Hollow + " " + d.tr("not seen"), paint.Warn
	case c.Level == inspect.Gate:
		return g.Wrong + " " + d.tr("REFUSES"), paint.Bad
	default:
		return g.Warning + " " + d.tr("warning"), paint.Warn
	}
}

func checkDetail(d *desk, c *inspect.Check, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	word, role := checkWord(d, c)
	a.title(c.Name+"  "+word, role)
	a.add(d.tr("found"), c.Value)
	b.add(d.tr("why"), c.Why)
	b.in(d.tr("to do"), c.Fix, paint.Accent)
	return a.lines, b.lines
}

// diagnosed is what stands above the checks.
type diagnosed struct{ fit, refusing, warning, unseen int }

func diagnose(items []*item[inspect.Check], _ time.Time) any {
	var n diagnosed
	for _, it := range items {
		switch c := it.row; {
		case c.Status == inspect.Pass:
			n.fit++
		case c.Status == inspect.Unseen:
			n.unseen++
		case c.Level == inspect.Gate:
			n.refusing++
		default:
			n.warning++
		}
	}
	return n
}

func doctorLine(l *doctorList, w int) string {
	d, t := l.d, l.d.theme
	n, _ := l.shown.digest.(diagnosed)
	words, role := d.tr("everything is fit to grant"), paint.Good
	switch {
	case l.shown.at.IsZero():
		words, role = d.tr("looking")+t.Glyphs.Ellipsis, paint.Muted
	case n.refusing > 0:
		words = d.tr("granting is refused, or must be: %d gates are not passed", n.refusing)
		role = paint.Bad
	case n.warning+n.unseen > 0:
		words = d.tr("granting is correct; %d warnings, %d not seen", n.warning, n.unseen)
		role = paint.Warn
	}
	return spread(" "+t.Text(role, words), l.held(), w, t.Glyphs.Ellipsis)
}

// terminalText says how the console sees its terminal.
func (d *desk) terminalText() []string {
	modes := map[paint.Mode]string{
		paint.Mono: d.tr("none: attributes only"), paint.ANSI16: d.tr("16 of the palette"),
		paint.ANSI256: "256", paint.TrueColor: d.tr("true colour"),
	}
	yes := func(on bool) string {
		if on {
			return d.tr("yes")
		}
		return d.tr("no")
	}
	multiplexer := d.opts.Multiplexer
	if multiplexer == "" {
		multiplexer = d.tr("none")
	}
	r := d.root
	row := func(label, value string) string { return fitLabel(label) + value }
	return []string{
		row(d.tr("size"), strings.TrimSpace(d.tr("%d columns, %d lines", r.w, r.h))),
		row(d.tr("colours"), modes[d.theme.Mode()]),
		row(d.tr("ASCII only"), yes(d.opts.ASCII)),
		row(d.tr("language"), d.lang.Name()),
		row(d.tr("multiplexer"), multiplexer),
		row(d.tr("clipboard"), "OSC 52"),
		row(d.tr("whole frames"), yes(!d.opts.NoSync)),
		row(d.tr("mouse"), yes(r.mouse)),
	}
}
