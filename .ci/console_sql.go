package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// loadStatement makes a part of the data that the console is measured with.
type loadStatement struct {
	what, text string
	args       func(consoleSize) []any
}

// perPlayer is how many postings a player has.
const perPlayer = 100

func byPlayers(s consoleSize) []any { return []any{max(s.rows/perPlayer, 1), perPlayer} }

func noArgs(consoleSize) []any { return nil }

// loadStatements fill the tables set by set, each in the order of its indexes.
func loadStatements() []loadStatement {
	return []loadStatement{
		{"ledger", `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason, created_at)
			select 'player-' || lpad(p::text, 7, '0'),
				'daily:' || date '2024-01-01' + d || ':player-' || lpad(p::text, 7, '0') || ':gems:v1',
				'gems', 50, 1 + d, 'worker-01@game/1#' || d, 'worker-01', 'daily',
				timestamptz '2024-01-01 10:00Z' + d * interval '1 day' + p % 997 * interval '1 min'
			from generate_series(0, $1::int - 1) p, generate_series(0, $2::int - 1) d`, byPlayers},
		{"claims", `insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token,
				status, updated_at)
			select player_id, reward_event_id, kind, amount, fence_token, 'applied', created_at
			from reward_ledger`, noArgs},
		{"outbox", `insert into reward_outbox (ledger_id, state, delivered_at, player_id, attempts)
			select id, 'delivered', created_at, player_id, 1 from reward_ledger`, noArgs},
		{"balances", `insert into reward_balance (player_id, kind, amount)
			select player_id, kind, sum(amount) from reward_ledger group by player_id, kind`, noArgs},
		{"fences", `insert into reward_fence (resource, last_token, last_owner)
			select 'reward:' || player_id, max(fence_token), max(lease_owner)
			from reward_ledger group by player_id`, noArgs},
		{
			"analyze", `analyze reward_ledger, reward_claim, reward_outbox, reward_balance, reward_fence`,
			noArgs,
		},
	}
}

// throughSQL tells how the plan and the audit stand, and what they made.
const throughSQL = `select
	(select state from grant_plan),
	(select count(*) from reward_ledger where player_id >= 'new-' and player_id < 'new.'),
	coalesce((select string_agg(state, ' ') from audit_run), 'no audit'),
	(select count(*) from audit_finding),
	coalesce((select min(check_name || ': ' || what) from audit_finding), '')`

// isThrough says whether the plan and the audit of the console have ended, and refuses how they
// ended when it is not with every row granted and nothing found: the ledger is sound.
func (w *consoleWorld) isThrough(ctx context.Context) (bool, error) {
	conn, err := pgx.Connect(ctx, w.url)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	var plan, audits, first string
	var granted, found int
	err = conn.QueryRow(ctx, throughSQL).Scan(&plan, &granted, &audits, &found, &first)
	if err != nil {
		return false, err
	}
	w.progress = fmt.Sprintf("plan %s, %d rows granted; audit %s, %d findings %s",
		plan, granted, audits, found, first)
	done := plan == "done" && audits == "done"
	switch {
	case done && granted == w.size.plan && found == 0:
		return true, nil
	case !done && (plan == "ready" || plan == "running" || plan == "done") &&
		(audits == "running" || audits == "done"):
		return false, nil
	}
	return false, errors.New(w.progress)
}
