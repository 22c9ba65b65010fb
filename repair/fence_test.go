package repair_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// setCounter puts a text into a token counter.
func (b *bench) setCounter(t *testing.T, resource string, value any) {
	t.Helper()
	if err := b.Redis.Set(t.Context(), b.store.FenceKey(resource), value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) counter(t *testing.T, resource string) string {
	t.Helper()
	return b.Redis.Get(t.Context(), b.store.FenceKey(resource)).Val()
}

// broken makes one resource in each state and returns the state that each should be found in.
func (b *bench) broken(t *testing.T) map[string]repair.FenceState {
	t.Helper()
	players := []string{"fits", "idle", "ahead", "lost", "back", "lockback", "text", "list", "shared"}
	for _, p := range players {
		b.grant(t, p, "e1", 1)
		b.grant(t, p, "e2", 1)
	}
	b.take(t, "reward:ahead", "w")
	del := func(player string) {
		err := b.Redis.Del(t.Context(), b.store.FenceKey("reward:"+player)).Err()
		if err != nil {
			t.Fatal(err)
		}
	}
	del("idle")
	b.take(t, "reward:lost", "w")
	del("lost")
	b.setCounter(t, "reward:back", 1)
	b.take(t, "reward:lockback", "w")
	b.setCounter(t, "reward:lockback", 2)
	b.setCounter(t, "reward:text", "1e+17")
	del("list")
	err := b.Redis.LPush(t.Context(), b.store.FenceKey("reward:list"), "x").Err()
	if err != nil {
		t.Fatal(err)
	}
	err = b.Redis.Set(t.Context(), b.store.LockKey("reward:shared"), "2:other@host/1#x",
		time.Minute).Err()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]repair.FenceState{
		"reward:fits": repair.FenceFits, "reward:idle": repair.FenceIdle,
		"reward:ahead": repair.CounterAhead, "reward:lost": repair.CounterLost,
		"reward:back": repair.CounterBack, "reward:lockback": repair.CounterBack,
		"reward:text": repair.CounterBad, "reward:list": repair.CounterBad,
		"reward:shared": repair.TokenShared,
	}
}

// fence doctor knows each way in which counter, fence and lock can disagree.
func TestFenceDoctorKnowsEachState(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := b.broken(t)
	report, err := b.operator.CheckFences(t.Context(), repair.FenceQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Checked != len(want) || report.Wrong() != 6 || len(report.Findings) != 6 {
		t.Fatalf("%d checked, %d wrong: %+v", report.Checked, report.Wrong(), report.Counts)
	}
	for resource, state := range want {
		one, err := b.operator.CheckFences(t.Context(), repair.FenceQuery{Resource: resource})
		if err != nil || len(one.Findings) != 1 {
			t.Fatalf("%s: %+v, %v", resource, one, err)
		}
		if got := one.Findings[0]; got.State != state || got.Why == "" {
			t.Errorf("%s is %s (%s), want %s", resource, got.State, got.Why, state)
		}
	}
	var missing *repair.NotFoundError
	_, err = b.operator.CheckFences(t.Context(), repair.FenceQuery{Resource: "reward:nobody"})
	if !errors.As(err, &missing) {
		t.Fatalf("nobody: %v", err)
	}
}

// A reseed raises what fell behind and repairs what is damaged; it never lowers, and the second
// time there is nothing to do. Afterwards every resource can be granted to.
func TestFenceReseedRaisesCounters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	states := b.broken(t)
	req := repair.ReseedRequest{Reason: "redis went back, T-1", DryRun: true}
	dry, err := b.operator.Reseed(t.Context(), req)
	if err != nil || dry.Counts[repair.WouldReseed] != 5 || dry.IntentID != 0 {
		t.Fatalf("dry run: %+v %v", dry, err)
	}
	if got := b.counter(t, "reward:back"); got != "1" {
		t.Fatalf("a dry run left %s", got)
	}
	req.DryRun = false
	done, err := b.operator.Reseed(t.Context(), req)
	if err != nil || done.Counts[repair.Reseeded] != 5 || done.IntentID == 0 ||
		done.ResultID == 0 || done.LogProblem != "" {
		t.Fatalf("%+v %v", done, err)
	}
	for resource, want := range map[string]string{
		"reward:fits": "2", "reward:ahead": "3", "reward:lost": "3", "reward:back": "2",
		"reward:lockback": "3", "reward:text": "2", "reward:list": "2",
	} {
		if got := b.counter(t, resource); got != want {
			t.Errorf("the counter of %s is at %q, want %s", resource, got, want)
		}
	}
	again, err := b.operator.Reseed(t.Context(), req)
	if err != nil || len(again.Counts) != 0 || again.IntentID != 0 {
		t.Fatalf("again: %+v %v", again, err)
	}
	for resource, state := range states {
		if state == repair.CounterBad || state == repair.FenceIdle {
			b.grant(t, strings.TrimPrefix(resource, "reward:"), "after", 1)
		}
	}
	if got := b.scalar(t, `select string_agg(phase, ' ' order by id) from operator_action
		where action = 'fence reseed'`); got != "intent result" {
		t.Fatalf("the log holds %q", got)
	}
	b.CheckInvariants(t)
}

// After a failover of PostgreSQL that lost rows: fences are raised to the counters under a
// tombstone, so that no lease of before can write, and the next holder can.
func TestFenceReseedAfterFailover(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "p1", "e1", 10)
	b.grant(t, "p2", "e1", 10)
	old := b.take(t, "reward:p1", "old")
	// The rows that the failover lost: the fence of p1 went back, that of p2 is gone.
	for _, sql := range []string{
		"update reward_fence set last_token = 0 where resource = 'reward:p1'",
		"delete from reward_fence where resource = 'reward:p2'",
	} {
		if _, err := b.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	done, err := b.operator.Reseed(t.Context(), repair.ReseedRequest{
		Fences: true, Reason: "failover, T-2",
	})
	if err != nil || done.Counts[repair.Reseeded] != 2 || done.ResultID == 0 {
		t.Fatalf("%+v %v", done, err)
	}
	for resource, want := range map[string]int64{"reward:p1": old.Token, "reward:p2": 1} {
		if token, owner := b.fence(t, resource); token != want || !grant.Burned(owner) {
			t.Errorf("%s: fence %d of %s, want %d under a tombstone", resource, token, owner, want)
		}
	}
	if late := b.under(t, old, b.request("p1", "late", 1)); late.Outcome != grant.TokenCollision {
		t.Fatalf("the lease of before wrote: %s", late.Outcome)
	}
	expire(t, b, "reward:p1")
	b.grant(t, "p1", "e2", 1)
	b.grant(t, "p2", "e2", 1)
	if n := b.scalar(t, `select count(*) from operator_action where action = 'fence reseed'
		and phase = 'result' and (after ->> 'raised')::int > 0`); n == "0" {
		t.Fatal("nothing was logged")
	}
}

// A burn by itself: only the fence moves, and only to a token that was issued.
func TestBurnOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	req := repair.BurnRequest{Resource: "reward:p1", Token: l.Token, Reason: "hangs, T-3"}
	for name, wrong := range map[string]repair.BurnRequest{
		"never issued": {Resource: "reward:p1", Token: l.Token + 9, Reason: "r"},
		"another's":    {Resource: "reward:p1", Token: l.Token, Owner: "somebody", Reason: "r"},
		"nobody":       {Resource: "reward:nobody", Token: 1, Reason: "r"},
	} {
		var changed *repair.PreconditionError
		if _, err := b.operator.Burn(t.Context(), wrong); !errors.As(err, &changed) ||
			changed.DenialID == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	dry := req
	dry.DryRun = true
	if got, err := b.operator.Burn(t.Context(), dry); err != nil ||
		got.Burning != repair.WouldBurn || got.Note == "" {
		t.Fatalf("dry run: %+v %v", got, err)
	}
	done, err := b.operator.Burn(t.Context(), req)
	if err != nil || done.Burning != repair.Burned || done.ActionID == 0 ||
		done.FenceAfter.Token != l.Token {
		t.Fatalf("%+v %v", done, err)
	}
	if b.Redis.Exists(t.Context(), b.store.LockKey("reward:p1")).Val() != 1 {
		t.Fatal("the lock is gone")
	}
	if late := b.under(t, l, b.request("p1", "e1", 1)); late.Outcome != grant.TokenCollision {
		t.Fatalf("the burned holder got %s", late.Outcome)
	}
	if again, err := b.operator.Burn(t.Context(), req); err != nil ||
		again.Burning != repair.AlreadyBurned {
		t.Fatalf("again: %+v %v", again, err)
	}
	if got := b.scalar(t, `select string_agg(phase || ' ' || outcome, ', ' order by id)
		from operator_action where phase = 'result'`); got != "result burned, result already_burned" {
		t.Fatalf("the log holds %q", got)
	}
}

// A set of leases: each released if it is as it was seen, one answer each, the changed one left.
func TestReleaseMany(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var requests []repair.ReleaseRequest
	for i := range 5 {
		requests = append(requests, releaseOf(b.take(t, fmt.Sprintf("reward:p%d", i), "dead")))
	}
	set, err := repair.NewReleaseSet(requests)
	if err != nil || set.Digest == "" {
		t.Fatal(err)
	}
	expire(t, b, "reward:p2")
	now := b.take(t, "reward:p2", "alive")
	told := 0
	results := b.operator.ReleaseMany(t.Context(), set, func(repair.ReleaseOf) { told++ })
	for _, r := range results {
		var changed *repair.PreconditionError
		if r.Request.Resource == "reward:p2" {
			if !errors.As(r.Err, &changed) || changed.Now.Owner != now.Owner {
				t.Errorf("the one that changed hands: %+v", r)
			}
			continue
		}
		if r.Err != nil || r.Release.Freeing != repair.Released ||
			r.Release.Burning != repair.Burned || r.Release.ResultID == 0 {
			t.Errorf("%+v", r)
		}
	}
	if told != 5 || b.Redis.Exists(t.Context(), b.store.LockKey("reward:p2")).Val() != 1 {
		t.Fatalf("told %d; or the new holder lost its lock", told)
	}
	other, _ := repair.NewReleaseSet(requests[:4])
	if other.Digest == set.Digest {
		t.Fatal("two sets have one digest")
	}
	var rejected *grant.Rejection
	_, err = repair.NewReleaseSet([]repair.ReleaseRequest{{
		Resource: "r", Value: "redisson", Reason: "r",
	}})
	if !errors.As(err, &rejected) {
		t.Fatalf("a foreign lock in a set: %v", err)
	}
}

// When a server is gone the rest is left after a few, and when the caller leaves, at once.
func TestReleaseManyStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var requests []repair.ReleaseRequest
	for i := range 6 {
		requests = append(requests, releaseOf(b.take(t, fmt.Sprintf("reward:p%d", i), "dead")))
	}
	set, err := repair.NewReleaseSet(requests)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	results := b.operator.ReleaseMany(ctx, set, func(r repair.ReleaseOf) {
		if r.Request.Resource == "reward:p1" {
			cancel()
		}
	})
	if results[1].Err != nil || !results[2].NotRun || !errors.Is(results[5].Err, context.Canceled) {
		t.Fatalf("%+v", results)
	}
	b.Pool.Close()
	results = b.operator.ReleaseMany(t.Context(), set, nil)
	if !grant.Unavailable(results[2].Err) || results[2].NotRun || !results[3].NotRun {
		t.Fatalf("%+v", results)
	}
}
