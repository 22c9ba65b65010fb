package tui

import (
	"context"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// refusedShown is how many of the refused writes are listed: the newest.
	refusedShown = 1000
	// refusedSpan is how far the list reaches back unless another span is chosen.
	refusedSpan = "1h"

	refusedUsage = "token refused [--since 4h]"
)

// refusedList is the screen of late writes that the fence refused, of all resources.
type refusedList = list[inspect.RefusedWrite]

func newRefusedScreen(d *desk) *refusedList {
	return newList(d, listSpec[inspect.RefusedWrite]{
		id: ScreenRefused, parent: ScreenLeases, title: "Refused writes", columns: refusedColumns(d),
		rowID: func(w *inspect.RefusedWrite) string { return idText(w.ID) },
		load: func(ctx context.Context, about Args) (batch[inspect.RefusedWrite], error) {
			page, err := d.opts.Inspector.Refused(ctx, inspect.RefusedQuery{
				Since: d.now().Add(-spanOf(about)), Limit: refusedShown,
			})
			return batch[inspect.RefusedWrite]{rows: page.Rows, about: page.More}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "time", desc: true,
		empty: "the fence refused nothing in this time", summary: refusedLine,
		crumb: func(about Args) string {
			return d.tr("Leases") + " › " + d.tr("refused by the fence in %s", spanText(about))
		},
		detail: func(it *item[inspect.RefusedWrite], w int) (a, b []string) {
			return refusedDetail(d, it.row, w)
		},
		keys: refusedKeys, attention: func(w *inspect.RefusedWrite) bool { return w.Twice() },
		proof: func(w *inspect.RefusedWrite) []inspect.Proof {
			return inspect.ProveEntry(inspect.PlayerEntry{Type: inspect.EntryRefusal, ID: w.ID})
		},
		cli: func(about Args, _ string) []string {
			return []string{
				"rewardctl", "token", "refused", "--since", spanText(about), "--limit",
				strconv.Itoa(refusedShown),
			}
		},
	})
}

// spanText is how far the list reaches back, as it is written.
func spanText(about Args) string {
	if about["span"] != "" {
		return about["span"]
	}
	return refusedSpan
}

func spanOf(about Args) time.Duration {
	span, err := time.ParseDuration(spanText(about))
	if err != nil || span <= 0 {
		return time.Hour
	}
	return span
}

func refusedColumns(d *desk) []column[inspect.RefusedWrite] {
	type row = inspect.RefusedWrite
	return []column[row]{
		timeColumn(table.Column{Key: "time", Title: "TIME", Min: 14},
			func(w *row) time.Time { return w.At }),
		{
			table.Column{Key: "what", Title: "WHAT", Min: 16},
			func(w *row, _ time.Time) table.Cell {
				words, role := refusedWord(d, w)
				return table.Cell{Text: words, Role: role}
			},
			func(a, b *row) int { return int(a.Outcome) - int(b.Outcome) },
		},
		plainColumn(table.Column{Key: "resource", Title: "RESOURCE", Min: 18, Flex: 2, Max: 50},
			func(w *row) string { return w.Resource }),
		numberColumn(table.Column{Key: "token", Title: "TOKEN", Min: 8},
			func(w *row) int64 { return w.Token }),
		plainColumn(table.Column{Key: "owner", Title: "OWNER", Min: 14, Flex: 2, Max: 40},
			func(w *row) string { return withoutNonce(w.Owner) }),
		numberColumn(table.Column{Key: "fence", Title: "FENCE", Min: 8, Priority: 2},
			func(w *row) int64 { return w.FenceToken }),
		plainColumn(table.Column{
			Key: "newer", Title: "ACCEPTED OF", Min: 14, Flex: 1, Max: 40, Priority: 4,
		}, func(w *row) string { return withoutNonce(w.FenceOwner) }),
		plainColumn(table.Column{Key: "event", Title: "EVENT", Min: 16, Flex: 2, Max: 50, Priority: 3},
			func(w *row) string { return w.EventID }),
	}
}

// withoutNonce leaves the part of an owner away that only tells its acquisitions apart.
func withoutNonce(owner string) string {
	name, _, _ := strings.Cut(owner, "#")
	return name
}

func refusedWord(d *desk, w *inspect.RefusedWrite) (string, paint.Role) {
	switch {
	case w.Twice():
		return d.theme.Glyphs.Warning + " " + d.tr("token twice"), paint.Bad
	case w.Burned():
		return d.theme.Glyphs.OK + " " + d.tr("token burned"), paint.Good
	}
	return d.theme.Glyphs.OK + " " + d.tr("late write"), paint.Good
}

// refusedLine says how many there are, and what they mean.
func refusedLine(l *refusedList, w int) string {
	d, t := l.d, l.d.theme
	if l.shown.at.IsZero() {
		return spread(" "+t.Text(paint.Muted, d.tr("looking")+t.Glyphs.Ellipsis), "", w, "")
	}
	twice := 0
	for _, it := range l.shown.all {
		if it.row.Twice() {
			twice++
		}
	}
	words := d.tr("%d late writes refused: nothing was paid by them", len(l.shown.all)-twice)
	if more, _ := l.shown.about.(bool); more {
		words = d.tr("the newest %d; ", len(l.shown.all)) + words
	}
	line := " " + t.Text(paint.Muted, words)
	if twice > 0 {
		line += "   " + t.Text(paint.Bad, d.tr("%d under a token issued twice", twice))
	}
	return spread(line, l.held(), w, t.Glyphs.Ellipsis)
}

func refusedDetail(d *desk, r *inspect.RefusedWrite, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	word, role := refusedWord(d, r)
	a.title(word+"  "+safetext.Cell(r.Resource), role)
	switch {
	case r.Twice():
		a.add("", d.tr("two owners had this token: Redis lost its counter between them"))
	case r.Burned():
		a.add("", d.tr("an operator had burned its token"))
	default:
		a.add("", d.tr("its lease was over: a higher token had been accepted when it wrote"))
	}
	a.add(d.tr("owner"), r.Owner)
	a.add(d.tr("token"), idText(r.Token))
	if r.FenceToken != 0 {
		b.add(d.tr("fence"), d.tr("%d by %s", r.FenceToken, r.FenceOwner))
	}
	b.add(d.tr("player"), r.PlayerID)
	b.add(d.tr("event"), r.EventID)
	b.add(d.tr("reward"), idText(r.Amount)+" "+r.Kind)
	b.add(d.tr("by"), r.Actor)
	return a.lines, b.lines
}

func refusedKeys(l *refusedList) []Binding {
	d := l.d
	return []Binding{
		{Keys: []string{"enter"}, Help: "tokens", Enabled: hasRow(l), Action: func() tea.Cmd {
			return d.root.goTo(ScreenTokens, Args{"resource": l.selected().row.Resource})
		}},
		{Keys: []string{"P"}, Help: "player", Enabled: hasRow(l), Action: func() tea.Cmd {
			return d.root.goTo(ScreenPlayer, Args{"player": l.selected().row.PlayerID})
		}},
		{Keys: []string{"t"}, Help: "how far back" + d.theme.Glyphs.Ellipsis, Action: func() tea.Cmd {
			var choices []choice
			for _, span := range []string{refusedSpan, "4h", "24h", "168h"} {
				choices = append(choices, choice{label: span, run: func() tea.Cmd {
					return d.root.goTo(ScreenRefused, Args{"span": span})
				}})
			}
			return openPicker(d, d.tr("refused in the last"), choices)
		}},
	}
}

// openRefused opens the list from the words of "token refused".
func (r *root) openRefused(words []string) tea.Cmd {
	switch {
	case len(words) == 0:
		return r.goTo(ScreenRefused, Args{})
	case len(words) == 2 && words[0] == "--since":
		if span, err := time.ParseDuration(words[1]); err == nil && span > 0 {
			return r.goTo(ScreenRefused, Args{"span": words[1]})
		}
	}
	return r.usage(refusedUsage)
}
