package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"
)

// Granter is what ApplyFile needs of the grant engine; *grant.Engine implements it.
type Granter interface {
	GrantMany(ctx context.Context, requests []grant.Request) ([]grant.Result, error)
}

// Previewer tells what granting would answer now, without granting; *Operator implements it.
type Previewer interface {
	Preview(ctx context.Context, requests []grant.Request) ([]grant.Result, error)
}

// ApplyOptions say how a file is applied. The zero value of a field means its default.
type ApplyOptions struct {
	// SkipInvalid grants the good rows of a file that has invalid ones. Without it such a file
	// is refused as a whole.
	SkipInvalid bool
	// DryRun asks Preview what would happen instead of granting.
	DryRun  bool
	Preview Previewer // required by DryRun

	// ResultPath is where the result file goes: one line per data row, in file order. While the
	// file is applied, and when that stops early, it is called PATH.partial. Empty writes none.
	ResultPath string
	// OnLine is told each line of the result, in file order. Nil does nothing.
	OnLine func(ApplyLine)
	// OnProgress is told after each batch how far the run is. Nil does nothing.
	OnProgress func(ApplyProgress)

	// BatchMax is how many rows go to the engine at once, 1000 by default.
	BatchMax int
	// BatchFor bounds one batch, two minutes by default. Cancelling does not cut a batch short:
	// it stops the run after it, so that no answer is lost.
	BatchFor time.Duration
	// HeldRounds is how often rows without a final answer are tried again at least, 6 by default,
	// with growing pauses of 6 seconds in all. Negative means never.
	HeldRounds int
	// HeldFor bounds how long a lease that another owner holds is waited for beyond that: until
	// it ends by itself, as that of a process that was killed does, but not longer than this and
	// a tenth more. 30 s by default; give the TTL of the leases.
	HeldFor time.Duration
	// KeepMax is how many notable lines the report keeps, 100 by default.
	KeepMax int

	Now func() time.Time // for rate and time left; time.Now by default
	// Wait pauses between rounds, and returns early with the context's error. A timer by
	// default.
	Wait func(context.Context, time.Duration) error
}

const (
	applyBatchMax   = 1000
	applyBatchFor   = 2 * time.Minute
	applyHeldRounds = 6
	applyHeldPause  = 100 * time.Millisecond // before the first round; doubles with each
	applyPauseMax   = 3 * time.Second
	applyPauseMin   = 10 * time.Millisecond
	applyKeepMax    = 100
)

func (o ApplyOptions) withDefaults() ApplyOptions {
	if o.BatchMax <= 0 {
		o.BatchMax = applyBatchMax
	}
	if o.BatchFor <= 0 {
		o.BatchFor = applyBatchFor
	}
	if o.HeldRounds == 0 {
		o.HeldRounds = applyHeldRounds
	}
	if o.HeldFor <= 0 {
		o.HeldFor = heldForDefault
	}
	if o.KeepMax <= 0 {
		o.KeepMax = applyKeepMax
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = applyWait
	}
	if o.OnProgress == nil {
		o.OnProgress = func(ApplyProgress) {}
	}
	return o
}

// InvalidRowsError says that a file is refused because of invalid rows. Nothing was granted.
type InvalidRowsError struct {
	Name  string
	Check *batchfile.Check
}

// Error counts the rows.
func (e *InvalidRowsError) Error() string {
	return fmt.Sprintf("%s: %d of %s cannot be granted, so nothing was granted; "+
		"correct them, or grant only the good ones with --skip-invalid", e.Name,
		e.Check.Refused, plural(e.Check.Rows, "row"))
}

// ResultPathError says that the result file cannot be written where it should be. Nothing was
// granted.
type ResultPathError struct {
	Path string
	Err  error
}

// Error names the path.
func (e *ResultPathError) Error() string {
	return fmt.Sprintf("the result cannot be written to %s: %v; name another file", e.Path, e.Err)
}

// Unwrap returns the system's error, if it was one.
func (e *ResultPathError) Unwrap() error { return e.Err }

// StoppedError says that a run ended before the last row. What was granted stays granted.
type StoppedError struct {
	Name  string
	Done  int // rows that have an answer
	Rows  int
	GoOn  string // how to go on
	Cause error  // a server's error, the context's, or the file's
}

// Error says how far the run came, why it stopped and how to go on.
func (e *StoppedError) Error() string {
	text := fmt.Sprintf("%s: stopped after %d of %s: %v", e.Name, e.Done, plural(e.Rows, "row"),
		e.Cause)
	if e.GoOn != "" {
		text += "; " + e.GoOn
	}
	return text
}

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Cause }

// ErrAnswerLost is the cause of a run that stopped because the outcome of some rows is unknown:
// they may or may not be granted. Applying the same file again tells.
var ErrAnswerLost = errors.New("the answer to a commit was lost")

// ApplyFile grants the good rows of a file, batch by batch, in file order. The whole file is
// validated before anything is granted. Applying it again, also under another name, grants
// nothing new: what is posted answers replayed.
//
// The report is true whatever the error: nil when every row has an answer (which may be a
// refusal), *InvalidRowsError or *batchfile.FileError when the file is refused and nothing was
// granted, *ResultPathError likewise, *StoppedError when the run ended early, else the error that
// kept it from starting.
func ApplyFile(
	ctx context.Context, engine Granter, file *batchfile.File, opt ApplyOptions,
) (ApplyReport, error) {
	opt = opt.withDefaults()
	report := ApplyReport{Name: file.Name(), DryRun: opt.DryRun}
	if opt.DryRun && opt.Preview == nil {
		return report, errors.New("repair: ApplyOptions.DryRun needs ApplyOptions.Preview")
	}
	if opt.ResultPath != "" {
		same, err := file.Same(opt.ResultPath)
		if err != nil {
			return report, &ResultPathError{opt.ResultPath, err}
		}
		if same {
			return report, &ResultPathError{opt.ResultPath, errors.New("it is the input itself")}
		}
	}
	check, err := file.Validate(ctx)
	if err != nil {
		return report, err
	}
	report.Check = check
	report.Counts.NotRun = check.Rows
	if check.Refused > 0 && !opt.SkipInvalid {
		return report, &InvalidRowsError{file.Name(), check}
	}
	run := &applyRun{
		opt: opt, engine: engine, file: file, report: &report,
		begun: opt.Now(), held: newHolds(opt.HeldFor), heads: make(map[int]headAnswer),
	}
	if opt.ResultPath != "" {
		if run.result, err = createResult(opt.ResultPath); err != nil {
			return report, err
		}
	}
	err = run.close(run.rows(ctx))
	return report, err
}

func applyWait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
