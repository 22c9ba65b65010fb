package repair

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// ReverseRun says how a frozen selection is run.
type ReverseRun struct {
	// OnProgress is told after each step how many of the postings that change are done with; nil
	// does nothing.
	OnProgress func(done, total int)
	// Step is how many postings are handed to the engine at once; 500 when zero. Between two
	// steps the run can be stopped.
	Step int
}

const reverseStep = 500

// Reverse takes back exactly what a preview froze: the postings that it expected to be reversed, or
// the single one that was named, each only if it is as it was seen. Each transaction of the engine
// holds its reversals and the row of the operator log about them. The answer is the preview with
// what came of each item.
//
// When ctx ends, the run stops between two steps and the rest is marked NotRun; running the same
// request again goes on. The error is then the context's. An error return otherwise proves that
// nothing was taken back: a *grant.BackendError or a *grant.GateError.
func (o *Operator) Reverse(
	ctx context.Context, p ReversePreview, run ReverseRun,
) (ReversePreview, error) {
	if err := o.writable("reverse postings"); err != nil {
		return p, err
	}
	reverser, able := o.engine.(Reverser)
	if !able {
		return p, errors.New("repair: this operator has no engine to take postings back through")
	}
	p.Items = slices.Clone(p.Items)
	if run.Step <= 0 {
		run.Step = reverseStep
	}
	var changing []int
	for i := range p.Items {
		if p.Items[i].runs {
			changing = append(changing, i)
		}
	}
	done := 0
	var failure error
	for part := range slices.Chunk(changing, run.Step) {
		if failure == nil {
			failure = ctx.Err()
		}
		if failure != nil {
			p.leave(part)
			continue
		}
		failure = o.reverseStep(ctx, reverser, &p, part, len(changing))
		done += len(part)
		if run.OnProgress != nil {
			run.OnProgress(done, len(changing))
		}
	}
	p.sum()
	if len(changing) == 0 {
		return p, o.logNothing(ctx, p)
	}
	if failure != nil && p.Changes() > 0 && ctx.Err() == nil {
		failure = nil // part of it stands: the items say what failed
	}
	return p, failure
}

// leave marks items that the run did not come to.
func (p *ReversePreview) leave(part []int) {
	for _, i := range part {
		item := &p.Items[i]
		item.NotRun, item.Take, item.BalanceAfter = true, 0, item.BalanceBefore
		item.Note = "The run stopped before this posting."
	}
}

// reverseStep runs some items and writes down those that no transaction of the engine did.
func (o *Operator) reverseStep(
	ctx context.Context, reverser Reverser, p *ReversePreview, part []int, total int,
) error {
	reversals := make([]grant.Reversal, len(part))
	for k, i := range part {
		reversals[k] = p.Items[i].reversal
	}
	results, failure := reverser.ReverseMany(ctx, reversals,
		func(sent []grant.Reversal) (json.RawMessage, error) {
			return o.deedRow(p.entry(sent, o.opts.NewID(), total))
		})
	var unlogged []int
	for k, i := range part {
		p.Items[i].answer(results[k])
		switch results[k].Outcome {
		case grant.ReverseFailed, grant.ReverseHeld:
			unlogged = append(unlogged, i)
		default:
		}
	}
	if len(unlogged) == 0 {
		return failure
	}
	return errors.Join(failure, o.logUndone(context.WithoutCancel(ctx), *p, unlogged, total))
}

func (item *ReverseItem) answer(res grant.Reversed) {
	item.Outcome, item.Result = res.Outcome, &res
	item.Take = 0
	if res.Outcome == grant.ReverseDone {
		item.Take = res.Taken
	}
	switch res.Outcome {
	case grant.ReverseFailed, grant.ReverseHeld, grant.ReverseRejected, grant.ReverseUnknown,
		grant.ReverseStale, grant.ReverseCollision:
		item.BalanceAfter = item.BalanceBefore
	default:
		item.BalanceBefore, item.BalanceAfter = res.BalanceBefore, res.BalanceAfter
		item.Left = res.Left
	}
	item.Note = item.took(res)
}

// deedRow writes an entry as the database function completes it.
func (o *Operator) deedRow(e entry) (json.RawMessage, error) {
	row := o.row(e)
	return json.Marshal(struct {
		Operator    string            `json:"operator"`
		Host        string            `json:"host"`
		Action      string            `json:"action"`
		Target      string            `json:"target"`
		ArgsVersion int               `json:"args_version"`
		Arguments   map[string]string `json:"arguments"`
		Observed    map[string]string `json:"observed"`
		Reason      string            `json:"reason"`
		Ticket      *string           `json:"ticket"`
		Approval    *int64            `json:"approval"`
		Command     string            `json:"command"`
	}{
		row.Operator, row.Host, row.Action, row.Target, row.ArgsVersion, row.Arguments,
		row.Observed, row.Reason, row.Ticket, row.Approval, row.Command,
	})
}

// arguments are what the request asked for.
func (p ReversePreview) arguments() map[string]string {
	r := p.Request
	args := map[string]string{"policy": string(r.Policy), "set": p.Set}
	switch {
	case r.Plan != 0:
		args["plan"] = strconv.FormatInt(r.Plan, 10)
	case r.Finding != 0:
		args["finding"] = strconv.FormatInt(r.Finding, 10)
	}
	for _, one := range r.filterWords() {
		args[one.name] = one.value
	}
	return args
}

// entry is the row of one transaction, but for what comes of it. That of one posting is about the
// player, so that it shows in the player's history.
func (p ReversePreview) entry(sent []grant.Reversal, deed string, total int) entry {
	e := entry{
		action: p.Request, phase: phaseResult, arguments: p.arguments(), reason: p.Request.Reason,
		outcome: "reversed",
	}
	e.arguments["deed"] = deed
	if !p.Request.single() {
		e.arguments["postings"] = strconv.Itoa(len(sent))
		e.arguments["of"] = strconv.Itoa(total)
		e.arguments["first_id"] = strconv.FormatInt(sent[0].Posting, 10)
		e.arguments["last_id"] = strconv.FormatInt(sent[len(sent)-1].Posting, 10)
		return e
	}
	item, one := p.Items[0], sent[0]
	e.action = aboutPlayer{p.Request, one.PlayerID}
	delete(e.arguments, "set")
	e.arguments["ledger_id"] = strconv.FormatInt(one.Posting, 10)
	e.arguments["event"] = item.Posting.EventID
	e.arguments["kind"] = one.Kind
	e.arguments["amount"] = strconv.FormatInt(one.Amount, 10)
	e.arguments["part"] = strconv.Itoa(one.Part)
	e.observed = map[string]string{
		"posted": strconv.FormatInt(one.Posted, 10), "left": strconv.FormatInt(item.Left, 10),
		"balance": strconv.FormatInt(item.BalanceBefore, 10),
	}
	return e
}

// aboutPlayer is the reversal of one posting as a deed about its player.
type aboutPlayer struct {
	ReverseRequest
	player string
}

func (a aboutPlayer) Target() string { return a.player }

// logUndone writes down, in one row, what no transaction of the engine took on.
func (o *Operator) logUndone(
	ctx context.Context, p ReversePreview, undone []int, total int,
) error {
	reversals := make([]grant.Reversal, len(undone))
	word := ""
	for k, i := range undone {
		reversals[k] = p.Items[i].reversal
		if outcome := p.Items[i].Outcome.String(); word == "" || word == outcome {
			word = outcome
		} else {
			word = "not reversed"
		}
	}
	e := p.entry(reversals, o.opts.NewID(), total)
	e.phase, e.outcome = phaseFailed, word
	if !p.Request.single() {
		e.outcome = strconv.Itoa(len(undone)) + " " + word
	}
	_, err := o.logAlone(ctx, e)
	return err
}

// logNothing writes down a run in which there was nothing to take back.
func (o *Operator) logNothing(ctx context.Context, p ReversePreview) error {
	if p.Request.single() {
		e := p.entry([]grant.Reversal{p.Items[0].reversal}, o.opts.NewID(), 1)
		e.phase, e.outcome = phaseDenied, p.Items[0].Outcome.String()
		_, err := o.logAlone(ctx, e)
		return err
	}
	args := p.arguments()
	args["postings"] = strconv.Itoa(len(p.Items))
	_, err := o.logAlone(ctx, entry{
		action: p.Request, phase: phaseResult, arguments: args, reason: p.Request.Reason,
		outcome: "nothing to reverse",
	})
	return err
}
