package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON says what was built, from which commit, by which Go.
type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with uncommitted changes
	Built    string `json:"built"`    // the commit's time
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go release",
		Example: "  rewardctl version\n  rewardctl version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			commit := v.Commit
			if v.Modified {
				commit += " (modified)"
			}
			return a.printOne(v, []field{
				{"version", text(v.Version)},
				{"commit", text(commit)},
				{"built", text(v.Built)},
				{"go", text(v.Go)},
				{"platform", text(v.Platform)},
			})
		},
	}
}

func readVersion() versionJSON {
	v := versionJSON{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Built = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
