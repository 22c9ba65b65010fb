package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewardctl/config"
)

func approvalOf(t *testing.T, body string, environ ...string) (config.Approval, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("contexts:\n  one:\n"+body), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Source{File: path, Environ: append([]string{}, environ...)})
	if err != nil {
		return config.Approval{}, err
	}
	return c.Active().Approval, nil
}

func TestApproval(t *testing.T) {
	t.Parallel()
	const limits = "    approval:\n      amount: 1000\n      rows: 500\n      within: 1h\n"
	for name, body := range map[string]string{
		"list": limits + "      rules:\n        - {operator: alice, amount: 5000}\n" +
			"        - role: leads\n          rows: 0\n",
		"line": limits + "      rules: operator=alice amount=5000; role=leads rows=0\n",
	} {
		a, err := approvalOf(t, body)
		if err != nil || len(a.Rules) != 2 || a.Within != time.Hour {
			t.Fatalf("%s: %+v, %v", name, a, err)
		}
		alice, leads := a.For(a.Rules[0]), a.For(a.Rules[1])
		if alice.Amount != 5000 || alice.Rows != 500 || leads.Amount != 1000 || leads.Rows != 0 {
			t.Errorf("%s: %+v, %+v", name, alice, leads)
		}
		if a.Rules[0].Operator != "alice" || a.Rules[1].Role != "leads" {
			t.Errorf("%s: %+v", name, a.Rules)
		}
		var c config.Context
		c.Name, c.Approval = "one", a
		path := filepath.Join(t.TempDir(), "written.yaml")
		if err := config.Write(path, "one", c); err != nil {
			t.Fatal(err)
		}
		back, err := config.Load(config.Source{File: path, Environ: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		got := back.Active().Approval
		if got.Rules.String() != a.Rules.String() || got.Rows != 500 {
			t.Errorf("%s: written and read: %+v", name, got)
		}
	}
	a, err := approvalOf(t, "    approval: {}\n", "REWARDCTL_APPROVAL_TOTAL=7")
	if err != nil || a.Total != 7 || a.Within != 15*time.Minute || !a.Any() {
		t.Errorf("environment: %+v, %v", a, err)
	}
	if a, err = approvalOf(t, "    approval: {}\n"); err != nil || a.Any() || a.BreakGlass {
		t.Errorf("nothing given: %+v, %v", a, err)
	}
}

func TestApprovalRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, says string }{
		"below":     {"amount: -1", "is below 0"},
		"too long":  {"within: 200h", "is above 168h"},
		"nobody":    {"rules: [{amount: 5}]", "names neither operator nor role"},
		"no limit":  {"rules: [{operator: a, amount: much}]", "is not a limit"},
		"unknown":   {"rules: [{operator: a, amont: 5}]", "did you mean amount"},
		"blank":     {"rules: [{operator: a b}]", "is not a plain name"},
		"twice":     {"rules: operator=a operator=b", "gives operator twice"},
		"not a map": {"rules: [words]", "is not a mapping"},
	} {
		_, err := approvalOf(t, "    approval: {"+c.body+"}\n")
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v does not say %q", name, err, c.says)
		}
	}
}
