package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// rootCommand builds the whole command tree. Every word in it is part of the contract.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "rewardctl",
		Short: "Grant each reward exactly once, see why, and repair safely",
		Long: "rewardctl gives a player the reward for an event exactly once, shows what happened" +
			" and\nwhy, and repairs what went wrong. On a terminal, rewardctl alone opens the" +
			" console.",
		Example: "  rewardctl demo                      a live system to try, nothing to set up\n" +
			"  rewardctl lease list\n" +
			"  rewardctl explain PLAYER EVENT\n" +
			"  rewardctl grant create --player P --event ID --kind gems --amount 100 " +
			"--reason WHY --dry-run",
		Args:          a.unknownCommand,
		RunE:          a.runConsole,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagProblem(cmd.CommandPath(), err)
	})
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVarP(&a.output, "output", "o", string(formatTable), "table, json, jsonl or csv")
	flags.StringVar(&a.configFile, "config", "", "configuration file (rewardctl config path)")
	flags.StringVar(&a.context, "context", "", "context to use (rewardctl config contexts)")
	flags.StringVar(&a.operator, "operator", "", "who you are, for the records")
	flags.StringVar(&a.ticket, "ticket", "", "the case this belongs to, for the records")
	flags.BoolVar(&a.noColor, "no-color", false, "no colour, also on a terminal")
	flags.BoolVar(&a.raw, "raw", false,
		"with -o csv: no guard against formulas; not safe to open in a spreadsheet")
	a.flags = flags
	root.Flags().StringVar(&a.home, "home", "",
		"what the console opens with: oncall, support, liveops, a screen, or auto: by role")
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		_, err := parseFormat(a.output)
		return err
	}
	root.AddCommand(
		a.demoCommand(), a.grantCommand(), a.leaseCommand(), a.tokenCommand(), a.playerCommand(),
		a.explainCommand(), a.ledgerCommand(), a.fenceCommand(), a.auditCommand(), a.oplogCommand(),
		a.outboxCommand(), a.itemserverCommand(),
		a.drillCommand(), a.doctorCommand(), a.migrateCommand(), a.configCommand(),
		a.versionCommand(), a.completionCommand(),
	)
	a.completeNames(root)
	return root
}

// group is a command that only holds others: alone it prints its help and fails as usage.
func (a *app) group(word, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: word, Short: short, Args: a.unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := make([]string, 0, len(cmd.Commands()))
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return usage("", "see: "+cmd.CommandPath()+" --help", "%s what? Choose one of: %s",
				cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	g.AddCommand(commands...)
	return g
}

// unknownCommand refuses a word that is no command, and names those that look like it.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	wayOut := "see: " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		wayOut = fmt.Sprintf("did you mean: %s %s", cmd.CommandPath(), near[0])
	}
	p := usage("command", wayOut, "%s has no command %q", cmd.CommandPath(), args[0])
	p.value = args[0]
	return p
}

// noArguments refuses any argument.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("argument", "see: "+cmd.CommandPath()+" --help",
		"%s takes no argument, but got %q", cmd.CommandPath(), args[0])
}

// arguments demands exactly the named arguments, none of them empty.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, name := range names {
			if i >= len(args) || args[i] == "" {
				return usage(strings.ToLower(name), "write: "+cmd.UseLine(), "%s is missing", name)
			}
		}
		if len(args) > len(names) {
			return usage("argument", "quote a text that has blanks in it; write: "+cmd.UseLine(),
				"unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// demand refuses a command line that leaves out a flag the command cannot do without.
func demand(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			return usage(name, "see: "+cmd.CommandPath()+" --help", "--%s is missing", name)
		}
	}
	return nil
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a completion script for a shell",
		Example:   "  source <(rewardctl completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      arguments("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return usage("shell", "choose bash, zsh, fish or powershell", "no completion for %q",
				args[0])
		},
	}
}
