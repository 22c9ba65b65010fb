package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/config"
	"rewardctl/grant/outbox"
)

// relayFlags are the flags of "outbox relay".
type relayFlags struct {
	sink, listen       string
	once               bool
	batch, concurrency int
}

// relayJSON is what a relay did.
type relayJSON struct {
	Sink      string `json:"sink"`
	Delivered int64  `json:"delivered"`
	Repeated  int64  `json:"repeated"` // of the delivered: the receiver had them before
	Retried   int64  `json:"retried"`
	Dead      int64  `json:"dead"`
	Unknown   int64  `json:"unknown"`
	NotNow    int64  `json:"not_now"`
	Lost      int64  `json:"lost_claims"`
}

func (a *app) outboxRelayCommand() *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Deliver postings to the receiver of the context, until stopped",
		Long: "Delivers every posting at least once, each player's in order. Any number of relays may" +
			" run,\non any number of machines. Ctrl-C or SIGTERM ends it in order: what is on its way" +
			" may\narrive, what was not sent goes back. With --once it ends when nothing can be sent" +
			" now.",
		Example: "  rewardctl outbox relay --listen 127.0.0.1:9187\n  rewardctl outbox relay --once",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.relay(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.sink, "sink", "", "http, stream or kafka instead of the context's")
	flags.BoolVar(&f.once, "once", false, "end when nothing can be sent now")
	flags.IntVar(&f.batch, "batch", 0, "rows that one claim takes at most")
	flags.IntVar(&f.concurrency, "concurrency", 0, "messages on their way at once")
	flags.StringVar(&f.listen, "listen", "", "serve /healthz and /metrics on this HOST:PORT")
	return cmd
}

func (a *app) relay(ctx context.Context, f relayFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if w.conf.ReadOnly {
		return denied("context", "use another context", "context %s is read-only: it may not "+
			"deliver", w.conf.Name)
	}
	if f.batch < 0 || f.concurrency < 0 {
		return usage("batch", "give numbers above zero", "--batch and --concurrency are numbers "+
			"of rows")
	}
	o := &w.conf.Outbox
	o.Sink = orElse(f.sink, o.Sink)
	o.Batch, o.Concurrency = orElse(f.batch, o.Batch), orElse(f.concurrency, o.Concurrency)
	sink, err := w.openSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	relay, err := w.newRelay(ctx, sink, w.identity(), a.logger())
	if err != nil {
		return err
	}
	if f.listen != "" {
		stop, err := a.serve(ctx, f.listen, relay.Handler(ctx))
		if err != nil {
			return err
		}
		defer stop()
	}
	if f.once {
		tally, err := relay.Drain(ctx)
		if err == nil {
			err = a.printTally(sink.Name(), tally)
		}
		if err != nil {
			return err
		}
		return leftBehind(tally)
	}
	a.say("delivering to %s; Ctrl-C ends it", sink.Name())
	err = relay.Run(ctx)
	return errors.Join(err, a.printTally(sink.Name(), relay.Tally()))
}

// newRelay returns a relay as the context says, under the given name.
func (w *wiring) newRelay(
	ctx context.Context, sink outbox.Sink, name string, logger *slog.Logger,
) (*outbox.Relay, error) {
	pool, err := w.openPool(ctx)
	if err != nil {
		return nil, err
	}
	o := w.conf.Outbox
	return outbox.New(pool, sink, outbox.Options{
		Name: name, Source: w.source(), Policy: outbox.Policy(o.Policy), Batch: o.Batch,
		Concurrency: o.Concurrency, ClaimFor: o.ClaimFor, Timeout: o.Timeout,
		StrikesMax: o.StrikesMax, BackoffMin: o.BackoffMin, BackoffMax: o.BackoffMax,
		PauseMax: o.PauseMax, PollMax: o.PollMax, Listen: !w.conf.Postgres.Pooler,
		Now: w.app.now, Logger: logger,
	})
}

// source names this installation in messages.
func (w *wiring) source() string { return "/rewardctl/" + w.conf.Environment }

// openSink opens what the context delivers to. Nothing is sent yet.
func (w *wiring) openSink() (outbox.Sink, error) {
	switch w.conf.Outbox.Sink {
	case config.SinkHTTP:
		return w.openHTTPSink()
	case config.SinkStream:
		return w.openStreamSink()
	case config.SinkKafka:
		return w.openKafkaSink()
	}
	return nil, usage("sink", "use http, stream or kafka", "--sink %q is not a sink",
		w.conf.Outbox.Sink)
}

func (w *wiring) openHTTPSink() (outbox.Sink, error) {
	h := w.conf.Outbox.HTTP
	if h.URL == "" {
		return nil, usage("outbox_http.url", "set outbox_http.url in the context; to try it: "+
			"rewardctl itemserver", "the context names no item server")
	}
	secret, err := w.conf.HTTPSecret()
	if err != nil {
		return nil, err
	}
	token, err := w.conf.HTTPToken()
	if err != nil {
		return nil, err
	}
	trust, err := w.conf.HTTPTLS()
	if err != nil {
		return nil, err
	}
	return outbox.NewHTTPSink(outbox.HTTPOptions{
		URL: h.URL, Secret: secret.Reveal(), Token: token.Reveal(), TLS: trust,
		Connections: w.conf.Outbox.Concurrency, Now: w.app.now,
	})
}

// logger writes what servers report, a line each, to stderr.
func (a *app) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, nil))
}

const (
	serveHeaderFor = 5 * time.Second
	serveStopFor   = 2 * time.Second
)

// serve answers HTTP requests until the returned function is called.
func (a *app) serve(
	ctx context.Context, addr string, handler http.Handler,
) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, usage("listen", "give a free HOST:PORT", "cannot listen on %s: %v", addr, err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: serveHeaderFor,
		ErrorLog: slog.NewLogLogger(a.logger().Handler(), slog.LevelWarn),
	}
	go func() { _ = server.Serve(listener) }()
	a.say("listening on %s", listener.Addr())
	return func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), serveStopFor)
		defer cancel()
		_ = server.Shutdown(end)
		_ = server.Close()
	}, nil
}

// printTally prints what a relay did.
func (a *app) printTally(sink string, t outbox.Tally) error {
	j := relayJSON{
		Sink: sink, Delivered: t.Delivered, Repeated: t.Repeated, Retried: t.Retried, Dead: t.Dead,
		Unknown: t.Unknown, NotNow: t.NotNow, Lost: t.Lost,
	}
	return a.printOne(j, []field{
		{"sink", text(sink)},
		{"delivered", number(t.Delivered)},
		{"repeated", numberOrBlank(t.Repeated)},
		{"retried", numberOrBlank(t.Retried)},
		{"unknown", numberOrBlank(t.Unknown)},
		{"not_now", numberOrBlank(t.NotNow)},
		{"dead", numberOrBlank(t.Dead)},
		{"lost_claims", numberOrBlank(t.Lost)},
	})
}

// leftBehind is the error of a drain after which something is still to be delivered.
func leftBehind(t outbox.Tally) error {
	switch {
	case t.Delivered == 0 && t.NotNow > 0:
		return &problem{
			exit: exitUnavailable, shown: true, message: "the receiver is not ready",
			wayOut: "see why with: rewardctl outbox list --state retrying",
		}
	case t.Dead+t.Retried+t.Lost > 0:
		return &problem{
			exit: exitPartial, shown: true,
			message: fmt.Sprintf("%d delivered, %d attempts to be made again, %d given up",
				t.Delivered, t.Retried, t.Dead),
			wayOut: "see them with: rewardctl outbox list",
		}
	}
	return nil
}
