package inspect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewardctl/inspect"
)

// deeds writes n rows into the operator log, as anybody would.
func (b *bench) deeds(t testing.TB, n int) {
	t.Helper()
	b.exec(t, "insert into operator_action (operator, host, action, target, arguments, observed, "+
		"before, after, reason, ticket, approval, phase, outcome, command) "+
		"select 'mara', 'desk', 'grant create', 'p' || i, jsonb_build_object('amount', i::text, "+
		"'é', '\"<x>\u202e', 'f', 1.50), '{}', case when i % 2 = 0 then '{\"balance\": \"1\"}'::jsonb "+
		"end, null, 'why ' || i, case when i % 3 = 0 then 'T-' || i end, "+
		"case when i % 5 = 0 then i end, 'result', 'applied', 'rewardctl grant create' "+
		"from generate_series(1, $1::integer) i", n)
}

// tamper changes the log as the database's administrator can: the triggers are off.
func (b *bench) tamper(t testing.TB, statements ...string) {
	t.Helper()
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{"alter table operator_action disable trigger all"}, statements...)
	for _, sql := range append(all,
		"alter table operator_action enable always trigger operator_action_rows_stay",
		"alter table operator_action enable always trigger operator_action_table_stays",
		"alter table operator_action enable always trigger operator_action_chained") {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) verify(t testing.TB, check inspect.LogCheck) inspect.LogVerdict {
	t.Helper()
	v, err := b.reader.VerifyLog(t.Context(), check)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rechain hashes all rows anew from one on, as somebody who covers his traces would.
func rechain(from int) string {
	return fmt.Sprintf(`do $$
declare v_hash bytea; v_id bigint;
begin
    select hash into v_hash from operator_action where id = %d - 1;
    for v_id in select id from operator_action where id >= %d order by id loop
        update operator_action set prev_hash = v_hash where id = v_id;
        update operator_action a set hash = sha256(v_hash || operator_action_canonical(a))
        where id = v_id returning hash into v_hash;
    end loop;
    update operator_action_head set hash = v_hash,
        last_id = (select max(id) from operator_action);
end $$`, from, from)
}

// Each way of changing the log is named, with the first bad row.
func TestVerifyNamesEachTampering(t *testing.T) {
	t.Parallel()
	const copyTo = "create table kept as select * from operator_action; " +
		"create table kept_head as select * from operator_action_head"
	const putBack = "truncate operator_action; insert into operator_action select * from kept; " +
		"update operator_action_head h set last_id = k.last_id, hash = k.hash from kept_head k"
	for _, c := range []struct {
		name    string
		tamper  []string
		more    int  // deeds after the tampering
		anchor  bool // whether the head was kept before it
		state   inspect.LogState
		kind    inspect.LogBreakKind
		id, to  int64
		unaware bool // nobody can notice without an anchor
	}{
		{name: "nothing", state: inspect.LogIntact},
		{name: "nothing, anchored", anchor: true, more: 3, state: inspect.LogIntact},
		{
			name: "altered", tamper: []string{"update operator_action set reason = 'x' where id = 7"},
			state: inspect.LogAltered, kind: inspect.LogRowChanged, id: 7,
		},
		{
			name: "another time", state: inspect.LogAltered, kind: inspect.LogRowChanged, id: 7,
			tamper: []string{"update operator_action set created_at = created_at + " +
				"interval '1 microsecond' where id = 7"},
		},
		{
			name: "a number in an object", state: inspect.LogAltered, kind: inspect.LogRowChanged,
			id: 9, tamper: []string{"update operator_action set arguments = arguments || " +
				"'{\"f\": 1.5}' where id = 9"},
		},
		{
			name: "altered and hashed anew", state: inspect.LogAltered, kind: inspect.LogRowReplaced,
			id: 7, tamper: []string{
				"update operator_action set reason = 'x' where id = 7",
				"update operator_action a set hash = sha256(prev_hash || " +
					"operator_action_canonical(a)) where id = 7",
			},
		},
		{
			name: "the last row altered and hashed anew", state: inspect.LogAltered,
			kind: inspect.LogRowReplaced, id: 20,
			tamper: []string{
				"update operator_action set reason = 'x' where id = 20",
				"update operator_action a set hash = sha256(prev_hash || " +
					"operator_action_canonical(a)) where id = 20",
			},
		},
		{
			name: "deleted in the middle", state: inspect.LogAltered, kind: inspect.LogRowsGone,
			id: 5, to: 6, tamper: []string{"delete from operator_action where id in (5, 6)"},
		},
		{
			name: "the newest deleted", state: inspect.LogTruncated, kind: inspect.LogEndCut,
			id: 18, to: 20, tamper: []string{"delete from operator_action where id > 17"},
		},
		{
			name: "all deleted", state: inspect.LogTruncated, kind: inspect.LogEndCut, id: 1, to: 20,
			tamper: []string{"delete from operator_action"},
		},
		{
			name: "reordered", state: inspect.LogAltered, kind: inspect.LogRowMoved, id: 4,
			tamper: []string{
				"update operator_action set id = -id where id in (4, 12)",
				"update operator_action set id = case id when -4 then 12 else 4 end where id < 0",
			},
		},
		{
			name: "deleted and renumbered", state: inspect.LogAltered, kind: inspect.LogRowMoved,
			id: 5, tamper: []string{
				"delete from operator_action where id = 5",
				"update operator_action set id = -id where id > 5",
				"update operator_action set id = -id - 1 where id < 0",
				"update operator_action_head set last_id = 19",
			},
		},
		{
			name: "put in at the end", state: inspect.LogAltered, kind: inspect.LogRowMoved, id: 21,
			tamper: []string{"insert into operator_action select (jsonb_populate_record(a, " +
				"'{\"id\": 21}')).* from operator_action a where id = 3"},
		},
		{
			name: "put in before the first", state: inspect.LogAltered, kind: inspect.LogRowAdded,
			tamper: []string{"insert into operator_action select (jsonb_populate_record(a, " +
				"'{\"id\": 0}')).* from operator_action a where id = 3"},
		},
		{
			name: "head deleted", state: inspect.LogAltered, kind: inspect.LogHeadChanged, id: 21,
			tamper: []string{"delete from operator_action_head"},
		},
		{
			name: "the newest deleted with the head", state: inspect.LogTruncated, anchor: true,
			kind: inspect.LogEndOlder, id: 18, to: 20, unaware: true,
			tamper: []string{"delete from operator_action where id > 17", rechain(17)},
		},
		{
			name: "an old copy put back", state: inspect.LogTruncated, anchor: true, unaware: true,
			kind: inspect.LogEndOlder, id: 16, to: 20, tamper: []string{putBack},
		},
		{
			name: "an old copy put back and gone on", state: inspect.LogForked, anchor: true,
			kind: inspect.LogForkedAt, id: 1, to: 20, unaware: true, more: 9,
			tamper: []string{putBack},
		},
		{
			name: "written anew from a row on", state: inspect.LogForked, anchor: true,
			kind: inspect.LogForkedAt, id: 1, to: 20, unaware: true,
			tamper: []string{"update operator_action set reason = 'x' where id = 7", rechain(7)},
		},
		{
			name: "another log", state: inspect.LogForked, anchor: true,
			kind: inspect.LogForkedAt, id: 1, to: 20, tamper: []string{
				"truncate operator_action",
				"update operator_action_head set chain = 'x', last_id = 0, " +
					"hash = sha256('rewardctl operator log x')",
			}, more: 30, unaware: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.deeds(t, 15)
			b.exec(t, copyTo)
			b.deeds(t, 5)
			var check inspect.LogCheck
			if c.anchor {
				check.Anchors = []inspect.LogHead{b.verify(t, check).Head}
			}
			b.tamper(t, c.tamper...)
			if c.more > 0 {
				b.deeds(t, c.more)
			}
			v := b.verify(t, check)
			if v.State != c.state {
				t.Fatalf("%s, want %s: %+v", v.State, c.state, v.Breaks)
			}
			if c.state != inspect.LogIntact {
				got := v.Breaks[0]
				if got.Kind != c.kind || got.ID != c.id || got.To != c.to {
					t.Errorf("%+v, want %s from %d to %d", got, c.kind, c.id, c.to)
				}
			}
			if c.unaware {
				if blind := b.verify(t, inspect.LogCheck{}); blind.State != inspect.LogIntact ||
					!strings.Contains(fmt.Sprint(blind.Notes), "no anchor") {
					t.Errorf("without an anchor: %+v", blind)
				}
			}
		})
	}
}

// A check that begins at an anchor reads only what is new, and notices all the same.
func TestVerifyGoesOnFromAnAnchor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	empty := b.verify(t, inspect.LogCheck{})
	if empty.State != inspect.LogIntact || empty.Head.ID != 0 || empty.Rows != 0 {
		t.Fatalf("%+v", empty)
	}
	b.deeds(t, 10)
	first := b.verify(t, inspect.LogCheck{Since: &empty.Head})
	if first.State != inspect.LogIntact || first.Rows != 10 || first.AnchoredTo != 0 {
		t.Fatalf("%+v", first)
	}
	b.deeds(t, 10)
	v := b.verify(t, inspect.LogCheck{Since: &first.Head})
	if v.State != inspect.LogIntact || v.Rows != 11 || v.AnchoredTo != 10 || v.Since != 10 {
		t.Fatalf("%+v", v)
	}
	old := first.Head
	b.tamper(t, "update operator_action set reason = 'x' where id = 10", rechain(10))
	if v = b.verify(t, inspect.LogCheck{Since: &old}); v.State != inspect.LogForked {
		t.Fatalf("%+v", v)
	}
	b.tamper(t, "delete from operator_action where id > 4", rechain(4))
	v = b.verify(t, inspect.LogCheck{Since: &old})
	if v.State != inspect.LogTruncated || v.Breaks[0].ID != 5 || v.Breaks[0].To != 10 {
		t.Fatalf("%+v", v)
	}
}

// What the database hashes and what this program hashes is the same for any text, and a row gets
// its actor, time and place from the database whatever the writer says.
func TestTheDatabaseSignsTheRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "insert into operator_action (id, operator, db_user, client, action, target, "+
		"arguments, observed, reason, outcome, command, created_at, prev_hash, hash) values "+
		"(99, E'\u202eé\\n', 'somebody', 'nowhere', '', '-', '{\"b\": 1.0, \"aa\": 2e3}', '[]', "+
		"'日本', '', '5:abc', 'epoch', '\\x00', '\\x00')")
	page, err := b.reader.Log(t.Context(), inspect.LogQuery{})
	if err != nil || len(page.Entries) != 1 {
		t.Fatal(page, err)
	}
	e := page.Entries[0]
	if e.ID != 1 || e.DBUser == "somebody" || e.DBUser == "" || e.Client == "nowhere" ||
		e.At.Year() < 2000 || e.Arguments != `{"b": 1.0, "aa": 2000}` || e.Phase != inspect.LogResult {
		t.Errorf("%+v", e)
	}
	if v := b.verify(t, inspect.LogCheck{}); v.State != inspect.LogIntact {
		t.Errorf("%+v", v)
	}
}

// Pages meet without a gap or a repeat, in both directions, and the filters select.
func TestLogPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.deeds(t, 23)
	b.exec(t, "insert into operator_action (operator, action, target, arguments, observed, reason, "+
		"phase, intent, outcome, command) values ('bo', 'lease release', 'r1', '{}', '{}', 'r', "+
		"'intent', null, 'burned', 'c'), ('bo', 'lease release', 'r2', '{}', '{}', 'r', 'intent', "+
		"null, 'burned', 'c'), ('bo', 'lease release', 'r1', '{}', '{}', 'r', 'result', 24, "+
		"'released', 'c'), ('bo', 'lease burn', 'r3', '{}', '{}', 'r', 'denied', null, "+
		"'denied: it has changed', 'c')")
	var down, up []int64
	q := inspect.LogQuery{Limit: 5}
	for {
		page, err := b.reader.Log(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			down = append(down, e.ID)
		}
		if page.Next == 0 {
			q = inspect.LogQuery{Limit: 5, Newer: page.Prev}
			break
		}
		q.Older = page.Next
	}
	for q.Newer != 0 {
		page, err := b.reader.Log(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(page.Entries)
		for _, e := range page.Entries {
			up = append(up, e.ID)
		}
		q.Newer = page.Prev
	}
	for i, id := range down {
		if id != int64(27-i) {
			t.Fatalf("down: %v", down)
		}
	}
	if len(down) != 27 || len(up) != 25 || up[0] != 3 || up[24] != 27 {
		t.Errorf("%d down, up: %v", len(down), up)
	}
	var user string
	b.query(t, &user, "select session_user::text")
	for text, want := range map[string]string{
		`{"Actor": "bo"}`: "27 26 25 24", `{"Actor": "` + user + `", "Limit": 2}`: "27 26",
		`{"Action": "lease"}`: "27 26 25 24", `{"Action": "lease release"}`: "26 25 24",
		`{"Action": "lea"}`: "", `{"Target": "r1"}`: "26 24", `{"Outcome": "denied"}`: "27",
		`{"Outcome": "burned"}`: "25 24", `{"Unfinished": true}`: "25",
		`{"To": "2001-01-01T00:00:00Z"}`: "", `{"Target": "p7"}`: "7",
	} {
		var q inspect.LogQuery
		if err := json.Unmarshal([]byte(text), &q); err != nil {
			t.Fatal(err)
		}
		page, err := b.reader.Log(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range page.Entries {
			got = append(got, fmt.Sprint(e.ID))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	for _, q := range []inspect.LogQuery{{Limit: -1}, {Older: 1, Newer: 2}, {Limit: 10_001}} {
		if _, err := b.reader.Log(t.Context(), q); err == nil {
			t.Errorf("%+v passes", q)
		}
	}
}
