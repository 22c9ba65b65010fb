package tui

import (
	"context"
	"slices"

	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// Files is what the console asks about files of grants.
type Files interface {
	// Paths returns the paths that begin so, folders with a slash at their end.
	Paths(ctx context.Context, begun string) []string
	// LookFile reads the first lines of a file. Guesses at its columns are no part of ask.
	LookFile(ctx context.Context, ask PlanAsk) (batchfile.Look, error)
	// CheckFile reads a whole file and judges every row. Watch is told what it finds, from another
	// goroutine. Whoever gets the file closes it.
	CheckFile(ctx context.Context, ask PlanAsk, watch FileWatch) (CheckedFile, error)
}

// FileWatch is told how far the check of a file is.
type FileWatch struct {
	Progress func(batchfile.Progress)
	Problem  func(batchfile.Problem)
	Keep     int // how many problems the check keeps for showing
}

// CheckedFile is a file as it was when it was checked. Its methods may be called at once.
type CheckedFile interface {
	Check() *batchfile.Check
	// Bad gives every refused row once more, in the order of the file. The error is
	// batchfile.ErrChanged, wrapped, when the file is not as it was checked.
	Bad(ctx context.Context, take func(batchfile.Row) error) error
	// Plan freezes the rows as they were checked; it refuses a file that changed since.
	Plan(ctx context.Context, ask PlanAsk, tell func(done, total int64)) (repair.Plan, error)
	Close() error
}

// PlanAsk says which file to plan, and how to read it.
type PlanAsk struct {
	Path, Sheet, Campaign, Reason string

	Version     int // 0 and 1 are the first
	Columns     []batchfile.Column
	SkipInvalid bool
}

// CLI is the command that plans the same file.
func (a PlanAsk) CLI() []string {
	return repair.PlanRequest{
		Campaign: a.Campaign, Version: a.Version, Sheet: a.Sheet, Reason: a.Reason,
		Columns: a.Columns, SkipInvalid: a.SkipInvalid,
	}.Action(a.Path).CLI()
}

// reads reports whether another ask reads the same rows: what is said about them, and what is done
// with the bad ones, may differ.
func (a PlanAsk) reads(b PlanAsk) bool {
	return a.Path == b.Path && a.Sheet == b.Sheet && a.Campaign == b.Campaign &&
		max(a.Version, 1) == max(b.Version, 1) && slices.Equal(a.Columns, b.Columns)
}

// canPlan says whether a file can be planned from here.
func (d *desk) canPlan() (bool, string) {
	if why := d.cannot(repair.WordPlan); why != "" {
		return false, why
	}
	if d.opts.Plans == nil {
		return false, d.tr("this console cannot plan files")
	}
	return true, ""
}
