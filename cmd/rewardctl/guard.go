package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"rewardctl/config"
)

// mayChange decides whether a command may change something in this context. A read-only context
// refuses. A protected one wants words that name the target: given by --confirm, or typed when a
// person can be asked. Without a terminal nothing is asked and nothing is taken for a yes.
func (a *app) mayChange(
	ctx context.Context, conf config.Context, confirm, want, deed string,
) error {
	if conf.ReadOnly {
		return denied("context", "use another context, or only look: --dry-run",
			"context %s is read-only: it may not %s", conf.Name, deed)
	}
	if !conf.Protected || confirm == want {
		return nil
	}
	if confirm != "" {
		return denied("confirm", fmt.Sprintf("to %s, write: --confirm %s", deed, want),
			"--confirm %q is not what context %s asks for", confirm, conf.Name)
	}
	if !a.interactive() {
		return denied("confirm", "add: --confirm "+want,
			"context %s is protected, and nobody can be asked whether to %s", conf.Name, deed)
	}
	return a.ask(ctx, conf, want, deed)
}

// ask has a person type the words. Anything else, Ctrl-C included, changes nothing.
func (a *app) ask(ctx context.Context, conf config.Context, want, deed string) error {
	fmt.Fprintf(a.stderr, "Context %s (%s) is protected.\nTo %s, type %s: ", safeText(conf.Name),
		safeText(conf.Environment), safeText(deed), safeText(want))
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return ctx.Err()
	case line := <-typed:
		if line == want {
			return nil
		}
	}
	return denied("confirm", "nothing was changed", "that is not %s", want)
}

// lastFour returns the last four characters of a name, for confirmations that vary with the
// target. Characters that are hard to type are left out.
func lastFour(name string) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r == utf8.RuneError || r == '\'' || r == '"' || r == '\\' || r == '$' {
			return -1
		}
		return r
	}, name)
	runes := []rune(name)
	return string(runes[max(0, len(runes)-4):])
}
