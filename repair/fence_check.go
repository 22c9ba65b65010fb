package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

// FenceState says how the token counter of a resource in Redis, its fence in PostgreSQL and its
// lock fit together.
type FenceState string

// The states. The first three are in order.
const (
	FenceFits    FenceState = "fits"    // the counter is at the fence
	FenceIdle    FenceState = "idle"    // no counter and no lock: counters of idle resources expire
	CounterAhead FenceState = "ahead"   // tokens were issued that nothing was posted under yet
	CounterLost  FenceState = "lost"    // a lock, but no counter: Redis lost it
	CounterBack  FenceState = "behind"  // the counter is below the fence or the lock: it went back
	CounterBad   FenceState = "damaged" // the counter holds no number: no lease can be taken
	// TokenShared: the lock has the token of the fence, and another owner. Redis has issued one
	// token twice; the fence refuses the lock's owner.
	TokenShared FenceState = "shared"
)

// wrong reports whether a state needs attention.
func (s FenceState) wrong() bool {
	switch s {
	case FenceFits, FenceIdle, CounterAhead:
		return false
	case CounterLost, CounterBack, CounterBad, TokenShared:
		return true
	}
	return true
}

// FenceQuery says which resources to look at.
type FenceQuery struct {
	Resource string // one; empty for all that have a fence
	// Scan looks at the counters that PostgreSQL knows nothing of as well, by walking all keys of
	// Redis.
	Scan bool
	// Limit is how many findings the report holds, 1000 when zero; all are counted.
	Limit int
	// OnProgress is told how many resources were looked at; nil does nothing.
	OnProgress func(checked int)
}

// FenceFinding is one resource.
type FenceFinding struct {
	Resource string
	State    FenceState
	Fence    *grant.Fence // nil when no token was accepted
	Counter  string       // the counter's text; empty when there is none
	Token    int64        // the token it counts; 0 when none or damaged
	Lock     string       // the lock's value; empty when there is none
	Why      string       // one sentence

	seen lease.CounterSeen
}

// FenceReport is what a comparison found.
type FenceReport struct {
	Checked  int
	Counts   map[FenceState]int
	Findings []FenceFinding // what needs attention; for a single resource whatever there is
}

// Wrong counts the resources that need attention.
func (r FenceReport) Wrong() int {
	n := 0
	for state, count := range r.Counts {
		if state.wrong() {
			n += count
		}
	}
	return n
}

// CheckFences compares counters, fences and locks. It changes nothing. The error is a
// *NotFoundError when the one resource has neither, or a *grant.BackendError.
func (o *Operator) CheckFences(ctx context.Context, q FenceQuery) (FenceReport, error) {
	if q.Limit <= 0 {
		q.Limit = 1000
	}
	report := FenceReport{Counts: map[FenceState]int{}}
	err := o.eachFence(ctx, q, func(page []FenceFinding) error {
		for _, f := range page {
			report.Checked++
			report.Counts[f.State]++
			if (f.State.wrong() || q.Resource != "") && len(report.Findings) < q.Limit {
				report.Findings = append(report.Findings, f)
			}
		}
		if q.OnProgress != nil {
			q.OnProgress(report.Checked)
		}
		return nil
	})
	return report, err
}

// fencePage is how many resources are compared at once.
const fencePage = 2000

// eachFence hands over all resources of a query, page by page, each judged.
func (o *Operator) eachFence(
	ctx context.Context, q FenceQuery, take func([]FenceFinding) error,
) error {
	if q.Resource != "" {
		page, err := o.compare(ctx, []string{q.Resource})
		if err != nil {
			return err
		}
		if page[0].Fence == nil && page[0].Counter == "" && page[0].Lock == "" {
			return &NotFoundError{"fence or counter of", q.Resource}
		}
		return take(page)
	}
	after := ""
	for {
		fences, err := o.fencesAfter(ctx, after)
		if err != nil {
			return err
		}
		if len(fences) == 0 {
			break
		}
		resources := make([]string, len(fences))
		for i, f := range fences {
			resources[i] = f.Resource
		}
		after = resources[len(resources)-1]
		page, err := o.compareWith(ctx, resources, fences)
		if err == nil {
			err = take(page)
		}
		if err != nil {
			return err
		}
	}
	if !q.Scan {
		return nil
	}
	return o.eachUnfenced(ctx, take)
}

// eachUnfenced hands over the resources that have a counter and no fence.
func (o *Operator) eachUnfenced(
	ctx context.Context, take func([]FenceFinding) error,
) error {
	seen := make(map[string]bool)
	return o.store.ScanCounters(ctx, func(resources []string) error {
		fresh := resources[:0]
		for _, r := range resources {
			if !seen[r] {
				seen[r] = true
				fresh = append(fresh, r)
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		page, err := o.compare(ctx, fresh)
		if err != nil {
			return err
		}
		page = slices.DeleteFunc(page, func(f FenceFinding) bool { return f.Fence != nil })
		return take(page)
	})
}

type fenceOfRow struct {
	Resource string `db:"resource"`
	Token    int64  `db:"last_token"`
	Owner    string `db:"last_owner"`
}

func (o *Operator) fencesAfter(ctx context.Context, after string) ([]grant.Fence, error) {
	var fences []grant.Fence
	err := o.read(ctx, "read the fences", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[fenceOfRow](ctx, tx, fencePageSQL, struct {
			After string `db:"after"`
			Limit int    `db:"limit"`
		}{after, fencePage})
		for _, row := range rows {
			fences = append(fences, grant.Fence(row))
		}
		return err
	})
	return fences, err
}

// compare reads fences and counters of resources and judges them.
func (o *Operator) compare(ctx context.Context, resources []string) ([]FenceFinding, error) {
	var fences []grant.Fence
	err := o.read(ctx, "read the fences", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[fenceOfRow](ctx, tx, fenceOfSQL, struct {
			Resources []string `db:"resources"`
		}{resources})
		for _, row := range rows {
			fences = append(fences, grant.Fence(row))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return o.compareWith(ctx, resources, fences)
}

func (o *Operator) compareWith(
	ctx context.Context, resources []string, fences []grant.Fence,
) ([]FenceFinding, error) {
	bounded, cancel := o.bound(ctx)
	defer cancel()
	counters, err := o.store.Counters(bounded, resources)
	if err != nil {
		return nil, err
	}
	byResource := make(map[string]*grant.Fence, len(fences))
	for i := range fences {
		byResource[fences[i].Resource] = &fences[i]
	}
	page := make([]FenceFinding, len(resources))
	for i, c := range counters {
		page[i] = judgeFence(byResource[c.Resource], c)
	}
	return page, nil
}

// judgeFence compares what was read of one resource.
func judgeFence(fence *grant.Fence, c lease.CounterSeen) FenceFinding {
	f := FenceFinding{
		Resource: c.Resource, Fence: fence, Counter: c.Text, Token: c.Token, Lock: c.Lock, seen: c,
	}
	var accepted int64
	if fence != nil {
		accepted = fence.Token
	}
	held, owner, err := lease.ParseValue(c.Lock)
	if err != nil {
		held, owner = 0, ""
	}
	highest := max(accepted, held)
	switch {
	case c.Damaged:
		f.State = CounterBad
		f.Why = fmt.Sprintf("the counter holds %q: no lease can be taken", c.Text)
	case held != 0 && held == accepted && owner != fence.Owner && !grant.Burned(fence.Owner):
		f.State = TokenShared
		f.Why = fmt.Sprintf("token %d was issued to %s and to %s; the fence refuses the second",
			held, fence.Owner, owner)
	case c.Text == "" && held != 0:
		f.State = CounterLost
		f.Why = fmt.Sprintf("there is no counter beside the lock of token %d", held)
	case c.Text == "":
		f.State = FenceIdle
		f.Why = "there is no counter: those of idle resources expire, and the fence stands in"
	case c.Token < highest:
		f.State = CounterBack
		f.Why = fmt.Sprintf("the counter is at %d, %s: it went back", c.Token,
			below(accepted, held))
	case c.Token > accepted:
		f.State = CounterAhead
		f.Why = fmt.Sprintf("token %d was issued, the fence is at %d", c.Token, accepted)
	default:
		f.State = FenceFits
		f.Why = fmt.Sprintf("counter and fence are at %d", accepted)
	}
	return f
}

func below(fence, lock int64) string {
	if fence >= lock {
		return fmt.Sprintf("below the fence at %d", fence)
	}
	return fmt.Sprintf("below the lock's token %d", lock)
}

// floor is what the counter has to be raised to at least.
func (f FenceFinding) floor() int64 {
	var floor int64
	if f.Fence != nil {
		floor = f.Fence.Token
	}
	if held, _, err := lease.ParseValue(f.Lock); err == nil {
		floor = max(floor, held)
	}
	return floor
}

// byResource orders findings as the database orders resources.
func byResource(a, b FenceFinding) int { return strings.Compare(a.Resource, b.Resource) }
