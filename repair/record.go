package repair

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"
)

// Deed is a deed that is carried out elsewhere, such as a migration, for the operator log.
type Deed struct {
	Words     string   // as the command says it, such as "migrate roles"
	About     string   // what it was done to
	Argv      []string // the command, beginning with "rewardctl"
	Reason    string
	Arguments map[string]string
	After     map[string]string
	Outcome   string
}

// Word returns the command's words.
func (d Deed) Word() string { return d.Words }

// Target returns what it was done to.
func (d Deed) Target() string { return d.About }

// CLI returns the command.
func (d Deed) CLI() []string { return d.Argv }

// Record writes a deed that is done into the operator log and returns the id of its row. It returns
// a *grant.Rejection for a deed without a reason, a *ReadOnlyError, or a *grant.BackendError.
func (o *Operator) Record(ctx context.Context, d Deed) (int64, error) {
	if err := checkReason(d.Reason); err != nil {
		return 0, err
	}
	row, err := o.logAlone(ctx, entry{
		action: d, phase: phaseResult, arguments: d.Arguments, after: d.After, reason: d.Reason,
		outcome: d.Outcome,
	})
	return row.ID, err
}

// FileRequest is the grant of a whole file, as an Action.
type FileRequest struct {
	Path     string // "-" is the standard input
	Campaign string // may be empty, when the file names the events
	Version  int    // 0 and 1 are the first
	Sheet    string // the sheet of a workbook; ApplyFile takes it from the file
	Reason   string
	// Columns are those that were named; ApplyFile takes them from the file.
	Columns []batchfile.Column

	SkipInvalid bool
}

// Word returns "grant apply".
func (r FileRequest) Word() string { return "grant apply" }

// Target returns the campaign, or the name of the file when there is none.
func (r FileRequest) Target() string {
	if r.Campaign != "" {
		return r.Campaign
	}
	return filepath.Base(r.Path)
}

// CLI returns the grant apply command.
func (r FileRequest) CLI() []string {
	argv := []string{"rewardctl", "grant", "apply"}
	if r.Campaign != "" {
		argv = append(argv, "--campaign", r.Campaign)
	}
	if r.Version > 1 {
		argv = append(argv, "--version", strconv.Itoa(r.Version))
	}
	if r.Sheet != "" {
		argv = append(argv, "--sheet", r.Sheet)
	}
	argv = appendColumns(argv, r.Columns)
	if argv = append(argv, "--reason", r.Reason); r.SkipInvalid {
		argv = append(argv, "--skip-invalid")
	}
	if r.Path != "-" && strings.HasPrefix(r.Path, "-") {
		argv = append(argv, "--")
	}
	return append(argv, r.Path)
}

// appendColumns appends the flags that name columns of a file.
func appendColumns(argv []string, columns []batchfile.Column) []string {
	for _, c := range columns {
		argv = append(argv, "--column", c.String())
	}
	return argv
}

// ApplyFile is ApplyFile with a row of the operator log before the first grant and one after the
// last, with the counts. A dry run is not logged, nor a file that is refused as it stands. When the
// second row cannot be written, its problem joins the error; the report is true all the same.
func (o *Operator) ApplyFile(
	ctx context.Context, engine Granter, file *batchfile.File, req FileRequest, opt ApplyOptions,
) (ApplyReport, error) {
	if opt.DryRun {
		return ApplyFile(ctx, engine, file, opt)
	}
	if err := o.writable("grant a file"); err != nil {
		return ApplyReport{Name: file.Name()}, err
	}
	if err := checkReason(strings.TrimSpace(req.Reason)); err != nil {
		return ApplyReport{Name: file.Name()}, err
	}
	check, err := file.Validate(ctx)
	if err != nil {
		return ApplyReport{Name: file.Name()}, err
	}
	if check.Refused > 0 && !opt.SkipInvalid {
		return ApplyFile(ctx, engine, file, opt) // it is refused: nothing is asked of anybody
	}
	req.SkipInvalid, req.Sheet, req.Columns = opt.SkipInvalid, file.Sheet(), file.Columns()
	e := entry{
		action: req, phase: phaseIntent, reason: req.Reason, outcome: "intended",
		arguments: map[string]string{
			"file": file.Name(), "campaign": req.Campaign, "version": strconv.Itoa(req.Version),
			"rows": strconv.Itoa(check.Rows), "good": strconv.Itoa(check.Good),
		},
	}
	intent, err := o.logAlone(ctx, e)
	if err != nil {
		report := ApplyReport{Name: file.Name(), Check: check}
		report.Counts.NotRun = check.Rows
		return report, &StoppedError{Name: file.Name(), Rows: check.Rows, Cause: err}
	}
	report, failure := ApplyFile(ctx, underIntent(engine, intent.ID), file, opt)
	e.phase, e.intent = phaseResult, intent.ID
	e.outcome, e.after = fileOutcome(report, failure), report.Counts.words()
	// What is granted is granted; an interrupt must not leave the intent without a result.
	_, err = o.logAlone(context.WithoutCancel(ctx), e)
	return report, errors.Join(failure, err)
}

// fileOutcome says in a word, and why, what became of a file.
func fileOutcome(r ApplyReport, failure error) string {
	switch {
	case failure != nil && r.Counts.Of(grant.Applied) == 0 && r.Counts.Of(grant.Unknown) == 0:
		return "failed: nothing was granted"
	case failure != nil:
		return "stopped: after " + strconv.Itoa(r.Done()) + " of " + strconv.Itoa(r.Counts.Sum())
	case r.Counts.Refused() > 0 || r.Counts.Of(grant.Failed) > 0:
		return "partial"
	}
	return "applied"
}

// words are the counts that are not zero, by outcome.
func (c ApplyCounts) words() map[string]string {
	words := map[string]string{}
	for o, n := range c.by {
		if n > 0 {
			words[grant.Outcome(o).String()] = strconv.Itoa(n)
		}
	}
	if c.NotRun > 0 {
		words["not_run"] = strconv.Itoa(c.NotRun)
	}
	return words
}
