package repair_test

import (
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// After a promotion granting is locked. Reseeding the fences voids the leases of before, accepts
// the timeline, is written down, and lets grants go on. Reseeding the counters does not, nor does
// reseeding one resource.
func TestReseedAcceptsTheTimeline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "player-1", "e1", 1)
	held := b.take(t, "reward:player-1", "w")
	exec := func(sql string) {
		if _, err := b.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("update reward_timeline set timeline = '0000000F'")
	locked := func() {
		t.Helper()
		_, err := b.engine.Grant(t.Context(), b.request("player-2", "e1", 1))
		var gate *grant.GateError
		if !errors.As(err, &gate) {
			t.Fatalf("granted on a timeline that nobody accepted: %v", err)
		}
	}
	locked()
	operator := b.as(t, "kim")
	for _, req := range []repair.ReseedRequest{
		{Reason: "counters only"},
		{Reason: "one resource", Resource: "reward:player-1", Fences: true},
		{Reason: "rehearsal", Fences: true, DryRun: true},
	} {
		done, err := operator.Reseed(t.Context(), req)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		if req.DryRun != (done.Timeline != repair.Timeline{}) {
			t.Errorf("%s: timeline %+v", req.Reason, done.Timeline)
		}
		locked()
	}
	done, err := operator.Reseed(t.Context(), repair.ReseedRequest{Reason: "failover", Fences: true})
	if err != nil || done.Timeline.From == done.Timeline.To {
		t.Fatalf("reseed: %+v, %v", done, err)
	}
	req := b.request("player-1", "e2", 1)
	req.Held = &held
	if res := b.under(t, held, req); res.Outcome != grant.TokenCollision &&
		res.Outcome != grant.StaleToken {
		t.Errorf("a lease from before was answered %s, want it void", res.Outcome)
	}
	logged := b.scalar(t, `select count(*) from operator_action
		where action = 'fence reseed' and outcome = 'timeline accepted'`)
	if logged != "1" {
		t.Errorf("%s rows in the log say that the timeline was accepted, want 1", logged)
	}
	again, err := operator.Reseed(t.Context(), repair.ReseedRequest{Reason: "again", Fences: true})
	if err != nil || again.Timeline != (repair.Timeline{}) {
		t.Errorf("again: %+v, %v; want nothing to accept", again.Timeline, err)
	}
	exec("delete from reward_timeline")
	var gate *grant.GateError
	_, err = operator.Reseed(t.Context(), repair.ReseedRequest{Reason: "gone", Fences: true})
	if !errors.As(err, &gate) || gate.WayOut == "" {
		t.Errorf("without a row: %v, want a GateError", err)
	}
}
