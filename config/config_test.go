package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"rewardctl/config"
)

// canary is a password that must never be seen.
const canary = "canary-7f3a"

// writeFile writes a configuration file with the given mode and returns its path.
func writeFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a file's content with an environment of its own.
func load(t *testing.T, content string, environ ...string) (*config.Config, error) {
	t.Helper()
	return config.Load(config.Source{
		File: writeFile(t, content, 0o600), Environ: append([]string{}, environ...),
	})
}

func mustLoad(t *testing.T, content string, environ ...string) config.Context {
	t.Helper()
	c, err := load(t, content, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return c.Active()
}

const twoContexts = `
current_context: staging
contexts:
  staging:
    postgres: {url: "postgres://app@localhost/rewards"}
    redis: {addrs: [127.0.0.1:6379]}
  prod:
    environment: prod
    protected: true
    operator: alice
    postgres:
      url: postgres://app@db.example.com/rewards
      schema: rewards
    redis:
      addrs: [cache-1:6379, cache-2:6379]
      tls: true
    lease: {ttl: 5s, margin: 500ms, prefix: "prod:"}
    limits: {amount_max: 9223372036854775807}
`

func TestLoadPicksTheContext(t *testing.T) {
	t.Parallel()
	path := writeFile(t, twoContexts, 0o644)
	for _, c := range []struct {
		source config.Source
		want   string
	}{
		{config.Source{Environ: []string{}}, "staging"},
		{config.Source{Environ: []string{"REWARDCTL_CONTEXT=prod"}}, "prod"},
		{config.Source{Context: "prod", Environ: []string{"REWARDCTL_CONTEXT=staging"}}, "prod"},
	} {
		c.source.File = path
		got, err := config.Load(c.source)
		if err != nil {
			t.Fatal(err)
		}
		if got.Active().Name != c.want {
			t.Errorf("%+v: the context is %s, want %s", c.source, got.Active().Name, c.want)
		}
	}
	_, err := config.Load(config.Source{File: path, Context: "pord", Environ: []string{}})
	if err == nil || !strings.Contains(err.Error(), "did you mean prod?") {
		t.Errorf("a misspelled context: %v", err)
	}
}

func TestLoadReadsValues(t *testing.T) {
	t.Parallel()
	c, err := load(t, twoContexts, "REWARDCTL_CONTEXT=prod")
	if err != nil {
		t.Fatal(err)
	}
	a := c.Active()
	if a.Environment != "prod" || !a.Protected || a.ReadOnly || a.Operator != "alice" ||
		a.Postgres.Schema != "rewards" || len(a.Redis.Addrs) != 2 || !a.Redis.TLS ||
		a.Lease.TTL != 5*time.Second || a.Lease.Margin != 500*time.Millisecond ||
		a.Lease.Prefix != "prod:" || a.Limits.AmountMax != 9223372036854775807 ||
		a.Lease.FenceIdle != 7*24*time.Hour || a.UI.Refresh != time.Second {
		t.Errorf("%+v", a)
	}
	var names []string
	for _, s := range c.Contexts() {
		names = append(names, fmt.Sprintf("%s/%s/%v", s.Name, s.Environment, s.Active))
	}
	if got := strings.Join(names, " "); got != "staging/staging/false prod/prod/true" {
		t.Errorf("the contexts are %s", got)
	}
}

func TestPrecedenceAndOrigins(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "contexts: {a: {lease: {ttl: 2s}, operator: file}}", 0o600)
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Duration("lease-ttl", 9*time.Hour, "")
	flags.String("operator", "unused default", "")
	flags.StringSlice("redis-addrs", nil, "")
	value := func(environ ...string) (config.Context, map[string]string) {
		c, err := config.Load(config.Source{
			File: path, Flags: flags, Environ: append([]string{}, environ...),
		})
		if err != nil {
			t.Fatal(err)
		}
		origins := map[string]string{}
		for _, s := range c.Settings() {
			origins[s.Key] = s.Origin
		}
		return c.Active(), origins
	}
	c, origins := value()
	if c.Lease.TTL != 2*time.Second || origins["lease.ttl"] != path+":1" {
		t.Errorf("from the file: %v from %s", c.Lease.TTL, origins["lease.ttl"])
	}
	if origins["ui.refresh"] != "default" {
		t.Errorf("ui.refresh comes from %s", origins["ui.refresh"])
	}
	c, origins = value("REWARDCTL_LEASE_TTL=3s")
	if c.Lease.TTL != 3*time.Second ||
		origins["lease.ttl"] != "environment REWARDCTL_LEASE_TTL" {
		t.Errorf("from the environment: %v from %s", c.Lease.TTL, origins["lease.ttl"])
	}
	args := []string{"--lease-ttl=4s", "--redis-addrs=localhost:1,localhost:2"}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	c, origins = value("REWARDCTL_LEASE_TTL=3s", "REWARDCTL_REDIS_ADDRS=localhost:9")
	if c.Lease.TTL != 4*time.Second || origins["lease.ttl"] != "flag --lease-ttl" {
		t.Errorf("from the flag: %v from %s", c.Lease.TTL, origins["lease.ttl"])
	}
	if strings.Join(c.Redis.Addrs, " ") != "localhost:1 localhost:2" {
		t.Errorf("the addresses are %v", c.Redis.Addrs)
	}
	if c.Operator != "file" {
		t.Errorf("a flag that was not given counts: operator %s", c.Operator)
	}
}

func TestProtectionCannotBeTakenAway(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "contexts: {a: {read_only: true, protected: true}}",
		"REWARDCTL_READ_ONLY=false", "REWARDCTL_PROTECTED=false")
	if !c.ReadOnly || !c.Protected {
		t.Errorf("read_only %v, protected %v", c.ReadOnly, c.Protected)
	}
	if c = mustLoad(t, "contexts: {a: {}}", "REWARDCTL_READ_ONLY=true"); !c.ReadOnly {
		t.Error("the environment cannot make a context read-only")
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, err := config.Load(config.Source{File: missing, Environ: []string{}})
	if err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file that was asked for: %v", err)
	}
	c, err := config.Load(config.Source{File: writeFile(t, "", 0o644), Environ: []string{
		"REWARDCTL_POSTGRES_URL=postgres://localhost/x", "REWARDCTL_REDIS_ADDRS=localhost:6379",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Active(); got.Name != "default" || got.Operator == "" || got.Redis.Addrs == nil {
		t.Errorf("%+v", got)
	}
}

// inA is a file with one context that holds one line.
func inA(line string) string { return "contexts:\n  a:\n    " + line + "\n" }

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, env, want string }{
		{
			"unknown key",
			inA("lease: {tll: 5s}"), "", `lease.tll is not a known key; did you mean lease.ttl?`,
		},
		{"unknown section", inA("leese: {ttl: 5s}"), "", "did you mean lease?"},
		{"unknown top key", "context: {}", "", "did you mean contexts?"},
		{"line number", inA("operator: x\n    lease:\n      tll: 5s"), "", ".yaml:5: "},
		{"key without a value", inA("leese:"), "", "is not a known key"},
		{"twice", inA("operator: a\n    operator: b"), "", "is there twice"},
		{"not YAML", "a: [", "", "is not YAML"},
		{"not a mapping", "- a", "", "is not a mapping"},
		{"two documents", "contexts: {}\n---\ncontexts: {}", "", "more than one document"},
		{"anchor", "contexts: {a: &x {}, b: *x}", "", "is not a mapping"},
		{"bad name", "contexts: {\"a b\": {}}", "", "is not a name for a context"},
		{"no current", "contexts: {a: {}, b: {}}", "", "holds several contexts"},
		{"current unknown", "current_context: c\ncontexts: {a: {}}", "", "is not a known context"},
		{"ttl 0", inA("lease: {ttl: 0}"), "", `lease.ttl "0s": is below 500ms; give 500ms to 1h`},
		{
			"ttl -1",
			inA("lease: {ttl: -1}"), "", `lease.ttl "-1": is not a time; write a number and a unit`,
		},
		{"ttl -1s", inA("lease: {ttl: -1s}"), "", "is below 500ms"},
		{"ttl 500us", inA("lease: {ttl: 500us}"), "", "is below 500ms"},
		{"ttl too fine", inA("lease: {ttl: 1s1us}"), "", "finer than Redis keeps time"},
		{
			"ttl from the environment",
			inA("{}"), "REWARDCTL_LEASE_TTL=0", "environment REWARDCTL_LEASE_TTL: lease.ttl",
		},
		{"ttl a list", inA("lease: {ttl: [5s]}"), "", "is not a single value"},
		{"margin", inA("lease: {ttl: 2s, margin: 2s}"), "", "leaves nothing of the ttl"},
		{"brace", inA("lease: {prefix: \"{x}\"}"), "", "without braces"},
		{"yes", inA("read_only: yes"), "", `"yes": is neither true nor false`},
		{"number", inA("limits: {amount_max: 1e3}"), "", "is not a whole number"},
		{"overflow", inA("limits: {amount_max: 9223372036854775808}"), "", "is not a whole number"},
		{"below", inA("limits: {amount_max: 0}"), "", "is below 1"},
		{"schema", inA("postgres: {schema: \"a;b\"}"), "", "is not a plain name"},
		{
			"schema length",
			inA("postgres: {schema: a" + strings.Repeat("b", 63) + "}"), "", "is not a plain name",
		},
		{
			"pooler and schema",
			inA("postgres: {schema: x, pooler: true}"), "", "cannot be set through a pooler",
		},
		{"address", inA("redis: {addrs: [localhost]}"), "", "is not an address"},
		{"plain text", inA("redis: {addrs: [\"cache:6379\"]}"), "", "in plain text over the network"},
		{
			"cluster db",
			inA("redis: {addrs: [\"localhost:1\", \"localhost:2\"], db: 3}"),
			"", "does not exist on a cluster",
		},
		{"read only", inA("redis: {read_only: true}"), "", "would read leases from replicas"},
		{"route", inA("redis: {route_by_latency: true}"), "", "would read leases from replicas"},
		{
			"not PostgreSQL",
			inA("postgres: {url: \"mysql://localhost/x\"}"), "", "is not a PostgreSQL URL",
		},
		{
			"keywords",
			inA("postgres: {url: \"host=x password=" + canary + "\"}"), "", "is not a PostgreSQL URL",
		},
		{"no server", inA("postgres: {url: \"postgres:///x\"}"), "", "names no server"},
		{
			"unverified",
			inA("postgres: {url: \"postgres://db.example.com/x?sslmode=require\"}"), "", "does not verify",
		},
		{
			"one host of two",
			inA("postgres: {url: \"postgres://localhost,db.example.com/x?sslmode=disable\"}"),
			"", "does not verify",
		},
		{
			"search_path",
			inA("postgres: {url: \"postgres://localhost/x?search_path=y\"}"), "", "set postgres.schema",
		},
		{
			"simple protocol",
			inA("postgres: {url: \"postgres://localhost/x?default_query_exec_mode=simple_protocol\"}"),
			"", "set postgres.pooler",
		},
		{
			"password parameter",
			inA("postgres: {url: \"postgres://localhost/x?password=" + canary + "\"}"),
			"", "use password_file",
		},
		{
			"two passwords",
			inA("redis: {password: " + canary + ", password_file: x}"), "", "cannot be read",
		},
		{"control character", inA(`operator: "a\u0007b"`), "", "control character"},
		{"home", inA("ui: {home: laeses}"), "", "did you mean leases?"},
		{"role of no home", inA("ui: {roles: [team=suport]}"), "", "support_team=support"},
		{"home of no role", inA("ui: {roles: [=support]}"), "", "support_team=support"},
		{"role without home", inA("ui: {roles: [team]}"), "", "not ROLE=HOME"},
		{"role by role", inA("ui: {roles: [team=auto]}"), "", "not ROLE=HOME"},
		{"variable", inA("{}"), "REWARDCTL_READONLY=true", "did you mean REWARDCTL_READ_ONLY?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			environ := []string{}
			if c.env != "" {
				environ = append(environ, c.env)
			}
			_, err := load(t, c.file, environ...)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is\n%v\nwant in it\n%s", err, c.want)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error shows a password: %v", err)
			}
			var typed *config.Error
			if !errors.As(err, &typed) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

func TestLoadNamesAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, inA("lease: {ttl: 0, shards: 0}\n    limits: {amount_max: 0}"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"lease.ttl", "lease.shards", "limits.amount_max"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in\n%v", want, err)
		}
	}
}
