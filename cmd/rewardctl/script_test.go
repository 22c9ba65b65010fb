package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// TestMain runs the program itself when the test binary is called by its name, which is how the
// scripts call it: a process of its own, with real signals and a real exit code.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "rewardctl" {
		main()
	}
	granttest.Main(m)
}

// TestScripts runs each script in testdata/script against a schema and a key prefix of its own.
//
// Beside testscript's own commands there are: exits N COMMAND... (the exact exit code), json PATH
// VALUE (of the last stdout), golden FILE (the last stdout with what differs from run to run
// blanked out), keep NAME PATH (of the last stdout, into a variable), rows N (of the ledger),
// invariants, hold RESOURCE OWNER [TTL], lockis RESOURCE [VALUE], sql STATEMENT, within TIME N
// COMMAND... (exits, with a bound of time), redis COMMAND... (keys begin with $PREFIX), port NAME
// (a free address, into a variable), answers ADDRESS (waits until somebody listens), person [NAME]
// (who gives the commands that follow), xlsx OUT SHEET=CSV... (writes a workbook).
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	bin := programDir(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, world: granttest.New(t)}
			testscript.Run(t, testscript.Params{
				Files: []string{file}, RequireExplicitExec: true, Cmds: s.commands(),
				Setup: func(env *testscript.Env) error { return s.setup(env, bin) },
			})
		})
	}
}

// programDir returns a folder in which this test binary is called rewardctl.
func programDir(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "rewardctl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// script is the world of one script.
type script struct {
	t     *testing.T
	world *granttest.World
}

func (s *script) setup(env *testscript.Env, bin string) error {
	env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
		env.Setenv(name, filepath.Join(env.WorkDir, "home"))
	}
	env.Setenv("TERM", "xterm-256color")
	env.Setenv("SCHEMA", s.world.Schema)
	env.Setenv("PREFIX", s.world.Prefix)
	path := filepath.Join(env.WorkDir, "rewardctl.yaml")
	env.Setenv("REWARDCTL_CONFIG", path)
	return writeScriptConfig(s.t, path, s.world, time.Minute)
}

func (s *script) commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": s.exits, "json": s.json, "golden": s.golden, "rows": s.rows,
		"invariants": s.invariants, "hold": s.hold, "lockis": s.lockis, "sql": s.sql,
		"within": s.within, "redis": s.redis, "keep": s.keep, "person": s.person,
		"port": s.port, "answers": s.answers, "xlsx": xlsx,
	}
}

// exits runs a command and wants exactly this exit code.
func (s *script) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// within is exits with a bound of time: within DURATION N COMMAND...
func (s *script) within(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	s.exits(ts, neg, args[1:])
	if took := time.Since(began); took > limit {
		ts.Fatalf("took %v, more than %v", took, limit)
	}
}

// json wants a value at a path of the last stdout, such as: json existing.amount 100
func (s *script) json(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	got := at(ts, decode(ts, ts.ReadFile("stdout")), args[0])
	text, err := json.Marshal(got)
	ts.Check(err)
	have := strings.Trim(string(text), `"`)
	if (have == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %t)", args[0], have, args[1], neg)
	}
}

// keep puts a value of the last stdout into a variable: keep NAME PATH.
func (s *script) keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep NAME PATH")
	}
	ts.Setenv(args[0], fmt.Sprint(at(ts, decode(ts, ts.ReadFile("stdout")), args[1])))
}

func decode(ts *testscript.TestScript, text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	return value
}

func at(ts *testscript.TestScript, value any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				ts.Fatalf("%s: there is no %q", path, step)
			}
			value = next
		case []any:
			if step == "length" {
				return len(v)
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no element %q of %d", path, step, len(v))
			}
			value = v[i]
		default:
			ts.Fatalf("%s: nothing below %q", path, step)
		}
	}
	return value
}

// golden compares the last stdout with a file, after blanking out what differs from run to run.
func (s *script) golden(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: golden FILE")
	}
	var text bytes.Buffer
	ts.Check(writeJSON(&text, blanked(decode(ts, ts.ReadFile("stdout"))), true))
	got := text.String()
	want := ts.ReadFile(args[0])
	if got != want {
		ts.Fatalf("stdout differs from %s; it is:\n%s", args[0], got)
	}
}

// blanked replaces texts that are there by a mark, for fields that are never the same twice.
func blanked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			_, isText := one.(string)
			switch name {
			case "at", "token", "owner", "ledger_id", "replay_of", "left_ms", "until":
				if isText || name == "left_ms" && one != nil {
					v[name] = "<" + name + ">"
				}
			default:
				v[name] = blanked(one)
			}
			if name == "existing" || name == "holder" || name == "fence" {
				v[name] = blanked(one)
			}
		}
	case []any:
		for i := range v {
			v[i] = blanked(v[i])
		}
	}
	return value
}

// rows wants the number of postings.
func (s *script) rows(ts *testscript.TestScript, neg bool, args []string) {
	var n int
	err := s.world.Pool.QueryRow(s.t.Context(), "select count(*) from reward_ledger").Scan(&n)
	ts.Check(err)
	if (strconv.Itoa(n) == args[0]) == neg {
		ts.Fatalf("%d postings, want %s (negated: %t)", n, args[0], neg)
	}
}

func (s *script) invariants(ts *testscript.TestScript, _ bool, _ []string) {
	s.world.CheckInvariants(s.t)
	if s.t.Failed() {
		ts.Fatalf("the invariants are broken")
	}
}

// hold takes a lease as another worker would, and puts its token into $TOKEN.
func (s *script) hold(ts *testscript.TestScript, neg bool, args []string) {
	ttl := time.Minute
	if len(args) > 2 {
		var err error
		ttl, err = time.ParseDuration(args[2])
		ts.Check(err)
	}
	token := s.take(args[0], args[1], ttl)
	ts.Setenv("TOKEN", strconv.FormatInt(token, 10))
}

// take acquires a lease as another worker would and returns its token.
func (s *script) take(resource, owner string, ttl time.Duration) int64 {
	s.t.Helper()
	store, err := lease.New(s.world.Redis, lease.Options{Prefix: s.world.Prefix, TTL: ttl})
	if err != nil {
		s.t.Fatal(err)
	}
	ask := grant.Ask{Resource: resource, Owner: owner}
	answer := store.Acquire(s.t.Context(), []grant.Ask{ask})[0]
	if answer.Lease == nil {
		s.t.Fatalf("not acquired: %+v", answer)
	}
	return answer.Lease.Token
}

// lockis wants the value of a lock, or that there is none.
func (s *script) lockis(ts *testscript.TestScript, neg bool, args []string) {
	store, err := lease.New(s.world.Redis, lease.Options{Prefix: s.world.Prefix, TTL: time.Minute})
	ts.Check(err)
	got := s.world.Redis.Get(s.t.Context(), store.LockKey(args[0])).Val()
	want := strings.Join(args[1:], " ")
	if (got == want) == neg {
		ts.Fatalf("the lock is %q, want %q (negated: %t)", got, want, neg)
	}
}

// sql runs a statement in the script's schema.
func (s *script) sql(ts *testscript.TestScript, _ bool, args []string) {
	_, err := s.world.Pool.Exec(s.t.Context(), strings.Join(args, " "))
	ts.Check(err)
}

// writeScriptConfig writes the configuration of the scripts: the same servers as several contexts,
// and some whose servers are not there. Commands run under the database role of an operator; the
// context owner is for migrations and drills.
func writeScriptConfig(t *testing.T, path string, w *granttest.World, ttl time.Duration) error {
	t.Helper()
	at, err := url.Parse(w.URL())
	if err != nil {
		return err
	}
	query := at.Query()
	query.Del("search_path")
	at.RawQuery = query.Encode()
	mara := account(t, w, "mara", "operator")
	named := func(name string) config.Context {
		var c config.Context
		c.Name, c.Operator = name, "mara"
		c.Postgres.URL, c.Postgres.Schema = mara, w.Schema
		c.Redis.Addrs = []string{w.RedisAddr}
		c.Lease.Prefix, c.Lease.TTL = w.Prefix, ttl
		return c
	}
	listed := named("listed")
	listed.Players = config.Players{Table: "account", ID: "who", Name: "nick"}
	audit, live, down, noRedis, noPostgres := named("audit"), named("live"), named("down"),
		named("noredis"), named("nopostgres")
	owner := named("owner")
	owner.Postgres.URL = at.String()
	audit.ReadOnly = true
	live.Protected, live.Environment = true, "prod"
	nobody := "127.0.0.1:1"
	noRedis.Redis.Addrs = []string{nobody}
	noPostgres.Postgres.URL = "postgres://nobody@" + nobody + "/none?sslmode=disable"
	down.Redis.Addrs, down.Postgres.URL = noRedis.Redis.Addrs, noPostgres.Postgres.URL
	return config.Write(path, "main", named("main"), audit, live, down, noRedis, noPostgres,
		listed, owner)
}
