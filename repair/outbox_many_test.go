package repair_test

import (
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// Of a set, the rows that changed meanwhile are left, the others are changed, and each is answered.
func TestOutboxSetAnswersRowByRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var requests []repair.OutboxRequest
	for _, player := range []string{"p1", "p2", "p3"} {
		id := b.queued(t, player, "dead", 5)
		requests = append(requests, repair.OutboxRequest{
			LedgerID: id, State: "dead", Attempts: 5, Reason: "fixed, T-1",
		})
	}
	set, err := repair.NewOutboxSet(repair.OutboxRequeue, requests)
	if err != nil || set.Target() != "3 outbox rows" {
		t.Fatalf("%+v, %v", set, err)
	}
	if _, err = b.Pool.Exec(t.Context(), "update reward_outbox set attempts = 6 where ledger_id = $1",
		requests[1].LedgerID); err != nil {
		t.Fatal(err)
	}
	told := 0
	results := b.operator.ChangeOutboxMany(t.Context(), set, func(repair.OutboxOf) { told++ })
	var changed *repair.PreconditionError
	if len(results) != 3 || told != 3 || results[0].Err != nil || results[2].Err != nil ||
		!errors.As(results[1].Err, &changed) || changed.Have != "dead after 6 attempts" {
		t.Fatalf("%+v", results)
	}
	if rows := b.scalar(t, "select string_agg(phase || ' ' || (arguments ->> 'ledger_id'), ', ' "+
		"order by id) from operator_action"); rows == "" {
		t.Error("nothing is in the log")
	}
	for i, want := range []string{"pending 5 0", "dead 6 5", "pending 5 0"} {
		if got := b.outboxState(t, requests[i].LedgerID); got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
}

func TestOutboxSetIsNamedByWhatWasSeen(t *testing.T) {
	t.Parallel()
	row := repair.OutboxRequest{LedgerID: 7, State: "dead", Attempts: 5}
	other := row
	other.LedgerID = 3
	set, err := repair.NewOutboxSet(repair.OutboxPark, []repair.OutboxRequest{row, other})
	if err != nil || set.Requests[0].LedgerID != 3 {
		t.Fatalf("%+v, %v", set, err)
	}
	again, err := repair.NewOutboxSet(repair.OutboxPark, []repair.OutboxRequest{other, row})
	if err != nil || again.Digest != set.Digest {
		t.Error("the order of the rows makes another set")
	}
	for name, change := range map[string]func(*repair.OutboxRequest){
		"attempts": func(r *repair.OutboxRequest) { r.Attempts++ },
		"state":    func(r *repair.OutboxRequest) { r.State = "pending" },
		"row":      func(r *repair.OutboxRequest) { r.LedgerID++ },
	} {
		changed := row
		change(&changed)
		got, err := repair.NewOutboxSet(repair.OutboxPark, []repair.OutboxRequest{changed, other})
		if err != nil || got.Digest == set.Digest {
			t.Errorf("another %s makes the same set: %v", name, err)
		}
	}
	var refused *grant.Rejection
	for _, bad := range [][]repair.OutboxRequest{
		{row, row},
		{{LedgerID: 7, Attempts: 5}},
		{{LedgerID: 7, State: "dead", Attempts: -1}},
		{{LedgerID: 7, State: "claimed", Attempts: 5}},
	} {
		if _, err := repair.NewOutboxSet(repair.OutboxPark, bad); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
