package tui

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// logShown is how many rows of the operator log are listed: the newest.
const logShown = 1000

// logList is the screen of what operators did.
type logList = list[inspect.LogEntry]

func newLogScreen(d *desk) *logList {
	return newList(d, listSpec[inspect.LogEntry]{
		id: ScreenLog, title: "Log", columns: logColumns(d), every: 2 * time.Second,
		rowID: func(e *inspect.LogEntry) string { return idText(e.ID) },
		load: func(ctx context.Context, _ Args) (batch[inspect.LogEntry], error) {
			page, err := d.opts.Inspector.Log(ctx, inspect.LogQuery{Limit: logShown})
			settled := map[int64]bool{}
			for _, e := range page.Entries {
				settled[e.Intent] = true
			}
			return batch[inspect.LogEntry]{rows: page.Entries, about: settled}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "row", desc: true,
		empty: "no deed was recorded yet",
		detail: func(it *item[inspect.LogEntry], w int) (a, b []string) {
			return logDetail(d, it.row, w)
		},
		keys: logKeys, attention: func(e *inspect.LogEntry) bool { return needsLook(d, e) },
		proof: func(e *inspect.LogEntry) []inspect.Proof { return inspect.ProveAction(e.ID) },
		cli: func(Args, string) []string {
			return []string{"rewardctl", "oplog", "list", "--limit", strconv.Itoa(logShown)}
		},
		flags: logFlags,
	})
}

func logColumns(d *desk) []column[inspect.LogEntry] {
	type row = inspect.LogEntry
	return []column[row]{
		numberColumn(table.Column{Key: "row", Title: "ROW", Min: 6},
			func(e *row) int64 { return e.ID }),
		timeColumn(table.Column{Key: "time", Title: "TIME", Min: 14},
			func(e *row) time.Time { return e.At }),
		plainColumn(table.Column{Key: "by", Title: "BY", Min: 10, Flex: 1, Max: 18},
			func(e *row) string { return e.Operator }),
		plainColumn(table.Column{Key: "action", Title: "DEED", Min: 15, Flex: 1, Max: 20},
			func(e *row) string { return e.Action }),
		plainColumn(table.Column{Key: "target", Title: "ABOUT", Min: 16, Flex: 2, Max: 40, Priority: 1},
			func(e *row) string { return e.Target }),
		{
			table.Column{Key: "outcome", Title: "OUTCOME", Min: 14, Flex: 1, Max: 30},
			func(e *row, _ time.Time) table.Cell {
				words, role := outcomeWord(d, e)
				return table.Cell{Text: words, Role: role}
			},
			func(a, b *row) int { return cmp.Compare(a.Outcome, b.Outcome) },
		},
		plainColumn(table.Column{Key: "phase", Title: "PHASE", Min: 8, Priority: 4},
			func(e *row) string { return string(e.Phase) }),
		plainColumn(table.Column{Key: "reason", Title: "REASON", Min: 16, Flex: 3, Max: 60, Priority: 2},
			func(e *row) string { return e.Reason }),
		plainColumn(table.Column{Key: "ticket", Title: "TICKET", Min: 9, Priority: 3},
			func(e *row) string { return e.Ticket }),
	}
}

// outcomeWord says how a deed ended.
func outcomeWord(d *desk, e *inspect.LogEntry) (string, paint.Role) {
	g, words := d.theme.Glyphs, strings.ReplaceAll(e.Outcome, "_", " ")
	switch e.Phase {
	case inspect.LogIntent:
		return g.Hollow + " " + d.tr("begun"), paint.Muted
	case inspect.LogDenied:
		return g.Warning + " " + words, paint.Warn
	case inspect.LogFailed:
		return g.Wrong + " " + words, paint.Bad
	}
	return g.OK + " " + words, paint.Good
}

// needsLook says whether a row needs somebody: what was refused, what failed, and what was begun
// and has no result among the rows that were read.
func needsLook(d *desk, e *inspect.LogEntry) bool {
	if e.Phase != inspect.LogIntent {
		return e.Phase != inspect.LogResult
	}
	l, ok := d.root.screen().(*logList)
	if !ok {
		return true
	}
	settled, _ := l.shown.about.(map[int64]bool)
	return !settled[e.ID]
}

// logDetail writes a row on two levels: what was intended, the command, and below it what came of
// it.
func logDetail(d *desk, e *inspect.LogEntry, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	words, role := outcomeWord(d, e)
	a.title(e.Action+"  "+e.Target, paint.Strong)
	a.add(d.tr("reason"), e.Reason)
	a.in(d.tr("command"), e.Command, paint.Accent)
	a.in("  "+d.theme.Glyphs.BottomLeft, words, role)
	b.add(d.tr("by"), e.Operator+" ("+e.DBUser+"), "+e.Host+" "+e.Client)
	b.add(d.tr("ticket"), e.Ticket)
	b.add(d.tr("approval"), numberText(e.Approval))
	b.add(d.tr("saw"), plainObject(e.Observed))
	b.add(d.tr("before"), plainObject(e.Before))
	b.add(d.tr("after"), plainObject(e.After))
	if e.Intent != 0 {
		b.add(d.tr("settles"), d.tr("the intent in row %d", e.Intent))
	}
	return a.lines, b.lines
}

// plainObject writes an object of the log in a line, such as "left 12s, lock 7:w-9"; what is none
// as it is.
func plainObject(raw string) string {
	values := logObject(raw)
	if values == nil {
		return raw
	}
	words := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != "" {
			words = append(words, name+" "+values[name])
		}
	}
	return strings.Join(words, ", ")
}

func logKeys(l *logList) []Binding {
	d := l.d
	return []Binding{
		{
			Keys: []string{"enter"}, Help: "the whole row", Enabled: hasRow(l),
			Action: func() tea.Cmd {
				e := l.selected().row
				text := logText(d, e, partner(l, e))
				d.root.open(newPage(d.root, d.tr("row %d of the log", e.ID), text), false)
				return nil
			},
		},
		{
			Keys: []string{"Y"}, Help: "copy command", Enabled: hasRow(l), Action: func() tea.Cmd {
				return d.clip(d.tr("the command"), d.reaching(l.selected().row.Command))
			},
		},
		{
			Keys: []string{"Z"}, Help: "look at it again, dry", Enabled: canAgain(l),
			Action: func() tea.Cmd { return lookAgain(d, l.selected().row) },
		},
		{Keys: []string{"V"}, Help: "verify the chain", Action: func() tea.Cmd { return verifyLog(d) }},
		{Keys: []string{"u"}, Help: "deeds that were cut off", Quiet: true, Action: func() tea.Cmd {
			return openReading(d, d.tr("deeds that were cut off"),
				func(ctx context.Context) ([]string, error) { return cutOff(ctx, d) })
		}},
	}
}

// verifyLog checks the chain of the log and says what is found.
func verifyLog(d *desk) tea.Cmd {
	return openReading(d, d.tr("verify the chain"), func(ctx context.Context) ([]string, error) {
		v, err := d.opts.Inspector.VerifyLog(ctx, inspect.LogCheck{})
		if err != nil {
			return nil, err
		}
		lines := []string{
			d.tr("the log is %s", v.State), d.tr("%d rows were read, up to row %d", v.Rows, v.LastID),
		}
		for _, b := range v.Breaks {
			lines = append(lines, d.theme.Glyphs.Wrong+" "+d.tr("row %d: %s", b.ID, b.What))
		}
		lines = append(lines, v.Notes...)
		return append(lines, "",
			d.tr("Without an anchor that was kept elsewhere nobody can tell whether the newest rows were "+
				"cut off: see rewardctl oplog anchor.")), nil
	})
}

// cutOff lists the intents without a result, of any time.
func cutOff(ctx context.Context, d *desk) ([]string, error) {
	page, err := d.opts.Inspector.Log(ctx, inspect.LogQuery{Unfinished: true, Limit: logShown})
	if err != nil {
		return nil, err
	}
	if len(page.Entries) == 0 {
		return []string{d.tr("none: every deed that was begun has a result")}, nil
	}
	var lines []string
	for _, e := range page.Entries {
		lines = append(lines, stamp(e.At)+"  "+e.Operator+"  "+e.Action+"  "+e.Target,
			"  "+d.tr("doing the same again settles it:"), "  "+d.reaching(e.Command), "")
	}
	return lines, nil
}
