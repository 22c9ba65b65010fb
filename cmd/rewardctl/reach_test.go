package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A command that is printed to be pasted leads where the one that printed it led.
func TestCommandsToPasteReachTheSamePlace(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"rewardctl", "lease", "burn", "a b"}
	for want, given := range map[string]globals{
		"rewardctl lease burn 'a b'":              {},
		"rewardctl --context eu lease burn 'a b'": {context: "eu"},
		"rewardctl --config " + filepath.Join(here, "x.yaml") + " lease burn 'a b'": {
			configFile: "x.yaml",
		},
		"rewardctl --config '/etc/my file' --context prod-1 lease burn 'a b'": {
			configFile: "/etc/my file", context: "prod-1",
		},
	} {
		a := app{globals: given}
		if got := a.commandLine(argv); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
