package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// After a release the paused worker can never write again, and the next holder can.
func TestReleaseStopsThePausedWorker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paused := b.take(t, "reward:p1", "paused")
	rel, err := b.operator.Release(t.Context(), releaseOf(paused))
	if err != nil {
		t.Fatal(err)
	}
	if rel.Freeing != repair.Released || rel.Burning != repair.Burned || rel.Note == "" ||
		rel.IntentID == 0 || rel.ResultID == 0 || rel.Seen.Value == "" {
		t.Fatalf("release: %+v", rel)
	}
	token, owner := b.fence(t, "reward:p1")
	if token != paused.Token || !grant.Burned(owner) {
		t.Fatalf("fence is %d of %s, want exactly %d under a tombstone", token, owner, paused.Token)
	}
	late := b.under(t, paused, b.request("p1", "e1", 10))
	if late.Outcome != grant.TokenCollision && late.Outcome != grant.StaleToken {
		t.Fatalf("the paused worker got %s", late.Outcome)
	}
	next := b.take(t, "reward:p1", "next")
	if next.Token != paused.Token+1 {
		t.Fatalf("next token %d, want %d", next.Token, paused.Token+1)
	}
	if res := b.under(t, next, b.request("p1", "e1", 10)); res.Outcome != grant.Applied {
		t.Fatalf("the next holder got %s", res.Outcome)
	}
	again := b.under(t, paused, b.request("p1", "e2", 10))
	if again.Outcome != grant.StaleToken {
		t.Fatalf("the paused worker got %s after the next holder wrote", again.Outcome)
	}
	if n := b.scalar(t, "select count(*) from reward_ledger"); n != "1" {
		t.Fatalf("%s postings, want 1", n)
	}
	b.CheckInvariants(t)
}

// A release of a lease that changed hands touches nothing and shows the new owner (B01).
func TestB01ReleaseRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.take(t, "reward:p1", "old")
	expire(t, b, "reward:p1")
	now := b.take(t, "reward:p1", "now")
	left := b.Redis.PTTL(t.Context(), b.store.LockKey("reward:p1")).Val()
	for _, req := range []repair.ReleaseRequest{
		releaseOf(old),
		{Resource: "reward:p1", Owner: now.Owner, Token: old.Token, Reason: "wrong token"},
		{Resource: "reward:p1", Owner: old.Owner, Token: now.Token, Reason: "wrong owner"},
		{Resource: "reward:p1", Value: "1:somebody", Reason: "wrong value"},
	} {
		rel, err := b.operator.Release(t.Context(), req)
		var changed *repair.PreconditionError
		if !errors.As(err, &changed) {
			t.Fatalf("%+v: error %v, want a precondition", req, err)
		}
		if changed.Now.Owner != now.Owner || changed.Now.Token != now.Token ||
			!strings.Contains(changed.Error(), now.Owner) || changed.DenialID == 0 {
			t.Fatalf("the refusal does not show the new owner or its row: %+v", changed)
		}
		if rel.Freeing != repair.NotReleased || rel.Burning != repair.NotBurned {
			t.Fatalf("refused, yet %+v", rel)
		}
	}
	value := b.Redis.Get(t.Context(), b.store.LockKey("reward:p1")).Val()
	if !strings.HasSuffix(value, now.Owner) {
		t.Fatalf("the lock holds %q", value)
	}
	if after := b.Redis.PTTL(t.Context(), b.store.LockKey("reward:p1")).Val(); after > left {
		t.Fatalf("the time left grew from %s to %s", left, after)
	}
	if n := b.scalar(t, "select count(*) from reward_fence"); n != "0" {
		t.Fatalf("%s fences were written", n)
	}
	if n := b.scalar(t, "select count(*) from operator_action where phase = "+
		"'denied' and operator = 'alice'"); n != "4" {
		t.Fatalf("%s denials logged, want 4", n)
	}
}

// A process that died between burn and delete is finished by the same command.
func TestReleaseIsFinishedByRunningItAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	cut := &cutStore{Store: b.store, releaseErr: &grant.BackendError{
		Backend: grant.Redis, Op: "release", Doubt: true, Err: errors.New("cut off"),
	}}
	o, err := repair.New(b.Pool, cut, nil, repair.Options{Operator: "alice", NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	rel, err := o.Release(t.Context(), releaseOf(l))
	if !grant.Unavailable(err) || rel.Burning != repair.Burned ||
		rel.Freeing != repair.NotReleased {
		t.Fatalf("cut release: %+v, %v", rel, err)
	}
	if res := b.under(t, l, b.request("p1", "e1", 10)); res.Outcome != grant.TokenCollision {
		t.Fatalf("after the burn the holder got %s", res.Outcome)
	}
	_, burned := b.fence(t, "reward:p1")
	rel, err = b.operator.Release(t.Context(), releaseOf(l))
	if err != nil || rel.Burning != repair.AlreadyBurned || rel.Freeing != repair.Released {
		t.Fatalf("second release: %+v, %v", rel, err)
	}
	if _, owner := b.fence(t, "reward:p1"); owner != burned {
		t.Fatalf("the tombstone changed from %s to %s", burned, owner)
	}
	rel, err = b.operator.Release(t.Context(), releaseOf(l))
	if err != nil || rel.Burning != repair.AlreadyBurned || rel.Freeing != repair.AlreadyGone {
		t.Fatalf("third release: %+v, %v", rel, err)
	}
}

// A lease that expired meanwhile is burned all the same: its worker may only be paused.
func TestReleaseOfAnExpiredLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	expire(t, b, "reward:p1")
	rel, err := b.operator.Release(t.Context(), releaseOf(l))
	if err != nil || rel.Freeing != repair.AlreadyGone || rel.Burning != repair.Burned {
		t.Fatalf("release: %+v, %v", rel, err)
	}
	if res := b.under(t, l, b.request("p1", "e1", 10)); res.Outcome != grant.TokenCollision {
		t.Fatalf("the expired worker got %s", res.Outcome)
	}
	for _, req := range []repair.ReleaseRequest{
		{Resource: "reward:p1", Owner: l.Owner, Token: l.Token + 1000, Reason: "mistyped"},
		{Resource: "reward:p1", Owner: "someone else", Token: l.Token, Reason: "mistyped"},
		{Resource: "reward:nobody", Owner: "w", Token: 1, Reason: "mistyped"},
	} {
		var changed *repair.PreconditionError
		if _, err := b.operator.Release(t.Context(), req); !errors.As(err, &changed) {
			t.Fatalf("%+v: error %v, want a precondition", req, err)
		}
	}
	if token, _ := b.fence(t, "reward:p1"); token != l.Token {
		t.Fatalf("the fence is at %d, want %d", token, l.Token)
	}
}

// A fence that is above the token already is left alone.
func TestReleaseNeverLowersTheFence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	high := grant.Lease{Resource: "reward:p1", Owner: "high", Token: l.Token + 5}
	if res := b.under(t, high, b.request("p1", "e1", 10)); res.Outcome != grant.Applied {
		t.Fatal(res.Outcome)
	}
	rel, err := b.operator.Release(t.Context(), releaseOf(l))
	if err != nil || rel.Burning != repair.FenceAbove || rel.Freeing != repair.Released {
		t.Fatalf("release: %+v, %v", rel, err)
	}
	if token, owner := b.fence(t, "reward:p1"); token != high.Token || owner != "high" {
		t.Fatalf("the fence moved to %d of %s", token, owner)
	}
}

// An orphan without expiry is released with the right token and refused with a wrong one (B06); a
// foreign lock is named by its exact value.
func TestReleaseOfOddLocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	orphan, foreign := b.store.LockKey("reward:p1"), b.store.LockKey("reward:p2")
	for key, value := range map[string]string{orphan: "7:dead@host/1#x", foreign: "redisson-uuid"} {
		if err := b.Redis.Set(t.Context(), key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var changed *repair.PreconditionError
	_, err := b.operator.Release(t.Context(), repair.ReleaseRequest{
		Resource: "reward:p1", Owner: "dead@host/1#x", Token: 8, Reason: "r",
	})
	if !errors.As(err, &changed) || !changed.Now.NoExpiry {
		t.Fatalf("wrong token: %v", err)
	}
	rel, err := b.operator.Release(t.Context(), repair.ReleaseRequest{
		Resource: "reward:p1", Owner: "dead@host/1#x", Token: 7, Reason: "r",
	})
	if err != nil || rel.Freeing != repair.Released || rel.Burning != repair.Burned {
		t.Fatalf("right token: %+v %v", rel, err)
	}
	_, err = b.operator.Release(t.Context(), repair.ReleaseRequest{
		Resource: "reward:p2", Owner: "x", Token: 1, Reason: "r",
	})
	if !errors.As(err, &changed) || changed.Now.Foreign == "" {
		t.Fatalf("a foreign lock was not shown as such: %v", err)
	}
	rel, err = b.operator.Release(t.Context(), repair.ReleaseRequest{
		Resource: "reward:p2", Value: "redisson-uuid", Reason: "r",
	})
	if err != nil || rel.Freeing != repair.Released || rel.Burning != repair.NotBurned {
		t.Fatalf("foreign: %+v %v", rel, err)
	}
	if n := b.Redis.Exists(t.Context(), orphan, foreign).Val(); n != 0 {
		t.Fatalf("%d locks are left", n)
	}
}

// A burn waits for a grant in flight, no longer than it may, and names who blocks (OP3).
func TestReleaseWaitsForAGrantInFlight(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	b.under(t, l, b.request("p1", "e1", 10))
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), "update reward_fence set updated_at = updated_at")
	if err != nil {
		t.Fatal(err)
	}
	rel, err := b.operator.Release(t.Context(), releaseOf(l))
	var busy *repair.BusyError
	if !errors.As(err, &busy) || busy.PID != int(tx.Conn().PgConn().PID()) {
		t.Fatalf("error %v (%+v), want the session %d named", err, busy,
			tx.Conn().PgConn().PID())
	}
	if rel.Burning != repair.NotBurned || rel.Freeing != repair.NotReleased {
		t.Fatalf("half done: %+v", rel)
	}
	if n := b.scalar(t, "select count(*) from operator_action"); n != "0" {
		t.Fatalf("%s rows were logged for nothing", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rel, err = b.operator.Release(t.Context(), releaseOf(l)); err != nil ||
		rel.Burning != repair.Burned {
		t.Fatalf("after the wait: %+v %v", rel, err)
	}
}

// A holder that comes between burn and delete keeps its lock.
func TestReleaseLeavesAHolderThatCameBetween(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	var next grant.Lease
	cut := &cutStore{Store: b.store, before: func() {
		expire(t, b, "reward:p1")
		next = b.take(t, "reward:p1", "next")
	}}
	o, err := repair.New(b.Pool, cut, nil, repair.Options{Operator: "alice", NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	rel, err := o.Release(t.Context(), releaseOf(l))
	var changed *repair.PreconditionError
	if !errors.As(err, &changed) || changed.Now.Owner != next.Owner ||
		rel.Burning != repair.Burned {
		t.Fatalf("%+v, %v", rel, err)
	}
	if res := b.under(t, next, b.request("p1", "e1", 10)); res.Outcome != grant.Applied {
		t.Fatalf("the next holder got %s", res.Outcome)
	}
}

func TestReleaseDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	req := releaseOf(l)
	req.DryRun = true
	rel, err := b.operator.Release(t.Context(), req)
	if err != nil || rel.Freeing != repair.WouldRelease || rel.Burning != repair.WouldBurn {
		t.Fatalf("%+v, %v", rel, err)
	}
	req.Token++
	var changed *repair.PreconditionError
	if _, err := b.operator.Release(t.Context(), req); !errors.As(err, &changed) {
		t.Fatalf("a wrong token passed the dry run: %v", err)
	}
	if n := b.scalar(t, "select (select count(*) from operator_action) + "+
		"(select count(*) from reward_fence)"); n != "0" {
		t.Fatalf("a dry run wrote %s rows", n)
	}
	if b.Redis.Exists(t.Context(), b.store.LockKey("reward:p1")).Val() != 1 {
		t.Fatal("a dry run released the lock")
	}
}

func TestReleaseRejectsUnfitRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fit := repair.ReleaseRequest{Resource: "reward:p1", Owner: "w", Token: 1, Reason: "r"}
	for field, spoil := range map[string]func(*repair.ReleaseRequest){
		"resource": func(r *repair.ReleaseRequest) { r.Resource = "" },
		"owner":    func(r *repair.ReleaseRequest) { r.Owner = "" },
		"token":    func(r *repair.ReleaseRequest) { r.Token = 0 },
		"reason":   func(r *repair.ReleaseRequest) { r.Reason = " \t" },
		"value":    func(r *repair.ReleaseRequest) { r.Value = "1:w" },
	} {
		req := fit
		spoil(&req)
		_, err := b.operator.Release(t.Context(), req)
		var rejection *grant.Rejection
		if !errors.As(err, &rejection) || rejection.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
	nameless := repair.Options{Operator: " ", NewID: rand.Text}
	if _, err := repair.New(b.Pool, b.store, nil, nameless); err == nil {
		t.Error("an operator without a name was accepted")
	}
}

// Without PostgreSQL the lock stays: it must not go while its holder can still write.
func TestReleaseWithoutPostgres(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	b.Pool.Close()
	started := time.Now()
	rel, err := b.operator.Release(t.Context(), releaseOf(l))
	if !grant.Unavailable(err) || rel.Freeing != repair.NotReleased {
		t.Fatalf("%+v, %v", rel, err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Fatalf("took %s", took)
	}
	if b.Redis.Exists(t.Context(), b.store.LockKey("reward:p1")).Val() != 1 {
		t.Fatal("the lock is gone")
	}
}
