package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// listed is an operator for whom only the players of the table exist.
func (b *bench) listed(t *testing.T, table, id string) *repair.Operator {
	t.Helper()
	o, err := repair.New(b.Pool, b.store, b.engine, repair.Options{
		Operator: "alice", NewID: rand.Text, Players: repair.PlayerTable{Table: table, ID: id},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ask(player string) grant.Request {
	return grant.Request{
		PlayerID: player, EventID: "e1", Kind: "gems", Amount: 5, Actor: "alice", Reason: "r",
	}
}

func refusedField(res grant.Result) string {
	if res.Outcome != grant.Rejected || res.Rejected == nil {
		return ""
	}
	return res.Rejected.Field
}

// A grant to a player who is not in the list is rejected by hand, in a preview and in a file,
// whatever the type of the id; spelling counts.
func TestGrantToUnknownPlayer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const uuid = "018f4a52-0000-7000-8000-00000000abcd"
	for _, statement := range []string{
		"create table by_text (who text primary key)", "insert into by_text values ('p1'), ('007')",
		"create table by_number (who integer)", "insert into by_number values (7)",
		"create table by_uuid (who uuid)", "insert into by_uuid values ('" + uuid + "')",
	} {
		if _, err := b.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for table, c := range map[string]struct{ known, unknown []string }{
		"by_text":   {[]string{"p1", "007"}, []string{"P1", "7", "p1 ", "p"}},
		"by_number": {[]string{"7"}, []string{"007", "8", "+7", "x", "99999999999999999999"}},
		"by_uuid":   {[]string{uuid}, []string{"018F4A52-0000-7000-8000-00000000ABCD", "x"}},
	} {
		o := b.listed(t, b.Schema+"."+table, "who")
		var requests []grant.Request
		for _, player := range append(c.unknown, c.known...) {
			requests = append(requests, ask(player))
		}
		previews, err := o.Previews(t.Context(), requests)
		if err != nil {
			t.Fatal(err)
		}
		results, err := o.Known(b.engine).GrantMany(t.Context(), requests)
		if err != nil || len(results) != len(requests) {
			t.Fatalf("%s: %d results, %v", table, len(results), err)
		}
		for i, r := range requests {
			stranger := i < len(c.unknown)
			deed, err := o.Grant(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for way, res := range map[string]grant.Result{
				"preview": previews[i].Result, "file": results[i], "by hand": deed.Result,
			} {
				valid := grant.Validate(r, grant.Limits{}) == nil
				if got := refusedField(res) == "player_id"; got != stranger && valid {
					t.Errorf("%s %s: %q: rejected %t, want %t: %+v", table, way, r.PlayerID, got,
						stranger, res)
				}
				if res.PlayerID != r.PlayerID {
					t.Errorf("%s %s: %q is answered for %q", table, way, r.PlayerID, res.PlayerID)
				}
			}
		}
	}
	var n int
	const count = "select count(*) from reward_ledger"
	if err := b.Pool.QueryRow(t.Context(), count).Scan(&n); err != nil || n != 4 {
		t.Errorf("%d postings, want 4, %v", n, err)
	}
	b.CheckInvariants(t)
}

// A list that cannot be read as configured grants nothing, and says what is wrong with it.
func TestListOfPlayersIsWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const table = "create table account (id text, born date)"
	if _, err := b.Pool.Exec(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ table, id, field string }{
		{"nothing", "id", "players.table"},
		{"account", "name", "players.id"},
		{"account", "born", "players.id"},
		{`account" as p; drop table account; --`, "id", "players.table"},
	} {
		o := b.listed(t, c.table, c.id)
		_, byHand := o.Grant(t.Context(), ask("p1"))
		_, preview := o.PreviewGrant(t.Context(), ask("p1"))
		_, file := o.Known(b.engine).GrantMany(t.Context(), []grant.Request{ask("p1")})
		for _, err := range []error{byHand, preview, file} {
			var problem *grant.Rejection
			if !errors.As(err, &problem) || problem.Field != c.field {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := b.listed(t, "account", "id")
	if _, err := o.Known(b.engine).GrantMany(ctx, []grant.Request{ask("p1")}); err == nil {
		t.Error("the list was not asked, and the grant went on")
	}
}
