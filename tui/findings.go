package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// findingsMax bounds the findings of one run that are shown. The rest is counted by the run.
const findingsMax = 20_000

// found is a finding of a run, with what became of it since the run before.
type found struct {
	inspect.Finding
	run    int64
	change inspect.AuditChange // empty when there is no run to compare with
}

// findingList is the screen of what one audit found.
type findingList = list[found]

var errEnough = errors.New("enough findings")

func newFindingsScreen(d *desk) *findingList {
	return newList(d, listSpec[found]{
		id: ScreenFindings, parent: ScreenAudits, title: "Findings",
		columns: findingColumns(d), every: readSlowly,
		rowID: func(f *found) string { return f.Check + " " + f.Fingerprint },
		load: func(ctx context.Context, about Args) (batch[found], error) {
			return loadFindings(ctx, d, about)
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "severity",
		empty: "this audit found nothing", summary: findingsLine, also: followAudit,
		attention: func(f *found) bool {
			return !f.Acknowledged() && f.change != inspect.FindingGone
		},
		name: func(f *found) string { return strconv.FormatInt(f.ID, 10) },
		proof: func(f *found) []inspect.Proof {
			return []inspect.Proof{{Tool: inspect.ProofSQL, Text: f.Proof}}
		},
		crumb: func(args Args) string {
			return d.tr("Audits") + " › " + d.tr("run %s", safetext.Cell(args["run"]))
		},
		detail: func(it *item[found], w int) (a, b []string) {
			return findingWhat(d, it.row, w), findingHow(d, it.row, w)
		},
		keys: findingKeys,
		cli: func(args Args, _ string) []string {
			if older := args[olderArg]; older != "" {
				return []string{"rewardctl", "audit", "diff", args["run"], older}
			}
			if args[goneArg] != "" {
				return []string{"rewardctl", "audit", "diff", args["run"]}
			}
			return []string{"rewardctl", "audit", "show", args["run"]}
		},
	})
}

const (
	goneArg  = "gone"  // asks for what only the run before had found, too
	olderArg = "older" // the run to compare with; without it the one before
)

// followAudit reads the findings of an audit that runs from here every second, as they come.
func followAudit(l *findingList, msg tea.Msg) tea.Cmd {
	a := l.d.auditing
	if _, tick := msg.(tickMsg); !tick || a == nil {
		return nil
	}
	told := a.told.Load()
	if now := l.d.now(); told != nil && idText(told.Run) == l.args["run"] &&
		now.Sub(a.looked) >= time.Second {
		a.looked = now
		l.feed.refresh()
	}
	return nil
}

// loadFindings reads what a run found and what became of it since the run before.
func loadFindings(ctx context.Context, d *desk, about Args) (batch[found], error) {
	id, err := strconv.ParseInt(about["run"], 10, 64)
	if err != nil {
		return batch[found]{}, errors.New(d.tr("there is no audit run %s", about["run"]))
	}
	older, err := olderRun(ctx, d, id, about[olderArg])
	if err != nil {
		return batch[found]{}, err
	}
	var changes inspect.AuditChanges
	if older != 0 {
		if changes, err = d.opts.Inspector.AuditCompare(ctx, older, id); err != nil {
			return batch[found]{}, err
		}
	}
	out := batch[found]{about: changes}
	take := func(run int64) func(inspect.Finding) error {
		return func(f inspect.Finding) error {
			change, compared := changes.Changes[f.ID]
			if run == id || compared {
				out.rows = append(out.rows, found{f, run, change})
			}
			if len(out.rows) >= findingsMax {
				return errEnough
			}
			return nil
		}
	}
	err = d.opts.Inspector.AuditFindings(ctx, id, take(id))
	if err == nil && older != 0 && about[goneArg] != "" {
		err = d.opts.Inspector.AuditFindings(ctx, older, take(older))
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// olderRun is the run to compare with: the one that is named, or the one before; 0 for none.
func olderRun(ctx context.Context, d *desk, run int64, named string) (int64, error) {
	if named == "" {
		return d.opts.Inspector.AuditPrevious(ctx, run)
	}
	older, err := strconv.ParseInt(named, 10, 64)
	if err != nil {
		return 0, errors.New(d.tr("there is no audit run %s", named))
	}
	return older, nil
}

// findingsLine says how the run compares with the one before.
func findingsLine(l *findingList, w int) string {
	d, t := l.d, l.d.theme
	if run, err := strconv.ParseInt(l.args["run"], 10, 64); err == nil {
		if line := d.auditLine(run, w); line != "" {
			return line
		}
	}
	c, ok := l.shown.about.(inspect.AuditChanges)
	words := d.tr("there is no earlier audit of the same checks to compare with")
	switch {
	case !ok || l.shown.at.IsZero():
		words = d.tr("looking") + t.Glyphs.Ellipsis
	case c.Older.ID != 0:
		words = d.tr("since run %d: %d new, %d still there, %d gone, %d unread", c.Older.ID,
			c.Counts[inspect.FindingNew], c.Counts[inspect.FindingStill],
			c.Counts[inspect.FindingGone], c.Counts[inspect.FindingUnread])
	}
	return spread(" "+t.Text(paint.Muted, words), l.held(), w, t.Glyphs.Ellipsis)
}

// foundWord says in a word how a finding stands.
func foundWord(d *desk, f *found) (string, paint.Role) {
	g := d.theme.Glyphs
	switch {
	case f.Acknowledged():
		return g.OK + " " + d.tr("acknowledged"), paint.Muted
	case f.change == inspect.FindingNew:
		return g.Dot + " " + d.tr("new"), paint.Bad
	case f.change == inspect.FindingStill:
		return g.Hollow + " " + d.tr("still there"), paint.Warn
	case f.change == inspect.FindingGone:
		return g.OK + " " + d.tr("gone"), paint.Good
	case f.change == inspect.FindingUnread:
		return "? " + d.tr("unread"), paint.Muted
	}
	return g.Dash, paint.Muted
}

func findingColumns(d *desk) []column[found] {
	type row = found
	return []column[row]{
		{
			table.Column{Key: "severity", Title: "SEVERITY", Min: 10},
			roleColumn(table.Column{}, func(f *row) (string, paint.Role) {
				return severityWord(d, f.Severity)
			}).cell,
			func(a, b *row) int { return cmp.Compare(severityRank(a), severityRank(b)) },
		},
		roleColumn(table.Column{Key: "state", Title: "STATE", Min: 14},
			func(f *row) (string, paint.Role) { return foundWord(d, f) }),
		plainColumn(table.Column{Key: "rule", Title: "RULE", Min: 14, Flex: 1, Max: 30},
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
func severityRank(f *found) int {
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

func findingWhat(d *desk, f *found, w int) []string {
	a := facts{d: d, w: w}
	word, role := severityWord(d, f.Severity)
	a.title(word+"  "+strings.ReplaceAll(f.Word, "_", " "), role)
	a.add(d.tr("rule"), f.Rule)
	a.add(d.tr("found"), f.What)
	a.add(d.tr("player"), f.PlayerID)
	a.add(d.tr("event"), f.EventID)
	return a.lines
}

func findingHow(d *desk, f *found, w int) []string {
	b := facts{d: d, w: w}
	state, role := foundWord(d, f)
	b.in(d.tr("state"), state, role)
	if ack := f.Ack; ack != nil {
		b.add("", d.tr("%s by %s, %s: %s", ack.State, ack.Operator, stamp(ack.At), ack.Reason))
	}
	b.add(d.tr("rows"), fmt.Sprintf("%d (%s)", f.Count, f.Table))
	b.in(d.tr("differs"), strings.Join(f.Differs, ", "), paint.Warn)
	b.in(d.tr("remedy"), f.Remedy, paint.Accent)
	b.add(d.tr("proof"), d.tr("enter shows the evidence and the statement that shows it again"))
	return b.lines
}

func findingKeys(l *findingList) []Binding {
	d := l.d
	selected := func() *found { return l.selected().row }
	hasPlayer := func() (bool, string) {
		if it := l.selected(); it == nil || it.row.PlayerID == "" {
			return false, d.tr("it concerns no single player")
		}
		return true, ""
	}
	return []Binding{
		{Keys: []string{"enter"}, Help: "evidence", Enabled: hasRow(l), Action: func() tea.Cmd {
			return openEvidence(d, &selected().Finding)
		}},
		{
			Keys: []string{"Z"}, Help: "remedy, dry", Enabled: hasRow(l),
			Action: func() tea.Cmd { return lookAtRemedy(d, &selected().Finding) },
		},
		{
			Keys: []string{"K"}, Help: "acknowledge", Changes: true, Enabled: canAck(l, false),
			Action: func() tea.Cmd { return askAck(l, false) },
		},
		{
			Keys: []string{"U"}, Help: "open again", Changes: true, Quiet: true, Enabled: canAck(l, true),
			Action: func() tea.Cmd { return askAck(l, true) },
		},
		{Keys: []string{"="}, Help: "with what is gone", Action: func() tea.Cmd {
			args := l.args.without(goneArg)
			if l.args[goneArg] == "" {
				args[goneArg] = "yes"
			}
			return d.root.show(d.root.cur, args)
		}},
		{Keys: []string{"P"}, Help: "player", Quiet: true, Enabled: hasPlayer, Action: func() tea.Cmd {
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
				return d.clip(d.tr("the remedy"), d.reaching(selected().Remedy))
			},
		},
	}
}
