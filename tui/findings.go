package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// findingsMax bounds the findings of one run that are shown. The rest is counted by the run.
const findingsMax = 20_000

// findingList is the screen of what one audit found.
type findingList = list[inspect.Finding]

var errEnough = errors.New("enough findings")

func newFindingsScreen(d *desk) *findingList {
	return newList(d, listSpec[inspect.Finding]{
		id: ScreenFindings, parent: ScreenAudits, title: "Findings",
		columns: findingColumns(d), every: readSlowly,
		rowID: func(f *inspect.Finding) string { return f.Check + " " + f.Fingerprint },
		load: func(ctx context.Context, about Args) (batch[inspect.Finding], error) {
			return loadFindings(ctx, d, about["run"])
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "severity",
		empty: "this audit found nothing",
		crumb: func(args Args) string {
			return d.tr("Audits") + " › " + d.tr("run %s", safetext.Cell(args["run"]))
		},
		detail: func(it *item[inspect.Finding], w int) (a, b []string) {
			return findingWhat(d, it.row, w), findingHow(d, it.row, w)
		},
		keys: findingKeys,
		cli: func(args Args, _ string) []string {
			return []string{"rewardctl", "audit", "show", args["run"]}
		},
	})
}

func loadFindings(ctx context.Context, d *desk, run string) (batch[inspect.Finding], error) {
	id, err := strconv.ParseInt(run, 10, 64)
	if err != nil {
		return batch[inspect.Finding]{}, errors.New(d.tr("there is no audit run %s", run))
	}
	var out batch[inspect.Finding]
	err = d.opts.Inspector.AuditFindings(ctx, id, func(f inspect.Finding) error {
		out.rows = append(out.rows, f)
		if len(out.rows) >= findingsMax {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

func findingColumns(d *desk) []column[inspect.Finding] {
	type row = inspect.Finding
	return []column[row]{
		{
			table.Column{Key: "severity", Title: "SEVERITY", Min: 10},
			roleColumn(table.Column{}, func(f *row) (string, paint.Role) {
				return severityWord(d, f.Severity)
			}).cell,
			func(a, b *row) int { return cmp.Compare(severityRank(a), severityRank(b)) },
		},
		plainColumn(table.Column{Key: "rule", Title: "RULE", Min: 18, Flex: 1, Max: 30},
			func(f *row) string { return strings.ReplaceAll(f.Word, "_", " ") }),
		plainColumn(table.Column{Key: "player", Title: "PLAYER", Min: 14, Flex: 1, Max: 24, Priority: 1},
			func(f *row) string { return f.PlayerID }),
		plainColumn(table.Column{Key: "event", Title: "EVENT", Min: 18, Flex: 2, Max: 48, Priority: 2},
			func(f *row) string { return f.EventID }),
		numberColumn(table.Column{Key: "rows", Title: "ROWS", Min: 6, Priority: 3},
			func(f *row) int64 { return f.Count }),
		plainColumn(table.Column{Key: "what", Title: "WHAT", Min: 20, Flex: 3, Max: 80, Priority: 4},
			func(f *row) string { return f.What }),
		plainColumn(table.Column{Key: "check", Title: "CHECK", Min: 14, Priority: 5},
			func(f *row) string { return f.Check }),
	}
}

// severityRank orders severities, the worst first.
func severityRank(f *inspect.Finding) int {
	return slices.Index([]inspect.Severity{
		inspect.Critical, inspect.Serious, inspect.Notice,
	}, f.Severity)
}

func severityWord(d *desk, s inspect.Severity) (string, paint.Role) {
	g := d.theme.Glyphs
	switch s {
	case inspect.Critical:
		return g.Wrong + " " + d.tr("critical"), paint.Bad
	case inspect.Serious:
		return g.Warning + " " + d.tr("serious"), paint.Warn
	default:
		return g.Hollow + " " + d.tr("notice"), paint.Muted
	}
}

func findingWhat(d *desk, f *inspect.Finding, w int) []string {
	a := facts{d: d, w: w}
	word, role := severityWord(d, f.Severity)
	a.title(word+"  "+strings.ReplaceAll(f.Word, "_", " "), role)
	a.add(d.tr("rule"), f.Rule)
	a.add(d.tr("found"), f.What)
	a.add(d.tr("player"), f.PlayerID)
	a.add(d.tr("event"), f.EventID)
	return a.lines
}

func findingHow(d *desk, f *inspect.Finding, w int) []string {
	b := facts{d: d, w: w}
	b.add(d.tr("rows"), fmt.Sprintf("%d (%s)", f.Count, f.Table))
	b.in(d.tr("differs"), strings.Join(f.Differs, ", "), paint.Warn)
	b.in(d.tr("remedy"), f.Remedy, paint.Accent)
	b.add(d.tr("proof"), d.tr("enter shows the evidence and the statement that shows it again"))
	return b.lines
}

func findingKeys(l *findingList) []Binding {
	d := l.d
	selected := func() *inspect.Finding { return l.selected().row }
	hasPlayer := func() (bool, string) {
		if it := l.selected(); it == nil || it.row.PlayerID == "" {
			return false, d.tr("it concerns no single player")
		}
		return true, ""
	}
	return []Binding{
		{Keys: []string{"enter"}, Help: "evidence", Enabled: hasRow(l), Action: func() tea.Cmd {
			d.root.open(newPage(d.root, selected().Word, evidenceText(d, selected())), false)
			return nil
		}},
		{Keys: []string{"P"}, Help: "player", Enabled: hasPlayer, Action: func() tea.Cmd {
			return d.root.goTo(ScreenPlayer, Args{"player": selected().PlayerID})
		}},
		{Keys: []string{"E"}, Help: "explain", Quiet: true, Enabled: hasPlayer, Action: func() tea.Cmd {
			f := selected()
			if f.EventID == "" {
				d.say(Info, d.tr("it concerns no single event"))
				return nil
			}
			return openExplain(d, f.PlayerID, f.EventID)
		}},
		{
			Keys: []string{"s"}, Help: "copy proof", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd {
				return d.clip(d.tr("the proof"), selected().Proof)
			},
		},
		{
			Keys: []string{"Y"}, Help: "copy remedy", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd {
				return d.clip(d.tr("the remedy"), selected().Remedy)
			},
		},
		{
			Keys: []string{"n"}, Help: "next finding", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd {
				l.table.Move(1)
				l.follow()
				return nil
			},
		},
		{
			Keys: []string{"N"}, Help: "finding before", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd {
				l.table.Move(-1)
				l.follow()
				return nil
			},
		},
	}
}

// evidenceText writes a finding in full: the rule, the rows side by side with what differs
// marked, the proof and the remedy.
func evidenceText(d *desk, f *inspect.Finding) []string {
	lines := []string{f.What, "", d.tr("rule") + "  " + f.Rule, "", d.tr("Rows of %s", f.Table)}
	width := 0
	for _, c := range f.Columns {
		width = max(width, safetext.Width(safetext.Cell(c)))
	}
	const cellWidth, rowsMax = 30, 6
	shown := f.Rows[:min(len(f.Rows), rowsMax)]
	for i, c := range f.Columns {
		mark := d.theme.Glyphs.Equal
		if slices.Contains(f.Differs, c) {
			mark = d.theme.Glyphs.NotEqual
		}
		line := "  " + mark + " " + safetext.Fit(safetext.Cell(c), width, "")
		for _, row := range shown {
			value := d.theme.Glyphs.Dash
			if i < len(row) && row[i] != nil {
				value = *row[i]
			}
			line += "  " + safetext.Fit(safetext.Cell(value), cellWidth, d.theme.Glyphs.Ellipsis)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if int64(len(shown)) < f.Count {
		lines = append(lines, "  "+d.tr("%d of %d rows", len(shown), f.Count))
	}
	lines = append(lines, "", d.tr("What to do"), "  "+f.Remedy, "",
		d.tr("A read-only statement that shows it again; s copies it"))
	return append(lines, strings.Split(f.Proof, "\n")...)
}
