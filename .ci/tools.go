package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"rewardctl/config/embedded"
)

// need is something the run needs of the machine, and the Debian packages that bring it.
type need struct {
	what     string
	packages []string
	missing  func(context.Context) bool
}

func needs() []need {
	lacks := func(name string) func(context.Context) bool {
		return func(context.Context) bool {
			_, err := exec.LookPath(name)
			return err != nil
		}
	}
	return []need{
		{"PostgreSQL", []string{"postgresql"}, func(ctx context.Context) bool {
			_, _, err := embedded.FindPostgres(ctx)
			return err != nil
		}},
		{"redis-server", []string{"redis-server"}, lacks("redis-server")},
		{"a C compiler, for the race detector", []string{"gcc", "libc6-dev"}, lacks("gcc")},
		{"git", []string{"git"}, lacks("git")},
		{"tmux, in which the console is tried", []string{"tmux"}, lacks("tmux")},
		{"PgBouncer", []string{"pgbouncer"}, func(context.Context) bool {
			_, err := os.Stat("/usr/sbin/pgbouncer") // not in everybody's path
			return err != nil && lacks("pgbouncer")(nil)
		}},
	}
}

// ensureTools installs what is missing, or says what that is and how to get it.
func ensureTools(ctx context.Context) error {
	what, wanted := missing(ctx)
	if len(wanted) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("missing: %s.\nAs root on Debian: apt-get update && apt-get install %s"+
			"\nOn macOS: brew install postgresql redis, and xcode-select --install",
			strings.Join(what, "; "), strings.Join(wanted, " "))
	}
	if err := install(ctx, wanted); err != nil {
		return err
	}
	if what, _ = missing(ctx); len(what) > 0 {
		return fmt.Errorf("still missing after the installation: %s", strings.Join(what, "; "))
	}
	return nil
}

func missing(ctx context.Context) (what, wanted []string) {
	for _, n := range needs() {
		if n.missing(ctx) {
			what = append(what, n.what)
			wanted = append(wanted, n.packages...)
		}
	}
	return what, wanted
}

// noServices is the file by which Debian's packages learn not to start their services: the run
// starts servers of its own.
const noServices = "/usr/sbin/policy-rc.d"

func install(ctx context.Context, wanted []string) (err error) {
	if _, statErr := os.Stat(noServices); errors.Is(statErr, os.ErrNotExist) {
		if err := os.WriteFile(noServices, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(noServices)) }()
	}
	if out, err := output(ctx, "apt-get", "-q", "update"); err != nil {
		return fmt.Errorf("%s%w", out, err)
	}
	args := slices.Concat([]string{
		"DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "--no-install-recommends",
		"install",
	}, wanted)
	if out, err := output(ctx, "env", args...); err != nil {
		return fmt.Errorf("%s%w", out, err)
	}
	return nil
}
