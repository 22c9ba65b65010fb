package tui

import (
	"slices"
	"strings"

	"rewardctl/repair"
)

// programName begins each command that is shown or copied.
const programName = "rewardctl"

// argv is a command as it has to be given in a shell to reach what this console shows.
func (d *desk) argv(command []string) []string {
	if len(d.opts.Flags) == 0 || len(command) == 0 || command[0] != programName {
		return command
	}
	return slices.Concat(command[:1], d.opts.Flags, command[1:])
}

// commandLine is such a command as one line.
func (d *desk) commandLine(command []string) string {
	return repair.CommandLine(d.argv(command))
}

// reaching puts into the commands of a text, each at the beginning of a line, what leads them
// here: a log or a finding names them without, for they are read from other places, too.
func (d *desk) reaching(text string) string {
	if len(d.opts.Flags) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		if rest, ok := strings.CutPrefix(words, programName+" "); ok {
			indent := line[:len(line)-len(words)]
			lines[i] = indent + programName + " " + repair.CommandLine(d.opts.Flags) + " " + rest
		}
	}
	return strings.Join(lines, "\n")
}

// typed takes the name of the program and what leads a command here off a line that was typed or
// pasted: it is here already.
func (d *desk) typed(words []string) []string {
	if len(words) == 0 || words[0] != programName {
		return words
	}
	words = words[1:]
	if n := len(d.opts.Flags); n > 0 && len(words) >= n && slices.Equal(words[:n], d.opts.Flags) {
		return words[n:]
	}
	return words
}
