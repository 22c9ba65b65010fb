package main

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewardctl/config"
	"rewardctl/grant/granttest"
	"rewardctl/grant/schema"
)

// wired runs a command line in this process, in a context that edit may change.
func wired(
	t *testing.T, w *granttest.World, edit func(*config.Context), args ...string,
) (exit exitCode, stdout, stderr string) {
	t.Helper()
	at, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Del("search_path")
	at.RawQuery = query.Encode()
	var c config.Context
	c.Name, c.Operator = "main", "mara"
	c.Postgres.URL, c.Postgres.Schema = at.String(), w.Schema
	c.Redis.Addrs = []string{w.RedisAddr}
	c.Lease.Prefix, c.Lease.TTL = w.Prefix, time.Minute
	edit(&c)
	path := filepath.Join(t.TempDir(), "rewardctl.yaml")
	if err := config.Write(path, "main", c); err != nil {
		t.Fatal(err)
	}
	var out, messages bytes.Buffer
	exit = run(t.Context(), process{
		args: append([]string{"--config", path}, args...), stdin: strings.NewReader(""),
		stdout: &out, stderr: &messages, now: time.Now,
		env: func(string) string { return "" },
	})
	return exit, out.String(), messages.String()
}

const unreachable = "postgres://nobody@127.0.0.1:1/none?sslmode=disable"

// Histories come from the replica, everything else from the primary.
func TestReadURLServesHistoriesOnly(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	if exit, _, said := wired(t, w, func(*config.Context) {}, "grant", "create", "--player", "p-1",
		"--event", "e-1", "--kind", "gems", "--amount", "5", "--reason", "r"); exit != exitOK {
		t.Fatalf("grant: %d: %s", exit, said)
	}
	lost := func(c *config.Context) { c.Postgres.ReadURL = unreachable }
	if exit, _, said := wired(t, w, lost, "player", "history", "p-1"); exit != exitUnavailable {
		t.Errorf("the replica is down: a history exits %d: %s", exit, said)
	}
	if exit, out, said := wired(t, w, lost, "doctor"); !strings.Contains(out, "read replica") ||
		!strings.Contains(out, "ledger unique key") {
		t.Errorf("the replica is down: doctor exits %d: %s%s", exit, out, said)
	}
	swapped := func(c *config.Context) {
		c.Postgres.URL, c.Postgres.ReadURL = unreachable, c.Postgres.URL
	}
	if exit, out, said := wired(t, w, swapped, "player", "history", "p-1"); exit != exitOK ||
		!strings.Contains(out, "e-1") {
		t.Errorf("the primary is down: a history exits %d: %s%s", exit, out, said)
	}
	if exit, _, said := wired(t, w, swapped, "doctor"); exit == exitOK {
		t.Errorf("the primary is down: doctor exits 0: %s", said)
	}
}

// The doctor compares the applied migrations with those this program knows.
func TestDoctorChecksMigrations(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	const remove = "delete from rewardctl_migration where version_id = $1"
	if _, err := w.Pool.Exec(t.Context(), remove, schema.Latest()); err != nil {
		t.Fatal(err)
	}
	exit, out, said := wired(t, w, func(*config.Context) {}, "doctor")
	if exit == exitOK || !strings.Contains(said, "rewardctl migrate up") ||
		!strings.Contains(out, strconv.FormatInt(schema.Latest(), 10)) {
		t.Errorf("doctor exits %d: %s%s", exit, out, said)
	}
}
