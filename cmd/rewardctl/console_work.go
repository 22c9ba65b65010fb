package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rewardctl/grant"
	"rewardctl/grant/drill"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui"
)

// consoleAudit runs an audit for the console, and keeps it as "audit run" does.
func (w *wiring) consoleAudit(
	ctx context.Context, ask tui.AuditAsk, tell func(tui.AuditTold),
) (int64, error) {
	quiet := *w.app
	quiet.stdout, quiet.stderr, quiet.args = io.Discard, io.Discard, ask.CLI()[1:]
	inner := *w
	inner.app = &quiet
	reader, err := inner.newReader(ctx)
	if err != nil {
		return 0, err
	}
	r := &auditRunner{
		app: &quiet, reader: reader, bar: quiet.newProgress(), shape: formatTable, began: quiet.now(),
		counts: map[inspect.Severity]int64{},
	}
	checks := ask.Checks
	if len(checks) == 0 {
		checks = nil
	}
	f := auditFlags{
		sinceLast: ask.SinceLast, window: auditWindow, stuckAfter: auditStuckAfter,
		maxFindings: auditFindingsMax, resume: ask.Resume,
	}
	plan, err := r.plan(ctx, &inner, checks, &f)
	if err != nil {
		return 0, err
	}
	if f.receiver.ask { // only a run that goes on can ask it
		var hangUp func()
		if plan.Receiver, hangUp, err = inner.receiverPlan(f.receiver); err != nil {
			return 0, err
		}
		defer hangUp()
	}
	if r.keeper, err = quiet.newAuditKeeper(ctx, &inner, plan, r.kept); err != nil {
		return 0, err
	}
	sink := r.sink(ctx)
	sink.Progress = func(p inspect.AuditProgress) {
		tell(tui.AuditTold{Run: r.keeper.id(), AuditProgress: p})
	}
	err = reader.Audit(ctx, plan, sink)
	stopped := err != nil && interrupted(ctx)
	if kept := r.keeper.end(ctx, err, stopped); kept != nil {
		err = errors.Join(err, kept)
	}
	return r.keeper.id(), err
}

// consoleDrills plays drills for the console: it runs the command and hands its lines on.
type consoleDrills struct{ w *wiring }

// List returns the drills.
func (c consoleDrills) List() []tui.Drill {
	var all []tui.Drill
	for _, d := range drill.List() {
		one := tui.Drill{Name: d.Name, Plays: d.Plays}
		for _, defence := range d.Defences {
			one.Defences = append(one.Defences, string(defence))
		}
		all = append(all, one)
	}
	return all
}

// Play runs a drill.
func (c consoleDrills) Play(
	ctx context.Context, name, defence string, tell func(line string),
) (report []string, holds bool, err error) {
	code, complaint := c.w.inside(ctx, []string{"drill", "run", name, "--defence", defence},
		&lineWriter{tell: tell})
	switch code {
	case exitOK, exitFindings:
		if complaint != "" {
			report = strings.Split(complaint, "\n")
		}
		return report, code == exitOK, nil
	}
	return nil, false, errors.New(orElse(complaint, "it failed"))
}

// lineWriter hands on complete lines.
type lineWriter struct {
	tell func(string)
	rest []byte
}

// Write takes output in any pieces.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 {
			return len(p), nil
		}
		l.tell(string(l.rest[:at]))
		l.rest = l.rest[at+1:]
	}
}

// consolePlans is what the console asks about plans and does with them.
type consolePlans struct {
	*repair.Operator
	wiring *wiring
	engine *grant.Engine
}

// PlanLines hands on what became of each row of a plan.
func (c *consolePlans) PlanLines(
	ctx context.Context, id int64, ungranted bool, take func(repair.ApplyLine) error,
) error {
	for line, err := range c.Operator.PlanLines(ctx, id, ungranted) {
		if err != nil {
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
	return nil
}

// Decide carries out a decision by the command's word.
func (c *consolePlans) Decide(
	ctx context.Context, word string, req repair.DecideRequest,
) (repair.Plan, error) {
	switch word {
	case "approve":
		return c.ApprovePlan(ctx, req)
	case "reject":
		return c.RejectPlan(ctx, req)
	case "pause":
		return c.PausePlan(ctx, req)
	case "cancel":
		return c.CancelPlan(ctx, req)
	}
	return repair.Plan{}, fmt.Errorf("there is no decision %q", word)
}

// ApplyPlan grants the rows of a plan, and keeps a heartbeat as long as it does.
func (c *consolePlans) ApplyPlan(
	ctx context.Context, plan repair.PlanRun,
) (repair.PlanReport, error) {
	store, err := c.wiring.openStore()
	if err != nil {
		return repair.PlanReport{}, err
	}
	if heart, err := store.Heartbeat(ctx, c.wiring.identity(), beatFor, nil); err == nil {
		defer func() {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpFor)
			defer cancel()
			_ = heart.Stop(end)
		}()
	}
	return c.Operator.ApplyPlan(ctx, c.Known(c.engine), plan)
}
