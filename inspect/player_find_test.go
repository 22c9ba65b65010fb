package inspect_test

import (
	"errors"
	"slices"
	"testing"

	"rewardctl/grant"
	"rewardctl/inspect"
)

func TestFindPlayers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "create table account (account_id bigint, nick text, born date)")
	b.exec(t, "insert into account (account_id, nick) values (1, 'Anna'), (2, 'ANNETTE'), "+
		"(3, 'bob'), (4, '100%'), (5, '1000'), (6, 'a_b'), (7, 'axb'), (8, null), (9, 'a\\b'), "+
		"(10, 'Ärger')")
	list := inspect.PlayerTable{Table: b.Schema + ".account", ID: "account_id", Name: "nick"}
	r := b.with(t, inspect.Options{Players: list})
	for prefix, want := range map[string][]string{
		"ann": {"1 Anna", "2 ANNETTE"}, "ANN": {"1 Anna", "2 ANNETTE"}, "anna": {"1 Anna"},
		"100%": {"4 100%"}, "a_": {"6 a_b"}, `a\`: {`9 a\b`}, "x": nil, "'": nil,
		"Ä": {"10 Ärger"},
	} {
		found, err := r.FindPlayers(t.Context(), prefix, 0)
		var got []string
		for _, p := range found {
			got = append(got, p.ID+" "+p.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q, %v", prefix, got, want, err)
		}
	}
	if found, err := r.FindPlayers(t.Context(), "a", 2); err != nil || len(found) != 2 {
		t.Errorf("limit: %v, %v", found, err)
	}
	byID := b.with(t, inspect.Options{
		Players: inspect.PlayerTable{Table: "account", ID: "account_id"},
	})
	found, err := byID.FindPlayers(t.Context(), "1", 0)
	if err != nil || len(found) != 2 || found[1].ID != "10" {
		t.Errorf("by id: %v, %v", found, err)
	}
}

func TestFindPlayersRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "create table account (id text, nick text)")
	good := inspect.PlayerTable{Table: "account", ID: "id", Name: "nick"}
	for _, c := range []struct {
		list   inspect.PlayerTable
		prefix string
		limit  int
		field  string
	}{
		{inspect.PlayerTable{}, "a", 0, "players"},
		{good, "", 0, "prefix"},
		{good, "\x00", 0, "prefix"},
		{good, "a", -1, "limit"},
		{good, "a", 1001, "limit"},
		{inspect.PlayerTable{Table: "nothing", ID: "id"}, "a", 0, "players.table"},
		{inspect.PlayerTable{Table: "account", ID: "x", Name: "nick"}, "a", 0, "players.id"},
		{inspect.PlayerTable{Table: "account", ID: "id", Name: "x"}, "a", 0, "players.name"},
	} {
		r := b.with(t, inspect.Options{Players: c.list})
		var problem *grant.Rejection
		_, err := r.FindPlayers(t.Context(), c.prefix, c.limit)
		if !errors.As(err, &problem) || problem.Field != c.field {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b.Pool.Close()
	r := b.with(t, inspect.Options{Players: good})
	if _, err := r.FindPlayers(t.Context(), "a", 0); !grant.Unavailable(err) {
		t.Errorf("PostgreSQL is down: %v", err)
	}
}
