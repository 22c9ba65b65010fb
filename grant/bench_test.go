package grant_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// The benchmarks run the engine and its limit side by side, slice by slice in one run, and report
// the ratio of their rates: the machine's speed may drift, the ratio hardly does.

// contender does n pieces of work.
type contender func(b *testing.B, n int)

// sideBySide alternates two contenders and reports a's rate and the ratio of a's rate to b's.
// Each slice is perSlice pieces of work; a warm-up slice of each is not counted.
func sideBySide(b *testing.B, name string, perSlice int, engine, limit contender) {
	engine(b, perSlice)
	limit(b, perSlice)
	var took [2]time.Duration
	for b.Loop() {
		for i, run := range []contender{engine, limit} {
			start := time.Now()
			run(b, perSlice)
			took[i] += time.Since(start)
		}
	}
	rate := float64(perSlice*b.N) / took[0].Seconds()
	b.ReportMetric(rate, "grants/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), name)
	b.ReportMetric(0, "ns/op")
}

var benchID atomic.Int64

func benchRequest() grant.Request {
	n := benchID.Add(1)
	return grant.Request{
		PlayerID: fmt.Sprintf("player-%09d", n), EventID: "season-2026-week-34:rank-3",
		Kind: "gems", Amount: 10, Actor: "live-ops", Reason: "season reward",
	}
}

// callers spreads n pieces of work over c goroutines.
func callers(c int, work func(context.Context) error) contender {
	return func(b *testing.B, n int) {
		var wg sync.WaitGroup
		for i := range c {
			share := n / c
			if i < n%c {
				share++
			}
			wg.Go(func() {
				for range share {
					if err := work(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// bench is the world of one benchmark, with pools wide enough for its callers.
type bench struct {
	*granttest.World
	pool   *pgxpool.Pool
	engine *grant.Engine
}

func newBench(b *testing.B, width int) *bench {
	b.Helper()
	w := granttest.New(b)
	config, err := pgxpool.ParseConfig(w.URL())
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = int32(width)
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	for _, sql := range []string{
		"create table raw_claim (like reward_claim including all)",
		"create table raw_ledger (like reward_ledger including all)",
		"create table raw_fence (like reward_fence including all)",
		"create table raw_balance (like reward_balance including all)",
		"create table raw_outbox (like reward_outbox including all)",
	} {
		if _, err := pool.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	return &bench{w, pool, engineOn(b, w, grant.Options{BatchMax: 5000})}
}

const rawInsert = `insert into raw_ledger (player_id, reward_event_id, kind, amount, fence_token,
	lease_owner, actor, reason) values ($1, $2, $3, $4, 1, $5, $6, $7)
	on conflict (player_id, reward_event_id) do nothing`

const benchOwner = "worker-1@test/1#0123456789abcdef0123456789abcdef"

func (s *bench) rawInsert(ctx context.Context) error {
	r := benchRequest()
	_, err := s.pool.Exec(ctx, rawInsert, r.PlayerID, r.EventID, r.Kind, r.Amount, benchOwner,
		r.Actor, r.Reason)
	return err
}

func (s *bench) grant(ctx context.Context) error {
	res, err := s.engine.Grant(ctx, benchRequest())
	if err == nil && res.Outcome != grant.Applied {
		err = fmt.Errorf("outcome %s", res.Outcome)
	}
	return err
}

// tutorial grants the way the articles start from: nine round trips, no fence, no outbox.
func (s *bench) tutorial(ctx context.Context) error {
	r := benchRequest()
	lock := s.Prefix + "tutorial:" + r.PlayerID
	if err := s.Redis.SetNX(ctx, lock, "me", 5*time.Second).Err(); err != nil {
		return err
	}
	if err := s.Redis.Incr(ctx, lock+":token").Err(); err != nil {
		return err
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`update raw_fence set last_token = 1 where resource = $1`, []any{lock}},
		{
			`insert into raw_claim (player_id, reward_event_id, kind, amount, fence_token, status)
			values ($1, $2, $3, $4, 1, 'applied')
			on conflict (player_id, reward_event_id) do nothing`,
			[]any{r.PlayerID, r.EventID, r.Kind, r.Amount},
		},
		{
			`update raw_balance set amount = amount + $3 where player_id = $1 and kind = $2`,
			[]any{r.PlayerID, r.Kind, r.Amount},
		},
		{rawInsert, []any{r.PlayerID, r.EventID, r.Kind, r.Amount, benchOwner, r.Actor, r.Reason}},
	} {
		if _, err := tx.Exec(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return releaseTutorial.Run(ctx, s.Redis, []string{lock}, "me").Err()
}

var releaseTutorial = redis.NewScript(
	`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`)

// BenchmarkGrant: single grants by many callers beside a raw single-row insert per commit.
func BenchmarkGrant(b *testing.B) {
	for _, c := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", c), func(b *testing.B) {
			s := newBench(b, min(c, 100))
			sideBySide(b, "x_raw_insert", 20*max(c, 10), callers(c, s.grant),
				callers(c, s.rawInsert))
		})
	}
}

// BenchmarkGrantTutorial: the same beside the tutorial's nine round trips.
func BenchmarkGrantTutorial(b *testing.B) {
	s := newBench(b, 32)
	sideBySide(b, "x_tutorial", 320, callers(16, s.grant), callers(16, s.tutorial))
}

func (s *bench) grantMany(b *testing.B, n int) {
	requests := make([]grant.Request, n)
	for i := range requests {
		requests[i] = benchRequest()
	}
	results, err := s.engine.GrantMany(b.Context(), requests)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != grant.Applied {
			b.Fatalf("outcome %s: %v", r.Outcome, r.Err)
		}
	}
}

// rawMany inserts n rows by arrays with each of the statements, in one transaction.
func (s *bench) rawMany(b *testing.B, n int, statements []string) {
	players := make([]string, n)
	for i := range players {
		players[i] = benchRequest().PlayerID
	}
	tx, err := s.pool.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, sql := range statements {
		if _, err := tx.Exec(b.Context(), sql, players); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
}

var (
	rawLedgerMany = `insert into raw_ledger (player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason)
		select player, 'season-2026-week-34:rank-3', 'gems', 10, 1, '` + benchOwner + `',
			'live-ops', 'season reward' from unnest($1::text[]) as u (player)
		on conflict (player_id, reward_event_id) do nothing`
	rawAllMany = []string{
		`insert into raw_fence (resource, last_token, last_owner)
			select 'reward:' || player, 1, '` + benchOwner + `' from unnest($1::text[]) as u (player)
			on conflict (resource) do nothing`,
		rawLedgerMany,
		`insert into raw_claim (player_id, reward_event_id, kind, amount, fence_token, status)
			select player, 'season-2026-week-34:rank-3', 'gems', 10, 1, 'applied'
			from unnest($1::text[]) as u (player)
			on conflict (player_id, reward_event_id) do nothing`,
		`insert into raw_balance (player_id, kind, amount)
			select player, 'gems', 10 from unnest($1::text[]) as u (player)
			on conflict (player_id, kind) do nothing`,
		`insert into raw_outbox (ledger_id, player_id)
			select nextval('reward_ledger_id_seq'), player
			from unnest($1::text[]) as u (player)`,
	}
)

// BenchmarkGrantMany: whole batches, leases included, beside (a) a raw multi-row insert of the
// ledger rows alone and (b) the rows of all five tables written raw in one transaction.
func BenchmarkGrantMany(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("ledger/rows=%d", n), func(b *testing.B) {
			s := newBench(b, 8)
			sideBySide(b, "x_raw_ledger", n, s.grantMany, func(b *testing.B, n int) {
				s.rawMany(b, n, []string{rawLedgerMany})
			})
		})
		b.Run(fmt.Sprintf("all/rows=%d", n), func(b *testing.B) {
			s := newBench(b, 8)
			sideBySide(b, "x_raw_tables", n, s.grantMany, func(b *testing.B, n int) {
				s.rawMany(b, n, rawAllMany)
			})
		})
	}
}

// BenchmarkGrantPlayerIndex: whole batches with the indexes that page through a player's history,
// beside the same without them.
func BenchmarkGrantPlayerIndex(b *testing.B) {
	const n = 1000
	with, without := newBench(b, 8), newBench(b, 8)
	if _, err := without.Pool.Exec(b.Context(),
		"drop index reward_ledger_player_time, reward_claim_due"); err != nil {
		b.Fatal(err)
	}
	sideBySide(b, "x_without_index", n, with.grantMany, without.grantMany)
}
