package inspect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// FuzzHashedAlike writes rows as anybody may, and has both sides hash them: the database when it
// takes the row, this program when it checks it.
func FuzzHashedAlike(f *testing.F) {
	f.Add("mara", "desk", "why", "T-1", []byte(`{"b": 1.0, "aa": 2e3, "é": ["\u202e", null]}`),
		int64(3))
	f.Add("", "5:abcde", "-", "", []byte(`{"amount": 76561198308210211, "f": 1.50, "f": -0}`),
		int64(0))
	f.Add("\r\n", "日本", "\U0001f600", "a\tb", []byte(`[1e-7, 1E400, 12345678901234567890.0]`),
		int64(-1))
	b := setup(f)
	head := b.verify(f, inspect.LogCheck{}).Head
	f.Fuzz(func(t *testing.T, operator, host, reason, ticket string, object []byte, approval int64) {
		for _, s := range []string{operator, host, reason, ticket, string(object)} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				return // PostgreSQL has no such text
			}
		}
		if !json.Valid(object) || len(object) > 4096 {
			return
		}
		var taken int
		err := b.Pool.QueryRow(t.Context(), `with row as (
				insert into operator_action (operator, host, action, target, arguments, observed,
					before, reason, ticket, approval, outcome, command)
				select $1, $2, $3, $4, j, j, j, 'r' || $3, nullif($4, ''), nullif($6, 0), $1, $2
				from (select $5::text::jsonb as j) as given returning 1)
			select count(*) from row`, operator, host, reason, ticket, string(object), approval).
			Scan(&taken)
		if err != nil {
			return // a number beyond what jsonb holds, an escaped NUL, half a surrogate pair
		}
		v := b.verify(t, inspect.LogCheck{Since: &head})
		if v.State != inspect.LogIntact || v.Head.ID != head.ID+1 {
			t.Fatalf("row %d, then %d: %+v", head.ID, v.Head.ID, v.Breaks)
		}
		head = v.Head
	})
}

// FuzzAnchors looks for lines that crash the reader of anchors, or that pass as signed by a key
// which has not signed them.
func FuzzAnchors(f *testing.F) {
	key := testKey(1)
	line := inspect.NewLogAnchor(testHead(), key).Line()
	f.Add([]byte(line))
	f.Add([]byte(line + "\n" + inspect.NewLogAnchor(testHead(), testKey(2)).Line()))
	f.Add([]byte(strings.Replace(line, `"id":"`, `"id":"1`, 1)))
	f.Add([]byte("{}\n\n[]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		anchors, err := inspect.ReadLogAnchors(bytes.NewReader(text), publicOf(key))
		if err != nil {
			var no *grant.Rejection
			if !errors.As(err, &no) || len(anchors) > 0 {
				t.Fatalf("%d anchors, %v", len(anchors), err)
			}
			return
		}
		want := testHead()
		for _, a := range anchors { // there is only one head that this key has ever signed
			if a.Chain != want.Chain || a.ID != want.ID || !bytes.Equal(a.Hash, want.Hash) ||
				!a.At.Equal(want.At) {
				t.Fatalf("%+v passes as signed", a)
			}
		}
	})
}
