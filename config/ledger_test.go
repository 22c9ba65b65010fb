package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewardctl/config"
)

func ledgersOf(t *testing.T, body string, environ ...string) (config.Ledgers, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("contexts:\n  one:\n"+body), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Source{File: path, Environ: append([]string{}, environ...)})
	if err != nil {
		return nil, err
	}
	return c.Active().Audit.Ledgers, nil
}

func TestLedgers(t *testing.T) {
	t.Parallel()
	whole := config.Ledger{
		Table: "old.reward_log", Player: "user_id", Event: "reward_key", Amount: "qty", Kind: "item",
		At: "created",
	}
	short := config.Ledger{Table: "gifts", Player: "who", Event: "what"}
	want := config.Ledgers{whole, short}
	for name, body := range map[string]string{
		"list": `    audit:
      ledgers:
        - {table: old.reward_log, player: user_id, event: reward_key, amount: qty,
           kind: item, at: created}
        - table: gifts
          player: who
          event: what
`,
		"line": "    audit:\n      ledgers: table=old.reward_log player=user_id event=reward_key " +
			"amount=qty kind=item at=created; table=gifts player=who event=what\n",
	} {
		got, err := ledgersOf(t, body)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := ledgersOf(t, "    audit: {}\n",
		"REWARDCTL_AUDIT_LEDGERS=table=gifts player=who event=what")
	if err != nil || !slices.Equal(got, config.Ledgers{short}) {
		t.Errorf("environment: %+v, %v", got, err)
	}
	var c config.Context
	c.Audit.Ledgers = want
	path := filepath.Join(t.TempDir(), "written.yaml")
	c.Name = "one"
	if err := config.Write(path, "one", c); err != nil {
		t.Fatal(err)
	}
	back, err := config.Load(config.Source{File: path, Environ: []string{}})
	if err != nil || !slices.Equal(back.Active().Audit.Ledgers, want) {
		t.Errorf("written and read: %v", err)
	}
}

func TestLedgersRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ item, says string }{
		"no table":      {"{player: a, event: b}", "names no table"},
		"no event":      {"{table: t, player: a}", "names no event"},
		"injection":     {`{table: "t; drop table x", player: a, event: b}`, "is not a plain name"},
		"quoted":        {`{table: '"T"', player: a, event: b}`, "is not a plain name"},
		"upper case":    {"{table: t, player: Who, event: b}", "is not a plain name"},
		"two schemas":   {"{table: a.b.c, player: a, event: b}", "is not a plain name"},
		"unknown key":   {"{table: t, player: a, event: b, amont: c}", "did you mean amount"},
		"not a mapping": {"words", "is not a mapping"},
		"the table twice": {
			"{table: t, player: a, event: b}\n        - {table: t, player: a, event: c}", "twice",
		},
	} {
		_, err := ledgersOf(t, "    audit:\n      ledgers:\n        - "+c.item+"\n")
		var e *config.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := ledgersOf(t, "    audit:\n      ledgers: {table: t}\n"); err == nil {
		t.Error("a mapping is taken for a list")
	}
}
