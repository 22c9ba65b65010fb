package inspect_test

import (
	"testing"

	"rewardctl/inspect"
)

func TestPulseCountsWhatHappened(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason, created_at)
		select 'p-' || n, 'e', 'gems', 1, n, 'o', 'a', 'r',
			now() - make_interval(secs => case when n <= 3 then 1 when n <= 5 then 130 else 7200 end)
		from generate_series(1, 9) n`)
	b.exec(t, `insert into grant_refusal (outcome, resource, player_id, reward_event_id, kind, amount,
		token, owner, actor, reason) values ('stale_token', 'reward:p-1', 'p-1', 'e', 'gems', 1,
		1, 'o', 'a', 'r')`)
	b.exec(t, "delete from reward_outbox")
	b.exec(t, `insert into reward_outbox (ledger_id, state)
		select id, case when player_id = 'p-1' then 'dead' else 'pending' end
		from reward_ledger where player_id in ('p-1', 'p-9')`)
	p, err := b.reader.Pulse(t.Context())
	if err != nil || len(p.Missing) > 0 {
		t.Fatalf("%v, missing %v", err, p.Missing)
	}
	last := inspect.PulseMinutes - 1
	if p.Grants[last] != 3 || p.Grants[last-2] != 2 || p.Refusals[last] != 1 || p.Bounded {
		t.Errorf("grants %v, refusals %v, bounded %v", p.Grants, p.Refusals, p.Bounded)
	}
	if p.Waiting != 1 || p.Dead != 1 || p.Oldest.Hours() < 1.9 || p.Oldest.Hours() > 2.1 {
		t.Errorf("waiting %d, dead %d, oldest %s", p.Waiting, p.Dead, p.Oldest)
	}
	if p.PostgresTook <= 0 || p.RedisTook <= 0 {
		t.Errorf("took %s and %s", p.PostgresTook, p.RedisTook)
	}
}
