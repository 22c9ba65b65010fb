package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// AuditTold says how far an audit is. Run is its number, 0 as long as it has none, or when it is
// not kept.
type AuditTold struct {
	Run int64
	inspect.AuditProgress
}

// auditing is an audit that runs from here.
type auditing struct {
	job    *job
	told   atomic.Pointer[AuditTold]
	looked time.Time // when the findings were read last while it runs
}

// auditDoneMsg ends an audit that was run from here.
type auditDoneMsg struct {
	run int64
	err error
}

// runAudit runs an audit as a job that survives leaving the screen.
func (d *desk) runAudit(ask AuditAsk) tea.Cmd {
	ctx, cancel := context.WithCancel(d.ctx)
	j := &job{name: d.tr("audit"), long: true, started: d.now(), cancel: cancel}
	d.jobs.running = append(d.jobs.running, j)
	a := &auditing{job: j}
	d.auditing = a
	tell := func(told AuditTold) {
		a.told.Store(&told)
		j.tell(fmt.Sprintf("%s %d%% %s", told.Check, share(told.AuditProgress),
			d.tr("%d found", told.Findings)))
		d.notify()
	}
	d.say(Info, d.tr("the audit runs; x stops it, and what it found stays"))
	return d.command(func() tea.Msg {
		defer cancel()
		run, err := d.opts.RunAudit(ctx, ask, tell)
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			err = nil
		}
		return jobDoneMsg{j, auditDoneMsg{run, err}}
	})
}

// share is how much of an audit is read, in percent.
func share(p inspect.AuditProgress) int {
	if p.Units == 0 {
		return 0
	}
	done := p.UnitsDone * 100 / p.Units
	if done < 100 && p.Left > 0 && p.Elapsed > 0 { // within a part the time tells
		done = max(done, int(100*p.Elapsed/(p.Elapsed+p.Left)))
	}
	return min(done, 100)
}

// audited tells how an audit ended.
func (d *desk) audited(msg auditDoneMsg) {
	d.auditing = nil
	if msg.err != nil {
		d.say(Erred, d.tr("the audit failed"), msg.err.Error())
		return
	}
	d.say(Info, d.tr("audit %d ended; enter shows its findings", msg.run))
}

// auditLine draws how far the audit is that runs from here: a bar, rows per second, the time that
// is left, and what was found. It is empty when another one than run is asked for; 0 asks for any.
func (d *desk) auditLine(run int64, w int) string {
	a := d.auditing
	if a == nil {
		return ""
	}
	told := a.told.Load()
	if told == nil {
		told = &AuditTold{}
	}
	if run != 0 && run != told.Run {
		return ""
	}
	const bar = 20
	t, pct := d.theme, share(told.AuditProgress)
	left := " " + t.Text(paint.Accent, t.Glyphs.Heat(float64(pct)/100, bar)) +
		fmt.Sprintf(" %3d%%  ", pct) + safetext.Cell(told.Check) + "  " +
		t.Text(paint.Muted, d.tr("part %d of %d", told.UnitsDone, told.Units))
	right := ""
	if told.Rate > 0 {
		right = t.Text(paint.Muted, d.tr("%s rows/s", round(told.Rate))) + "  "
	}
	if told.Left > 0 {
		right += t.Text(paint.Muted, d.tr("%s left", seconds(told.Left))) + "  "
	}
	role := paint.Good
	if told.Findings > 0 {
		role = paint.Bad
	}
	return spread(left, right+t.Text(role, d.tr("%d found", told.Findings))+" ", w,
		t.Glyphs.Ellipsis)
}

// round writes a rate in few columns, such as "1.9M".
func round(n float64) string {
	switch {
	case n >= 1e6:
		return strconv.FormatFloat(n/1e6, 'f', 1, 64) + "M"
	case n >= 1e4:
		return strconv.FormatFloat(n/1e3, 'f', 0, 64) + "k"
	default:
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
}

// auditsLine stands above the audits: the one that runs, or what can be done.
func auditsLine(l *auditList, w int) string {
	if line := l.d.auditLine(0, w); line != "" {
		return line
	}
	t := l.d.theme
	return spread(" "+t.Text(paint.Muted, l.d.tr("a runs an audit, which only reads; = compares two "+
		"that are marked, or one with the one before")), l.held(), w, t.Glyphs.Ellipsis)
}

// canGoOn says whether the audit under the cursor was cut off and can go on.
func canGoOn(l *auditList) func() (bool, string) {
	return func() (bool, string) {
		it := l.selected()
		switch {
		case it == nil:
			return false, l.d.tr("there is no row under the cursor")
		case !unfinishedRun(it.row, l.d.now()):
			return false, l.d.tr("it was not cut off: there is nothing to go on with")
		}
		return l.d.canAudit()
	}
}

func unfinishedRun(r *inspect.AuditRun, now time.Time) bool {
	return r.State == "stopped" || r.State == "failed" || r.Stopped(now)
}

// compareRuns shows what is new, gone and still there between two runs: those that are marked, or
// the one under the cursor and the one before.
func compareRuns(l *auditList) tea.Cmd {
	d := l.d
	marked, _ := l.marked()
	switch len(marked) {
	case 0:
		return d.root.goTo(ScreenFindings, Args{"run": l.selected().id, goneArg: "yes"})
	case 2:
		older, newer := marked[0].row.ID, marked[1].row.ID
		return d.root.goTo(ScreenFindings, Args{
			"run": idText(max(older, newer)), olderArg: idText(min(older, newer)), goneArg: "yes",
		})
	}
	d.say(Warned, d.tr("mark two audits to compare them, not %d", len(marked)))
	return nil
}
