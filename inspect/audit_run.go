package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Audit carries out a plan and hands what it finds to the sink, as it finds it. Each part is read
// in a transaction of its own that sees one moment. When ctx ends, the part in hand is given up
// and everything before it stays valid. It returns an *UnknownCheckError, a *grant.BackendError,
// *ReceiverError, the cause of ctx, or the sink's error.
func (r *Reader) Audit(ctx context.Context, plan AuditPlan, sink AuditSink) error {
	if err := plan.complete(); err != nil {
		return err
	}
	run := &auditRun{reader: r, plan: plan, sink: sink, began: r.opts.Now()}
	if err := run.prepare(ctx); err != nil {
		return err
	}
	for _, check := range run.checks {
		if err := run.runCheck(ctx, check); err != nil {
			return err
		}
	}
	return nil
}

// auditRun is one run of Audit.
type auditRun struct {
	reader *Reader
	plan   AuditPlan
	sink   AuditSink
	began  time.Time
	origin string

	checks    []checkRun
	unitsDone int
	units     int
	rowsDone  int64 // by units that were read to their end in this run
	rowsAll   int64 // of all units that are to be read in this run
	findings  int64
	asks      *asking // nil: the receiver is not asked
}

// checkRun is one check of a run, cut into units.
type checkRun struct {
	name  string
	since int64
	units []unit
}

// unit is what one transaction reads.
type unit struct {
	name   string
	source ledgerSource
	rows   int64 // estimated
	// questions is how many are put to the receiver.
	questions int64
	scope     scope
	before    func(context.Context, *unitRun) error // what needs no transaction; may be nil
	read      readUnit
}

// unitRun is a unit that is being read.
type unitRun struct {
	*auditRun
	unit
	check    string
	state    *checkState
	findings int64
	rows     int64 // read so far; 0 when it cannot be told
	told     int64 // rows when progress was last told
	extra    int64 // findings that were only counted
}

// checkState is what the units of one check share.
type checkState struct {
	found   int64
	dropped int64
}

// prepare looks at the sizes of the tables and cuts the checks into units.
func (a *auditRun) prepare(ctx context.Context) error {
	start := AuditStart{Checks: a.plan.Checks, Full: map[string]string{}}
	err := a.reader.auditRead(ctx, "prepare the audit", func(
		ctx context.Context, tx pgx.Tx, begin beginRow,
	) error {
		a.origin = begin.Origin
		ledgerRows, err := tableRows(ctx, tx, "reward_ledger")
		if err != nil {
			return err
		}
		start.Origin, start.Rows = begin.Origin, ledgerRows
		if a.plan.Parts == 0 {
			a.plan.Parts = partsFor(ledgerRows)
		}
		start.Parts = a.plan.Parts
		for _, name := range a.plan.Checks {
			since, why := a.since(name, begin)
			if why != "" {
				start.Full[name] = why
			}
			start.Incremental = start.Incremental || since > 0
			units, err := a.cut(ctx, tx, name, since, ledgerRows)
			if err != nil {
				return err
			}
			a.checks = append(a.checks, checkRun{name, since, units})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range a.checks {
		for _, u := range c.units {
			a.units++
			if _, done := a.done(c.name, u.name); done {
				a.unitsDone++
				continue
			}
			a.rowsAll += u.rows
			if a.asks != nil {
				a.asks.all += u.questions
			}
		}
	}
	return unmarked(ctx, tell(a.sink.Start, start))
}

// partsFor cuts a ledger so that each part takes seconds: that is what is lost when a run is cut
// off. Each part reads the whole table, so there are not many.
func partsFor(rows int64) int {
	parts := 1
	for int64(parts)*rowsPerPart < rows && parts < partsMax {
		parts *= 2
	}
	return parts
}

// since returns the mark from which on a check looks, or why it looks at everything after all.
func (a *auditRun) since(check string, begin beginRow) (int64, string) {
	if a.plan.Since == nil {
		return 0, ""
	}
	mark, known := a.plan.Since[check]
	switch {
	case check == checkSchema:
		return 0, "" // it is always looked at as a whole
	case !known:
		return 0, "it was never run to its end"
	case a.plan.Origin != begin.Origin:
		return 0, "the last run was on another server, or the table was made anew"
	case begin.Next-mark >= 1<<31 || mark > begin.Next:
		return 0, "the last run is too many transactions ago"
	}
	return mark, ""
}

// done returns the mark of a unit that an earlier run has read.
func (a *auditRun) done(check, name string) (int64, bool) {
	if a.plan.Origin != a.origin {
		return 0, false
	}
	mark, ok := a.plan.Done[check][name]
	return mark, ok
}

func (a *auditRun) runCheck(ctx context.Context, c checkRun) error {
	state := &checkState{}
	var mark int64
	lower := func(m int64) {
		if mark == 0 || m < mark {
			mark = m
		}
	}
	for _, one := range c.units {
		if m, done := a.done(c.name, one.name); done {
			lower(m)
			continue
		}
		u := &unitRun{auditRun: a, unit: one, check: c.name, state: state}
		m, err := a.runUnit(ctx, u)
		if err != nil {
			return err
		}
		lower(m)
	}
	return unmarked(ctx, tell(a.sink.Check, AuditCheckDone{
		Check: c.name, Since: c.since, Mark: mark, Findings: state.found, Dropped: state.dropped,
	}))
}

// runUnit reads one unit in a transaction of its own and returns its mark.
func (a *auditRun) runUnit(ctx context.Context, u *unitRun) (int64, error) {
	a.progress(u)
	if u.before != nil {
		if err := u.before(ctx, u); err != nil {
			return 0, unmarked(ctx, err)
		}
	}
	var mark int64
	err := a.reader.auditRead(ctx, "audit "+u.check, func(
		ctx context.Context, tx pgx.Tx, begin beginRow,
	) error {
		mark = begin.Mark
		return u.read(ctx, u, tx)
	})
	if err != nil {
		return 0, err
	}
	u.state.found += u.extra
	u.findings += u.extra
	a.findings += u.extra
	a.unitsDone++
	a.rowsDone += u.unit.rows
	u.rows = 0
	err = tell(a.sink.Unit, AuditUnit{
		Check: u.check, Unit: u.name, Mark: mark, Rows: u.unit.rows + u.questions,
		Findings: u.findings,
	})
	a.progress(u)
	return mark, unmarked(ctx, err)
}

// unmarked returns the sink's own error, or why ctx ended, where that is the reason.
func unmarked(ctx context.Context, err error) error {
	var sink *sinkError
	switch {
	case errors.As(err, &sink):
		return sink.err
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

// report hands one finding on, unless there are too many.
func (u *unitRun) report(f Finding) error {
	u.state.found++
	u.findings++
	u.auditRun.findings++
	if u.state.found > int64(u.plan.FindingsMax) {
		u.state.dropped++
		return nil
	}
	return tell(u.sink.Finding, f)
}

// tell calls a function of the sink, if there is one, and marks its error as the sink's.
func tell[T any](f func(T) error, value T) error {
	if f == nil {
		return nil
	}
	if err := f(value); err != nil {
		return &sinkError{err}
	}
	return nil
}

// tellNote tells the sink what a check could not look at.
func tellNote(sink AuditSink, check, text string) error {
	if sink.Note == nil {
		return nil
	}
	return tell(func(text string) error { return sink.Note(check, text) }, text)
}

// tellEvery is how many rows are streamed between two reports of progress.
const tellEvery = 50_000

// seen counts rows that were streamed.
func (u *unitRun) seen(n int64) {
	u.rows += n
	if u.rows-u.told >= tellEvery {
		u.told = u.rows
		u.progress(u)
	}
}

// progress reports how far the run is, by rows: units differ in size.
func (a *auditRun) progress(u *unitRun) {
	if a.sink.Progress == nil {
		return
	}
	if u.questions > 0 && a.asks.asked > 0 {
		a.progressAsking(u)
		return
	}
	p := AuditProgress{
		Check: u.check, Unit: u.name, UnitsDone: a.unitsDone, Units: a.units,
		Rows: a.rowsDone + min(u.rows, u.unit.rows), Elapsed: a.reader.opts.Now().Sub(a.began),
		Findings: a.findings,
	}
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		p.Rate = float64(p.Rows) / seconds
	}
	if p.Rate > 0 && a.rowsAll > p.Rows {
		p.Left = time.Duration(float64(a.rowsAll-p.Rows) / p.Rate * float64(time.Second))
	}
	if a.asks != nil && p.Rate > 0 {
		p.Left += a.asks.left()
	}
	a.sink.Progress(p)
}

// progressAsking reports how far the questions to the receiver are: they take far longer than
// rows that are read.
func (a *auditRun) progressAsking(u *unitRun) {
	a.sink.Progress(AuditProgress{
		Check: u.check, Unit: u.name, UnitsDone: a.unitsDone, Units: a.units, Rows: a.asks.asked,
		Elapsed: a.reader.opts.Now().Sub(a.began), Findings: a.findings, Rate: a.asks.rate(),
		Left: a.asks.left(),
	})
}

// tableRows estimates the rows of a table; 0 when there is none.
func tableRows(ctx context.Context, tx pgx.Tx, relation string) (int64, error) {
	sql, err := statement("size")
	if err != nil {
		return 0, err
	}
	var rows int64
	err = tx.QueryRow(ctx, sql, pgx.StrictNamedArgs{"relation": relation}).Scan(&rows)
	return rows, err
}

// cut divides a check into units.
func (a *auditRun) cut(
	ctx context.Context, tx pgx.Tx, check string, since, rows int64,
) ([]unit, error) {
	if check == checkForeign {
		return a.cutForeign(ctx, tx, since)
	}
	if check == checkSchema {
		return []unit{{name: "catalog", before: readDoctor, read: readCatalog}}, nil
	}
	if rows == 0 {
		// An empty or missing ledger: one part will do, and a missing table is then told.
		a.plan.Parts = max(a.plan.Parts, 1)
	}
	own, err := ownLedger()
	if err != nil {
		return nil, err
	}
	parted := func(name, changed string, parts int, read readUnit) []unit {
		units := make([]unit, parts)
		for i := range units {
			label := name
			if parts > 1 {
				label = fmt.Sprintf("%s, part %d of %d", name, i+1, parts)
			}
			units[i] = unit{
				name: strings.TrimSpace(label), source: own, rows: rows / int64(parts), read: read,
				scope: scope{part: i, parts: parts, since: since, changed: changed},
			}
		}
		return units
	}
	parts := a.plan.Parts
	switch check {
	case checkDuplicate:
		return parted("ledger", "part_changed", hashParts(parts), readDuplicates), nil
	case checkNear:
		return parted("ledger", "part_changed", parts, readNear), nil
	case checkRandom:
		return parted("ledger", "part_changed", 1, readRandom), nil
	case checkExpected:
		return append(append(parted("claims", "changed_claim", parts, readBy("expected")),
			parted("waiting claims", "changed_claim", 1, readStuck)...),
			parted("reversals", "changed_claim", 1, readBy("reversal"))...), nil
	case checkFence:
		return parted("ledger", "changed_fence", parts, readFence), nil
	case checkOutbox:
		receiver, err := a.cutReceiver(ctx, tx, rows)
		return append(append(parted("ledger", "part_changed", parts, readBy("outbox")),
			parted("deliveries", "part_changed", 1, readLate)...), receiver...), err
	case checkBalance:
		return parted("ledger", "changed_balance", parts, readBy("balance")), nil
	}
	return nil, &UnknownCheckError{check}
}

// readUnit reads a unit in its transaction.
type readUnit func(context.Context, *unitRun, pgx.Tx) error

// hashParts is how often the ledger is streamed to find duplicates: more rows fit into a part,
// because only a hash of each is kept.
func hashParts(parts int) int { return min(max(parts/2, 1), 4) }
