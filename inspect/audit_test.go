package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"

	"github.com/jackc/pgx/v5"
)

// audit runs a plan and returns what it found.
func (b *bench) audit(t testing.TB, plan inspect.AuditPlan) []inspect.Finding {
	t.Helper()
	var found []inspect.Finding
	err := b.reader.Audit(t.Context(), plan, inspect.AuditSink{
		Finding: func(f inspect.Finding) error {
			found = append(found, f)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// words returns what was found as "word player event", sorted.
func words(found []inspect.Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, strings.TrimSpace(f.Word+" "+f.PlayerID+" "+f.EventID))
	}
	slices.Sort(out)
	return out
}

// Each anomaly is planted beside look-alikes that are right, and found alone.
func TestAuditFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for _, group := range []map[string]plant{
		ledgerPlants(), idPlants(), claimPlants(), orderPlants(),
	} {
		for name, c := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				for _, sql := range c.sql {
					b.exec(t, sql)
				}
				b.findsExactly(t, c)
			})
		}
	}
}

// findsExactly runs the check in one part and in several.
func (b *bench) findsExactly(t *testing.T, c plant) {
	t.Helper()
	for _, parts := range []int{1, 4} {
		found := b.audit(t, inspect.AuditPlan{Checks: []string{c.check}, Parts: parts})
		if got := words(found); !slices.Equal(got, c.want) {
			t.Errorf("%d parts: found %q, want %q", parts, got, c.want)
		}
		for _, f := range found {
			b.complete(t, f)
		}
	}
}

// complete checks that a finding can be acted on: its evidence is there, its proof proves it, and
// its remedy names something to do.
func (b *bench) complete(t testing.TB, f inspect.Finding) {
	t.Helper()
	if f.Rule == "" || f.What == "" || f.Remedy == "" || f.Fingerprint == "" || f.Table == "" ||
		f.Count < 1 || len(f.Rows) == 0 || f.Severity == "" {
		t.Errorf("incomplete: %+v", f)
	}
	for _, row := range f.Rows {
		if len(row) != len(f.Columns) {
			t.Errorf("%s: %d cells for %d columns", f.Word, len(row), len(f.Columns))
		}
	}
	err := pgx.BeginTxFunc(t.Context(), b.Pool, pgx.TxOptions{AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), f.Proof)
			if err != nil {
				return err
			}
			n := 0
			for rows.Next() {
				n++
			}
			if n == 0 {
				t.Errorf("%s: the proof shows nothing:\n%s", f.Word, f.Proof)
			}
			return rows.Err()
		})
	if err != nil {
		t.Errorf("%s: the proof fails: %v\n%s", f.Word, err, f.Proof)
	}
}

func TestAuditShowsEvidenceSideBySide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, sql := range []string{
		dropLedgerKey, posting("p1", "e1", 50, 1, "3 h"), double("p1", "e1", 70, 2),
	} {
		b.exec(t, sql)
	}
	f := b.audit(t, inspect.AuditPlan{Checks: []string{"duplicate-key"}})[0]
	for _, column := range []string{"id", "amount", "fence_token", "lease_owner", "created_at"} {
		if !slices.Contains(f.Differs, column) {
			t.Errorf("%s differs, but only %q are named", column, f.Differs)
		}
	}
	if slices.Contains(f.Differs, "player_id") || len(f.Rows) != 2 || f.Count != 2 {
		t.Errorf("%+v", f)
	}
	at := slices.Index(f.Columns, "amount")
	if *f.Rows[0][at] != "50" || *f.Rows[1][at] != "70" {
		t.Errorf("amounts %s and %s", *f.Rows[0][at], *f.Rows[1][at])
	}
	mustContain(t, "remedy", f.Remedy, "rewardctl explain p1 e1")
}

// A unique index that was damaged behind the server's back hides its twin from whoever trusts it.
func TestAuditSeesBehindADamagedIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, posting("p1", "e1", 50, 1, "3 h"))
	flag := `update pg_index set indisready = %[1]t, indisvalid = %[1]t
		where indexrelid = 'reward_ledger_event_once'::regclass`
	b.exec(t, fmt.Sprintf(flag, false))
	b.exec(t, double("p1", "e1", 50, 2))
	b.exec(t, fmt.Sprintf(flag, true))
	var n int
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	// The trap works: an index scan sees one of the two.
	if _, err := tx.Exec(t.Context(), "set local enable_seqscan = off"); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `select count(*) from reward_ledger where player_id = 'p1'
		and reward_event_id = 'e1'`).Scan(&n); err != nil || n != 1 {
		t.Fatalf("an index scan sees %d, %v", n, err)
	}
	attractive := b.Pool.Config().Copy()
	attractive.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	pool := poolOf(t, attractive)
	reader, err := inspect.New(pool, b.store, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []inspect.Finding
	err = reader.Audit(t.Context(), inspect.AuditPlan{Checks: []string{"duplicate-key"}},
		inspect.AuditSink{Finding: func(f inspect.Finding) error {
			found = append(found, f)
			return nil
		}})
	if got := words(found); err != nil || !slices.Equal(got, []string{"duplicate p1 e1"}) {
		t.Fatalf("found %q, %v", got, err)
	}
	b.complete(t, found[0])
	wants(t, diagnose(t, reader), "ledger rows", inspect.Warning, inspect.Fail,
		"player p1 has event e1 2 times", "audit run duplicate-key")
}

func TestAuditSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plant, want string }{
		"sound":  {"select 1", ""},
		"no key": {dropLedgerKey, "no index on exactly"},
		"not valid": {`update pg_index set indisvalid = false
			where indexrelid = 'reward_ledger_event_once'::regclass`, "is not valid"},
		"not ready": {`update pg_index set indisready = false
			where indexrelid = 'reward_claim_event_once'::regclass`, "is not ready"},
		"nullable": {
			"alter table reward_ledger alter column reward_event_id drop not null", "can be null",
		},
		"deferrable": {dropLedgerKey + `; alter table reward_ledger
			add constraint again unique (player_id, reward_event_id) deferrable`, "deferrable"},
		"partial": {dropLedgerKey + `; create unique index part
			on reward_ledger (player_id, reward_event_id) where kind <> 'gold'`, "partial"},
		"other columns": {dropLedgerKey + `; create unique index part
			on reward_ledger (player_id, reward_event_id, kind)`, "no index on exactly"},
		"trigger off": {thawLedger, "update, delete is not refused"},
		"trigger origin": {
			"alter table reward_ledger enable trigger reward_ledger_table_stays", "truncate is not refused",
		},
		"privilege": {"grant update, truncate on reward_ledger to public", "PUBLIC may TRUNCATE, UPDATE"},
		"collation": {
			`alter table reward_claim alter column player_id type text collate "en_US"`,
			"not in the C collation",
		},
		"sequence": {"select setval('reward_ledger_id_seq', 9000000000000000000)", "98 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if name == "collation" {
				c.plant = `create collation "en_US" (provider = icu, locale = 'en-US'); ` + c.plant
			}
			b.exec(t, c.plant)
			found := b.audit(t, inspect.AuditPlan{Checks: []string{"schema"}})
			if c.want == "" {
				if len(found) > 0 {
					t.Fatalf("found %+v", found)
				}
				return
			}
			if !slices.ContainsFunc(found, func(f inspect.Finding) bool {
				return strings.Contains(f.What, c.want)
			}) {
				t.Errorf("no finding says %q: %+v", c.want, found)
			}
			for _, f := range found {
				b.complete(t, f)
			}
		})
	}
}

func TestAuditUnknownCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plan := inspect.AuditPlan{Checks: []string{"nope"}}
	err := b.reader.Audit(t.Context(), plan, inspect.AuditSink{})
	var unknown *inspect.UnknownCheckError
	if !errors.As(err, &unknown) || unknown.Name != "nope" {
		t.Fatal(err)
	}
}

// On a ledger that the engine alone has written, nothing is reported, whatever was asked of it.
func TestAuditIsSilentAboutTheEngine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	amounts := []int64{50, 50, 100}
	for round := range 3 {
		var batch []grant.Request
		for player := range 6 {
			for day := range 5 {
				batch = append(batch, grant.Request{
					PlayerID: fmt.Sprintf("player-%d", player), Kind: "gems",
					EventID: fmt.Sprintf("daily:2026-11-%02d:player-%d", day+1, player),
					Amount:  amounts[(day+round)%3], Actor: "tester", Reason: "daily",
				})
			}
		}
		if _, err := b.engine.GrantMany(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	lease := b.take(t, "reward:player-1", "worker")
	b.grant(t, "player-1", "hourly:2026-11-30T10:00:00Z", 50, &lease)
	b.grant(t, "player-1", "hourly:2026-11-30T11:00:00Z", 50, &lease)
	stale := lease
	stale.Token--
	stale.Owner = "late#1"
	if stale.Token > 0 {
		b.grant(t, "player-1", "hourly:2026-11-30T12:00:00Z", 50, &stale)
	}
	campaign := b.take(t, "campaign:spring", "worker")
	b.grant(t, "player-1", "spring:player-1", 5, &campaign)
	b.grant(t, "player-2", "spring:player-2", 5, &campaign)
	b.grant(t, "player-2", "daily:extra", 5, nil)
	if found := b.audit(t, inspect.AuditPlan{}); len(found) > 0 {
		t.Fatalf("found %+v", found)
	}
	b.CheckInvariants(t)
}

func TestAuditCancel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.generate(t, 200_000)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	var began time.Time
	err := b.reader.Audit(ctx, inspect.AuditPlan{Parts: 16}, inspect.AuditSink{
		Progress: func(p inspect.AuditProgress) {
			if p.Check == "near-duplicate" && began.IsZero() {
				began = time.Now()
				cancel(stop)
			}
		},
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("cancelled after %v", took)
	}
}
