// Package tuitest runs the console in a terminal emulator: bytes in, cells out. It is imported by
// tests only.
package tuitest

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui"
)

// World is a small made-up system behind the console's ports. Tests change it under the console's
// eyes and see what the console did to it.
type World struct {
	mu       sync.Mutex
	now      func() time.Time
	begun    time.Time
	leases   map[string]inspect.Lease
	postings map[string]grant.Posting // by player and event
	audits   []inspect.AuditRun
	findings map[int64][]inspect.Finding
	outbox   []inspect.OutboxRow
	refused  []inspect.RefusedWrite
	changed  []repair.OutboxRequest
	log      []inspect.LogEntry
	plans    []repair.Plan
	decided  []repair.DecideRequest
	applied  []int64
	asked    []tui.PlanAsk
	previews int
	// elsewhere are rows that were granted since their plan was made.
	elsewhere map[int64]int64
	reversed  []repair.ReverseRequest
	released  []repair.ReleaseRequest
	burned    []repair.BurnRequest
	reseeded  []repair.ReseedRequest
	behind    []repair.ReseedItem // counters below their fences
	granted   []grant.Request
	fail      error
	blind     error // Redis does not tell the leases, while PostgreSQL answers
	rights    repair.Rights
	acks      []repair.AckRequest
	armed     []repair.ArmRequest
	ended     []repair.Window
	stall     chan struct{} // calls wait for it when it is set
	panics    bool
	outcome   *grant.Result
}

// NewWorld returns a world with the sample leases of the goldens. now is the console's clock.
func NewWorld(now func() time.Time) *World {
	return &World{
		now: now, begun: now(), leases: map[string]inspect.Lease{}, postings: map[string]grant.Posting{},
	}
}

// SetLease adds or replaces a lease.
func (w *World) SetLease(l inspect.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.At.IsZero() {
		l.At = w.now()
	}
	w.leases[l.Resource] = l
}

// Drop ends a lease.
func (w *World) Drop(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.leases, resource)
}

// Fail makes every read fail with err until it is called with nil.
func (w *World) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

// Stall makes every call wait until the returned function is called.
func (w *World) Stall() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := make(chan struct{})
	w.stall = ch
	return func() { close(ch) }
}

// Panic makes the next reads panic.
func (w *World) Panic() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.panics = true
}

// Answer makes grants answer r instead of posting.
func (w *World) Answer(r *grant.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcome = r
}

// Released returns the releases that were carried out.
func (w *World) Released() []repair.ReleaseRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.ReleaseRequest(nil), w.released...)
}

// Granted returns the grants that were carried out.
func (w *World) Granted() []grant.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]grant.Request(nil), w.granted...)
}

// enter waits, panics or fails as the test asked for. It never outlives ctx.
func (w *World) enter(ctx context.Context) error {
	w.mu.Lock()
	stall, fail, panics := w.stall, w.fail, w.panics
	w.mu.Unlock()
	if panics {
		panic("made-up panic in a background job")
	}
	if stall != nil {
		select {
		case <-stall:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fail
}

// Leases implements tui.Inspector.
func (w *World) Leases(ctx context.Context, f inspect.LeaseFilter) (inspect.LeaseList, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.LeaseList{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := inspect.LeaseList{At: w.now()}
	if w.blind != nil {
		list.Missing = []inspect.Missing{{Backend: grant.Redis, Lacks: "leases", Err: w.blind}}
		return list, nil
	}
	for _, l := range w.leases {
		if len(f.Resources) == 0 || slices.Contains(f.Resources, l.Resource) {
			list.Leases = append(list.Leases, l)
		}
	}
	sort.Slice(list.Leases, func(i, j int) bool {
		return list.Leases[i].Resource < list.Leases[j].Resource
	})
	list.Total, list.Matched = len(list.Leases), len(list.Leases)
	return list, nil
}

// Blind has Redis not tell the leases, for a reason; nil has it tell them again.
func (w *World) Blind(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = why
}

// LeasesOf implements tui.Inspector.
func (w *World) LeasesOf(ctx context.Context, resources []string) (inspect.LeaseList, error) {
	if len(resources) == 0 {
		return inspect.LeaseList{At: w.now()}, nil
	}
	list, err := w.Leases(ctx, inspect.LeaseFilter{Resources: resources})
	if err == nil {
		err = list.Blind()
	}
	return list, err
}

// CountLeases implements tui.Inspector.
func (w *World) CountLeases(ctx context.Context) (inspect.LeaseCounts, error) {
	list, err := w.Leases(ctx, inspect.LeaseFilter{})
	out := inspect.LeaseCounts{
		At: list.At, Total: list.Total, Missing: list.Missing, States: map[inspect.State]int{},
		Ending: make([]int, inspect.LeaseEndings),
	}
	for _, l := range list.Leases {
		out.States[l.Verdict.State]++
		if !l.NoExpiry && l.Left < inspect.LeaseEndingSpan {
			out.Ending[l.Left*inspect.LeaseEndings/inspect.LeaseEndingSpan]++
		}
	}
	return out, err
}

// Lease implements tui.Inspector.
func (w *World) Lease(ctx context.Context, resource string) (inspect.LeaseDetail, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.LeaseDetail{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := inspect.LeaseDetail{Resource: resource}
	if l, ok := w.leases[resource]; ok {
		d.Lease = &l
		if l.Fence != nil {
			d.Fence = &inspect.FenceSeen{Fence: *l.Fence, At: w.now()}
		}
		d.History = []inspect.TokenEntry{{
			At: l.At, Source: inspect.FromRedis, Event: inspect.TokenIssued, Token: l.Token,
			Owner: l.Owner, Detail: "issued",
		}}
	}
	return d, nil
}

// Player implements tui.Inspector.
func (w *World) Player(ctx context.Context, q inspect.PlayerQuery) (inspect.PlayerPage, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.PlayerPage{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	page := inspect.PlayerPage{PlayerID: q.PlayerID}
	sums, known := map[string]int64{}, false
	for _, p := range w.sorted() {
		if p.PlayerID != q.PlayerID || !q.To.IsZero() && !p.At.Before(q.To) ||
			len(q.Types) > 0 && !slices.Contains(q.Types, inspect.EntryPosting) {
			known = known || p.PlayerID == q.PlayerID
			continue
		}
		before := sums[p.Kind]
		sums[p.Kind] += p.Amount
		after := sums[p.Kind]
		page.Entries = append(page.Entries, inspect.PlayerEntry{
			Type: inspect.EntryPosting, ID: p.ID, At: p.At, EventID: p.EventID, Kind: p.Kind,
			Amount: p.Amount, Outcome: "applied", Token: p.Token, Owner: p.Owner, Actor: p.Actor,
			Reason: p.Reason, BalanceBefore: &before, BalanceAfter: &after,
			Delivery: &inspect.Delivery{State: "delivered", Attempts: 1, Delivered: p.At},
		})
	}
	if len(page.Entries) == 0 && !known {
		return page, &inspect.NotFoundError{What: "player", Name: q.PlayerID}
	}
	for i, j := 0, len(page.Entries)-1; i < j; i, j = i+1, j-1 {
		page.Entries[i], page.Entries[j] = page.Entries[j], page.Entries[i]
	}
	for kind, sum := range sums {
		page.Balances = append(page.Balances, inspect.Balance{Kind: kind, Amount: sum, Ledger: &sum})
	}
	sort.Slice(page.Balances, func(i, j int) bool {
		return page.Balances[i].Kind < page.Balances[j].Kind
	})
	return page, nil
}

func (w *World) sorted() []grant.Posting {
	out := make([]grant.Posting, 0, len(w.postings))
	for _, p := range w.postings {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// Explain implements tui.Inspector.
func (w *World) Explain(ctx context.Context, player, event string) (inspect.Explanation, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.Explanation{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e := inspect.Explanation{PlayerID: player, EventID: event, Summary: "It was not granted."}
	if p, ok := w.postings[player+"\n"+event]; ok {
		e.Granted, e.Posting = true, &p
		e.Summary = fmt.Sprintf("It was granted: ledger row %d.", p.ID)
	}
	e.Evidence = []inspect.Evidence{{Name: "ledger", Finding: "one row under this id"}}
	e.IfGranted = inspect.Prediction{Outcome: grant.Replayed, Why: "The same content is there."}
	return e, nil
}

// Release implements tui.Operator.
func (w *World) Release(ctx context.Context, q repair.ReleaseRequest) (repair.Release, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Release{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	have := w.leases[q.Resource]
	if have.Owner != q.Owner || have.Token != q.Token {
		return repair.Release{}, &repair.PreconditionError{
			Resource: q.Resource, Have: have.Value, Want: fmt.Sprintf("%d:%s", q.Token, q.Owner),
			WayOut: "look again",
		}
	}
	delete(w.leases, q.Resource)
	w.released = append(w.released, q)
	fence := &grant.Fence{Resource: q.Resource, Token: q.Token, Owner: "burned:demo"}
	return repair.Release{
		Resource: q.Resource, Freeing: repair.Released, Burning: repair.Burned, FenceAfter: fence,
		IntentID: 1, ResultID: 2, At: w.now(), Note: "the lock was deleted and its token burned",
	}, nil
}

// PreviewGrant implements tui.Operator.
func (w *World) PreviewGrant(ctx context.Context, q grant.Request) (repair.GrantPreview, error) {
	if err := w.enter(ctx); err != nil {
		return repair.GrantPreview{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := repair.GrantPreview{Request: q, Result: w.decide(q)}
	for _, have := range w.postings {
		if have.PlayerID == q.PlayerID && have.Kind == q.Kind {
			p.BalanceBefore += have.Amount
		}
	}
	p.BalanceAfter = p.BalanceBefore
	if p.Result.Outcome == grant.Applied {
		p.BalanceAfter += q.Amount
		p.Note = "it would be posted now"
	}
	return p, nil
}

func (w *World) decide(q grant.Request) grant.Result {
	r := grant.Result{
		Outcome: grant.Applied, PlayerID: q.PlayerID, EventID: q.EventID, Kind: q.Kind,
		Amount: q.Amount, Actor: q.Actor, Resource: grant.ResourceFor(q.PlayerID),
	}
	have, ok := w.postings[q.PlayerID+"\n"+q.EventID]
	if !ok {
		return r
	}
	r.LedgerID, r.At, r.Existing = have.ID, have.At, &have
	r.Outcome, r.ReplayOf = grant.Replayed, have.ID
	if have.Amount != q.Amount {
		r.Outcome = grant.Mismatch
		r.Differs = append(r.Differs, grant.Difference{
			Field: "amount", Have: fmt.Sprint(have.Amount), Want: fmt.Sprint(q.Amount),
		})
	}
	if have.Kind != q.Kind {
		r.Outcome = grant.Mismatch
		r.Differs = append(r.Differs, grant.Difference{Field: "kind", Have: have.Kind, Want: q.Kind})
	}
	return r
}

// Grant implements tui.Operator.
func (w *World) Grant(ctx context.Context, q grant.Request) (repair.GrantDeed, error) {
	if err := w.enter(ctx); err != nil {
		return repair.GrantDeed{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.granted = append(w.granted, q)
	if w.outcome != nil {
		return repair.GrantDeed{Result: *w.outcome}, nil
	}
	r := w.decide(q)
	if r.Outcome == grant.Applied {
		w.post(q)
		p := w.postings[q.PlayerID+"\n"+q.EventID]
		r.LedgerID, r.At, r.Token, r.Owner = p.ID, p.At, p.Token, p.Owner
	}
	return repair.GrantDeed{Result: r, LogID: 7}, nil
}

func (w *World) post(q grant.Request) {
	n := int64(len(w.postings) + 1)
	w.postings[q.PlayerID+"\n"+q.EventID] = grant.Posting{
		ID: n, PlayerID: q.PlayerID, EventID: q.EventID, Kind: q.Kind, Amount: q.Amount,
		Token: 100 + n, Owner: "worker-12@game-3/811#9f2c", Actor: q.Actor, Reason: q.Reason,
		At: w.now(),
	}
}

// Post adds a posting without the console.
func (w *World) Post(q grant.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.post(q)
}
