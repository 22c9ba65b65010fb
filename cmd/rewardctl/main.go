// Command rewardctl is a terminal console and a command line over a fenced grant engine: it gives
// a player the reward for an event exactly once, shows what happened and why, and repairs what
// went wrong, safely.
//
// This package is the only wiring of the project. It knows every other package; none knows it.
//
//   - main.go starts the process and is the only place that ends it.
//   - app.go holds what one run was started with; root.go is the command tree.
//   - exit.go is the one table from an error to its exit code and its words.
//   - output*.go print tables, JSON, JSON lines and CSV.
//   - wiring.go opens PostgreSQL and Redis as the active context says.
//   - one file for each group of commands; demo*.go is the live system of "rewardctl demo".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"rewardctl/config/quiet"
)

func main() {
	quiet.Restore()
	logging.Disable() // the driver would write its own lines between ours, and into the console
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks us to stay
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	// The first signal asks for an orderly end; with the handler gone, the second one ends at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, process{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Getenv, now: time.Now,
	})
	stop()
	os.Exit(int(code))
}
