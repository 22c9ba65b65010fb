package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// AckState is what was decided about a finding.
type AckState string

// The decisions. A finding that nobody decided about is open.
const (
	AckOpen         AckState = "open"
	AckAcknowledged AckState = "acknowledged"
)

// AckAny leaves it open which version the operator saw.
const AckAny = -1

// AckRequest says that somebody has looked at a finding, or that it is open again. It is about the
// same finding in every run.
type AckRequest struct {
	Finding int64 // its number in one of the runs
	// Version is the version of the decision that the operator saw: 0 when there was none, AckAny
	// for whichever there is.
	Version int64
	Reopen  bool // take the acknowledgement back
	Reason  string
	DryRun  bool // tell what would happen, change and log nothing
}

// Word returns "audit ack".
func (r AckRequest) Word() string { return WordAck }

// Target returns the finding's number, such as "finding 113".
func (r AckRequest) Target() string { return "finding " + strconv.FormatInt(r.Finding, 10) }

// CLI returns the audit ack command.
func (r AckRequest) CLI() []string {
	argv := []string{"rewardctl", "audit", "ack", strconv.FormatInt(r.Finding, 10)}
	if r.Version != AckAny {
		argv = append(argv, "--version", strconv.FormatInt(r.Version, 10))
	}
	if r.Reopen {
		argv = append(argv, "--reopen")
	}
	if argv = append(argv, "--reason", r.Reason); r.DryRun {
		argv = append(argv, "--dry-run")
	}
	return argv
}

func (r AckRequest) state() AckState {
	if r.Reopen {
		return AckOpen
	}
	return AckAcknowledged
}

// Ack is the answer to an AckRequest.
type Ack struct {
	Finding int64
	What    string   // the finding, in one sentence
	Before  AckState // open when nothing had been decided
	State   AckState
	Version int64
	Changed bool  // false: it stood so before, or it was a dry run
	LogID   int64 // the row of operator_action; 0 when nothing was changed
}

type ackRow struct {
	Finding      int64   `db:"finding_id"`
	Fingerprint  string  `db:"fingerprint"`
	Check        string  `db:"check_name"`
	What         string  `db:"what"`
	State        *string `db:"state"`
	Version      *int64  `db:"version"`
	Acknowledger *string `db:"acknowledger"`
}

func (r ackRow) have() string {
	if r.Version == nil {
		return "no decision"
	}
	return fmt.Sprintf("version %d, %s by %s", *r.Version, *r.State, *r.Acknowledger)
}

// Acknowledge decides about a finding, in one transaction with its row of the log. It returns a
// *grant.Rejection without a reason, a *NotFoundError, a *PreconditionError when somebody else has
// decided since the operator looked, a *ReadOnlyError, or a *grant.BackendError.
func (o *Operator) Acknowledge(ctx context.Context, req AckRequest) (Ack, error) {
	req.Reason = strings.TrimSpace(req.Reason)
	out := Ack{Finding: req.Finding}
	if err := checkReason(req.Reason); err != nil {
		return out, err
	}
	run := o.write
	if req.DryRun {
		run = o.read
	}
	err := run(ctx, "decide about a finding", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		out, err = o.acknowledge(ctx, tx, req)
		return err
	})
	var changed *PreconditionError
	var missing *NotFoundError
	switch {
	case errors.As(err, &missing):
		return out, missing
	case errors.As(err, &changed) && req.DryRun:
		return out, changed
	case errors.As(err, &changed):
		row, logErr := o.logAlone(ctx, entry{
			action: req, phase: phaseDenied, arguments: req.arguments(), reason: req.Reason,
			observed: map[string]string{"found": changed.Have}, outcome: "denied: it has changed",
		})
		if changed.DenialID = row.ID; logErr != nil {
			changed.LogProblem = logErr.Error()
		}
		return out, changed
	}
	return out, err
}

func (r AckRequest) arguments() map[string]string {
	return map[string]string{
		"finding": strconv.FormatInt(r.Finding, 10), "state": string(r.state()),
		"version": strconv.FormatInt(r.Version, 10),
	}
}

func (o *Operator) acknowledge(ctx context.Context, tx pgx.Tx, req AckRequest) (Ack, error) {
	out := Ack{Finding: req.Finding}
	row, err := first(collect[ackRow](ctx, tx, ackReadSQL, struct {
		Finding int64 `db:"finding"`
	}{req.Finding}))
	if err != nil {
		return out, err
	}
	if row == nil {
		return out, &NotFoundError{What: "finding", Name: strconv.FormatInt(req.Finding, 10)}
	}
	out.What, out.Before, out.Version = row.What, AckOpen, value(row.Version)
	if row.State != nil {
		out.Before = AckState(*row.State)
	}
	out.State = out.Before
	changed := &PreconditionError{
		Resource: req.Target(), Have: row.have(), Want: fmt.Sprintf("version %d", req.Version),
		WayOut: "look again before you decide",
	}
	if req.Version != AckAny && req.Version != out.Version {
		return out, changed
	}
	if out.Before == req.state() || req.DryRun {
		return out, nil
	}
	version, err := o.decide(ctx, tx, req, row)
	if err != nil {
		return out, err
	}
	if version == 0 { // somebody was faster
		return out, changed
	}
	logged, err := o.log(ctx, tx, entry{
		action: req, phase: phaseResult, arguments: req.arguments(), reason: req.Reason,
		observed: map[string]string{"check": row.Check, "fingerprint": row.Fingerprint},
		before:   map[string]string{"state": string(out.Before)},
		after:    map[string]string{"state": string(req.state())}, outcome: string(req.state()),
	})
	out.State, out.Version, out.Changed, out.LogID = req.state(), version, true, logged.ID
	return out, err
}

// decide writes the decision and returns its version; 0 when the row was not as it was read.
func (o *Operator) decide(
	ctx context.Context, tx pgx.Tx, req AckRequest, row *ackRow,
) (int64, error) {
	type versioned struct {
		Version int64 `db:"version"`
	}
	var got *versioned
	var err error
	if row.Version == nil {
		got, err = first(collect[versioned](ctx, tx, ackAddSQL, struct {
			Fingerprint string `db:"fingerprint"`
			Check       string `db:"check_name"`
			State       string `db:"state"`
			Operator    string `db:"operator"`
			Reason      string `db:"reason"`
		}{row.Fingerprint, row.Check, string(req.state()), o.opts.Operator, req.Reason}))
	} else {
		got, err = first(collect[versioned](ctx, tx, ackChangeSQL, struct {
			Fingerprint string `db:"fingerprint"`
			Version     int64  `db:"version"`
			State       string `db:"state"`
			Operator    string `db:"operator"`
			Reason      string `db:"reason"`
		}{row.Fingerprint, *row.Version, string(req.state()), o.opts.Operator, req.Reason}))
	}
	return value(got).Version, err
}
