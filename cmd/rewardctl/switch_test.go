package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewardctl/config"
)

const twoContexts = `
current_context: look
contexts:
  look:
    read_only: true
    environment: prod
  live:
    environment: prod
    protected: true
    postgres: {url: "postgres://nobody@127.0.0.1:1/none?sslmode=disable"}
    redis: {addrs: ["127.0.0.1:1"]}
`

func twoContextApp(t *testing.T) *app {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rewardctl.yaml")
	if err := os.WriteFile(path, []byte(twoContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	return &app{globals: globals{configFile: path}}
}

// A process that looked at a read-only context stays read-only wherever it goes.
func TestReadOnlyIsNotLiftedByAnotherContext(t *testing.T) {
	t.Parallel()
	a := twoContextApp(t)
	w, err := a.wire()
	if err != nil {
		t.Fatal(err)
	}
	a.context, a.readOnly = "live", w.conf.ReadOnly
	if w, err = a.wire(); err != nil || w.conf.Name != "live" || !w.conf.ReadOnly {
		t.Errorf("it is %q, read-only %v, %v", w.conf.Name, w.conf.ReadOnly, err)
	}
	a.readOnly = false
	if w, err = a.wire(); err != nil || w.conf.ReadOnly {
		t.Errorf("by itself the other context is read-only %v, %v", w.conf.ReadOnly, err)
	}
	if targets := w.targets(); len(targets) != 2 || !targets[1].ReadOnly && !targets[0].ReadOnly {
		t.Errorf("targets %+v", targets)
	}
}

// Before a console is left for another context it is known whether that can be opened.
func TestContextsThatCanBeOpened(t *testing.T) {
	t.Parallel()
	a := twoContextApp(t)
	if err := a.canOpen("live"); err != nil {
		t.Errorf("live: %v", err)
	}
	err := a.canOpen("look")
	if !errors.Is(err, config.ErrNoPostgres) || !errors.Is(err, config.ErrNoRedis) {
		t.Errorf("a context without servers: %v", err)
	}
	var named *config.Error
	if err := a.canOpen("liv"); !errors.As(err, &named) {
		t.Errorf("a name that is none: %v (%T)", err, err)
	}
}

// What leads a command to what a console shows is named wherever a shell may lead elsewhere.
func TestCommandsOfAConsoleLeadToItsContext(t *testing.T) {
	t.Parallel()
	a := twoContextApp(t)
	file := a.configFile
	for _, context := range []string{"", "live"} {
		a.context = context
		w, err := a.wire()
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"--config", file, "--context", w.conf.Name}
		if got := w.reachedBy(); !slices.Equal(got, want) {
			t.Errorf("context %q is reached by %q, want %q", context, got, want)
		}
	}
	w := &wiring{app: &app{}, conf: config.Context{Name: "only"}}
	if got := w.reachedBy(); len(got) != 0 {
		t.Errorf("the only context of the usual file wants %q", got)
	}
	w.again = []string{"--config", file, "--context", "demo"}
	if got := w.reachedBy(); !slices.Equal(got, []string{"--config", file}) {
		t.Errorf("a demo is reached by %q", got)
	}
}
