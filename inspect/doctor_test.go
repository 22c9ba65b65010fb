package inspect_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"rewardctl/grant/granttest"
	"rewardctl/inspect"

	"github.com/jackc/pgx/v5/pgxpool"
)

func diagnose(t *testing.T, r *inspect.Reader) map[string]inspect.Check {
	t.Helper()
	d, err := r.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checks := make(map[string]inspect.Check, len(d.Checks))
	for _, c := range d.Checks {
		if _, twice := checks[c.Name]; twice {
			t.Errorf("%s is there twice", c.Name)
		}
		checks[c.Name] = c
		if c.Why == "" || c.Value == "" || (c.Status == inspect.Fail && c.Fix == "") {
			t.Errorf("incomplete: %+v", c)
		}
	}
	return checks
}

func wants(t *testing.T, checks map[string]inspect.Check, name string, level inspect.Level,
	status inspect.Status, parts ...string,
) {
	t.Helper()
	c, there := checks[name]
	if !there || c.Status != status || c.Level != level {
		t.Errorf("%s: %+v, want %s %s", name, c, level, status)
		return
	}
	mustContain(t, name, c.Value+" | "+c.Fix, parts...)
}

func TestDoctorOfAHealthySystem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "p1", "e1", 5, nil)
	checks := diagnose(t, b.reader)
	for _, name := range []string{
		"postgresql", "primary", "full_page_writes", "synchronous_commit", "tables",
		"ledger unique key", "claim unique key", "fence key", "balance key", "outbox key",
		"append-only reward_ledger", "append-only operator_action", "redis scripts", "redis role",
		"redis eviction",
	} {
		wants(t, checks, name, inspect.Gate, inspect.Pass)
	}
	for _, name := range []string{
		"default isolation", "pooler", "postgresql clock", "redis clock", "collation",
		"token counters", "outbox", "long transactions",
	} {
		wants(t, checks, name, inspect.Warning, inspect.Pass)
	}
}

// Each way in which the ledger's key can fail to protect it is named, with the way out (B24, B25).
func TestDoctorKnowsDamagedKeys(t *testing.T) {
	t.Parallel()
	const drop = "alter table reward_ledger drop constraint reward_ledger_event_once; "
	for name, c := range map[string]struct {
		sql   string
		parts []string
	}{
		"missing": {drop, []string{"no index on exactly", "CREATE UNIQUE INDEX"}},
		"not unique": {
			drop + "create index on reward_ledger (player_id, reward_event_id)",
			[]string{"is not unique"},
		},
		"partial": {
			drop + "create unique index on reward_ledger (player_id, reward_event_id) " +
				"where amount > 0",
			[]string{"partial"},
		},
		"deferrable": {
			drop + "alter table reward_ledger add unique (player_id, reward_event_id) " +
				"deferrable initially immediate",
			[]string{"deferrable"},
		},
		"more columns": {
			drop + "create unique index on reward_ledger (player_id, reward_event_id, kind)",
			[]string{"no index on exactly"},
		},
		"nullable": {
			"alter table reward_ledger alter column reward_event_id drop not null",
			[]string{"reward_event_id of reward_ledger can be null", "SET NOT NULL"},
		},
		"invalid": {
			"update pg_index set indisvalid = false where indexrelid = " +
				"'reward_ledger_event_once'::regclass",
			[]string{"not valid", "REINDEX", "duplicates"},
		},
		"not ready": {
			"update pg_index set indisready = false where indexrelid = " +
				"'reward_ledger_event_once'::regclass",
			[]string{"not ready", "REINDEX"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.exec(t, c.sql)
			checks := diagnose(t, b.reader)
			wants(t, checks, "ledger unique key", inspect.Gate, inspect.Fail, c.parts...)
			d, err := b.reader.Doctor(t.Context())
			if err != nil || !d.Refuses() || d.Healthy() {
				t.Errorf("granting is not refused: %v", err)
			}
		})
	}
}

func TestDoctorKnowsTriggersAndSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "alter table reward_ledger enable trigger reward_ledger_rows_stay")
	b.exec(t, "alter table operator_action disable trigger operator_action_table_stays")
	b.exec(t, "alter table reward_claim alter column player_id type text collate \"und-x-icu\"")
	checks := diagnose(t, b.reader)
	wants(t, checks, "claim unique key collation", inspect.Warning, inspect.Fail, "player_id",
		"COLLATE \"C\"")
	wants(t, checks, "append-only reward_ledger", inspect.Gate, inspect.Fail, "update, delete is not",
		"ENABLE ALWAYS")
	wants(t, checks, "append-only operator_action", inspect.Gate, inspect.Fail, "truncate")
	config := b.Pool.Config().Copy()
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := inspect.New(pool, b.store, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checks = diagnose(t, r)
	wants(t, checks, "synchronous_commit", inspect.Gate, inspect.Fail, "off")
	wants(t, checks, "default isolation", inspect.Warning, inspect.Fail, "serializable")
}

func TestDoctorKnowsMigrationsAndClocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var version int64
	b.query(t, &version, "select max(version_id) from rewardctl_migration")
	r := b.with(t, inspect.Options{SchemaVersion: version + 1, Now: func() time.Time {
		return time.Now().Add(10 * time.Minute)
	}})
	checks := diagnose(t, r)
	wants(t, checks, "migrations", inspect.Gate, inspect.Fail, "rewardctl migrate up")
	wants(t, checks, "postgresql clock", inspect.Warning, inspect.Fail, "give or take")
	wants(t, diagnose(t, b.with(t, inspect.Options{SchemaVersion: version})), "migrations",
		inspect.Gate, inspect.Pass)
	empty := granttest.NewEmpty(t)
	bare, err := inspect.New(empty.Pool, b.store, inspect.Options{SchemaVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	checks = diagnose(t, bare)
	wants(t, checks, "tables", inspect.Gate, inspect.Fail, "rewardctl migrate up")
	wants(t, checks, "migrations", inspect.Gate, inspect.Fail, "none was applied")
}

func TestDoctorKnowsABacklogAndALostCounter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "p1", "e1", 5, nil)
	b.exec(t, "alter table reward_ledger disable trigger user")
	b.exec(t, "update reward_ledger set created_at = created_at - interval '1 hour'")
	b.exec(t, "insert into reward_outbox (ledger_id, state) values (99, 'dead')")
	b.exec(t, "update reward_fence set last_token = 50")
	checks := diagnose(t, b.reader)
	wants(t, checks, "outbox", inspect.Warning, inspect.Fail, "1 waiting", "1h0m", "1 given up")
	wants(t, checks, "token counters", inspect.Warning, inspect.Fail, "reward:p1 stands at 1",
		"fence at 50")
}

// With a server down the doctor still says what it sees.
func TestDoctorWithAServerDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	checks := diagnose(t, b.blind(t))
	wants(t, checks, "redis scripts", inspect.Gate, inspect.Fail, "refused")
	wants(t, checks, "redis server", inspect.Gate, inspect.Unseen)
	wants(t, checks, "ledger unique key", inspect.Gate, inspect.Pass)
	checks = diagnose(t, b.deaf(t))
	wants(t, checks, "postgresql", inspect.Gate, inspect.Fail)
	wants(t, checks, "redis scripts", inspect.Gate, inspect.Pass)
}

// An account that may see little is told what it could not see, and nothing fails because of it.
func TestDoctorOfARestrictedAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	role := "r_" + b.Schema
	b.exec(t, "create role "+role+" login password 'x'; grant usage on schema "+b.Schema+" to "+role)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := b.Pool.Exec(ctx, "drop owned by "+role+"; drop role "+role); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(b.URL())
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(role, "x")
	pool, err := pgxpool.New(t.Context(), at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := inspect.New(pool, b.store, inspect.Options{SchemaVersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	checks := diagnose(t, r)
	wants(t, checks, "account", inspect.Warning, inspect.Pass, role)
	wants(t, checks, "outbox", inspect.Warning, inspect.Unseen, "may not look")
	wants(t, checks, "migrations", inspect.Gate, inspect.Unseen, "may not look")
	wants(t, checks, "token counters", inspect.Warning, inspect.Unseen)
	wants(t, checks, "ledger unique key", inspect.Gate, inspect.Pass)
}

// The sort rules of the operating system changed under the database (B26).
func TestB26DoctorKnowsAChangedCollation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	name := "d_" + b.Schema
	b.exec(t, "create database "+name+" template template0 encoding 'UTF8' locale_provider icu "+
		"icu_locale 'en' locale 'C'")
	b.exec(t, "update pg_database set datcollversion = '1.0' where datname = $1", name)
	config := b.Pool.Config().Copy()
	config.ConnConfig.Database = name
	config.ConnConfig.RuntimeParams["search_path"] = "public"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		ctx := context.WithoutCancel(t.Context())
		if _, err := b.Pool.Exec(ctx, "drop database "+name); err != nil {
			t.Error(err)
		}
	})
	r, err := inspect.New(pool, b.store, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const loose = "create table operator_action (id bigint, target text); " +
		"create index operator_action_target on operator_action (target)"
	if _, err := pool.Exec(t.Context(), loose); err != nil {
		t.Fatal(err)
	}
	wants(t, diagnose(t, r), "collation", inspect.Warning, inspect.Fail, name, "recorded 1.0",
		"actual", "operator_action_target", "1. list duplicates", "2. REINDEX",
		"3. ALTER DATABASE \""+name+"\" REFRESH COLLATION VERSION")
	const unique = "create table reward_balance (player_id text primary key)"
	if _, err := pool.Exec(t.Context(), unique); err != nil {
		t.Fatal(err)
	}
	wants(t, diagnose(t, r), "collation", inspect.Gate, inspect.Fail, "reward_balance_pkey (unique)")
}
