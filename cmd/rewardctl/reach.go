package main

import (
	"path/filepath"
	"slices"

	"rewardctl/repair"
)

// configFlag names the configuration again that this command was given; it may be none.
func (a *app) configFlag() []string {
	if a.configFile == "" {
		return nil
	}
	file := a.configFile
	if whole, err := filepath.Abs(file); err == nil {
		file = whole // the shell may be in another folder
	}
	return []string{"--config", file}
}

// commandLine writes a command of this program for who pastes it into a shell: with the
// configuration and the context that this one was given, for without them it could be carried out
// elsewhere.
func (a *app) commandLine(argv []string) string {
	flags := a.configFlag()
	if a.context != "" {
		flags = append(flags, "--context", a.context)
	}
	return repair.CommandLine(slices.Concat(argv[:1], flags, argv[1:]))
}
