package repair_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// queued posts one reward and puts its outbox row into a state.
func (b *bench) queued(t *testing.T, player, state string, attempts int) int64 {
	t.Helper()
	res, err := b.engine.Grant(t.Context(), b.request(player, "e-1", 5))
	if err != nil || res.Outcome != grant.Applied {
		t.Fatalf("%v, %v", res.Outcome, err)
	}
	_, err = b.Pool.Exec(t.Context(), `update reward_outbox set state = $2, attempts = $3,
		strikes = $3, last_error = 'answered 400: no such item',
		claimed_until = case when $2 = 'claimed' then now() + interval '1 hour' end
		where ledger_id = $1`, res.LedgerID, state, attempts)
	if err != nil {
		t.Fatal(err)
	}
	return res.LedgerID
}

func (b *bench) outboxState(t *testing.T, id int64) string {
	t.Helper()
	return b.scalar(t, `select state || ' ' || attempts || ' ' || strikes from reward_outbox
		where ledger_id = $1`, id)
}

func requeue(id int64) repair.OutboxRequest {
	return repair.OutboxRequest{
		Deed: repair.OutboxRequeue, LedgerID: id, Attempts: -1, Reason: "fixed, T-1",
	}
}

// A row is changed only if it is as the operator saw it, with its log row in one transaction; a
// refusal is logged, too.
func TestOutboxChangeOfOneRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n, c := range []struct {
		state, seen    string
		attempts, want int
		deed           repair.OutboxDeed
		ok             bool
	}{
		{"dead", "", 5, -1, repair.OutboxRequeue, true},
		{"dead", "dead", 5, 5, repair.OutboxRequeue, true},
		{"dead", "dead", 6, 5, repair.OutboxRequeue, false},
		{"dead", "parked", 5, -1, repair.OutboxRequeue, false},
		{"parked", "", 5, -1, repair.OutboxRequeue, true},
		{"pending", "", 5, -1, repair.OutboxRequeue, true},
		{"delivered", "", 1, -1, repair.OutboxRequeue, false},
		{"delivered", "delivered", 1, -1, repair.OutboxRequeue, true},
		{"claimed", "", 1, -1, repair.OutboxRequeue, false},
		{"claimed", "pending", 1, -1, repair.OutboxPark, false},
		{"dead", "", 5, -1, repair.OutboxPark, true},
		{"pending", "pending", 0, 0, repair.OutboxPark, true},
		{"delivered", "", 1, -1, repair.OutboxPark, false},
	} {
		name := fmt.Sprintf("%s %s as %q after %d", c.deed, c.state, c.seen, c.want)
		id := b.queued(t, fmt.Sprintf("p-%d", n), c.state, c.attempts)
		before := b.outboxState(t, id)
		r := requeue(id)
		r.Deed, r.State, r.Attempts = c.deed, c.seen, c.want
		dry := r
		dry.DryRun = true
		_, dryErr := b.operator.ChangeOutbox(t.Context(), dry)
		if (dryErr == nil) != c.ok || b.outboxState(t, id) != before {
			t.Errorf("%s: dry run: %v", name, dryErr)
		}
		done, err := b.operator.ChangeOutbox(t.Context(), r)
		var changed *repair.PreconditionError
		if !c.ok {
			if !errors.As(err, &changed) || changed.DenialID == 0 ||
				b.outboxState(t, id) != before {
				t.Errorf("%s: %v, %+v", name, err, changed)
			}
			continue
		}
		want := fmt.Sprintf("pending %d 0", c.attempts)
		if c.deed == repair.OutboxPark {
			want = fmt.Sprintf("parked %d %d", c.attempts, c.attempts)
		}
		if got := b.outboxState(t, id); err != nil || got != want || done.LogID == 0 ||
			done.Rows != 1 {
			t.Errorf("%s: %s, %+v, %v", name, got, done, err)
		}
	}
	b.CheckInvariants(t)
}

// The set that was counted is the set that is changed: another number changes nothing.
func TestOutboxChangeOfMany(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := range 6 {
		b.queued(t, fmt.Sprintf("p-%d", n), "dead", 3)
	}
	r := repair.OutboxRequest{
		Deed: repair.OutboxRequeue, Attempts: -1, Reason: "fixed, T-2", DryRun: true,
		Filter: repair.OutboxFilter{State: "dead", Error: "no such item"},
	}
	count, err := b.operator.ChangeOutbox(t.Context(), r)
	if err != nil || count.Rows != 6 || count.LogID != 0 {
		t.Fatalf("%+v, %v", count, err)
	}
	b.queued(t, "p-late", "dead", 3)
	r.DryRun, r.Expect = false, count.Rows
	var changed *repair.PreconditionError
	if _, err := b.operator.ChangeOutbox(t.Context(), r); !errors.As(err, &changed) {
		t.Fatalf("7 rows instead of 6: %v", err)
	}
	if n := b.scalar(t, "select count(*) from reward_outbox where state = 'dead'"); n != "7" {
		t.Fatalf("%s rows are dead", n)
	}
	r.Filter.Player = "p-late"
	r.Expect = 1
	if done, err := b.operator.ChangeOutbox(t.Context(), r); err != nil || done.Rows != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	r.Filter.Player, r.Expect = "", 6
	if done, err := b.operator.ChangeOutbox(t.Context(), r); err != nil || done.Rows != 6 {
		t.Errorf("%+v, %v", done, err)
	}
	if n := b.scalar(t, `select count(*) from operator_action
		where action = 'outbox requeue' and outcome = 'requeued: 6 rows'`); n != "1" {
		t.Errorf("%s log rows", n)
	}
	b.CheckInvariants(t)
}

// Two operators requeue the same set at once: one does it, the other is told that it changed.
func TestOutboxChangeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := range 20 {
		b.queued(t, fmt.Sprintf("p-%d", n), "dead", 3)
	}
	operators := []*repair.Operator{b.as(t, "alice"), b.as(t, "bob")}
	var group sync.WaitGroup
	errs := make([]error, len(operators))
	for i, o := range operators {
		group.Go(func() {
			_, errs[i] = o.ChangeOutbox(t.Context(), repair.OutboxRequest{
				Deed: repair.OutboxRequeue, Attempts: -1, Reason: "fixed", Expect: 20,
				Filter: repair.OutboxFilter{State: "dead"},
			})
		})
	}
	group.Wait()
	refused := 0
	for _, err := range errs {
		var changed *repair.PreconditionError
		if errors.As(err, &changed) || errors.As(err, new(*grant.BackendError)) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of two were refused: %v", refused, errs)
	}
	if n := b.scalar(t, "select count(*) from reward_outbox where state = 'pending'"); n != "20" {
		t.Errorf("%s rows are to be sent", n)
	}
}

func TestOutboxRequestProblems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var missing *repair.NotFoundError
	if _, err := b.operator.ChangeOutbox(t.Context(), requeue(4711)); !errors.As(err, &missing) {
		t.Errorf("no such row: %v", err)
	}
	for name, change := range map[string]func(*repair.OutboxRequest){
		"no reason":      func(r *repair.OutboxRequest) { r.Reason = "" },
		"no state":       func(r *repair.OutboxRequest) { r.LedgerID = 0 },
		"unknown state":  func(r *repair.OutboxRequest) { r.State = "lost" },
		"park delivered": func(r *repair.OutboxRequest) { r.Deed, r.State = "park", "delivered" },
		"unknown deed":   func(r *repair.OutboxRequest) { r.Deed = "delete" },
		"negative id":    func(r *repair.OutboxRequest) { r.LedgerID = -1 },
		"negative number": func(r *repair.OutboxRequest) {
			r.LedgerID, r.Filter.State, r.Expect = 0, "dead", -1
		},
		"claimed by state": func(r *repair.OutboxRequest) { r.State = "claimed" },
	} {
		r := requeue(1)
		change(&r)
		var problem *grant.Rejection
		if _, err := b.operator.ChangeOutbox(t.Context(), r); !errors.As(err, &problem) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
