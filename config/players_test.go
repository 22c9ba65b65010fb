package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/config"
)

func TestPlayers(t *testing.T) {
	t.Parallel()
	load := func(body string) (config.Players, error) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		text := "contexts:\n  one:\n    players: " + body + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Source{File: path, Environ: []string{}})
		if err != nil {
			return config.Players{}, err
		}
		return c.Active().Players, nil
	}
	want := config.Players{Table: "game.account", ID: "account_id", Name: "nick"}
	got, err := load("{table: game.account, id: account_id, name: nick}")
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := load("{}"); err != nil || got != (config.Players{}) {
		t.Errorf("none: %+v, %v", got, err)
	}
	for body, field := range map[string]string{
		"{id: account_id}":                                "players.table",
		"{table: account}":                                "players.id",
		"{table: 'a;drop table x', id: i}":                "players.table",
		"{table: a.b.c, id: i}":                           "players.table",
		"{table: a, id: 'i\"'}":                           "players.id",
		"{table: a, id: i, name: 'upper(name)'}":          "players.name",
		"{table: Account, id: i}":                         "players.table",
		"{table: a, id: i, nick: n}":                      "players.nick",
		"{table: " + strings.Repeat("a", 64) + ", id: i}": "players.table",
	} {
		if _, err := load(body); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
