package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant/granttest"
	"rewardctl/grant/schema"
)

// session connects as a database user of its own.
func session(t *testing.T, w *granttest.World, user string) *pgx.Conn {
	t.Helper()
	conf := w.Conn.Copy()
	conf.User = user
	if conf.Password != "" { // the same for everybody: whoever he is, it is a test
		_, err := w.Pool.Exec(t.Context(), "alter role "+pgx.Identifier{user}.Sanitize()+
			" password '"+strings.ReplaceAll(conf.Password, "'", "''")+"'")
		if err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// call is a call of reward_grant_logged for some players, with one deed each; "" is null.
func call(token int, deeds ...string) string {
	n := len(deeds)
	array := func(form, kind string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = strings.ReplaceAll(form, "N", fmt.Sprint(i+1))
		}
		return "array[" + strings.Join(items, ", ") + "]::" + kind + "[]"
	}
	given := make([]string, n)
	for i, deed := range deeds {
		if given[i] = "null"; deed != "" {
			given[i] = "'" + deed + "'"
		}
	}
	return "select outcome from reward_grant_logged(" + strings.Join([]string{
		array("N", "integer"), array("true", "boolean"), array("'reward:pN'", "text"),
		array(fmt.Sprint(token), "bigint"), array("'owner'", "text"), array("'pN'", "text"),
		array(fmt.Sprintf("'e%d'", token), "text"), array("'gems'", "text"), array("5", "bigint"),
		array("'mara'", "text"), array("'test'", "text"), "false",
		"array[" + strings.Join(given, ", ") + "]::text[]",
	}, ", ") + ")"
}

const (
	deedOf = `{"operator": "mara", "action": "grant create", "target": "pN", "arguments": ` +
		`{"deed": "DEED"}, "reason": "test", "command": "c"}`
	logRow = "insert into operator_action (operator, action, target, arguments, observed, reason, " +
		"outcome, command, phase, intent) values ('mara', 'grant apply', 'c', '{}', '{}', 'test', " +
		"'intended', 'c', '%s', %s) returning id"
)

func refusedAs(err error, code string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == code
}

// An operator has no way to post without a row of the log: not by statements, not through the
// functions of workers, not through his own functions without a row that is his.
func TestOperatorsPostOnlyWithARowOfTheLog(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	mara, lee := w.Schema+"_mara", w.Schema+"_lee"
	rolesOf(t, w, schema.RoleLogin{Name: mara, Role: "operator"},
		schema.RoleLogin{Name: lee, Role: "operator"})
	conn, other := session(t, w, mara), session(t, w, lee)
	row := func(conn *pgx.Conn, phase, intent string) (id int64) {
		t.Helper()
		err := conn.QueryRow(t.Context(), fmt.Sprintf(logRow, phase, intent)).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	intent := func(id int64) string { return fmt.Sprintf(`{"intent":"%d"}`, id) }
	mine, his, ended := row(conn, "intent", "null"), row(other, "intent", "null"),
		row(conn, "intent", "null")
	result := row(conn, "result", fmt.Sprint(ended))
	var release int64
	err := conn.QueryRow(t.Context(), strings.Replace(fmt.Sprintf(logRow, "intent", "null"),
		"'grant apply'", "'lease release'", 1)).Scan(&release)
	if err != nil {
		t.Fatal(err)
	}
	worker := strings.Replace(call(1, ""), "reward_grant_logged", "reward_grant", 1)
	worker = worker[:strings.LastIndex(worker, ", array[")] + ")"
	deed := strings.ReplaceAll(deedOf, "DEED", "d1")
	for name, sql := range map[string]string{
		"the worker's function": worker,
		"the function inside": "select reward_reverse_posting('{}', '{}', '{}', '{}', '{}', '{}', " +
			"'{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', false, null)",
		"a statement": "insert into reward_ledger (player_id, reward_event_id, kind, amount, " +
			"fence_token, lease_owner, actor, reason) values ('p', 'e', 'gems', 5, 1, 'o', 'a', 'r')",
		"a balance":           "update reward_balance set amount = 1000000",
		"a delivery":          "insert into reward_outbox (ledger_id, player_id) values (1, 'p')",
		"a claim":             "insert into reward_claim (player_id) values ('p')",
		"the worker's role":   "set role " + schema.DefaultPrefix(w.Schema) + "_grant",
		"the chain":           "select operator_action_accounts('{null}')",
		"no row":              call(1, ""),
		"a row for some only": call(1, deed, ""),
		"another's intent":    call(1, intent(his)),
		"an ended intent":     call(1, intent(ended)),
		"a result":            call(1, intent(result)),
		"no such intent":      call(1, intent(4711)),
		"another deed's":      call(1, intent(release)),
		"an empty object":     call(1, "{}"),
		"his and mine":        call(1, intent(mine), intent(his)),
		"a reversal without": "select outcome from reward_reverse('{}', '{}', '{}', '{}', '{}', '{}', " +
			"'{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', false, null)",
	} {
		if _, err := conn.Exec(t.Context(), sql); !refusedAs(err, "42501") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var postings, rows int64
	count := "select (select count(*) from reward_ledger), (select count(*) from operator_action)"
	if err := w.Pool.QueryRow(t.Context(), count).Scan(&postings, &rows); err != nil {
		t.Fatal(err)
	}
	if postings != 0 || rows != 5 {
		t.Fatalf("%d postings, %d rows of the log", postings, rows)
	}
	for _, sql := range []string{ // by token
		call(2, deed), call(3, intent(mine), intent(mine)),
		call(4, intent(mine), strings.ReplaceAll(deedOf, "DEED", "d2")),
		// Said to be sent again under a deed that has its row: what it posts now gets one, too.
		strings.Replace(call(5, deed), ", false, ", ", true, ", 1),
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := w.Pool.QueryRow(t.Context(), count).Scan(&postings, &rows); err != nil {
		t.Fatal(err)
	}
	if postings != 6 || rows != 8 {
		t.Errorf("%d postings, %d rows of the log", postings, rows)
	}
}

// The functions run as the owner: what a session puts in front of their tables must not take the
// place of these.
func TestPostingsCannotBeLedAstray(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	mara := w.Schema + "_mara"
	rolesOf(t, w, schema.RoleLogin{Name: mara, Role: "operator"})
	conn := session(t, w, mara)
	for _, sql := range []string{
		"create temp table operator_action (id bigint, phase text, db_user text, intent bigint)",
		"insert into operator_action values (1, 'intent', session_user, null)",
		"create temp table reward_ledger (like " + pgx.Identifier{w.Schema, "reward_ledger"}.Sanitize() +
			")",
		"create function pg_temp.reward_timeline_check() returns void language sql as 'select 1'",
		"set search_path = pg_temp, " + pgx.Identifier{w.Schema}.Sanitize(),
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := conn.Exec(t.Context(), call(1, `{"intent":"1"}`)); !refusedAs(err, "42501") {
		t.Errorf("%v", err)
	}
	deed := strings.ReplaceAll(deedOf, "DEED", "d1")
	if _, err := conn.Exec(t.Context(), call(1, deed)); err != nil {
		t.Error(err)
	}
	var postings int
	err := w.Pool.QueryRow(t.Context(), "select count(*) from reward_ledger").Scan(&postings)
	if err != nil || postings != 1 {
		t.Errorf("%d postings, %v", postings, err)
	}
}

// An operator who was a member of the workers' role, as an older version made him, is it no more.
func TestRolesEndMemberships(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	rolesOf(t, w)
	prefix := schema.DefaultPrefix(w.Schema)
	_, err := w.Pool.Exec(t.Context(), "grant "+prefix+"_grant to "+prefix+"_operator")
	if err != nil {
		t.Fatal(err)
	}
	opt := schema.RoleOptions{Prefix: prefix}
	if _, err := schema.Roles(t.Context(), w.Conn, opt); err != nil {
		t.Fatal(err)
	}
	var member, looks bool
	err = w.Pool.QueryRow(t.Context(), "select pg_has_role($1, $2, 'member'), "+
		"pg_has_role($1, $3, 'member')", prefix+"_operator", prefix+"_grant", prefix+"_view").
		Scan(&member, &looks)
	if err != nil || member || !looks {
		t.Errorf("still a worker: %t, sees everything: %t, %v", member, looks, err)
	}
}
