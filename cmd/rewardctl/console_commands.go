package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/tui"
)

// consoleCommands is the command line's own tree behind the console's ":".
type consoleCommands struct{ w *wiring }

// readingCommands are the commands that only read, end by themselves and print for people.
func readingCommands() map[string]bool {
	commands := map[string]bool{}
	for _, path := range []string{
		"lease list", "lease show", "lease scan", "token list", "token refused", "player history",
		"player find", "explain", "audit list", "audit show",
		"audit diff", "grant list", "grant status", "outbox list",
		"outbox show", "oplog list", "oplog verify", "oplog handover", "fence doctor",
		"drill list", "doctor", "migrate status", "config show", "config path", "config contexts",
		"version",
	} {
		commands["rewardctl "+path] = true
	}
	return commands
}

// outputMax bounds what a command may print into the console.
const outputMax = 2 << 20

// inside runs a command line inside this process, as its own run with its own connections, and
// writes what it prints to out.
func (w *wiring) inside(
	ctx context.Context, words []string, out io.Writer,
) (code exitCode, complaint string) {
	var messages bytes.Buffer
	args := append([]string(nil), w.again...)
	if len(args) == 0 {
		args = w.app.globalArgs()
	}
	code = run(ctx, process{
		args: append(args, words...), stdin: strings.NewReader(""), stdout: out,
		stderr: &bounded{max: outputMax, to: &messages}, now: w.app.now,
		env: func(name string) string {
			if name == "NO_COLOR" {
				return "1"
			}
			return w.app.env(name)
		},
	})
	return code, strings.TrimSpace(messages.String())
}

// globalArgs are the flags of this run that every command knows, to be given to another one.
func (a *app) globalArgs() []string {
	var args []string
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--config", a.configFile)
	add("--context", a.context)
	add("--operator", a.operator)
	return args
}

// bounded is a writer that drops what is too much.
type bounded struct {
	to  io.Writer
	max int
}

// Write writes as much as there is room for, and never fails.
func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > b.max {
		p = p[:b.max]
	}
	b.max -= len(p)
	_, err := b.to.Write(p)
	return n, err
}

// Complete asks the tree how a line may go on, as a shell does.
func (c consoleCommands) Complete(ctx context.Context, words []string) []tui.Completion {
	var out bytes.Buffer
	argv := append([]string{cobra.ShellCompRequestCmd}, words...)
	if code, _ := c.w.inside(ctx, argv, &bounded{max: outputMax, to: &out}); code != exitOK {
		return nil
	}
	var found []tui.Completion
	for line := range strings.Lines(out.String()) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, ":") || strings.HasPrefix(line, "_activeHelp_") {
			continue
		}
		word, help, _ := strings.Cut(line, "\t")
		found = append(found, tui.Completion{Text: word, Help: help})
	}
	return found
}

// Describe returns the usage and the purpose of the command that the words begin.
func (c consoleCommands) Describe(words []string) (usageLine, purpose string) {
	cmd := c.find(words)
	if cmd == nil || !cmd.HasParent() {
		return "", ""
	}
	return cmd.UseLine(), cmd.Short
}

func (c consoleCommands) find(words []string) *cobra.Command {
	a := &app{process: c.w.app.process}
	cmd, _, err := a.rootCommand().Find(words)
	if err != nil {
		return nil
	}
	return cmd
}

// Read runs a command that only reads.
func (c consoleCommands) Read(ctx context.Context, words []string) (string, error) {
	cmd := c.find(words)
	switch {
	case cmd == nil || !cmd.HasParent() || !cmd.Runnable():
		return "", fmt.Errorf("there is no such command; ? lists those of the console")
	case cmd.HasSubCommands():
		var names []string
		for _, sub := range cmd.Commands() {
			names = append(names, sub.Name())
		}
		return "", fmt.Errorf("%s what? One of: %s", cmd.CommandPath(), strings.Join(names, ", "))
	case !readingCommands()[cmd.CommandPath()] && !asksHelp(words):
		return "", fmt.Errorf("%s does more than read: use its screen, or run it in a shell",
			cmd.CommandPath())
	}
	var out bytes.Buffer
	code, complaint := c.w.inside(ctx, words, &bounded{max: outputMax, to: &out})
	if code != exitOK && code != exitFindings {
		return out.String() + complaint, fmt.Errorf("%s", orElse(complaint, "it failed"))
	}
	return strings.TrimRight(out.String()+"\n"+complaint, "\n"), nil
}

func asksHelp(words []string) bool {
	for _, w := range words {
		if w == "--help" || w == "-h" {
			return true
		}
	}
	return false
}
