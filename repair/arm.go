package repair

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// ArmRequest says that an operator opens a window in which a protected context can be changed.
type ArmRequest struct {
	Context string // the context's name
	Reason  string
	For     time.Duration // after which the window closes by itself
}

// Word returns "arm".
func (r ArmRequest) Word() string { return WordArm }

// Target returns the context.
func (r ArmRequest) Target() string { return r.Context }

// CLI returns the command that opens the console on the context: a window is opened only there.
func (r ArmRequest) CLI() []string { return []string{"rewardctl", "--context", r.Context} }

// Arm writes down that the window opens and returns the id of the row. The window must not open
// when it returns an error: a *grant.Rejection for a request without a reason, a *ReadOnlyError, or
// a *grant.BackendError.
func (o *Operator) Arm(ctx context.Context, req ArmRequest) (int64, error) {
	req.Reason = strings.TrimSpace(req.Reason)
	if err := checkReason(req.Reason); err != nil {
		return 0, err
	}
	row, err := o.logAlone(ctx, entry{
		action: req, phase: phaseResult, reason: req.Reason,
		arguments: map[string]string{"for": req.For.String()},
		after:     map[string]string{"until": o.opts.Now().Add(req.For).UTC().Format(time.RFC3339)},
		outcome:   "armed",
	})
	return row.ID, err
}

// Window is a window that has closed.
type Window struct {
	ArmRequest
	Armed int64     // the row that says that it opened
	Ended time.Time // by this machine's clock
	Why   string    // why it closed, in words
}

// Word returns "disarm".
func (w Window) Word() string { return "disarm" }

// Disarm writes down that a window has closed. It returns a *ReadOnlyError or a
// *grant.BackendError; the window is closed all the same.
func (o *Operator) Disarm(ctx context.Context, w Window) (int64, error) {
	row, err := o.logAlone(ctx, entry{
		action: w, phase: phaseResult, reason: w.Reason,
		arguments: map[string]string{"armed": strconv.FormatInt(w.Armed, 10)},
		after:     map[string]string{"ended": w.Ended.UTC().Format(time.RFC3339), "why": w.Why},
		outcome:   "disarmed: " + w.Why,
	})
	return row.ID, err
}
