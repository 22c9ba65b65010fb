package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/config"
)

// FuzzLoad feeds the loader any file: it either refuses it with an *Error, or accepts it and then
// keeps its promises.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", twoContexts, inA("lease: {ttl: 0}"), inA("redis: {addrs: [\"[::1]:6379\"]}"),
		inA("postgres: {url: \"postgres://a:b@localhost/x\"}"), "a: &a [*a]", "? [a]\n: b",
		"contexts: {a: !!binary aGk=}", "%YAML 1.1\n---\ncontexts:", "\ufeffcontexts: {}",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content string) {
		file, err := os.CreateTemp(dir, "*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file.Name())
		_, err = file.WriteString(content)
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Source{File: file.Name(), Environ: []string{}})
		if err != nil {
			var typed *config.Error
			if !errors.As(err, &typed) {
				t.Fatalf("the error is a %T: %v", err, err)
			}
			return
		}
		a := c.Active()
		if a.Lease.TTL <= 0 || a.Lease.Margin >= a.Lease.TTL || a.Limits.AmountMax < 1 {
			t.Fatalf("accepted %+v", a)
		}
		if strings.ContainsAny(a.Lease.Prefix, "{}") || a.Operator == "" || a.Environment == "" {
			t.Fatalf("accepted %+v", a)
		}
		// What was accepted is written so that it is accepted again, and means the same.
		path := filepath.Join(t.TempDir(), "again.yaml")
		if err := config.Write(path, a.Name, a); err != nil {
			t.Fatal(err)
		}
		again, err := config.Load(config.Source{File: path, Environ: []string{}})
		if err != nil {
			t.Fatalf("written back: %v", err)
		}
		for i, s := range again.Settings() {
			if want := c.Settings()[i]; s.Value != want.Value {
				t.Fatalf("%s is %q when read back, was %q", s.Key, s.Value, want.Value)
			}
		}
	})
}

// FuzzIdentifiers names the schema and a table by any text: only what PostgreSQL takes for that
// very name, quoted or not, is accepted, and it is not bent into another one.
func FuzzIdentifiers(f *testing.F) {
	for _, seed := range []string{
		"game", "_a1", "Game", "a b", "a\"b", "a.b", "a;drop table x", "a--", "a\x00", "ａ", "1a", "",
		strings.Repeat("a", 63), strings.Repeat("a", 64), "a\n", " a", "a'", "a/*", "pg_catalog",
	} {
		f.Add(seed)
	}
	file := filepath.Join(f.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("contexts: {a: {}}\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	load := func(variables ...string) (config.Context, error) {
		c, err := config.Load(config.Source{File: file, Environ: variables})
		if err != nil {
			return config.Context{}, err
		}
		return c.Active(), nil
	}
	f.Fuzz(func(t *testing.T, name string) {
		if c, err := load("REWARDCTL_POSTGRES_SCHEMA=" + name); err == nil && name != "" {
			if c.Postgres.Schema != name || !plain(name) {
				t.Fatalf("%q became the schema %q", name, c.Postgres.Schema)
			}
		}
		c, err := load("REWARDCTL_PLAYERS_TABLE="+name, "REWARDCTL_PLAYERS_ID="+name)
		if err != nil || name == "" {
			return
		}
		if c.Players.Table != name || c.Players.ID != name || !plain(name) {
			t.Fatalf("%q became the table %q and the column %q", name, c.Players.Table,
				c.Players.ID)
		}
	})
}

// plain is a name that means the same with quotes and without, and is not cut off.
func plain(name string) bool {
	return len(name) <= 63 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) && (name[0] < '0' || name[0] > '9')
}
