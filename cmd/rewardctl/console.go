package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"rewardctl/tui"
	"rewardctl/tui/paint"
)

// runConsole is rewardctl without a command: the console on a terminal, else a refusal that names
// what works without one.
func (a *app) runConsole(cmd *cobra.Command, _ []string) error {
	if !a.interactive() {
		return usage("command", "name a command, such as: rewardctl lease list, rewardctl player "+
			"history P, rewardctl grant create --help, rewardctl doctor; see all: rewardctl --help",
			"the console needs a terminal on stdin and stdout")
	}
	w, err := a.wire()
	if err != nil {
		return err
	}
	return w.console(cmd.Context())
}

// console opens the console on this process's terminal and returns when it is left.
func (w *wiring) console(ctx context.Context) error {
	reader, err := w.newReader(ctx)
	if err != nil {
		return err
	}
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return err
	}
	mode, ascii := paint.Detect(w.app.env)
	if w.app.noColor {
		mode = paint.Mono
	}
	err = tui.Run(ctx, tui.Options{
		Inspector: reader, Operator: operator,
		Context: w.conf.Name, Environment: w.conf.Environment, User: w.conf.Operator,
		ReadOnly: w.conf.ReadOnly, Endpoints: w.endpoints(),
		LeaseTTL: w.conf.Lease.TTL, AmountMax: w.conf.Limits.AmountMax,
		Now: w.app.now, Color: mode, ASCII: ascii, Multiplexer: w.app.multiplexer(),
		Input: w.app.stdin, Output: w.app.stdout,
	})
	if errors.Is(err, tui.ErrStopped) {
		return ended(exitInterrupted)
	}
	var crash *tui.CrashError
	if errors.As(err, &crash) {
		return w.app.reportCrash(crash)
	}
	return err
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
