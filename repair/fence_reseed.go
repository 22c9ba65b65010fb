package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

// ReseedRequest asks to bring counters and fences together. Nothing is ever lowered.
type ReseedRequest struct {
	Resource string // one; empty for all
	// Fences raises fences to the counters instead of counters to the fences: after a failover of
	// PostgreSQL that lost rows, nobody knows which of the issued tokens were accepted. Every
	// lease that is held then is void: its holder is refused and takes a new one. For all
	// resources it also accepts the timeline on which the database is, so that grants go on.
	Fences bool
	Reason string
	DryRun bool
	// OnProgress is told how many resources were looked at; nil does nothing.
	OnProgress func(checked int)
}

// Word returns "fence reseed".
func (r ReseedRequest) Word() string { return "fence reseed" }

// Target returns the resource, or "all resources".
func (r ReseedRequest) Target() string {
	if r.Resource == "" {
		return "all resources"
	}
	return r.Resource
}

// CLI returns the fence reseed command.
func (r ReseedRequest) CLI() []string {
	argv := []string{"rewardctl", "fence", "reseed"}
	if r.Resource == "" {
		argv = append(argv, "--all")
	} else if !strings.HasPrefix(r.Resource, "-") {
		argv = append(argv, r.Resource)
	}
	if r.Fences {
		argv = append(argv, "--fences")
	}
	argv = append(argv, "--reason", r.Reason)
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	if strings.HasPrefix(r.Resource, "-") {
		argv = append(argv, "--", r.Resource)
	}
	return argv
}

func (r ReseedRequest) arguments() map[string]string {
	what := "counters"
	if r.Fences {
		what = "fences"
	}
	return map[string]string{"resource": r.Resource, "raise": what}
}

// ReseedAnswer says what became of one counter or fence.
type ReseedAnswer string

// What can become of a counter or fence.
const (
	Reseeded      ReseedAnswer = "raised"
	ReseedKept    ReseedAnswer = "kept"    // it had been raised meanwhile
	ReseedChanged ReseedAnswer = "changed" // it is not as it was seen, and was left
	ReseedFailed  ReseedAnswer = "failed"  // the error says why
	WouldReseed   ReseedAnswer = "would_raise"
)

// ReseedItem is one counter or fence that was to be raised.
type ReseedItem struct {
	FenceFinding
	To     int64 // what it was, or would be, raised to
	Answer ReseedAnswer
	Err    error // ReseedFailed
}

// Reseed is the answer to a ReseedRequest.
type Reseed struct {
	Checked  int
	Counts   map[ReseedAnswer]int
	Items    []ReseedItem // the first thousand
	IntentID int64        // 0 on a dry run, and when only fences were raised
	ResultID int64        // the last row in the log; 0 on a dry run
	// LogProblem says why a result row could not be written; the rest stands all the same.
	LogProblem string
	// Timeline is what was accepted, or would be: after all fences were raised, grants go on on
	// the server and timeline that the database is on. Empty when it never changed.
	Timeline Timeline
}

const reseedShown = 1000

func (r *Reseed) add(items []ReseedItem) {
	for _, item := range items {
		r.Counts[item.Answer]++
		if len(r.Items) < reseedShown {
			r.Items = append(r.Items, item)
		}
	}
}

// Reseed raises counters to their fences, or with Fences the fences to the counters. Each is raised
// only if it is as it was seen just before, and running it again finds it done. A raise of fences
// has its log row in the same transaction; one of counters, which live in Redis, has an intent row
// before and a result row after. It returns a *grant.Rejection, a *NotFoundError for a resource
// that has neither, a *ReadOnlyError, or a *grant.BackendError.
func (o *Operator) Reseed(ctx context.Context, req ReseedRequest) (Reseed, error) {
	req.Reason = strings.TrimSpace(req.Reason)
	out := Reseed{Counts: map[ReseedAnswer]int{}}
	if err := checkReason(req.Reason); err != nil {
		return out, err
	}
	if !req.DryRun {
		if err := o.writable("reseed counters or fences"); err != nil {
			return out, err
		}
	}
	query := FenceQuery{Resource: req.Resource, Scan: req.Fences}
	err := o.eachFence(ctx, query, func(page []FenceFinding) error {
		out.Checked += len(page)
		if req.OnProgress != nil {
			req.OnProgress(out.Checked)
		}
		items := due(page, req)
		if req.DryRun {
			for i := range items {
				items[i].Answer = WouldReseed
			}
			out.add(items)
			return nil
		}
		if len(items) == 0 {
			return nil
		}
		if req.Fences {
			return o.raiseFences(ctx, req, items, &out)
		}
		return o.raiseCounters(ctx, req, items, &out)
	})
	if !req.DryRun && out.IntentID != 0 {
		err = errors.Join(err, o.endReseed(context.WithoutCancel(ctx), req, &out))
	}
	if err == nil {
		err = o.settleTimeline(ctx, req, &out)
	}
	return out, err
}

// due picks what has to be raised. Missing counters of idle resources are not: the fence stands in
// for them, and they would only expire again. One that is named is.
func due(page []FenceFinding, req ReseedRequest) []ReseedItem {
	var items []ReseedItem
	for _, f := range page {
		switch {
		case req.Fences && f.Token > 0 && (f.Fence == nil || f.Fence.Token < f.Token):
			items = append(items, ReseedItem{FenceFinding: f, To: f.Token})
		case req.Fences:
		case f.State == CounterBad, f.State == CounterBack, f.State == CounterLost,
			f.State == TokenShared && f.Token < f.floor(),
			f.State == FenceIdle && req.Resource != "":
			items = append(items, ReseedItem{FenceFinding: f, To: f.floor()})
		}
	}
	slices.SortFunc(items, func(a, b ReseedItem) int {
		return byResource(a.FenceFinding, b.FenceFinding)
	})
	return items
}

// raiseCounters raises a page of counters. The first page writes the intent.
func (o *Operator) raiseCounters(
	ctx context.Context, req ReseedRequest, items []ReseedItem, out *Reseed,
) error {
	if out.IntentID == 0 {
		observed := map[string]string{"first": items[0].Resource, "why": items[0].Why}
		row, err := o.logAlone(ctx, entry{
			action: req, phase: phaseIntent, arguments: req.arguments(), observed: observed,
			reason: req.Reason, outcome: "intended",
		})
		if err != nil {
			return err
		}
		out.IntentID = row.ID
	}
	seen, fences := make([]lease.CounterSeen, len(items)), make([]int64, len(items))
	for i, item := range items {
		seen[i], fences[i] = item.seen, item.To
	}
	bounded, cancel := o.bound(ctx)
	defer cancel()
	answers, errs := o.store.RaiseCounters(bounded, seen, fences)
	for i := range items {
		items[i].Err = errs[i]
		switch {
		case errs[i] != nil:
			items[i].Answer = ReseedFailed
		case answers[i] == lease.CounterRaised:
			items[i].Answer = Reseeded
		case answers[i] == lease.CounterKept:
			items[i].Answer = ReseedKept
		default:
			items[i].Answer = ReseedChanged
		}
	}
	out.add(items)
	return nil
}

// raiseFences raises a page of fences, in one transaction with the log row.
func (o *Operator) raiseFences(
	ctx context.Context, req ReseedRequest, items []ReseedItem, out *Reseed,
) error {
	args := struct {
		Resources []string `db:"resources"`
		Tokens    []int64  `db:"tokens"`
		Tombstone string   `db:"tombstone"`
	}{Tombstone: grant.BurnOwner("reseed-" + o.opts.NewID())}
	for _, item := range items {
		args.Resources = append(args.Resources, item.Resource)
		args.Tokens = append(args.Tokens, item.To)
	}
	type raisedRow struct {
		Resource string `db:"resource"`
	}
	var raised []raisedRow
	var row logged
	err := o.write(ctx, "raise the fences", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		if raised, err = collect[raisedRow](ctx, tx, fenceReseedSQL, args); err != nil {
			return err
		}
		first, last := items[0], items[len(items)-1]
		row, err = o.log(ctx, tx, entry{
			action: req, phase: phaseResult, arguments: req.arguments(), reason: req.Reason,
			before: fenceFields(first.Fence),
			after: map[string]string{
				"raised": strconv.Itoa(len(raised)), "first": first.Resource,
				"first_token": strconv.FormatInt(first.To, 10), "last": last.Resource,
				"owner": args.Tombstone,
			},
			outcome: fmt.Sprintf("%d fences raised", len(raised)),
		})
		return err
	})
	if err != nil {
		return err
	}
	out.ResultID = row.ID
	done := make(map[string]bool, len(raised))
	for _, r := range raised {
		done[r.Resource] = true
	}
	for i := range items {
		items[i].Answer = ReseedKept
		if done[items[i].Resource] {
			items[i].Answer = Reseeded
		}
	}
	out.add(items)
	return nil
}

// endReseed writes down what became of the counters.
func (o *Operator) endReseed(ctx context.Context, req ReseedRequest, out *Reseed) error {
	after := make(map[string]string, len(out.Counts))
	for answer, n := range out.Counts {
		after[string(answer)] = strconv.Itoa(n)
	}
	row, err := o.logAlone(ctx, entry{
		action: req, phase: phaseResult, intent: out.IntentID, arguments: req.arguments(),
		after: after, reason: req.Reason,
		outcome: fmt.Sprintf("%d counters raised", out.Counts[Reseeded]),
	})
	if out.ResultID = row.ID; err != nil {
		out.LogProblem = err.Error()
	}
	return nil
}
