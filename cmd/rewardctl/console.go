package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/config"
	"rewardctl/tui"
	"rewardctl/tui/paint"
	consoletext "rewardctl/tui/text"
)

// runConsole is rewardctl without a command: the console on a terminal, else a refusal that names
// what works without one.
func (a *app) runConsole(cmd *cobra.Command, _ []string) error {
	if !a.interactive() {
		why := "the console needs a terminal on stdin and stdout"
		if a.env("TERM") == "dumb" {
			why = "TERM=dumb: the console needs a terminal that can do more than print"
		}
		return usage("command", "name a command, such as: rewardctl lease list, rewardctl player "+
			"history P, rewardctl grant create --help, rewardctl doctor; see all: rewardctl --help",
			"%s", why)
	}
	for {
		w, err := a.wire()
		if err != nil {
			return err
		}
		next, err := w.console(cmd.Context())
		if err != nil || next == "" {
			return err
		}
		w.close()
		a.context, a.readOnly = next, w.conf.ReadOnly // which nothing lifts in this process
	}
}

// consoleMemory is what the console's memory is kept near by collecting garbage earlier, in bytes.
// It is no bound: a run that needs more gets more.
const consoleMemory = 120 << 20

// consoleThreads is how many threads run the console's code at least. The runtime gives a processor
// away for 10 ms at a time, so that on two of them a key waits while two goroutines read very many
// rows. With more threads than processors the operating system decides, and it lets a thread that
// slept until the key came go first.
const consoleThreads = 4

// console opens the console on this process's terminal and returns when it is left; next names the
// context that the operator wants to see then, if any.
func (w *wiring) console(ctx context.Context) (next string, err error) {
	opts, err := w.consoleOptions(ctx)
	if err != nil {
		return "", err
	}
	opts.CanOpen, opts.SwitchTo = w.app.canOpen, func(name string) { next = name }
	debug.SetMemoryLimit(consoleMemory)
	runtime.GOMAXPROCS(max(consoleThreads, runtime.GOMAXPROCS(0)))
	if err := hushLibraries(); err != nil {
		return "", err
	}
	measured := w.app.measure(&opts)
	err = tui.Run(ctx, opts)
	measured()
	if errors.Is(err, tui.ErrStopped) {
		return "", ended(exitInterrupted)
	}
	var crash *tui.CrashError
	if errors.As(err, &crash) {
		return "", w.app.reportCrash(crash)
	}
	return next, err
}

// hushLibraries takes the process's standard error away from libraries that complain there by
// themselves, as that of the command tree does about a flag that is being typed: on the terminal of
// the console their words would stand across the screen. Ours go to the app's own writer, and the
// runtime's last words to the descriptor; so it is not given back.
func hushLibraries() error {
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	os.Stderr = nowhere
	return nil
}

// canOpen says what keeps the console from being opened in another context of the configuration.
func (a *app) canOpen(name string) error {
	c, err := config.Load(config.Source{File: a.configFile, Context: name, Flags: a.flags})
	if err != nil {
		return err
	}
	conf := c.Active()
	_, postgres := conf.PoolConfig()
	_, redis := conf.RedisOptions()
	return errors.Join(postgres, redis)
}

// consoleOptions wires what the console asks and does.
func (w *wiring) consoleOptions(ctx context.Context) (tui.Options, error) {
	var none tui.Options
	if err := w.checkConsole(ctx); err != nil {
		return none, err
	}
	reader, err := w.newReader(ctx)
	if err != nil {
		return none, err
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return none, err
	}
	engine, err := w.newEngine(ctx, w.identity(), 0)
	if err != nil {
		return none, err
	}
	mode, ascii := paint.Detect(w.app.env)
	if w.app.noColor {
		mode = paint.Mono
	}
	language := w.conf.UI.Language
	if language == "auto" {
		language = consoletext.Detect(w.app.env)
	}
	files := w.newConsoleFiles()
	return tui.Options{
		Inspector: reader, Operator: operator, Reverser: operator,
		Plans:    &consolePlans{Operator: operator, wiring: w, engine: engine},
		RunAudit: w.consoleAudit, Drills: consoleDrills{w}, Commands: consoleCommands{w},
		Context: w.conf.Name, Flags: w.reachedBy(),
		Environment: w.conf.Environment, User: w.conf.Operator,
		ReadOnly: w.conf.ReadOnly, Protected: w.conf.Protected, Endpoints: w.endpoints(),
		LeaseTTL: w.conf.Lease.TTL, AmountMax: w.conf.Limits.AmountMax,
		Refresh: w.conf.UI.Refresh, Language: language,
		Home: orElse(w.app.home, w.conf.UI.Home), Roles: w.conf.UI.Roles,
		Contexts: w.targets(),
		Keys:     w.conf.UI.Keys, Mouse: w.conf.UI.Mouse,
		Export: files.exportAny, State: files.load(), SaveState: files.save,
		Now: w.app.now, Color: mode, ASCII: ascii || w.conf.UI.ASCII,
		Multiplexer: w.app.multiplexer(),
		Clipboard:   w.app.clipboard(), Input: w.app.stdin, Output: w.app.stdout,
	}, nil
}

// reachedBy are the flags without which a command in a shell could be carried out elsewhere than
// what the console shows: by another configuration, or in another of its contexts.
func (w *wiring) reachedBy() []string {
	if len(w.again) > 0 {
		return w.again[:2] // the file of our own making, which has one context
	}
	flags := w.app.configFlag()
	if w.app.context != "" || len(w.contexts) > 1 {
		flags = append(flags, "--context", w.conf.Name)
	}
	return flags
}

// targets are the contexts that the console can be opened in.
func (w *wiring) targets() []tui.Target {
	list := make([]tui.Target, len(w.contexts))
	for i, c := range w.contexts {
		list[i] = tui.Target{
			Name: c.Name, Environment: c.Environment, ReadOnly: c.ReadOnly, Protected: c.Protected,
		}
	}
	return list
}

// checkConsole refuses what would only show once the console is open.
func (w *wiring) checkConsole(ctx context.Context) error {
	if home := w.app.home; home != "" {
		known := false
		for _, one := range config.Homes() {
			known = known || one == home
		}
		if !known {
			return usage("home", "choose one of: "+strings.Join(config.Homes(), ", "),
				"--home %q is not a screen to open with", home)
		}
	}
	if problems := tui.CheckKeys(ctx, w.conf.UI.Keys); len(problems) > 0 {
		words := make([]string, len(problems))
		for i, p := range problems {
			words[i] = p.Error()
		}
		return usage("ui.keys", "correct ui.keys in the configuration", "ui.keys: %s",
			strings.Join(words, "; "))
	}
	return nil
}

// multiplexer names the program between us and the terminal, which wants the clipboard sequence
// wrapped.
func (a *app) multiplexer() string {
	switch {
	case a.env("TMUX") != "":
		return "tmux"
	case a.env("STY") != "":
		return "screen"
	}
	return ""
}

// clipboard returns what puts text into the buffer of tmux, and through it into the terminal's
// clipboard: by itself tmux drops what programs send there. Nil outside of tmux.
func (a *app) clipboard() func(ctx context.Context, text string) error {
	if a.multiplexer() != "tmux" {
		return nil
	}
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		cmd.Stdin = strings.NewReader(text)
		return cmd.Run()
	}
}

// reportCrash saves what a crash leaves behind in a file, and says where.
func (a *app) reportCrash(crash *tui.CrashError) error {
	p := &problem{exit: exitFailure, message: crash.Error(), cause: crash}
	f, err := os.CreateTemp("", "rewardctl-crash-*.txt")
	if err != nil {
		return p
	}
	defer f.Close()
	if _, err := f.WriteString(crash.Stack); err == nil {
		p.wayOut = "the details are in " + f.Name() + "; nothing was granted that the ledger does " +
			"not show"
	}
	return p
}
