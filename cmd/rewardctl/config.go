package main

import (
	"github.com/spf13/cobra"

	"rewardctl/config"
)

// loadConfig reads the configuration as the flags and the environment say.
func (a *app) loadConfig() (*config.Config, error) {
	return config.Load(config.Source{
		File: a.configFile, Context: a.context, Flags: a.flags,
	})
}

func (a *app) configCommand() *cobra.Command {
	return a.group("config", "See which servers and limits are in force, and where they come from",
		a.configShowCommand(), a.configPathCommand(), a.configContextsCommand())
}

func (a *app) configShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show every setting of the active context with its origin; secrets are stars",
		Example: "  rewardctl config show\n  rewardctl --context prod config show -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			l := listing{columns: columns("key", "value", "origin", "about")}
			for _, s := range c.Settings() {
				l.rows = append(l.rows, []cell{
					text(s.Key), text(s.Value), toned(s.Origin, faint), text(s.About),
				})
				l.values = append(l.values, s)
			}
			l.document = configJSON{Context: c.Active().Name, Settings: c.Settings()}
			if a.output == string(formatTable) {
				a.say("context %s", c.Active().Name)
			}
			return a.print(l)
		},
	}
}

type configJSON struct {
	Context  string           `json:"context"`
	Settings []config.Setting `json:"settings"`
}

type configPathJSON struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "Print where the configuration file is, or would be",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			path, exists := c.Path()
			if a.output != string(formatTable) {
				return a.printOne(configPathJSON{path, exists}, []field{{"path", text(path)}})
			}
			if !exists {
				a.say("the file does not exist; without it there are only defaults and the environment")
			}
			return a.line(safeText(path))
		},
	}
}

func (a *app) configContextsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "contexts",
		Short: "List the contexts of the configuration file",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			l := listing{
				columns: columns("active", "name", "environment", "guard"), empty: "no contexts",
			}
			for _, s := range c.Contexts() {
				active, guard := "", ""
				if s.Active {
					active = "*"
				}
				switch {
				case s.ReadOnly:
					guard = "read-only"
				case s.Protected:
					guard = "protected"
				}
				l.rows = append(l.rows, []cell{
					text(active), text(s.Name), text(s.Environment), toned(guard, notice),
				})
				l.values = append(l.values, s)
			}
			return a.print(l)
		},
	}
}
