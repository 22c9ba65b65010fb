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

// Each anomaly is planted beside look-alikes that are right, and found alone.
func TestAuditFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check string
		plant []string
		want  []string
	}{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for _, sql := range c.plant {
				b.exec(t, sql)
			}
			for _, parts := range []int{1, 4} {
				found := b.audit(t, inspect.AuditPlan{Checks: []string{c.check}, Parts: parts})
				if got := words(found); !slices.Equal(got, c.want) {
					t.Errorf("%d parts: found %q, want %q", parts, got, c.want)
				}
				for _, f := range found {
					b.complete(t, f)
				}
			}
		})
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
}

func TestAuditSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plant, want string }{
		"sound":         {"select 1", ""},
		"no key":        {dropLedgerKey, "no index on exactly"},
		"not valid":     {`update pg_index set indisvalid = false where indexrelid = 'reward_ledger_event_once'::regclass`, "is not valid"},
		"not ready":     {`update pg_index set indisready = false where indexrelid = 'reward_claim_event_once'::regclass`, "is not ready"},
		"nullable":      {"alter table reward_ledger alter column reward_event_id drop not null", "can be null"},
		"deferrable":    {dropLedgerKey + "; alter table reward_ledger add constraint again unique (player_id, reward_event_id) deferrable", "deferrable"},
		"partial":       {dropLedgerKey + "; create unique index part on reward_ledger (player_id, reward_event_id) where kind <> 'gold'", "partial"},
		"other columns": {dropLedgerKey + "; create unique index part on reward_ledger (player_id, reward_event_id, kind)", "no index on exactly"},
		"trigger off":   {thawLedger, "update, delete is not refused"},
		"trigger origin": {
			"alter table reward_ledger enable trigger reward_ledger_table_stays", "truncate is not refused",
		},
		"privilege": {"grant update, truncate on reward_ledger to public", "PUBLIC may TRUNCATE, UPDATE"},
		"collation": {`alter table reward_claim alter column player_id type text collate "en_US"`, "not in the C collation"},
		"sequence":  {"select setval('reward_ledger_id_seq', 9000000000000000000)", "98 %"},
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
	err := b.reader.Audit(t.Context(), inspect.AuditPlan{Checks: []string{"nope"}}, inspect.AuditSink{})
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
