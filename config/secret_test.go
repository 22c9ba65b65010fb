package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"rewardctl/config"
)

func TestSecretPrintsAsStars(t *testing.T) {
	t.Parallel()
	s := config.NewSecret(canary)
	hidden := struct{ inner config.Secret }{s}
	var all bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&all, verb+" ", s)
		fmt.Fprintf(&all, verb+" ", &s)
		fmt.Fprintf(&all, verb+" ", hidden)
		fmt.Fprintf(&all, verb+" ", config.Context{Redis: config.Redis{Password: s}})
	}
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		b, err := marshal(map[string]any{"p": s, "c": config.Context{Redis: config.Redis{Password: s}}})
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	slog.New(slog.NewTextHandler(&all, nil)).Info("x", "secret", s, "any", slog.AnyValue(s))
	slog.New(slog.NewJSONHandler(&all, nil)).Info("x", "secret", s, "struct", hidden)
	if strings.Contains(all.String(), canary) ||
		strings.Contains(all.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("the secret is seen in\n%s", all.String())
	}
	if !strings.Contains(fmt.Sprint(s), "****") || s.Reveal() != canary || !s.Set() {
		t.Errorf("%v %v", s, s.Set())
	}
	if zero := (config.Secret{}); zero.Set() || zero.String() != "" || zero.Reveal() != "" {
		t.Error("the zero value is not empty")
	}
}

// password is what the driver would send to PostgreSQL.
func password(t *testing.T, c config.Context) string {
	t.Helper()
	pool, err := c.PoolConfig()
	if err != nil {
		t.Fatal(err)
	}
	return pool.ConnConfig.Password
}

func TestWhereAPostgresPasswordComesFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "pw")
	if err := os.WriteFile(path, []byte("from-file\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const plain = "postgres://app@localhost/x"
	const full = "postgres://app:" + canary + "@localhost/x"
	for _, c := range []struct{ name, file, env, want string }{
		{"none", inA("postgres: {url: " + plain + "}"), "", ""},
		{"in the URL", inA("postgres: {url: " + full + "}"), "", canary},
		{"in the file", inA("postgres: {url: " + plain + ", password: p1}"), "", "p1"},
		{
			"a file of its own",
			inA("postgres: {url: " + plain + ", password_file: " + path + "}"), "", "from-file",
		},
		{
			"better than the URL",
			inA("postgres: {url: " + full + ", password_file: " + path + "}"), "", "from-file",
		},
		{
			"environment over file", inA("postgres: {url: " + plain + ", password_file: " + path + "}"),
			"REWARDCTL_POSTGRES_PASSWORD=env", "env",
		},
		{
			"URL of the environment over file", inA("postgres: {password_file: " + path + "}"),
			"REWARDCTL_POSTGRES_URL=" + full, canary,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := load(t, c.file, c.env)
			if err != nil {
				t.Fatal(err)
			}
			if got := password(t, cfg.Active()); got != c.want {
				t.Errorf("the password is %q, want %q", got, c.want)
			}
			if strings.Contains(fmt.Sprintf("%+v %+v", cfg.Active(), cfg.Settings()), canary) {
				t.Errorf("the password is seen in %+v", cfg)
			}
		})
	}
}

func TestSecretsInTheWrongPlaces(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(open, []byte(canary+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := load(t, inA("redis: {password_file: "+open+"}"))
	if err == nil || !strings.Contains(err.Error(), "chmod 600 "+open) {
		t.Errorf("an open password file: %v", err)
	}
	for _, line := range []string{
		"redis: {password: " + canary + "}",
		"postgres: {url: \"postgres://app:" + canary + "@localhost/x\"}",
	} {
		path := writeFile(t, inA(line), 0o640)
		_, err := config.Load(config.Source{File: path, Environ: []string{}})
		if err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("%s in an open file: %v", line, err)
		}
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("postgres-url", "", "")
	flags.String("redis-password", "", "")
	args := []string{"--postgres-url=postgres://a:" + canary + "@localhost/x", "--redis-password=x"}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	_, err = config.Load(config.Source{
		File: writeFile(t, inA("{}"), 0o600), Flags: flags, Environ: []string{},
	})
	if err == nil || !strings.Contains(err.Error(), "process list") ||
		strings.Contains(err.Error(), canary) {
		t.Errorf("a password in a flag: %v", err)
	}
}

func TestCheckArgs(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--password=" + canary},
		{"doctor", "--redis-password", canary},
		{"--postgres-url=postgres://a:" + canary + "@h/x"},
		{"--postgres-url", "postgres://a:" + canary + "@h/x"},
	} {
		err := config.CheckArgs(args)
		if err == nil {
			t.Errorf("%q is accepted", args)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the error shows the password: %v", args, err)
		}
	}
	for _, args := range [][]string{
		{"grant", "create", "--player", "a:b@c", "--reason=see http://x/y", "--amount", "5"},
		{"--postgres-url=postgres://a@h/x", "--", "--password"},
		{},
	} {
		if err := config.CheckArgs(args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestMaskURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgres://a:" + canary + "@h:5/x?sslmode=off": "postgres://a:********@h:5/x?sslmode=off",
		"postgres://a@h/x":                     "postgres://a@h/x",
		"postgres://h/x?password=" + canary:    "postgres://h/x?password=********",
		"host=h password=" + canary:            "********",
		"postgres://a:" + canary + "%zz@h/x":   "********",
		"a:" + canary + "@h":                   "********",
		"postgres://h/x?sslpassword=" + canary: "postgres://h/x?sslpassword=********",
	} {
		if got := config.MaskURL(in); got != want {
			t.Errorf("MaskURL(%q) = %q, want %q", in, got, want)
		}
	}
}
