package inspect_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// plantRefusals writes refusals: of each outcome, n of them, as old as said.
func plantRefusals(t *testing.T, b *bench, outcome string, n int, age time.Duration) {
	t.Helper()
	b.exec(t, `insert into grant_refusal (outcome, resource, player_id, reward_event_id, kind, amount,
		token, owner, actor, reason, fence_token, fence_owner, created_at)
		select $1, 'reward:p-' || n, 'p-' || n, 'e', 'gems', 1, n, 'late', 'a', 'r', n + 1, 'next',
			now() - $3::interval from generate_series(1, $2) n`, outcome, n, age.String())
}

func TestRefusedListsWhatTheFenceStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantRefusals(t, b, "stale_token", 3, time.Minute)
	plantRefusals(t, b, "stale_token", 2, 2*time.Hour)
	plantRefusals(t, b, "token_collision", 1, 5*time.Minute)
	plantRefusals(t, b, "mismatch", 4, time.Minute) // refused, but not by the fence
	page, err := b.reader.Refused(t.Context(), inspect.RefusedQuery{})
	if err != nil || len(page.Rows) != 6 || page.More {
		t.Fatalf("%+v, %v", page, err)
	}
	first, twin := page.Rows[0], page.Rows[3]
	if first.Outcome != grant.StaleToken || first.Resource != "reward:p-3" || first.Token != 3 ||
		first.Owner != "late" || first.FenceToken != 4 || first.FenceOwner != "next" ||
		twin.Outcome != grant.TokenCollision {
		t.Errorf("%+v, %+v", first, twin)
	}
	hour := inspect.RefusedQuery{Since: page.Rows[0].At.Add(-time.Hour), Limit: 2}
	page, err = b.reader.Refused(t.Context(), hour)
	if err != nil || len(page.Rows) != 2 || !page.More {
		t.Fatalf("of an hour: %+v, %v", page, err)
	}
	var refused *grant.Rejection
	if _, err = b.reader.Refused(t.Context(), inspect.RefusedQuery{Limit: -1}); !errors.As(err,
		&refused) {
		t.Fatalf("a page below zero: %v", err)
	}
}

func TestPulseCountsWhatTheFenceStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantRefusals(t, b, "stale_token", 3, time.Second)
	plantRefusals(t, b, "stale_token", 2, 90*time.Second)
	plantRefusals(t, b, "token_collision", 1, 50*time.Minute)
	plantRefusals(t, b, "stale_token", 7, 70*time.Minute)
	plantRefusals(t, b, "token_collision", 2, 80*time.Minute)
	b.exec(t, "update grant_refusal set fence_owner = $1, created_at = now() - interval '3 minutes' "+
		"where created_at < now() - interval '75 minutes'", grant.BurnOwner("x"))
	plantRefusals(t, b, "mismatch", 4, time.Second)
	p, err := b.reader.Pulse(t.Context())
	if err != nil || len(p.Missing) > 0 {
		t.Fatalf("%v, missing %v", err, p.Missing)
	}
	last := inspect.PulseFenced - 1
	if p.LateWrites != 7 || p.Fenced[last-3] != 2 || p.Collisions != 1 ||
		p.Fenced[last] != 3 || p.Fenced[last-1] != 2 ||
		p.Fenced[last-50] != 1 || p.FencedBounded {
		t.Errorf("late %d, collisions %d, %v", p.LateWrites, p.Collisions, p.Fenced)
	}
	plantRefusals(t, b, "stale_token", 10_000, 30*time.Second)
	if p, err = b.reader.Pulse(t.Context()); err != nil || !p.FencedBounded {
		t.Errorf("more than is looked at: %v, %v", p.FencedBounded, err)
	}
}

// What is asked every second walks an index that holds only what it asks for.
func TestWhatTheFenceStoppedIsFoundInItsIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantRefusals(t, b, "mismatch", 20_000, time.Minute)
	plantRefusals(t, b, "stale_token", 20, time.Minute)
	b.exec(t, "analyze grant_refusal")
	rows, err := b.Pool.Query(t.Context(), "explain select outcome, created_at from grant_refusal "+
		"where outcome in ('stale_token', 'token_collision') "+
		"and created_at > now() - interval '1 hour' order by created_at desc limit 10000")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	mustContain(t, "the plan", plan.String(), "grant_refusal_fenced")
}

func TestOutboxAges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason, created_at)
		select 'p-' || n, 'e', 'gems', 1, n, 'o', 'a', 'r', now() - make_interval(secs =>
			case n when 1 then 7200 when 2 then 700 when 3 then 650 when 4 then 30 when 5 then 3
				else 0 end)
		from generate_series(1, 8) n`)
	b.exec(t, "update reward_outbox set state = 'delivered' where player_id = 'p-8'")
	b.exec(t, "update reward_outbox set state = 'dead' where player_id = 'p-7'")
	b.exec(t, "insert into reward_outbox (ledger_id, player_id, state) select id, player_id, "+
		"case player_id when 'p-7' then 'dead' when 'p-8' then 'delivered' else 'pending' end "+
		"from reward_ledger on conflict do nothing")
	a, err := b.reader.OutboxAges(t.Context())
	if err != nil || a.Looked != 6 {
		t.Fatalf("%+v, %v", a, err)
	}
	young := a.Counts[0] + a.Counts[1] // the youngest may be a second old by now
	if young != 2 || a.Counts[2] != 1 || a.Counts[3] != 0 || a.Counts[4] != 2 || a.Counts[5] != 1 {
		t.Errorf("%+v", a)
	}
}
