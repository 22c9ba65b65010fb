package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant/lease"
	"rewardctl/repair"
)

const (
	soonEnds  = 10 * time.Second // a lease with less time left is worth waiting for
	waitPolls = 200 * time.Millisecond
)

// awaitEnd waits for a lease that is about to end by itself, as --wait asks or a person agrees to.
// When it has ended, the release goes on and burns its token. One that was renewed meanwhile has a
// living holder, and is left.
func (a *app) awaitEnd(
	cmd *cobra.Command, w *wiring, wait time.Duration, r repair.ReleaseRequest,
) error {
	ctx := cmd.Context()
	if wait < 0 {
		return usage("wait", "give 0 or more, such as 5s", "--wait %s is below zero", wait)
	}
	store, err := w.openStore()
	if err != nil {
		return err
	}
	seen, err := store.Show(ctx, r.Resource)
	if err != nil || seen.NoExpiry || !namesLease(r, seen) {
		return nil // the release itself tells what is wrong
	}
	if !cmd.Flags().Changed("wait") {
		if seen.Left > soonEnds {
			return nil
		}
		if !a.interactive() {
			a.say("note: the lease ends by itself in %s; --wait %s would have waited for that",
				span(seen.Left), soonEnds)
			return nil
		}
		fmt.Fprintf(a.stderr, "The lease ends by itself in %s. Wait for that? [Y/n] ",
			span(seen.Left))
		line, err := a.answer(ctx)
		if err != nil || strings.EqualFold(line, "n") || strings.EqualFold(line, "no") {
			return err
		}
		wait = soonEnds
	}
	return a.untilEnd(ctx, store, wait, seen)
}

// namesLease reports whether the request is about the lease that is there.
func namesLease(r repair.ReleaseRequest, seen lease.Entry) bool {
	if r.Value != "" {
		return r.Value == seen.Value
	}
	return lease.FormatValue(r.Token, r.Owner) == seen.Value
}

// untilEnd looks again and again, for at most so long.
func (a *app) untilEnd(
	ctx context.Context, store *lease.Store, wait time.Duration, seen lease.Entry,
) error {
	deadline := a.now().Add(wait)
	for left := seen.Left; ; {
		now, err := store.Show(ctx, seen.Resource)
		switch {
		case errors.Is(err, lease.ErrNoLease):
			return nil
		case err != nil:
			return err
		case now.Value != seen.Value:
			return nil // the release tells who has it now
		case now.NoExpiry || now.Left > left:
			return &repair.PreconditionError{
				Resource: seen.Resource, Have: "been renewed by its holder", Want: "ended by itself",
				WayOut: "its holder is alive; to take the lease away all the same, leave --wait out",
			}
		}
		left = now.Left
		rest := deadline.Sub(a.now())
		if rest <= 0 {
			a.say("note: waited %s, the lease has %s left", wait, span(left))
			return nil
		}
		timer := time.NewTimer(min(waitPolls, rest))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
