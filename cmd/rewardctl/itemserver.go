package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/grant/outbox/itemserver"
)

// itemFlags are the flags of "itemserver".
type itemFlags struct {
	listen, refuse     string
	anyToken, conflict bool
	delay              time.Duration

	dropEvery, breakEvery, garbleEvery, busyEvery int64
}

func (a *app) itemserverCommand() *cobra.Command {
	var f itemFlags
	cmd := &cobra.Command{
		Use:   "itemserver",
		Short: "Run the reference receiver: an item server for trying and testing",
		Long: "Receives what \"outbox relay\" delivers and keeps the players' inventories in tables of" +
			" its\nown, itemserver_*, in the context's database. It is the executable specification of" +
			" a\nreceiver: it applies each key once, refuses older fencing tokens, and tells what it" +
			" has.\nFaults can be switched on, to see what the relay makes of them.",
		Example: "  rewardctl itemserver --listen 127.0.0.1:8090\n" +
			"  rewardctl itemserver --listen 127.0.0.1:8090 --drop-every 5 --delay 200ms",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.itemserver(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8090", "receive on this HOST:PORT")
	flags.BoolVar(&f.anyToken, "any-token", false, "accept older fencing tokens")
	flags.BoolVar(&f.conflict, "conflict", false, "answer repeats with 409 instead of 200")
	flags.StringVar(&f.refuse, "refuse-kind", "", "refuse rewards of this kind for good")
	flags.DurationVar(&f.delay, "delay", 0, "fault: wait before each answer")
	flags.Int64Var(&f.dropEvery, "drop-every", 0, "fault: apply every Nth, then hang up")
	flags.Int64Var(&f.breakEvery, "break-every", 0, "fault: answer every Nth with 500")
	flags.Int64Var(&f.garbleEvery, "garble-every", 0,
		"fault: answer every Nth with 200 and an error in the body")
	flags.Int64Var(&f.busyEvery, "busy-every", 0, "fault: answer every Nth with 503")
	return cmd
}

// fault returns what goes wrong with the n-th message.
func (f itemFlags) fault(n int64, _ grant.Message) itemserver.Fault {
	for _, one := range []struct {
		every int64
		fault itemserver.Fault
	}{
		{f.dropEvery, itemserver.Drop},
		{f.breakEvery, itemserver.Break},
		{f.garbleEvery, itemserver.Garble},
		{f.busyEvery, itemserver.Busy},
	} {
		if one.every > 0 && n%one.every == 0 {
			return one.fault
		}
	}
	return itemserver.NoFault
}

func (a *app) itemserver(ctx context.Context, f itemFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if w.conf.ReadOnly {
		return denied("context", "use another context", "context %s is read-only: it may not "+
			"receive", w.conf.Name)
	}
	secret, err := w.conf.HTTPSecret()
	if err != nil {
		return err
	}
	items, err := w.newItemserver(ctx, f, secret, a.logger())
	if err != nil {
		return err
	}
	stop, err := a.serve(ctx, f.listen, items)
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}

func (w *wiring) newItemserver(
	ctx context.Context, f itemFlags, secret config.Secret, logger *slog.Logger,
) (*itemserver.Server, error) {
	pool, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	return itemserver.New(ctx, pool, itemserver.Options{
		Secret: secret.Reveal(), AnyToken: f.anyToken, Conflict: f.conflict,
		RefuseKind: f.refuse, Delay: f.delay, Fault: f.fault, Now: w.app.now,
		Logger: logger,
	})
}
