package grant_test

import (
	"strings"
	"testing"

	"rewardctl/grant"
)

func TestValidateNamesFieldValueAndWayOut(t *testing.T) {
	t.Parallel()
	good := grant.Request{
		PlayerID: "日本-1", EventID: "season:1", Kind: "gems", Amount: 5, Actor: "ops", Reason: "x",
	}
	if r := grant.Validate(good, grant.Limits{}); r != nil {
		t.Fatalf("a good request is rejected: %v", r)
	}
	cases := []struct {
		name, field string
		change      func(*grant.Request)
	}{
		{"no player", "player_id", func(r *grant.Request) { r.PlayerID = "" }},
		{"blank player", "player_id", func(r *grant.Request) { r.PlayerID = "  " }},
		{"trailing blank", "player_id", func(r *grant.Request) { r.PlayerID = "p1 " }},
		{"no-break space", "player_id", func(r *grant.Request) { r.PlayerID = "p1\u00a0" }},
		{"zero width", "player_id", func(r *grant.Request) { r.PlayerID = "p\u200b1" }},
		{"byte order mark", "player_id", func(r *grant.Request) { r.PlayerID = "\ufeffp1" }},
		{"right to left", "player_id", func(r *grant.Request) { r.PlayerID = "p\u202e1" }},
		{"escape", "player_id", func(r *grant.Request) { r.PlayerID = "p\x1b[2J" }},
		{"NUL", "player_id", func(r *grant.Request) { r.PlayerID = "p\x00" }},
		{"C1", "player_id", func(r *grant.Request) { r.PlayerID = "p\u009b1" }},
		{"bad UTF-8", "player_id", func(r *grant.Request) { r.PlayerID = "p\xff" }},
		{"long", "player_id", func(r *grant.Request) { r.PlayerID = strings.Repeat("p", 201) }},
		{"no event", "reward_event_id", func(r *grant.Request) { r.EventID = "" }},
		{"line separator", "reward_event_id", func(r *grant.Request) { r.EventID = "e\u2028" }},
		{"no kind", "kind", func(r *grant.Request) { r.Kind = "" }},
		{"no actor", "actor", func(r *grant.Request) { r.Actor = "" }},
		{"no reason", "reason", func(r *grant.Request) { r.Reason = "" }},
		{"zero", "amount", func(r *grant.Request) { r.Amount = 0 }},
		{"negative", "amount", func(r *grant.Request) { r.Amount = -5 }},
		{"over the limit", "amount", func(r *grant.Request) { r.Amount = 1_000_000_001 }},
		{"hostile resource", "resource", func(r *grant.Request) { r.Resource = "a\nb" }},
		{"token 0", "token", func(r *grant.Request) { r.Held = &grant.Lease{Owner: "w"} }},
		{"no owner", "owner", func(r *grant.Request) { r.Held = &grant.Lease{Token: 1} }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := good
			c.change(&r)
			got := grant.Validate(r, grant.Limits{})
			if got == nil {
				t.Fatal("accepted")
			}
			if got.Field != c.field || got.Problem == "" || got.WayOut == "" {
				t.Errorf("got %+v, want field %s with problem and way out", got, c.field)
			}
		})
	}
}

func TestValidateAmountLimitIsInclusive(t *testing.T) {
	t.Parallel()
	r := grant.Request{PlayerID: "p", EventID: "e", Kind: "k", Amount: 10, Actor: "a", Reason: "r"}
	if got := grant.Validate(r, grant.Limits{AmountMax: 10}); got != nil {
		t.Errorf("the limit itself is rejected: %v", got)
	}
	r.Amount = 11
	if got := grant.Validate(r, grant.Limits{AmountMax: 10}); got == nil {
		t.Error("an amount over the limit is accepted")
	}
}

// Whatever is accepted as an id is printable, valid UTF-8 without blanks at its ends: two ids
// that differ never look alike because of something that cannot be seen.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{"p1", "日本", "a}b", "p\u200b", "\xff", " x", "x\t", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		r := grant.Request{
			PlayerID: id, EventID: "e", Kind: "k", Amount: 1, Actor: "a", Reason: "r",
		}
		if grant.Validate(r, grant.Limits{}) != nil {
			return
		}
		if id == "" || id != strings.TrimSpace(id) || id != strings.ToValidUTF8(id, "") {
			t.Errorf("%q is accepted", id)
		}
		for _, c := range id {
			if c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0x200b || c == 0x202e {
				t.Errorf("%q is accepted", id)
			}
		}
	})
}
