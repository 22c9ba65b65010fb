package inspect_test

import (
	"testing"

	"rewardctl/grant/granttest"
	"rewardctl/inspect"
)

func TestDoctorNamesAnotherTimeline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const name = "timeline"
	wants(t, diagnose(t, b.reader), name, inspect.Gate, inspect.Pass, "00000001, accepted at")
	b.exec(t, "update reward_timeline set timeline = '000000FF'")
	wants(t, diagnose(t, b.reader), name, inspect.Gate, inspect.Fail, "00000001, but 000000FF",
		"rewardctl fence reseed")
	b.exec(t, "update reward_timeline set system_identifier = 7")
	wants(t, diagnose(t, b.reader), name, inspect.Gate, inspect.Fail, "but system 7 was accepted")
	b.exec(t, "delete from reward_timeline")
	wants(t, diagnose(t, b.reader), name, inspect.Gate, inspect.Fail, "none was ever accepted")
}

// A replica may lag: the fence that decides who can write is always the primary's.
func TestTokensAskThePrimaryForTheFence(t *testing.T) {
	t.Parallel()
	b, replica := setup(t), granttest.New(t)
	const fence = "insert into reward_fence (resource, last_token, last_owner) " +
		"values ('reward:p1', $1, 'w@h/1#1')"
	b.exec(t, fence, 5)
	if _, err := replica.Pool.Exec(t.Context(), fence, 3); err != nil {
		t.Fatal(err)
	}
	reader := b.with(t, inspect.Options{Replica: replica.Pool})
	h, err := reader.Tokens(t.Context(), "reward:p1")
	if err != nil || h.Fence == nil || h.Fence.Token != 5 || len(h.Missing) != 0 {
		t.Fatalf("%+v %v %v", h.Fence, h.Missing, err)
	}

	replica.Pool.Close()
	h, err = reader.Tokens(t.Context(), "reward:p1")
	if err != nil || h.Fence == nil || h.Fence.Token != 5 || len(h.Missing) != 1 ||
		h.Missing[0].Lacks != "postings, refusals and deeds" {
		t.Fatalf("without the replica: %+v %v %v", h.Fence, h.Missing, err)
	}
	b.Pool.Close()
	if h, err = reader.Tokens(t.Context(), "reward:p1"); err == nil && h.Fence != nil {
		t.Fatalf("a fence from nowhere: %+v", h.Fence)
	}
}
