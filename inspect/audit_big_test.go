package inspect_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"rewardctl/inspect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func poolOf(t testing.TB, config *pgxpool.Config) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// generate fills the ledger with a sound history of n postings: daily rewards of the same amount,
// which look alike and are right.
func (b *bench) generate(t testing.TB, n int) {
	t.Helper()
	players := max(n/100, 1)
	b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason, created_at)
		select 'player-' || n % $2, 'daily:' || date '2024-01-01' + n / $2 || ':player-' || n % $2
			|| ':gems:v1', 'gems', 50, 1 + n / $2, 'worker-1@host/1#' || n, 'worker-1', 'daily',
			timestamptz '2024-01-01 10:00Z' + n / $2 * interval '1 day' + n % 997 * interval '1 min'
		from generate_series(0, $1::int - 1) n`, n, players)
}

// complement adds what belongs to the generated postings.
func (b *bench) complement(t testing.TB) {
	t.Helper()
	for _, sql := range []string{
		`insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status)
			select player_id, reward_event_id, kind, amount, fence_token, 'applied' from reward_ledger`,
		"analyze reward_ledger", "analyze reward_claim",
	} {
		b.exec(t, sql)
	}
}

// plantMany plants one anomaly of each kind at the first, middle and last row.
func (b *bench) plantMany(t testing.TB, n int) {
	t.Helper()
	b.exec(t, dropLedgerKey)
	b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason, created_at)
		select player_id, case when twin = 1 then reward_event_id else reward_event_id || '-retry' end,
			kind, amount, fence_token, lease_owner, actor, reason, created_at + interval '5.1 s'
		from reward_ledger, generate_series(1, 2) twin where id in (1, $1, $2)`, n/2, n)
}

// BenchmarkAuditDuplicateKey runs the check and the plain statement alternately, and reports the
// ratio of their times and the memory of this process. REWARDCTL_TEST_AUDIT_ROWS sets the size.
func BenchmarkAuditDuplicateKey(b *testing.B) {
	rows := 1_000_000
	if text := os.Getenv("REWARDCTL_TEST_AUDIT_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	w := setup(b)
	w.generate(b, rows)
	w.plantMany(b, rows)
	w.exec(b, "analyze reward_ledger")
	config := w.Pool.Config().Copy()
	config.MaxConns = 1 // one session for both
	pool := poolOf(b, config)
	reader, err := inspect.New(pool, w.store, inspect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var took [2]time.Duration
	var memory uint64
	for b.Loop() {
		start := time.Now()
		plain, err := pool.Query(b.Context(), `select player_id, reward_event_id, count(*)
			from reward_ledger group by player_id, reward_event_id having count(*) > 1`)
		if err != nil {
			b.Fatal(err)
		}
		if got, err := pgx.CollectRows(plain, pgx.RowToMap); err != nil || len(got) != 3 {
			b.Fatalf("%d, %v", len(got), err)
		}
		took[0] += time.Since(start)
		start = time.Now()
		found := 0
		err = reader.Audit(b.Context(), inspect.AuditPlan{Checks: []string{"duplicate-key"}},
			inspect.AuditSink{
				Finding: func(inspect.Finding) error { found++; return nil },
				Progress: func(inspect.AuditProgress) {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					memory = max(memory, m.Sys)
				},
			})
		if err != nil || found != 3 {
			b.Fatalf("%d, %v", found, err)
		}
		took[1] += time.Since(start)
	}
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "x_plain_group_by")
	b.ReportMetric(took[0].Seconds()/float64(b.N), "plain_s")
	b.ReportMetric(took[1].Seconds()/float64(b.N), "audit_s")
	b.ReportMetric(float64(memory)/1e6, "client_MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAuditLarge runs the three checks that read every row, and wants exactly what was
// planted.
func BenchmarkAuditLarge(b *testing.B) {
	rows := 1_000_000
	if text := os.Getenv("REWARDCTL_TEST_AUDIT_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	w := setup(b)
	w.generate(b, rows)
	w.complement(b)
	w.plantMany(b, rows)
	for b.Loop() {
		counts := map[string]int{}
		var memory uint64
		start, last := time.Now(), time.Now()
		err := w.reader.Audit(b.Context(), inspect.AuditPlan{
			Checks: []string{"duplicate-key", "near-duplicate", "expected-sum"},
		}, inspect.AuditSink{
			Finding: func(f inspect.Finding) error { counts[f.Word]++; return nil },
			Check: func(c inspect.AuditCheckDone) error {
				b.ReportMetric(time.Since(last).Seconds(), c.Check+"_s")
				last = time.Now()
				return nil
			},
			Progress: func(inspect.AuditProgress) {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				memory = max(memory, m.Sys)
			},
		})
		// Each plant is a twin (a duplicate, whose sum is wrong) and a retry (without a claim).
		if err != nil || counts["duplicate"] != 3 || counts["respelled"] != 3 || counts["sum"] != 3 ||
			counts["unclaimed"] != 3 || len(counts) != 4 {
			b.Fatalf("%v, %v", counts, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "audit_s")
		b.ReportMetric(float64(memory)/1e6, "client_MB")
	}
	b.ReportMetric(0, "ns/op")
}
