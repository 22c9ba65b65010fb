package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"
)

// process is what one run was started with. Tests hand in their own.
type process struct {
	args   []string // without the program's name
	stdin  io.Reader
	stdout io.Writer // data
	stderr io.Writer // messages
	env    func(name string) string
	now    func() time.Time
}

// globals are the flags that every command knows.
type globals struct {
	configFile string
	context    string
	operator   string
	ticket     string
	noColor    bool
	output     string
	home       string // what the console opens with
	raw        bool
}

// app is one run of rewardctl: its process, its flags and what it opened.
type app struct {
	process
	globals
	flags   *pflag.FlagSet // the flags that every command knows, as given
	closers []func()

	attempt  *attempt // the deed that this run tries; nil when it only looks
	replaced bool     // the terminal was shown substitutes in place of data
	readOnly bool     // a context of this process was read-only: nothing lifts that
}

// run executes one command line and returns its exit code. It never ends the process.
func run(ctx context.Context, p process) exitCode {
	a := &app{process: p}
	root := a.rootCommand()
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	a.noteAttempt(ctx, err)
	a.close()
	a.sayReplaced()
	if err == nil {
		return exitOK
	}
	return a.report(err)
}

// report prints an error once, for the reader that asked, and returns its exit code. People get
// a message on stderr. With JSON output, scripts also get {"error": {...}} on stdout, so that
// stdout always holds JSON; a command that has printed its own result adds nothing to it.
func (a *app) report(err error) exitCode {
	p := classify(err)
	if p.message != "" {
		a.say("error: %s", p.message)
		for _, more := range p.more {
			a.say("error: %s", more)
		}
		if p.wayOut != "" {
			a.say("  %s", p.wayOut)
		}
	}
	if !p.shown && wantsJSON(a.args) {
		if werr := writeJSON(a.stdout, failureJSON{Error: p.json()}, !wantsJSONL(a.args)); werr != nil {
			a.say("error: %v", werr)
		}
	}
	return p.exit
}

// say writes one message for a person to stderr. Whatever the arguments hold, it stays one line
// of harmless text.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stderr, safeText(fmt.Sprintf(format, args...)))
}

// line writes one line of harmless text to stdout.
func (a *app) line(s string) error {
	_, err := fmt.Fprintln(a.stdout, s)
	return err
}

// gap writes an empty line between two parts of a table output.
func (a *app) gap() { fmt.Fprintln(a.stdout) }

// atClose has f run when the command ends, last first.
func (a *app) atClose(f func()) { a.closers = append(a.closers, f) }

func (a *app) close() {
	for i := len(a.closers) - 1; i >= 0; i-- {
		a.closers[i]()
	}
	a.closers = nil
}

// terminal reports whether the reader or writer is a terminal that can do more than print.
func (a *app) terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) && a.env("TERM") != "dumb"
}

// interactive reports whether a person can be asked: both ends are terminals.
func (a *app) interactive() bool { return a.terminal(a.stdin) && a.terminal(a.stdout) }

// colour reports whether text for this stream may carry colour.
func (a *app) colour(stream any) bool {
	return !a.noColor && a.env("NO_COLOR") == "" && a.terminal(stream)
}

// wantsJSON reports whether the command line asks for JSON. It reads the raw arguments, since a
// command line that cannot be parsed deserves an answer in the asked form, too.
func wantsJSON(args []string) bool {
	f := outputArgument(args)
	return f == string(formatJSON) || f == string(formatJSONL)
}

func wantsJSONL(args []string) bool { return outputArgument(args) == string(formatJSONL) }

func outputArgument(args []string) string {
	found := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--output="); ok {
			found = value
			continue
		}
		if arg == "-o" || arg == "--output" {
			if i+1 < len(args) {
				found = args[i+1]
			}
			continue
		}
		if value, ok := strings.CutPrefix(arg, "-o"); ok {
			found = strings.TrimPrefix(value, "=")
		}
	}
	return found
}

// interrupted reports whether the command was asked to stop.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
