package inspect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

func lanes(page inspect.OutboxPage) string {
	var out []string
	for _, r := range page.Rows {
		out = append(out, fmt.Sprintf("%s/%s:%s", r.PlayerID, r.EventID, r.Lane))
	}
	return strings.Join(out, " ")
}

// outboxScene posts rewards and puts their deliveries into each lane.
func outboxScene(t *testing.T, b *bench) {
	t.Helper()
	for _, player := range []string{"dead", "retry", "flight", "parked", "sent", "fresh"} {
		b.grant(t, player, "e-1", 5, nil)
		b.grant(t, player, "e-2", 7, nil)
	}
	for player, set := range map[string]string{
		"dead":   "state = 'dead', attempts = 4, last_error = 'answered 422: no'",
		"retry":  "attempts = 1, next_attempt_at = now() + interval '1 hour'",
		"flight": "state = 'claimed', claimed_by = 'r@h/1', claimed_until = now() + interval '1 h'",
		"parked": "state = 'parked'",
		"sent":   "state = 'delivered', delivered_at = now(), attempts = 1",
	} {
		b.exec(t, "update reward_outbox o set "+set+" from reward_ledger l where l.id = o.ledger_id "+
			"and l.player_id = $1 and l.reward_event_id = 'e-1'", player)
	}
}

func TestOutboxLanes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outboxScene(t, b)
	const waiting = "dead/e-2:waiting retry/e-2:waiting flight/e-2:waiting parked/e-2:waiting " +
		"fresh/e-2:waiting"
	for _, one := range []struct {
		query inspect.OutboxQuery
		want  string
	}{
		{inspect.OutboxQuery{Lane: inspect.OutboxFresh}, "sent/e-2:fresh fresh/e-1:fresh"},
		{inspect.OutboxQuery{Lane: inspect.OutboxRetrying}, "retry/e-1:retrying"},
		{inspect.OutboxQuery{Lane: inspect.OutboxClaimed}, "flight/e-1:in_flight"},
		{inspect.OutboxQuery{Lane: inspect.OutboxWaiting}, waiting},
		{inspect.OutboxQuery{Lane: inspect.OutboxDelivered}, "sent/e-1:delivered"},
		{inspect.OutboxQuery{Lane: inspect.OutboxDead}, "dead/e-1:dead"},
		{inspect.OutboxQuery{Lane: inspect.OutboxParked}, "parked/e-1:parked"},
		{inspect.OutboxQuery{Player: "sent", All: true}, "sent/e-1:delivered sent/e-2:fresh"},
		{inspect.OutboxQuery{Player: "sent"}, "sent/e-2:fresh"},
		{inspect.OutboxQuery{Error: "422"}, "dead/e-1:dead"},
		{inspect.OutboxQuery{Kind: "gold"}, ""},
		{inspect.OutboxQuery{Newest: true, Limit: 1}, "fresh/e-2:waiting"},
		{inspect.OutboxQuery{Player: "dead", Until: time.Unix(1, 0)}, ""},
		{inspect.OutboxQuery{Player: "dead", Since: time.Unix(1, 0), Limit: 1}, "dead/e-1:dead"},
	} {
		page, err := b.reader.Outbox(t.Context(), one.query)
		if got := lanes(page); err != nil || got != one.want {
			t.Errorf("%+v: %s, %v; want %s", one.query, got, err, one.want)
		}
	}
	all, err := b.reader.Outbox(t.Context(), inspect.OutboxQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{all.Rows[2].LedgerID, all.Rows[0].LedgerID, 1 << 60}
	named, err := b.reader.Outbox(t.Context(), inspect.OutboxQuery{IDs: ids})
	if err != nil || len(named.Rows) != 2 || named.Rows[0].LedgerID != ids[1] ||
		named.Rows[1].LedgerID != ids[0] {
		t.Errorf("by their ids: %s, %v", lanes(named), err)
	}
	passing := b.with(t, inspect.Options{OutboxPass: true})
	page, err := passing.Outbox(t.Context(), inspect.OutboxQuery{Player: "dead"})
	if got := lanes(page); err != nil || got != "dead/e-1:dead dead/e-2:fresh" {
		t.Errorf("with the policy pass: %s, %v", got, err)
	}
}

// Pages hold every row once, in both directions.
func TestOutboxPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outboxScene(t, b)
	for _, newest := range []bool{false, true} {
		seen := map[int64]bool{}
		q := inspect.OutboxQuery{All: true, Newest: newest, Limit: 5}
		for pages := 0; pages < 4; pages++ {
			page, err := b.reader.Outbox(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Rows {
				if seen[r.LedgerID] {
					t.Errorf("%d came twice", r.LedgerID)
				}
				seen[r.LedgerID] = true
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if len(seen) != 12 {
			t.Errorf("newest %t: %d rows of 12", newest, len(seen))
		}
	}
	for _, q := range []inspect.OutboxQuery{
		{Lane: "lost"}, {Limit: 1001}, {Limit: -1}, {Cursor: "x"}, {Cursor: "-4"},
	} {
		var problem *grant.Rejection
		if _, err := b.reader.Outbox(t.Context(), q); !errors.As(err, &problem) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestOutboxShowAndBacklog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outboxScene(t, b)
	page, err := b.reader.Outbox(t.Context(), inspect.OutboxQuery{Lane: inspect.OutboxDead})
	if err != nil {
		t.Fatal(err)
	}
	id := page.Rows[0].LedgerID
	b.exec(t, `insert into reward_outbox_attempt (ledger_id, claim_id, attempt, relay, sink, verdict,
		detail, kept, started_at, ended_at) values ($1, gen_random_uuid(), 1, 'r@h/1', 'http',
		'refused', 'answered 422: no', true, now(), now())`, id)
	d, err := b.reader.OutboxShow(t.Context(), id)
	if err != nil || len(d.Attempts) != 1 || d.Attempts[0].Verdict != "refused" ||
		d.Key != "dead/e-1" {
		t.Fatalf("%+v, %v", d, err)
	}
	mustContain(t, "the message", string(d.Message), `"specversion":"1.0"`, `"amount":"5"`,
		`"source":"/rewardctl"`)
	page, err = b.reader.Outbox(t.Context(), inspect.OutboxQuery{Player: "dead"})
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, "why", page.Rows[1].Why(), fmt.Sprintf("deals with %d", id), "is dead")
	var missing *inspect.NotFoundError
	if _, err := b.reader.OutboxShow(t.Context(), 4711); !errors.As(err, &missing) {
		t.Errorf("no such row: %v", err)
	}
	got, err := b.reader.OutboxBacklog(t.Context())
	if err != nil || got.Fresh != 7 || got.Retrying != 1 || got.InFlight != 1 || got.Dead != 1 ||
		got.Parked != 1 || got.OldestID == nil || got.NextDue == nil || got.Oldest() <= 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.deaf(t).OutboxBacklog(t.Context()); !grant.Unavailable(err) {
		t.Errorf("without PostgreSQL: %v", err)
	}
}
