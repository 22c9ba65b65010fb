package schema_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant/granttest"
	"rewardctl/grant/schema"
)

// rolesOf makes the roles of a world, and drops them at the end.
func rolesOf(t *testing.T, w *granttest.World, logins ...schema.RoleLogin) schema.RoleReport {
	t.Helper()
	prefix := schema.DefaultPrefix(w.Schema)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.ConnectConfig(ctx, w.Conn.Copy())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(ctx)
		names := []string{prefix + "_operator"}
		for _, l := range logins {
			names = append([]string{l.Name}, names...)
		}
		for _, name := range append(names, prefix+"_grant", prefix+"_relay", prefix+"_view") {
			role := pgx.Identifier{name}.Sanitize()
			if _, err := conn.Exec(ctx, "drop owned by "+role+"; drop role "+role); err != nil {
				t.Error(err)
			}
		}
	})
	report, err := schema.Roles(t.Context(), w.Conn, schema.RoleOptions{
		Prefix: prefix, Logins: logins,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// privileges is what the matrix gives: role, table, verb, and the columns ("" for all of them).
func privileges(t *testing.T, w *granttest.World) map[string]map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("roles/matrix.sql")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.Pool.Query(t.Context(), string(text))
	if err != nil {
		t.Fatal(err)
	}
	type line struct{ Role, Relation, Privilege, Columns string }
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (line, error) {
		var l line
		var columns *string
		err := row.Scan(&l.Role, &l.Relation, &l.Privilege, &columns)
		if columns != nil {
			l.Columns = *columns
		}
		return l, err
	})
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]map[string]map[string]string{}
	give := func(role, relation, verb, columns string) {
		if given[role] == nil {
			given[role] = map[string]map[string]string{}
		}
		if given[role][relation] == nil {
			given[role][relation] = map[string]string{}
		}
		have, there := given[role][relation][verb]
		if there && have != "" && columns != "" {
			columns = have + ", " + columns
		}
		given[role][relation][verb] = columns
	}
	for _, l := range lines {
		if l.Privilege == "member" {
			for relation, verbs := range maps.Clone(given[l.Relation]) {
				for verb, columns := range verbs {
					give(l.Role, relation, verb, columns)
				}
			}
			continue
		}
		give(l.Role, l.Relation, l.Privilege, l.Columns)
	}
	return given
}

// denied runs a statement as a role and reports whether it answers 42501.
func denied(t *testing.T, w *granttest.World, role, sql string) bool {
	t.Helper()
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "set local role "+pgx.Identifier{role}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), sql)
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "42501" &&
		!strings.Contains(answer.Message, "append-only") // the trigger, not the privilege
}

// Every role can do to every table what the matrix says, and nothing else answers anything but
// 42501. A table that the matrix does not list fails the test.
func TestRolesCanDoWhatTheMatrixSays(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	rolesOf(t, w)
	given := privileges(t, w)
	rows, err := w.Pool.Query(t.Context(), `select c.relname::text, a.attname::text
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
			and not a.attisdropped
		where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
		order by 1, a.attnum`)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	var table, column string
	if _, err := pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		columns[table] = append(columns[table], column)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		if given["view"][table] == nil {
			t.Errorf("%s has no line in roles/matrix.sql: say at least who may look", table)
		}
	}
	for role, tables := range given {
		for table, may := range tables {
			if _, function := may["execute"]; function {
				continue // TestFunctionsOfOperators calls these
			}
			if columns[table] == nil && !strings.HasSuffix(table, "_seq") {
				t.Errorf("the matrix lets %s use %s, which is not there", role, table)
			}
		}
	}
	prefix := schema.DefaultPrefix(w.Schema)
	checked := 0
	for _, word := range schema.RoleWords() {
		role := prefix + "_" + word
		for table, names := range columns {
			may := given[word][table]
			expect := func(allowed bool, sql string) {
				t.Helper()
				checked++
				if denied(t, w, role, sql) == allowed {
					t.Errorf("%s: %s, want allowed: %t", word, sql, allowed)
				}
			}
			_, looks := may["select"]
			expect(looks, "select from "+table+" limit 0")
			expect(false, "delete from "+table+" where false")
			expect(false, "truncate "+table)
			expect(false, "alter table "+table+" disable trigger all")
			for _, verb := range []string{"insert", "update"} {
				list, some := may[verb]
				for _, name := range names {
					allowed := some && (list == "" || slices.Contains(strings.Split(list, ", "), name))
					sql := fmt.Sprintf(`insert into %s ("%s") select null where false`, table, name)
					if verb == "update" {
						sql = fmt.Sprintf(`update %s set "%s" = null where false`, table, name)
					}
					expect(allowed, sql)
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d statements were tried", checked)
	}
}

// What must never be, whatever the matrix says.
func TestRolesAreKeptFromTheLedgerAndTheLog(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	rolesOf(t, w)
	prefix := schema.DefaultPrefix(w.Schema)
	for role, statements := range map[string][]string{
		"grant": {
			"insert into reward_ledger (reverses) select 1 where false",
			"select from operator_action limit 0",
			"insert into operator_action (operator) select 'x' where false",
			"insert into reward_outbox_attempt (sink) select 'x' where false",
			"update reward_outbox set state = 'delivered' where false",
		},
		"relay": {
			"insert into reward_ledger (id) select 1 where false",
			"update reward_balance set amount = 1 where false",
			"select from grant_plan limit 0",
		},
		"view": {
			"insert into audit_run (state) select 'x' where false",
			"insert into operator_action (operator) select 'x' where false",
			"select nextval('reward_ledger_id_seq')",
		},
		"operator": {
			"insert into operator_action (db_user) select 'x' where false",
			"insert into operator_action (created_at) select now() where false",
			"insert into operator_action (hash) select null where false",
			"update operator_action_head set last_id = 0 where false",
			"insert into grant_approval (db_user) select 'x' where false",
			"update grant_plan set requested_by = 'x' where false",
			"update grant_plan_row set amount = 1 where false",
			"alter table operator_action disable trigger operator_action_chained",
			"drop function operator_action_chain() cascade",
			"create table here (n integer)",
		},
	} {
		for _, sql := range statements {
			if !denied(t, w, prefix+"_"+role, sql) {
				t.Errorf("%s may: %s", role, sql)
			}
		}
	}
}

// The function that chains the log runs as the owner: a table that a session puts in front of the
// real one must not take its place.
func TestTheLogCannotBeLedAstray(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	rolesOf(t, w)
	operator := pgx.Identifier{schema.DefaultPrefix(w.Schema) + "_operator"}.Sanitize()
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, sql := range []string{
		"set local role " + operator,
		"create temp table operator_action_head (only_row boolean, chain text, last_id bigint, " +
			"hash bytea)",
		"insert into operator_action_head values (true, 'mine', 76, '\\x00')",
		"set local search_path = pg_temp, " + pgx.Identifier{w.Schema}.Sanitize(),
		"insert into operator_action (operator, action, target, arguments, observed, reason, " +
			"outcome, command) values ('o', 'a', 't', '{}', '{}', 'r', 'done', 'c')",
	} {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var id, head int64
	err = tx.QueryRow(t.Context(), "select max(a.id), max(h.last_id) from operator_action a, "+
		pgx.Identifier{w.Schema, "operator_action_head"}.Sanitize()+" h").Scan(&id, &head)
	if err != nil || id != 1 || head != 1 {
		t.Errorf("row %d, head %d, %v", id, head, err)
	}
}

// Roles twice, and after somebody gave a role too much: each has exactly what the matrix says.
func TestRolesConverge(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	login := schema.RoleLogin{Name: w.Schema + "_mara", Role: "operator"}
	first := rolesOf(t, w, login)
	for _, r := range first.Roles {
		if !r.Created {
			t.Errorf("%s was there", r.Name)
		}
	}
	prefix := schema.DefaultPrefix(w.Schema)
	for _, sql := range []string{
		"grant all on reward_ledger to " + prefix + "_view",
		"grant update (amount) on reward_balance to " + prefix + "_relay",
	} {
		if _, err := w.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	again, err := schema.Roles(t.Context(), w.Conn, schema.RoleOptions{
		Prefix: prefix, Logins: []schema.RoleLogin{login},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range again.Roles {
		if r.Created {
			t.Errorf("%s was made twice", r.Name)
		}
	}
	if !denied(t, w, prefix+"_view", "insert into reward_ledger (id) select 1 where false") ||
		!denied(t, w, prefix+"_relay", "update reward_balance set amount = 1 where false") {
		t.Error("what was given too much is still there")
	}
	var path, lock string
	err = w.Pool.QueryRow(t.Context(), `select max(s) filter (where s like 'search_path=%'),
		max(s) filter (where s like 'lock_timeout=%') from pg_db_role_setting r,
		unnest(r.setconfig) s where r.setrole = $1::text::regrole`, login.Name).Scan(&path, &lock)
	if err != nil || !strings.Contains(path, w.Schema) || lock != "lock_timeout=10s" {
		t.Errorf("%s, %s, %v", path, lock, err)
	}
}

func TestRolesRefuseNamesAndDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, opt := range []schema.RoleOptions{
		{},
		{Prefix: "a b"},
		{Prefix: `x"; drop table y`},
		{Prefix: strings.Repeat("x", 55)},
		{Prefix: "ok", Logins: []schema.RoleLogin{{Name: "", Role: "view"}}},
		{Prefix: "ok", Logins: []schema.RoleLogin{{Name: "mara", Role: "admin"}}},
	} {
		opt.DryRun = true
		var refused *schema.RoleError
		if _, err := schema.Roles(t.Context(), w.Conn, opt); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	prefix := schema.DefaultPrefix(w.Schema)
	report, err := schema.Roles(t.Context(), w.Conn, schema.RoleOptions{
		Prefix: prefix, DryRun: true,
	})
	if err != nil || len(report.Statements) < 50 || !report.Roles[0].Created {
		t.Fatalf("%+v, %v", report, err)
	}
	var there bool
	err = w.Pool.QueryRow(t.Context(), "select exists (select from pg_roles where rolname = $1)",
		prefix+"_view").Scan(&there)
	if err != nil || there {
		t.Errorf("the role is there: %t, %v", there, err)
	}
}
