package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"rewardctl/config"
)

// mustConfirm is mayChange for what is dangerous in any context: the words have to be said, by
// --confirm or by a person who is asked. They vary with the number of things that change, so that
// what was counted is what is changed.
func (a *app) mustConfirm(
	ctx context.Context, conf config.Context, confirm, want, deed string,
) error {
	if conf.ReadOnly {
		return a.mayChange(ctx, conf, confirm, want, deed)
	}
	switch {
	case confirm == want:
		return nil
	case confirm != "":
		return denied("confirm", fmt.Sprintf("look again with --dry-run; to %s, write: --confirm %s",
			deed, want), "--confirm %q is not what this asks for", confirm)
	case !a.interactive():
		return denied("confirm", "look with --dry-run, then add: --confirm "+want,
			"nobody can be asked whether to %s", deed)
	}
	fmt.Fprintf(a.stderr, "To %s, type %s: ", safeText(deed), safeText(want))
	line, err := a.answer(ctx)
	if err == nil && line != want {
		err = denied("confirm", "nothing was changed", "that is not %s", want)
	}
	return err
}

// answer waits for a line from a person; Ctrl-C ends the wait.
func (a *app) answer(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		lines <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return "", ctx.Err()
	case line := <-lines:
		return line, nil
	}
}
