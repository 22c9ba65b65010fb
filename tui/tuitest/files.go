package tuitest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
	"rewardctl/tui"
)

// Paths implements tui.Files.
func (w *World) Paths(_ context.Context, begun string) []string {
	found, _ := filepath.Glob(strings.ReplaceAll(begun, "*", `\*`) + "*") // a bad pattern has none
	return found
}

// LookFile implements tui.Files, on real files.
func (w *World) LookFile(ctx context.Context, ask tui.PlanAsk) (batchfile.Look, error) {
	if err := w.enter(ctx); err != nil {
		return batchfile.Look{}, err
	}
	return batchfile.LookAt(ctx, ask.Path, w.fileOptions(ask))
}

func (w *World) fileOptions(ask tui.PlanAsk) batchfile.Options {
	return batchfile.Options{
		Campaign: ask.Campaign, Version: ask.Version, Sheet: ask.Sheet, Columns: ask.Columns,
		Actor: "mlee", Reason: "check", Limits: grant.Limits{AmountMax: 1000},
	}
}

// CheckFile implements tui.Files, on real files.
func (w *World) CheckFile(
	ctx context.Context, ask tui.PlanAsk, watch tui.FileWatch,
) (tui.CheckedFile, error) {
	opt := w.fileOptions(ask)
	opt.OnProgress, opt.OnProblem, opt.KeepMax = watch.Progress, watch.Problem, watch.Keep
	file, err := batchfile.Open(ctx, ask.Path, opt)
	if err != nil {
		return nil, err
	}
	check, err := file.Validate(ctx)
	if err == nil {
		err = w.enter(ctx) // a stalled world stands still when all was read
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &checked{w, file, check}, nil
}

// checked is a file that the world has checked.
type checked struct {
	w     *World
	file  *batchfile.File
	check *batchfile.Check
}

func (c *checked) Check() *batchfile.Check { return c.check }
func (c *checked) Close() error            { return c.file.Close() }

func (c *checked) Bad(ctx context.Context, take func(batchfile.Row) error) error {
	for row, err := range c.file.Rows(ctx) {
		if err == nil && len(row.Problems) > 0 {
			err = take(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checked) Plan(
	ctx context.Context, ask tui.PlanAsk, tell func(done, total int64),
) (repair.Plan, error) {
	w := c.w
	if err := errors.Join(w.enter(ctx), c.file.Unchanged()); err != nil {
		return repair.Plan{}, err
	}
	good := int64(c.check.Good)
	tell(good, good)
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.plan(int64(20+len(w.plans)), repair.PlanReady, good)
	p.Campaign, p.Reason, p.Source = ask.Campaign, ask.Reason, ask.Path
	w.plans = append([]repair.Plan{p}, w.plans...)
	w.asked = append(w.asked, ask)
	return p, nil
}

// Asked returns the files that were planned, as they were asked for.
func (w *World) Asked() []tui.PlanAsk {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]tui.PlanAsk(nil), w.asked...)
}
