package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/inspect"
	"rewardctl/repair"
)

// findingsPerWrite is how many findings are kept in one transaction.
const findingsPerWrite = 200

// auditKeeper writes a run down. A nil keeper keeps nothing.
type auditKeeper struct {
	app      *app
	operator *repair.Operator
	run      int64
	record   repair.AuditRecord
	resumed  bool
	waiting  []repair.AuditFinding
}

// newAuditKeeper returns what keeps a run, or nil where nothing may be written. That is no reason
// not to look.
func (a *app) newAuditKeeper(
	ctx context.Context, w *wiring, plan inspect.AuditPlan, kept inspect.AuditRun,
) (*auditKeeper, error) {
	if w.conf.ReadOnly {
		a.say("context %s is read-only: the run is not kept", w.conf.Name)
		return nil, nil
	}
	pool, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	store, err := w.openStore()
	if err != nil {
		return nil, err
	}
	operator, err := repair.New(pool, store, nil, repair.Options{
		Operator: w.conf.Operator, Now: a.now, NewID: newID, Timeout: askFor,
	})
	if err != nil {
		return nil, err
	}
	return &auditKeeper{
		app: a, operator: operator, run: kept.ID, resumed: kept.ID != 0,
		record: repair.AuditRecord{
			Options: auditOptions(plan),
			Command: repair.CommandLine(append([]string{"rewardctl"}, a.args...)),
		},
	}, nil
}

// auditOptions writes down what a run was asked for, so that it can go on as the same.
func auditOptions(plan inspect.AuditPlan) map[string]string {
	options := map[string]string{
		"window": plan.Window.String(), "stuck_after": plan.StuckAfter.String(),
		"max_findings": strconv.Itoa(plan.FindingsMax),
	}
	for check, mark := range plan.Since {
		options[sinceOption+check] = strconv.FormatInt(mark, 10)
	}
	return options
}

// options lets something be written down of what a run was asked for. A nil keeper keeps nothing.
func (k *auditKeeper) options(write func(map[string]string)) {
	if k != nil {
		write(k.record.Options)
	}
}

const sinceOption = "since "

// readAuditOptions is the inverse of auditOptions.
func readAuditOptions(options map[string]string, plan *inspect.AuditPlan) error {
	var problems [3]error
	plan.Window, problems[0] = time.ParseDuration(options["window"])
	plan.StuckAfter, problems[1] = time.ParseDuration(options["stuck_after"])
	plan.FindingsMax, problems[2] = strconv.Atoi(options["max_findings"])
	for name, text := range options {
		check, is := strings.CutPrefix(name, sinceOption)
		if !is {
			continue
		}
		mark, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		if plan.Since == nil {
			plan.Since = map[string]int64{}
		}
		plan.Since[check] = mark
	}
	return errors.Join(problems[:]...)
}

// id returns the number of the run, or 0 when it is not kept.
func (k *auditKeeper) id() int64 {
	if k == nil {
		return 0
	}
	return k.run
}

// start writes down that the run begins, or goes on. Where the tables are missing or must not be
// written the run goes on without them.
func (k *auditKeeper) start(ctx context.Context, s inspect.AuditStart) error {
	if k == nil {
		return nil
	}
	if k.resumed {
		return k.operator.ResumeAudit(ctx, k.run)
	}
	k.record.Checks, k.record.Origin, k.record.Parts = s.Checks, s.Origin, s.Parts
	k.record.Incremental = s.Incremental
	run, err := k.operator.StartAudit(ctx, k.record)
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch answer.Code {
		case "42P01": // undefined table
			k.app.say("the run is not kept: its tables are missing; see: rewardctl migrate up")
			return nil
		case "42501", "25006": // no privilege, read-only server
			k.app.say("the run is not kept: %s", answer.Message)
			return nil
		}
	}
	k.run = run
	return err
}

// finding keeps a finding, some at a time.
func (k *auditKeeper) finding(ctx context.Context, f inspect.Finding) error {
	if k.id() == 0 {
		return nil
	}
	k.waiting = append(k.waiting, repair.AuditFinding{
		Check: f.Check, Word: f.Word, Severity: string(f.Severity), Rule: f.Rule, What: f.What,
		Table: f.Table, PlayerID: f.PlayerID, EventID: f.EventID, Count: f.Count,
		Columns: f.Columns, Rows: f.Rows, Differs: f.Differs, Proof: f.Proof, Remedy: f.Remedy,
		Fingerprint: f.Fingerprint,
	})
	if len(k.waiting) < findingsPerWrite {
		return nil
	}
	return k.flush(ctx)
}

func (k *auditKeeper) flush(ctx context.Context) error {
	err := k.operator.RecordAuditFindings(context.WithoutCancel(ctx), k.run, k.waiting)
	k.waiting = k.waiting[:0]
	return err
}

// unit writes down that a part was read, after its findings.
func (k *auditKeeper) unit(ctx context.Context, u inspect.AuditUnit) error {
	if k.id() == 0 {
		return nil
	}
	if err := k.flush(ctx); err != nil {
		return err
	}
	return k.operator.RecordAuditUnit(context.WithoutCancel(ctx), k.run, repair.AuditUnit(u))
}

func (k *auditKeeper) check(ctx context.Context, c inspect.AuditCheckDone) error {
	if k.id() == 0 {
		return nil
	}
	return k.operator.RecordAuditCheck(context.WithoutCancel(ctx), k.run, repair.AuditCheck{
		Check: c.Check, Since: c.Since, Mark: c.Mark, Findings: c.Findings,
	})
}

// end writes down what became of the run. It has its own bound of time.
func (k *auditKeeper) end(ctx context.Context, err error, stopped bool) error {
	if k.id() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpFor)
	defer cancel()
	state, problem := repair.AuditDone, ""
	switch {
	case stopped:
		state = repair.AuditStopped
	case err != nil:
		state, problem = repair.AuditFailed, err.Error()
	}
	return errors.Join(k.flush(ctx), k.operator.EndAudit(ctx, k.run, state, problem))
}
