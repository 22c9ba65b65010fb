package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"rewardctl/repair/batchfile"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PlanRequest says what to plan. The rows come from a file of grants, whose options give the
// campaign and the version; the operator becomes the actor of every posting.
type PlanRequest struct {
	Campaign string // as the file was opened with; empty when it brings its own event ids
	Version  int    // likewise
	Sheet    string // the sheet of a workbook; MakePlan takes it from the file
	Reason   string // goes into every posting and into the log
	// Columns are those that were named; MakePlan takes them from the file.
	Columns []batchfile.Column
	// SkipInvalid plans the good rows of a file that has invalid ones, which are then listed as
	// rejected. Without it such a file is refused as a whole.
	SkipInvalid bool
	// DryRun previews the plan and keeps nothing.
	DryRun bool
	// OnRows is told now and then how many rows are stored. Nil does nothing.
	OnRows func(done, total int64)
}

// Word returns "grant plan".
func (a planDeed) Word() string { return a.word }

// Target returns "plan 12".
func (a planDeed) Target() string { return planName(a.id) }

// CLI returns the command.
func (a planDeed) CLI() []string { return append([]string{"rewardctl"}, a.argv...) }

// planDeed is one deed about a plan, as an Action.
type planDeed struct {
	word string
	id   int64
	argv []string // without the program's name
}

var errPlanExists = errors.New("repair: these rows are planned already") // undoes the transaction

// errDryRun undoes the transaction of a dry run.
var errDryRun = errors.New("repair: a dry run keeps nothing")

const planContentOpen = "grant_plan_content_open" // the constraint's name

// MakePlan freezes the rows of a file as a plan. The same rows again, also from a file under
// another name, answer the plan that is open already, marked Existing. The plan waits for
// approval when it is over a limit of the operator.
//
// The error is an *InvalidRowsError or *batchfile.FileError when the file is refused, a
// *grant.Rejection about the reason, or a *grant.BackendError; then there is no new plan, unless
// the latter is in doubt: making it again tells.
func (o *Operator) MakePlan(
	ctx context.Context, file *batchfile.File, req PlanRequest,
) (Plan, PlanPreview, error) {
	if err := checkReason(req.Reason); err != nil {
		return Plan{}, PlanPreview{}, err
	}
	check, err := file.Validate(ctx)
	if err != nil {
		return Plan{}, PlanPreview{}, err
	}
	if check.Refused > 0 && !req.SkipInvalid {
		return Plan{}, PlanPreview{}, &InvalidRowsError{file.Name(), check}
	}
	req.Sheet, req.Columns = file.Sheet(), file.Columns()
	m := &planMaking{o: o, file: file, req: req, check: check}
	write := o.writeWaiting
	if req.DryRun {
		write = o.transact // which make undoes
	}
	for {
		err = write(ctx, "make the plan", planLockWait, m.make)
		switch {
		case err == nil || errors.Is(err, errDryRun):
			return m.plan, m.preview, nil
		case m.stop != nil:
			return Plan{}, PlanPreview{}, m.stop
		case errors.Is(err, errPlanExists), violates(err, planContentOpen):
			plan, preview, found, err := o.existing(ctx, m.twin, m.content)
			if err != nil || found {
				return plan, preview, err
			}
			continue // it was rejected, cancelled or finished just now: make a new one
		}
		return Plan{}, PlanPreview{}, err
	}
}

func violates(err error, constraint string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.ConstraintName == constraint
}

// existing returns the open plan with the same rows, as it is now.
func (o *Operator) existing(
	ctx context.Context, id int64, content []byte,
) (plan Plan, preview PlanPreview, found bool, err error) {
	if id == 0 {
		if id, err = o.planByContent(ctx, content); err != nil || id == 0 {
			return plan, preview, false, err
		}
	}
	plan, preview, err = o.PreviewPlan(ctx, id)
	plan.Existing = true
	return plan, preview, err == nil && !plan.State.Final(), err
}

// planMaking is the making of one plan. It may run more than once.
type planMaking struct {
	o     *Operator
	file  *batchfile.File
	req   PlanRequest
	check *batchfile.Check

	id      int64
	twin    int64  // an open plan with the same rows
	content []byte // the hash over the rows
	stop    error  // why the file is refused after all
	plan    Plan
	preview PlanPreview
}

func (m *planMaking) make(ctx context.Context, tx pgx.Tx) error {
	m.twin, m.stop = 0, nil
	added, err := first(collect[struct {
		ID int64 `db:"plan_id"`
	}](ctx, tx, planAddSQL, struct {
		Campaign string `db:"campaign"`
		Source   string `db:"source"`
		Operator string `db:"operator"`
		Reason   string `db:"reason"`
		Within   int64  `db:"within"`
	}{
		m.req.Campaign, m.file.Name(), m.o.opts.Operator, m.req.Reason,
		m.o.opts.Plans.ApproveWithin.Milliseconds(),
	}))
	if err != nil {
		return err
	}
	m.id = value(added).ID
	source, err := m.copyRows(ctx, tx)
	if err != nil {
		return err
	}
	done, err := m.hash(ctx, tx, source.hash.sum())
	if err != nil {
		return err
	}
	if m.preview, err = m.o.previewIn(ctx, tx, m.id); err != nil {
		return err
	}
	if err := m.seal(ctx, tx, source); err != nil {
		return err
	}
	plan, err := planIn(ctx, tx, m.id)
	if err != nil {
		return err
	}
	m.plan = value(plan)
	m.plan.DoneBefore = done
	if m.req.DryRun {
		return errDryRun
	}
	return m.log(ctx, tx)
}

// copyRows streams the rows into the database.
func (m *planMaking) copyRows(ctx context.Context, tx pgx.Tx) (*planSource, error) {
	source := newPlanSource(ctx, m)
	defer source.close()
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"grant_plan_row"}, []string{
		"plan_id", "line", "player_id", "reward_event_id", "kind", "amount", "duplicate_of",
		"problem", "amount_text", "outcome", "detail",
	}, source)
	switch {
	case source.err != nil:
		m.stop = source.err
		return nil, source.err
	case err != nil:
		return nil, err
	}
	if m.stop = m.file.Unchanged(); m.stop != nil {
		return nil, m.stop
	}
	switch {
	case source.strangers > 0 && !m.req.SkipInvalid:
		m.stop = &StrangersError{
			Name: m.file.Name(), Table: m.o.opts.Players.Table, Count: source.strangers,
			Lines: source.strangerLines,
		}
		return nil, m.stop
	}
	return source, nil
}

// hash has the server hash what it stored, and compares: what is frozen is what was read.
func (m *planMaking) hash(
	ctx context.Context, tx pgx.Tx, sent []byte,
) (doneBefore int64, err error) {
	_, err = tx.Exec(ctx, planChunksSQL, pgx.StrictStructArgs(struct {
		Plan int64 `db:"plan"`
		Size int   `db:"size"`
	}{m.id, planChunkRows}))
	if err != nil {
		return 0, err
	}
	twin, err := first(collect[struct {
		Content []byte `db:"content_hash"`
		Open    *int64 `db:"open_plan"`
		Done    *int64 `db:"done_plan"`
	}](ctx, tx, planTwinSQL, planArgs{m.id}))
	if err != nil {
		return 0, err
	}
	stored := value(twin)
	if !bytes.Equal(stored.Content, sent) {
		m.stop = fmt.Errorf("repair: PostgreSQL stored other rows than were sent: hash %x, not %x",
			stored.Content, sent)
		return 0, m.stop
	}
	m.content = stored.Content
	if m.twin = value(stored.Open); m.twin != 0 {
		return 0, errPlanExists
	}
	return value(stored.Done), nil
}

func (m *planMaking) seal(ctx context.Context, tx pgx.Tx, source *planSource) error {
	_, err := tx.Exec(ctx, planSealSQL, pgx.StrictStructArgs(struct {
		Plan       int64       `db:"plan"`
		Content    []byte      `db:"content"`
		Rows       int64       `db:"rows"`
		Due        int64       `db:"due"`
		Duplicates int64       `db:"duplicates"`
		Invalid    int64       `db:"invalid"`
		Over       []OverLimit `db:"over"`
		Preview    PlanPreview `db:"preview"`
		Waits      bool        `db:"waits"`
	}{
		m.id, m.content, source.rows, source.due, source.duplicates, source.invalid,
		m.preview.Over, m.preview, len(m.preview.Over) > 0,
	}))
	return err
}

func (m *planMaking) log(ctx context.Context, tx pgx.Tx) error {
	outcome := "planned: within the limits"
	if m.plan.NeedsApproval {
		outcome = "planned: awaits approval, over a limit: " + overWords(m.plan.Over)
	}
	_, err := m.o.log(ctx, tx, entry{
		action: m.req.deed(m.id, m.path()), phase: phaseResult,
		arguments: map[string]string{
			"file": m.file.Name(), "campaign": m.req.Campaign,
			"version": strconv.Itoa(max(m.req.Version, 1)),
		},
		after: map[string]string{
			"state": string(m.plan.State), "hash": m.plan.Hash,
			"rows": strconv.FormatInt(m.plan.Rows, 10), "due": strconv.FormatInt(m.plan.Due, 10),
		},
		reason: m.req.Reason, outcome: outcome,
	})
	return err
}

// Action returns the making of a plan as an Action, for its command line. The path is that of the
// file, or "-".
func (r PlanRequest) Action(path string) Action { return r.deed(0, path) }

func (r PlanRequest) deed(id int64, path string) planDeed {
	argv := []string{"grant", "plan"}
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
	if r.SkipInvalid {
		argv = append(argv, "--skip-invalid")
	}
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	return planDeed{"grant plan", id, append(argv, "--reason", r.Reason, "--", path)}
}

// path is the file as the command names it.
func (m *planMaking) path() string {
	if m.file.Piped() {
		return "-"
	}
	return m.file.Name()
}

type planArgs struct {
	Plan int64 `db:"plan"`
}
