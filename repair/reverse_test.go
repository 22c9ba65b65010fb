package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

func (b *bench) grant(t *testing.T, player, event string, amount int64) grant.Result {
	t.Helper()
	res, err := b.engine.Grant(t.Context(), b.request(player, event, amount))
	if err != nil || res.Outcome != grant.Applied {
		t.Fatalf("grant %s %s: %s %v", player, event, res.Outcome, err)
	}
	return res
}

func one(posting int64) repair.ReverseRequest {
	return repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{LedgerID: posting}, Reason: "by mistake, T-1",
	}
}

func (b *bench) preview(t *testing.T, req repair.ReverseRequest) repair.ReversePreview {
	t.Helper()
	p, err := b.operator.PreviewReverse(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) reverse(t *testing.T, req repair.ReverseRequest) repair.ReversePreview {
	t.Helper()
	done, err := b.operator.Reverse(t.Context(), b.preview(t, req), repair.ReverseRun{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// One posting: the preview tells what will come, the deed and its row stand in one transaction, and
// the second time nothing moves.
func TestReverseOnePosting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posted := b.grant(t, "p1", "e1", 100)
	p := b.preview(t, one(posted.LedgerID))
	item := p.Items[0]
	if item.Outcome != grant.ReverseDone || item.Take != 100 || item.Spent != 0 ||
		item.BalanceAfter != 0 || p.Changes() != 1 || p.Players != 1 || p.Set == "" {
		t.Fatalf("preview %+v", p)
	}
	if n := b.scalar(t, "select count(*) from operator_action"); n != "0" {
		t.Fatalf("a preview wrote %s rows", n)
	}
	done := b.reverse(t, one(posted.LedgerID))
	if got := done.Items[0]; got.Outcome != grant.ReverseDone || got.Result.LedgerID == 0 ||
		!strings.Contains(got.Note, "went from 100 to 0") {
		t.Fatalf("reversed %+v", got)
	}
	again := b.reverse(t, one(posted.LedgerID)).Items[0]
	if again.Outcome != grant.AlreadyReversed || again.Take != 0 ||
		again.Result.LedgerID != done.Items[0].Result.LedgerID {
		t.Fatalf("the second time: %+v", again)
	}
	if got := b.scalar(t, `select string_agg(concat_ws(' ', phase, target, outcome,
		before ->> 'balance', after ->> 'balance', after ->> 'taken', arguments ->> 'event',
		(xmin = (select l.xmin from reward_ledger l where l.reverses is not null))::text),
		'; ' order by id) from operator_action`); got !=
		"result p1 reversed 100 0 100 e1 true; result p1 already_reversed 0 0 100 e1 false" {
		t.Fatalf("the log holds %q", got)
	}
	b.CheckInvariants(t)
}

// A part is taken once per command, and the rest later.
func TestReverseInParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posted := b.grant(t, "p1", "e1", 100)
	req := one(posted.LedgerID)
	req.Amount = 30
	if done := b.reverse(t, req).Items[0]; done.Outcome != grant.ReverseDone || done.Take != 30 ||
		done.Left != 70 {
		t.Fatalf("the first part: %+v", done)
	}
	again := b.reverse(t, req).Items[0]
	if again.Outcome != grant.AlreadyReversed || !strings.Contains(again.Note, "--part 2") {
		t.Fatalf("the same command again: %+v", again)
	}
	req.Part = 2
	if done := b.reverse(t, req).Items[0]; done.Take != 30 || done.Left != 40 {
		t.Fatalf("the second part: %+v", done)
	}
	req.Part, req.Amount = 3, 41
	if p := b.preview(t, req).Items[0]; p.Outcome != grant.ReverseChanged {
		t.Fatalf("over the rest: %+v", p)
	}
	if done := b.reverse(t, one(posted.LedgerID)).Items[0]; done.Take != 40 || done.Left != 0 {
		t.Fatalf("the rest: %+v", done)
	}
	if balance := b.scalar(t, "select amount from reward_balance"); balance != "0" {
		t.Fatalf("balance %s", balance)
	}
	b.CheckInvariants(t)
}

// The preview shows what is spent, and each policy does what it says.
func TestReverseSpent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posted := b.grant(t, "p1", "e1", 100)
	if _, err := b.Pool.Exec(t.Context(), "update reward_balance set amount = 40"); err != nil {
		t.Fatal(err)
	}
	req := one(posted.LedgerID)
	if p := b.preview(t, req).Items[0]; p.Spent != 60 || p.Outcome != grant.AlreadySpent {
		t.Fatalf("preview %+v", p)
	}
	if done := b.reverse(t, req).Items[0]; done.Outcome != grant.AlreadySpent {
		t.Fatalf("refuse: %+v", done)
	}
	req.Policy = grant.PolicySkip
	if done := b.reverse(t, req).Items[0]; done.Outcome != grant.ReverseSkipped {
		t.Fatalf("skip: %+v", done)
	}
	req.Policy = grant.PolicyToZero
	if done := b.reverse(t, req).Items[0]; done.Take != 40 || done.Left != 60 {
		t.Fatalf("to zero: %+v", done)
	}
	if got := b.scalar(t, "select string_agg(phase || ' ' || outcome, ', ' order by id) "+
		"from operator_action"); got != "denied already_spent, result skipped, result reversed" {
		t.Fatalf("the log holds %q", got)
	}
}

// A filter freezes its postings: what comes later is left, and a selection that has changed since
// it was seen is refused.
func TestReverseFilter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 20 {
		player := "p" + strconv.Itoa(i%5)
		b.grant(t, player, fmt.Sprintf("easter:%s:day-%d:gems:v1", player, i), 10)
		b.grant(t, player, fmt.Sprintf("easter-2:%s:day-%d:gems:v1", player, i), 10)
	}
	req := repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{Campaign: "easter"}, Reason: "wrong campaign",
	}
	p := b.preview(t, req)
	if len(p.Items) != 20 || p.Changes() != 20 || p.Players != 5 || len(p.Totals) != 1 ||
		p.Totals[0].Take != 200 {
		t.Fatalf("%d items, %d changes, %d players, totals %+v", len(p.Items), p.Changes(), p.Players,
			p.Totals)
	}
	b.grant(t, "p9", "easter:p9:late:gems:v1", 10)
	stale := req
	stale.Set = p.Set
	var changed *repair.PreconditionError
	if _, err := b.operator.PreviewReverse(t.Context(), stale); !errors.As(err, &changed) ||
		changed.DenialID == 0 {
		t.Fatalf("a changed selection: %v", err)
	}
	var steps []string
	done, err := b.operator.Reverse(t.Context(), p, repair.ReverseRun{
		Step: 7, OnProgress: func(done, total int) {
			steps = append(steps, fmt.Sprintf("%d/%d", done, total))
		},
	})
	if err != nil || done.Changes() != 20 || done.Totals[0].Take != 200 {
		t.Fatalf("%v: %v %+v", err, done.Counts(), done.Totals)
	}
	if fmt.Sprint(steps) != "[7/20 14/20 20/20]" {
		t.Fatalf("progress %v", steps)
	}
	if n := b.scalar(t, `select count(*) from reward_ledger where player_id = 'p9'`); n != "1" {
		t.Fatal("a posting that was not counted was taken back")
	}
	if n := b.scalar(t, `select sum((after ->> 'reversed')::int) from operator_action
		where phase = 'result' and arguments ->> 'campaign' = 'easter'`); n != "20" {
		t.Fatalf("the log accounts for %s reversals", n)
	}
	again := b.reverse(t, req)
	if again.Counts()[grant.AlreadyReversed] != 20 || again.Changes() != 1 {
		t.Fatalf("the same filter again: %v", again.Counts())
	}
	b.CheckInvariants(t)
}

// Two operators take back the same set at once: each posting moves once.
func TestReverseTwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const postings = 60
	for i := range postings {
		b.grant(t, "p"+strconv.Itoa(i%6), fmt.Sprintf("e%d", i), 10)
	}
	req := repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{Actor: "test"}, Reason: "both",
	}
	p := b.preview(t, req)
	moved := make([]int, 2)
	var wg sync.WaitGroup
	for i, name := range []string{"bob", "carol"} {
		operator := b.patient(t, name)
		wg.Go(func() {
			done, err := operator.Reverse(t.Context(), p, repair.ReverseRun{Step: 5})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for outcome := range done.Counts() {
				if outcome != grant.ReverseDone && outcome != grant.AlreadyReversed {
					t.Errorf("%s met %s", name, outcome)
				}
			}
			moved[i] = done.Changes()
		})
	}
	wg.Wait()
	if moved[0]+moved[1] != postings {
		t.Fatalf("%v reversed, want %d together", moved, postings)
	}
	if n := b.scalar(t, "select sum(amount)::bigint from reward_balance"); n != "0" {
		t.Fatalf("balances add up to %s", n)
	}
	b.CheckInvariants(t)
}

// A stopped run says what it did not come to, and the same request goes on.
func TestReverseStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 10 {
		b.grant(t, "p1", fmt.Sprintf("e%d", i), 10)
	}
	req := repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{PlayerID: "p1"}, Reason: "stop",
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, err := b.operator.Reverse(ctx, b.preview(t, req), repair.ReverseRun{
		Step: 4, OnProgress: func(int, int) { cancel() },
	})
	if !errors.Is(err, context.Canceled) || done.Changes() != 4 || done.NotRun() != 6 {
		t.Fatalf("%v: %d changed, %d not run", err, done.Changes(), done.NotRun())
	}
	if rest := b.reverse(t, req); rest.Changes() != 6 {
		t.Fatalf("the same again took back %d, want 6", rest.Changes())
	}
	b.CheckInvariants(t)
}

// What makes no request is rejected; what is not there is not found; a reversal stays.
func TestReverseRejects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posted := b.grant(t, "p1", "e1", 100)
	for name, change := range map[string]func(*repair.ReverseRequest){
		"nothing":       func(r *repair.ReverseRequest) { r.LedgerID = 0 },
		"two":           func(r *repair.ReverseRequest) { r.Plan = 1 },
		"no reason":     func(r *repair.ReverseRequest) { r.Reason = " " },
		"policy":        func(r *repair.ReverseRequest) { r.Policy = "force" },
		"too much":      func(r *repair.ReverseRequest) { r.Amount = 101 },
		"amount of all": func(r *repair.ReverseRequest) { r.LedgerID, r.Actor, r.Amount = 0, "a", 5 },
		"everybody":     func(r *repair.ReverseRequest) { r.LedgerID, r.Kind = 0, "gems" },
		"backwards": func(r *repair.ReverseRequest) {
			r.LedgerID, r.Actor, r.From, r.Until = 0, "a", time.Now(), time.Now().Add(-time.Hour)
		},
	} {
		req := one(posted.LedgerID)
		change(&req)
		var rejected *grant.Rejection
		if _, err := b.operator.PreviewReverse(t.Context(), req); !errors.As(err, &rejected) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, req := range map[string]repair.ReverseRequest{
		"posting": one(999_999),
		"plan":    {ReverseSelection: repair.ReverseSelection{Plan: 77}, Reason: "r"},
		"finding": {ReverseSelection: repair.ReverseSelection{Finding: 77}, Reason: "r"},
	} {
		var missing *repair.NotFoundError
		if _, err := b.operator.PreviewReverse(t.Context(), req); !errors.As(err, &missing) ||
			missing.What != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	back := b.reverse(t, one(posted.LedgerID)).Items[0].Result.LedgerID
	if got := b.reverse(t, one(back)).Items[0]; got.Outcome != grant.IsReversal {
		t.Fatalf("a reversal was answered %s", got.Outcome)
	}
	if n := b.scalar(t, "select count(*) from operator_action where phase = 'denied' and "+
		"outcome = 'is_reversal'"); n != "1" {
		t.Fatalf("%s denials logged, want 1", n)
	}
}

// A lease that another holds: nothing moves, and that is written down.
func TestReverseUnderAHeldLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posted := b.grant(t, "p1", "e1", 100)
	held := b.take(t, "reward:p1", "other")
	done := b.reverse(t, one(posted.LedgerID)).Items[0]
	if done.Outcome != grant.ReverseHeld || done.Result.Holder.Token != held.Token {
		t.Fatalf("%+v", done)
	}
	if got := b.scalar(t, "select phase || ' ' || outcome from operator_action"); got !=
		"failed lease_held" {
		t.Fatalf("the log holds %q", got)
	}
}

// patient is an operator whose engine waits for held leases.
func (b *bench) patient(t *testing.T, name string) *repair.Operator {
	t.Helper()
	engine, err := grant.NewEngine(b.Pool, b.store, grant.Options{
		Worker: name + "@host/1", NewID: rand.Text, HeldWait: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := repair.New(b.Pool, b.store, engine, repair.Options{Operator: name, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	return o
}
