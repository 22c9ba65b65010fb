package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"rewardctl/config"
	"rewardctl/grant/outbox"
)

const (
	// demoRefusedKind is a reward that the demo's item server does not know: a dead letter.
	demoRefusedKind = "retired-skin"
	// demoItemDelay keeps the backlog visible for a while.
	demoItemDelay = 40 * time.Millisecond
	demoRelayName = "relay-1@demo-host/4100"
)

// demoDelivery is the demo's item server and the relay that delivers to it.
type demoDelivery struct {
	listener net.Listener
	secret   config.Secret
	server   *http.Server
	sink     outbox.Sink

	group   sync.WaitGroup
	halt    context.CancelFunc
	relayed chan struct{} // closed when the relay has ended
}

// newDemoDelivery settles where the item server listens.
func newDemoDelivery(ctx context.Context) (*demoDelivery, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &demoDelivery{listener: listener, secret: config.NewSecret(newID())}, nil
}

// configure writes into the demo's context how to reach the item server.
func (d *demoDelivery) configure(c *config.Context) {
	c.Outbox.HTTP.URL = "http://" + d.listener.Addr().String() + "/rewards"
	c.Outbox.HTTP.Secret = d.secret
}

// start lets the item server receive and the relay deliver until stop is called.
func (d *demoDelivery) start(ctx context.Context, w *wiring, logger *slog.Logger) error {
	items, err := w.newItemserver(ctx, itemFlags{
		refuse: demoRefusedKind, delay: demoItemDelay,
	}, d.secret, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := loadReceived(ctx, w); err != nil {
		return err
	}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	d.server = &http.Server{Handler: items, ReadHeaderTimeout: serveHeaderFor, ErrorLog: quiet}
	d.group.Go(func() { _ = d.server.Serve(d.listener) })
	if d.sink, err = w.openSink(); err != nil {
		return err
	}
	relay, err := w.newRelay(ctx, d.sink, demoRelayName, logger)
	if err != nil {
		return err
	}
	ctx, d.halt = context.WithCancel(ctx)
	d.relayed = make(chan struct{})
	d.group.Go(func() {
		defer close(d.relayed)
		_ = relay.Run(ctx) // it reports to its logger and only ends when it is stopped
	})
	return nil
}

// stop ends the relay, which finishes what is on its way, and then the item server.
func (d *demoDelivery) stop() {
	if d.halt != nil {
		d.halt()
		<-d.relayed
	}
	if d.server == nil {
		_ = d.listener.Close()
		return
	}
	_ = d.server.Close()
	d.group.Wait()
	if d.sink != nil {
		d.sink.Close()
	}
}
