package outbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/granttest"
)

const claimCall = `select count(ledger_id) from reward_outbox_claim('r@test/1', '30 s', $1, $2, $3,
	$4, $5)`

// backlogShapes are backlogs that a claim must not suffer from. Each has 32 players whose row can
// be sent, named z-01 and so on: behind all others in the order of players.
func backlogShapes() map[string]string {
	return map[string]string{
		"fresh rows of many players": `insert into reward_outbox (ledger_id, player_id)
			select n, 'p-' || n from generate_series(1, $1::bigint) n`,
		"one player has them all": `insert into reward_outbox (ledger_id, player_id)
			select n, 'p-1' from generate_series(1, $1::bigint) n`,
		"waiting for a retry": `insert into reward_outbox (ledger_id, player_id, attempts,
				next_attempt_at)
			select n, 'p-' || n, 3, now() + interval '1 hour' from generate_series(1, $1::bigint) n`,
		"given up": `insert into reward_outbox (ledger_id, player_id, attempts, state)
			select n, 'p-' || n, 3, 'dead' from generate_series(1, $1::bigint) n`,
		"delivered": `insert into reward_outbox (ledger_id, player_id, attempts, state)
			select n, 'p-' || n, 3, 'delivered' from generate_series(1, $1::bigint) n`,
		"one player has many that were given up": `insert into reward_outbox (ledger_id, player_id,
				attempts, state)
			select n, 'p-1', 3, 'dead' from generate_series(1, $1::bigint) n`,
	}
}

// fill makes a backlog of n rows in a shape, and 32 rows that can be sent.
func fill(t testing.TB, w *granttest.World, shape string, n int) {
	t.Helper()
	for _, sql := range []struct {
		text string
		args []any
	}{
		{shape, []any{n}},
		{`insert into reward_ledger (id, player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason)
			select 10000000 + n, 'z-' || lpad(n::text, 2, '0'), 'e', 'gems', 1, 1, 'o', 'a', 'r'
			from generate_series(1, 32) n`, nil},
		{`insert into reward_outbox (ledger_id, player_id)
			select id, player_id from reward_ledger`, nil},
		{"analyze reward_outbox", nil},
	} {
		if _, err := w.Pool.Exec(t.Context(), sql.text, sql.args...); err != nil {
			t.Fatal(err)
		}
	}
}

var errUndo = errors.New("undone")

// claimOnce claims 32 rows after the player y and undoes it. It returns how many it claimed and
// what the claim read of the outbox.
func claimOnce(
	ctx context.Context, t testing.TB, conn *pgx.Conn, after string, pass bool,
) (rows, whole, read int64) {
	t.Helper()
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, claimCall, 32, 16, 528, after, pass).Scan(&rows); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `select seq_scan, seq_tup_read + idx_tup_fetch
			from pg_stat_xact_user_tables where relid = 'reward_outbox'::regclass`,
		).Scan(&whole, &read); err != nil {
			return err
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
	return rows, whole, read
}

// A claim reads a number of rows that does not depend on the length or the shape of the backlog,
// and never the whole table. What it reads is counted, not timed.
func TestClaimReadsFewRows(t *testing.T) {
	t.Parallel()
	for name, shape := range backlogShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			fill(t, w, shape, 20_000)
			conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			for _, pass := range []bool{false, true} {
				rows, whole, read := claimOnce(t.Context(), t, conn, "y", pass)
				if rows != 32 || whole != 0 || read > 800 {
					t.Errorf("pass %t: %d rows claimed, %d scans of the table, %d rows read", pass,
						rows, whole, read)
				}
			}
		})
	}
}

// The look goes on from player to player and comes round: however many players are held up, a
// claim reads a bounded number of rows, and whoever can be served is.
func TestClaimPassesPlayersThatAreHeldUp(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	fill(t, w, `with held as (
			insert into reward_outbox (ledger_id, player_id, attempts, state)
			select n, 'p-' || n, 3, 'dead' from generate_series(1, $1::bigint) n
			returning ledger_id, player_id)
		insert into reward_outbox (ledger_id, player_id)
		select ledger_id + 1000000, player_id from held`, 3000)
	conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	after, claims := "", 0
	for found := int64(0); found < 32; claims++ {
		var place *string
		var ended bool
		if claims > 30 {
			t.Fatal("the 32 rows that can be sent are not found")
		}
		err := conn.QueryRow(t.Context(), `select count(ledger_id), min(place), bool_and(ended)
			from reward_outbox_claim('r@test/1', '30 s', 32, 16, 528, $1, false)`, after,
		).Scan(&found, &place, &ended)
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			after = ""
		} else if place != nil {
			after = *place
		}
	}
	if claims < 5 {
		t.Errorf("%d claims looked at 3000 players", claims)
	}
}
