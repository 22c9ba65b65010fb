package inspect_test

import (
	"fmt"
	"strings"
)

// post writes a posting past the engine, with everything that belongs to it.
const post = `with l as (
	insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token, lease_owner,
		actor, reason, created_at)
	values (%[1]s, %[2]s, 'gems', %[3]d, %[4]d, %[1]s || '#%[4]d', 'a', 'r',
		now() - interval '%[5]s')
	returning *
), c as (
	insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status)
	select player_id, reward_event_id, kind, amount, fence_token, 'applied' from l
), o as (
	insert into reward_outbox (ledger_id, state) select id, 'delivered' from l
), f as (
	insert into reward_fence as f (resource, last_token, last_owner)
	select 'reward:' || player_id, fence_token, lease_owner from l
	on conflict (resource) do update
		set last_token = excluded.last_token, last_owner = excluded.last_owner
		where f.last_token < excluded.last_token
)
insert into reward_balance as b (player_id, kind, amount)
select player_id, kind, amount from l
on conflict (player_id, kind) do update set amount = b.amount + excluded.amount`

func posting(player, event string, amount, token int, age string) string {
	return fmt.Sprintf(post, literal(player), literal(event), amount, token, age)
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// double writes a second posting of a key, which needs the key to be gone.
func double(player, event string, amount, token int) string {
	return fmt.Sprintf(`insert into reward_ledger (player_id, reward_event_id, kind, amount,
		fence_token, lease_owner, actor, reason) values (%s, %s, 'gems', %d, %d, 'w#%d', 'a', 'r')`,
		literal(player), literal(event), amount, token, token)
}

const (
	dropLedgerKey = "alter table reward_ledger drop constraint reward_ledger_event_once"
	thawLedger    = "alter table reward_ledger disable trigger reward_ledger_rows_stay"
)

// plant is what a test plants for one check, and what it must find: nothing else.
type plant struct {
	check string
	sql   []string
	want  []string
}

func ledgerPlants() map[string]plant {
	return map[string]plant{
		"duplicate": {"duplicate-key", []string{
			dropLedgerKey, posting("p1", "e1", 50, 1, "3 h"), double("p1", "e1", 50, 1),
			posting("p1", "e2", 50, 2, "2 h"), posting("p2", "e1", 50, 1, "1 h"),
			posting("p'3", `e\1`, 50, 1, "1 h"), double("p'3", `e\1`, 70, 2), double("p'3", `e\1`, 70, 2),
		}, []string{`duplicate p'3 e\1`, "duplicate p1 e1"}},
		"near, another spelling": {"near-duplicate", []string{
			posting("p1", "daily:2026-11-30", 50, 1, "5 h"),
			posting("p1", "DAILY:2026-11-30 ", 50, 2, "4 h"),
			posting("p1", "daily:2026-11-29", 50, 3, "4 h"),
			posting("p2", "daily:2026-11-30", 50, 1, "4 h"),
			posting("p2", "Daily:2026-11-30", 51, 2, "4 h"),
			posting("p3", "daily:2026-11-30", 50, 1, "73 h"),
			posting("p3", "Daily:2026-11-30", 50, 2, "4 h"),
		}, []string{"respelled p1 daily:2026-11-30"}},
		"near, other random parts": {"near-duplicate", []string{
			posting("p1", "gift:1b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 1, "5 minutes"),
			posting("p1", "gift:2b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 2, "4 minutes"),
			posting("p2", "login-1764506097", 50, 1, "5 minutes"),
			posting("p2", "login-1764506099-retry", 50, 2, "4 minutes"),
			posting("p3", "login-1764506097", 50, 1, "30 h"),
			posting("p3", "login-1764596099", 50, 2, "5 h"),
			posting("p4", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 1, "50 minutes"),
			posting("p4", "2b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 2, "20 minutes"),
			posting("p5", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 1, "25 minutes"),
			posting("p5", "2b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 2, "20 minutes"),
		}, []string{
			"retried p1 gift:1b4e28ba-2fa1-11d2-883f-0016d3cca427", "retried p2 login-1764506097",
			"retried p5 1b4e28ba-2fa1-11d2-883f-0016d3cca427",
		}},
		"near, but taken back": {"near-duplicate", []string{
			posting("p1", "a", 50, 1, "5 h"), posting("p1", "A", 50, 2, "4 h"),
			`insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason, reverses)
				select player_id, 'reverse:' || id, kind, -amount, 9, 'w#9', 'a', 'r', id
				from reward_ledger where reward_event_id = 'A'`,
		}, nil},
	}
}

func idPlants() map[string]plant {
	return map[string]plant{
		"random": {"random-event-id", []string{
			posting("p1", "gift:1b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 1, "5 h"),
			posting("p2", "gift:2b4e28ba-2fa1-11d2-883f-0016d3cca427", 50, 1, "5 h"),
			posting("p1", "login-1764506097", 50, 2, "4 h"),
			posting("p1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", 50, 3, "4 h"),
			posting("p1", "l:2026-11-30T12:34:56Z", 50, 4, "4 h"),
			posting("p1", "daily:2026-11-30T00:00:00Z", 50, 5, "4 h"),
			posting("p1", "daily:1764460800", 50, 6, "4 h"),
			posting("3b4e28ba-2fa1-11d2-883f-0016d3cca427",
				"daily:3b4e28ba-2fa1-11d2-883f-0016d3cca427:2026-11-30", 50, 1, "4 h"),
		}, []string{"random", "random", "random", "random"}},
	}
}

func claimPlants() map[string]plant {
	return map[string]plant{
		"claims": {"expected-sum", []string{
			posting("ok", "e", 50, 1, "5 h"),
			posting("unposted", "e", 50, 1, "5 h"), posting("unclaimed", "e", 50, 1, "5 h"),
			posting("unapplied", "e", 50, 1, "5 h"), posting("less", "e", 50, 1, "5 h"),
			posting("other", "e", 50, 1, "5 h"), thawLedger,
			"delete from reward_ledger where player_id = 'unposted'",
			"delete from reward_claim where player_id = 'unclaimed'",
			"update reward_claim set status = 'processing' where player_id = 'unapplied'",
			"update reward_claim set amount = 60 where player_id = 'less'",
			"update reward_claim set kind = 'gold' where player_id = 'other'",
			`insert into reward_claim (player_id, reward_event_id, kind, amount, updated_at, status)
				values ('stuck', 'e', 'gems', 1, now() - interval '2 h', 'pending'),
					('stuck', 'f', 'gems', 1, now() - interval '2 h', 'processing'),
					('waits', 'e', 'gems', 1, now(), 'pending')`,
		}, []string{
			"stuck stuck e", "stuck stuck f", "sum less e", "sum other e", "unapplied unapplied e",
			"unclaimed unclaimed e", "unposted unposted e",
		}},
		"reversals": {"expected-sum", []string{
			posting("ok", "e", 50, 1, "5 h"), posting("twice", "e", 50, 1, "5 h"),
			posting("kind", "e", 50, 1, "5 h"), posting("part", "e", 50, 1, "5 h"),
			`insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason, reverses)
			select player_id, 'reverse:' || n, case when player_id = 'kind' then 'gold' else kind end,
				case when player_id = 'part' then -20 else -50 end, 9, 'w#9', 'a', 'r', id
			from reward_ledger, generate_series(1, 2) n where n = 1 or player_id in ('twice', 'part')`,
			`insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason, reverses) values ('none', 'x', 'gems', -1, 1, 'w', 'a', 'r', 999)`,
		}, []string{
			"reversal kind reverse:1", "reversal none x", "reversal twice reverse:1",
			"reversal twice reverse:2",
		}},
	}
}

func orderPlants() map[string]plant {
	return map[string]plant{
		"fence": {"fence-order", []string{
			posting("ok", "e1", 50, 1, "5 h"), posting("ok", "e2", 50, 7, "5 h"),
			posting("down", "e1", 50, 7, "5 h"), posting("down", "e2", 50, 3, "5 h"),
			posting("two", "e1", 50, 7, "5 h"),
			strings.ReplaceAll(posting("two", "e2", 50, 7, "5 h"), "'two' || '#7'", "'other#1'"),
			posting("above", "e1", 50, 7, "5 h"), posting("above", "e2", 50, 8, "5 h"),
			"update reward_fence set last_token = 5 where resource = 'reward:above'",
			// Under another resource: its tokens come from another counter.
			posting("shared", "e1", 50, 90, "5 h"),
			strings.ReplaceAll(posting("shared", "e2", 50, 2, "5 h"), "'shared' || '#2'", "'campaign#1'"),
			`insert into reward_fence (resource, last_token, last_owner)
				values ('campaign', 2, 'campaign#1')`,
		}, []string{"above_fence above e2", "token_down down e2", "token_owners two e2"}},
		"outbox": {"outbox", []string{
			posting("ok", "e", 50, 1, "5 h"), posting("unqueued", "e", 50, 1, "5 h"),
			posting("dead", "e", 50, 1, "5 h"), posting("late", "e", 50, 1, "5 h"),
			posting("late", "f", 50, 2, "4 h"), posting("soon", "e", 50, 1, "1 s"),
			`delete from reward_outbox o using reward_ledger l
				where l.id = o.ledger_id and l.player_id = 'unqueued'`,
			`update reward_outbox o set state = case l.player_id when 'dead' then 'dead'
				else 'pending' end from reward_ledger l
				where l.id = o.ledger_id and l.player_id in ('dead', 'late', 'soon')`,
			"insert into reward_outbox (ledger_id) values (9999)",
			"alter table reward_outbox drop constraint reward_outbox_pkey",
			`insert into reward_outbox (ledger_id, state) select ledger_id, state
				from reward_outbox o join reward_ledger l on l.id = o.ledger_id and l.player_id = 'ok'`,
		}, []string{
			"dead dead e", "late", "orphan", "queued_twice ok e", "unqueued unqueued e",
		}},
		"balance": {"balance", []string{
			posting("ok", "e", 50, 1, "5 h"), posting("more", "e", 50, 1, "5 h"),
			posting("gone", "e", 50, 1, "5 h"), posting("below", "e", 50, 1, "5 h"),
			"update reward_balance set amount = 51 where player_id = 'more'",
			"delete from reward_balance where player_id = 'gone'",
			"alter table reward_balance drop constraint reward_balance_not_negative",
			"update reward_balance set amount = -1 where player_id = 'below'",
			"insert into reward_balance (player_id, kind, amount) values ('ghost', 'gems', 5)",
			"insert into reward_balance (player_id, kind, amount) values ('empty', 'gems', 0)",
		}, []string{"balance ghost", "balance gone", "balance more", "negative below"}},
	}
}
