package tui

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	auditsShown = 200
	// readSlowly is the time between two reads of what seldom changes.
	readSlowly = 5 * time.Second
)

// auditList is the screen of the audits that were run.
type auditList = list[inspect.AuditRun]

func newAuditsScreen(d *desk) *auditList {
	return newList(d, listSpec[inspect.AuditRun]{
		id: ScreenAudits, title: "Audits", columns: auditColumns(d), every: readSlowly,
		rowID: func(r *inspect.AuditRun) string { return strconv.FormatInt(r.ID, 10) },
		load: func(ctx context.Context, _ Args) (batch[inspect.AuditRun], error) {
			runs, err := d.opts.Inspector.AuditRuns(ctx, auditsShown)
			return batch[inspect.AuditRun]{rows: runs}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "run", desc: true,
		empty: "no audit was run yet", summary: auditsLine,
		attention: func(r *inspect.AuditRun) bool {
			return openCritical(r) > 0 || r.State == "failed" || unfinishedRun(r, d.now())
		},
		proof: func(r *inspect.AuditRun) []inspect.Proof { return inspect.ProveRun(r.ID) },
		detail: func(it *item[inspect.AuditRun], w int) (a, b []string) {
			return auditDetail(d, it.row, w)
		},
		keys: func(l *auditList) []Binding {
			return []Binding{
				{Keys: []string{"enter"}, Help: "findings", Enabled: hasRow(l), Action: func() tea.Cmd {
					return d.root.goTo(ScreenFindings, Args{"run": l.selected().id})
				}},
				{
					Keys: []string{"a"}, Help: "run an audit" + d.theme.Glyphs.Ellipsis, Enabled: d.canAudit,
					Action: d.askAudit,
				},
				{
					Keys: []string{"="}, Help: "compare", Enabled: hasRow(l),
					Action: func() tea.Cmd { return compareRuns(l) },
				},
				{
					Keys: []string{"u"}, Help: "go on with it", Quiet: true, Enabled: canGoOn(l),
					Action: func() tea.Cmd { return d.runAudit(AuditAsk{Resume: l.selected().row.ID}) },
				},
			}
		},
		cli: func(Args, string) []string {
			return []string{"rewardctl", "audit", "list", "--limit", strconv.Itoa(auditsShown)}
		},
	})
}

func auditColumns(d *desk) []column[inspect.AuditRun] {
	type row = inspect.AuditRun
	return []column[row]{
		numberColumn(table.Column{Key: "run", Title: "RUN", Min: 6},
			func(r *row) int64 { return r.ID }),
		roleColumn(table.Column{Key: "state", Title: "STATE", Min: 12}, d.auditState),
		timeColumn(table.Column{Key: "started", Title: "STARTED", Min: 14},
			func(r *row) time.Time { return r.Started }),
		{
			table.Column{Key: "took", Title: "TOOK", Min: 7, Right: true, Priority: 2},
			func(r *row, _ time.Time) table.Cell { return table.Cell{Text: auditTook(r)} }, nil,
		},
		numberColumn(table.Column{Key: "findings", Title: "FINDINGS", Min: 9},
			func(r *row) int64 { return r.Findings }),
		{
			table.Column{Key: "critical", Title: "CRITICAL", Min: 9, Right: true},
			func(r *row, _ time.Time) table.Cell {
				open := openCritical(r)
				if open == 0 {
					return table.Cell{}
				}
				return table.Cell{
					Text: d.theme.Glyphs.Warning + " " + strconv.FormatInt(open, 10), Role: paint.Bad,
				}
			},
			func(a, b *row) int { return cmp.Compare(openCritical(a), openCritical(b)) },
		},
		plainColumn(table.Column{Key: "checks", Title: "CHECKS", Min: 14, Flex: 3, Max: 60, Priority: 1},
			func(r *row) string { return strings.Join(r.Checks, " ") }),
		plainColumn(table.Column{Key: "by", Title: "BY", Min: 10, Flex: 1, Max: 20, Priority: 3},
			func(r *row) string { return r.Operator }),
	}
}

// openCritical counts the critical findings that nobody has looked at.
func openCritical(r *inspect.AuditRun) int64 { return r.Critical - r.CriticalAcknowledged }

func auditTook(r *inspect.AuditRun) string {
	end := r.Ended
	if end.IsZero() {
		end = r.Seen
	}
	if end.IsZero() {
		return ""
	}
	return brief(max(end.Sub(r.Started), 0))
}

// auditState says in a word how a run stands.
func (d *desk) auditState(r *inspect.AuditRun) (string, paint.Role) {
	g := d.theme.Glyphs
	switch {
	case r.Stopped(d.now()):
		return g.Hollow + " " + d.tr("cut off"), paint.Warn
	case r.State == "running":
		return g.Dot + " " + d.tr("running"), paint.Accent
	case r.State == "done" && r.Findings > 0 && r.Findings == r.Acknowledged:
		return g.OK + " " + d.tr("looked at"), paint.Good
	case r.State == "done" && r.Findings == 0:
		return g.OK + " " + d.tr("clean"), paint.Good
	case r.State == "done":
		return g.Warning + " " + d.tr("findings"), paint.Bad
	case r.State == "stopped":
		return g.Hollow + " " + d.tr("stopped"), paint.Warn
	case r.State == "failed":
		return g.Wrong + " " + d.tr("failed"), paint.Bad
	}
	return r.State, paint.Plain
}

func auditDetail(d *desk, r *inspect.AuditRun, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	state, role := d.auditState(r)
	a.title(fmt.Sprintf("%s %d  %s", d.tr("audit"), r.ID, state), role)
	a.add(d.tr("checks"), strings.Join(r.Checks, ", "))
	a.add(d.tr("read"), strings.Join(r.ChecksDone, ", "))
	if r.Acknowledged > 0 {
		a.add(d.tr("seen"), d.tr("%d of %d findings are acknowledged", r.Acknowledged, r.Findings))
	}
	a.add(d.tr("problem"), r.Problem)
	scope := d.tr("everything")
	if r.Incremental {
		scope = d.tr("what was new since the audit before")
	}
	b.add(d.tr("scope"), scope)
	b.add(d.tr("by"), r.Operator+" ("+r.DBUser+")")
	b.add(d.tr("started"), stamp(r.Started))
	b.add(d.tr("command"), r.Command)
	return a.lines, b.lines
}

// canAudit says whether an audit can be run from here.
func (d *desk) canAudit() (bool, string) {
	if d.opts.RunAudit == nil {
		return false, d.tr("this console cannot run audits")
	}
	if why := d.lacks(repair.WordAudit); why != "" {
		return false, why
	}
	if d.jobs.stoppable() != nil {
		return false, d.tr("a job runs already; x stops it")
	}
	return true, ""
}

// askAudit asks what to audit.
func (d *desk) askAudit() tea.Cmd {
	run := func(label string, ask AuditAsk) choice {
		return choice{label: label, note: strings.Join(ask.CLI()[1:], " "), run: func() tea.Cmd {
			return d.runAudit(ask)
		}}
	}
	choices := []choice{
		run(d.tr("what is new since the audit before"), AuditAsk{SinceLast: true}),
		run(d.tr("everything"), AuditAsk{}),
	}
	for _, c := range inspect.AuditChecks() {
		choices = append(choices, run(c.Name, AuditAsk{Checks: []string{c.Name}}))
	}
	return openPicker(d, d.tr("run an audit: it only reads"), choices)
}

// AuditAsk says which audit is wanted.
type AuditAsk struct {
	Checks    []string // empty means all
	SinceLast bool     // only what is new since the audit before
	Resume    int64    // go on with this run, which was cut off; 0 begins another
}

// CLI is the command that runs the same audit.
func (a AuditAsk) CLI() []string {
	argv := []string{"rewardctl", "audit", "run"}
	if a.Resume != 0 {
		return append(argv, "--resume", strconv.FormatInt(a.Resume, 10))
	}
	if len(a.Checks) == 0 {
		argv = append(argv, "--all")
	}
	argv = append(argv, a.Checks...)
	if a.SinceLast {
		argv = append(argv, "--since-last")
	}
	return argv
}
