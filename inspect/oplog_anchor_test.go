package inspect_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewardctl/grant"
	"rewardctl/inspect"
)

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey)
	return public
}

func testHead() inspect.LogHead {
	return inspect.LogHead{
		Chain: "c", ID: 1 << 60, Hash: make([]byte, 32),
		At: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC),
	}
}

// A signed line is read back as what it was; changing any field of it is noticed.
func TestAnchorLines(t *testing.T) {
	t.Parallel()
	key := testKey('a')
	line := inspect.NewLogAnchor(testHead(), key).Line()
	got, err := inspect.ReadLogAnchors(strings.NewReader("\n"+line+"\n"), publicOf(key))
	if err != nil || len(got) != 1 || got[0].ID != 1<<60 || !got[0].At.Equal(testHead().At) {
		t.Fatalf("%+v, %v", got, err)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatal(err)
	}
	other := inspect.NewLogAnchor(testHead(), testKey('b'))
	for name, value := range map[string]any{
		"chain": "d", "id": "5", "hash": strings.Repeat("01", 32), "at": "2026-11-30T01:02:03Z",
		"version": 2, "anchor": "x", "signature": fields["public_key"], "more": "x",
		"public_key": strings.Repeat("A", 43) + "=",
	} {
		was, there := fields[name]
		fields[name] = value
		text, _ := json.Marshal(fields)
		if fields[name] = was; !there {
			delete(fields, name)
		}
		if _, err := inspect.ReadLogAnchors(strings.NewReader(string(text)), nil); err == nil {
			t.Errorf("%s = %v passes", name, value)
		}
	}
	for name, text := range map[string]string{
		"another key": other.Line(), "no key": inspect.NewLogAnchor(testHead(), nil).Line(),
		"no JSON": "x", "a long line": strings.Repeat("x", 5000),
	} {
		var refused *grant.Rejection
		_, err := inspect.ReadLogAnchors(strings.NewReader(line+"\n"+text), publicOf(key))
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := inspect.ReadLogAnchors(strings.NewReader(
		inspect.NewLogAnchor(testHead(), nil).Line()), nil); err != nil {
		t.Errorf("an unsigned anchor without a key to trust: %v", err)
	}
}

// Whatever people write, the database and this program hash the same.
func TestAnyTextIsHashedAlike(t *testing.T) {
	t.Parallel()
	b := setup(t)
	texts := rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != 0 }), 0, 20, -1)
	values := rapid.MapOfN(texts, rapid.OneOf(
		rapid.Just(any(1e300)), rapid.Just(any(-0.5)), rapid.Just(any(nil)), rapid.Just(any(true)),
		rapid.Map(texts, func(s string) any { return s }),
		rapid.Map(texts, func(s string) any { return []any{s, 1.0, map[string]any{s: "x"}} }),
	), 0, 4)
	rapid.Check(t, func(rt *rapid.T) {
		object, err := json.Marshal(values.Draw(rt, "object"))
		if err != nil {
			rt.Fatal(err)
		}
		text := func(name string) string { return texts.Draw(rt, name) }
		_, err = b.Pool.Exec(t.Context(), "insert into operator_action (operator, host, action, "+
			"target, arguments, observed, after, reason, ticket, outcome, command) values "+
			"($1, $2, $3, $4, $5, $5, $5, $6, $7, $8, $9)", text("operator"), text("host"),
			text("action"), text("target"), string(object), "r"+text("reason"), text("ticket"),
			text("outcome"), text("command"))
		if err != nil {
			rt.Fatal(err)
		}
	})
	if v := b.verify(t, inspect.LogCheck{}); v.State != inspect.LogIntact || v.Rows < 20 {
		t.Errorf("%+v", v)
	}
}

// A shift is summed up, its refusals are told, and what was cut off is handed over; the doctor
// lists it too, until the same deed is done.
func TestShiftAndUnfinishedDeeds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := func(action, target, phase, outcome, intent string) {
		b.exec(t, "insert into operator_action (operator, action, target, arguments, observed, "+
			"reason, phase, outcome, command, intent) values ('mara', $1, $2, '{}', '{}', 'r', $3, "+
			"$4, 'c', nullif($5, '')::bigint)", action, target, phase, outcome, intent)
	}
	row("lease release", "r1", "intent", "burned", "")
	row("lease release", "r1", "result", "released", "1")
	row("lease release", "r2", "intent", "burned", "")
	row("grant create", "p1", "denied", "mismatch", "")
	row("grant create", "p1", "failed", "failed: nothing was granted", "")
	row("grant create", "p1", "result", "applied", "")
	now := time.Now()
	s, err := b.reader.Shift(t.Context(), now.Add(-time.Hour), now.Add(time.Hour), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Unfinished) != 1 || s.Unfinished[0].ID != 3 || len(s.Refused) != 2 ||
		s.Refused[0].ID != 4 || len(s.Deeds) != 5 || s.Deeds[0].ID != 2 || len(s.Sums) != 5 ||
		s.Cut || s.Head.ID != 6 {
		t.Errorf("%+v", s)
	}
	s, err = b.reader.Shift(t.Context(), now.Add(time.Hour), now.Add(2*time.Hour), "")
	if err != nil ||
		len(s.Deeds) != 0 || len(s.Sums) != 0 || len(s.Unfinished) != 1 {
		t.Errorf("a later shift: %+v, %v", s, err)
	}
	if _, err := b.reader.Shift(t.Context(), now, now, ""); err == nil {
		t.Error("a span without time passes")
	}
	later := b.with(t, inspect.Options{Now: func() time.Time { return now.Add(time.Hour) }})
	check := func(want inspect.Status, parts ...string) {
		t.Helper()
		d, err := later.Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Checks {
			if c.Name == "unfinished deeds" {
				if c.Status != want {
					t.Errorf("%+v", c)
				}
				mustContain(t, "the doctor", c.Value, parts...)
			}
			if c.Name == "operator log" && c.Status != inspect.Pass {
				t.Errorf("%+v", c)
			}
		}
	}
	check(inspect.Fail, "1 without a result", "row 3: lease release r2 by mara")
	row("lease release", "r2", "intent", "already_burned", "")
	row("lease release", "r2", "result", "already_gone", "7")
	check(inspect.Pass, "none")
}
