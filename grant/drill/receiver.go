package drill

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// receiver is an item server of the drill's own, on a loopback port.
type receiver struct {
	url   string
	naive *naiveReceiver // nil when it is the reference item server
}

// newReceiver starts the reference item server, or, in control runs, one that gives whatever it is
// sent. Answers are lost as fault says.
func (st *stage) newReceiver(
	ctx context.Context, fault func(n int64) itemserver.Fault,
) (*receiver, error) {
	r := &receiver{}
	var handler http.Handler
	if st.opt.Defence == None {
		r.naive = &naiveReceiver{fault: fault}
		handler = r.naive
	} else {
		server, err := itemserver.New(ctx, st.pool, itemserver.Options{
			Now:   st.opt.Now,
			Fault: func(n int64, _ grant.Message) itemserver.Fault { return fault(n) },
		})
		if err != nil {
			return nil, err
		}
		handler = server
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	st.atEnd(func() { _ = server.Close() })
	r.url = "http://" + listener.Addr().String() + "/"
	return r, nil
}

func noFault(int64) itemserver.Fault { return itemserver.NoFault }

// items is how much the receiver has given.
func (r *receiver) items(ctx context.Context, st *stage) (int64, error) {
	if r.naive != nil {
		return r.naive.sum(), nil
	}
	var sum int64
	if err := st.pool.QueryRow(ctx, itemsSumSQL).Scan(&sum); err != nil {
		return 0, postgresError("read the items", err)
	}
	return sum, nil
}

// shows puts what the receiver has given into the middle column.
func (r *receiver) shows(st *stage) {
	st.look = func(ctx context.Context) (string, error) {
		sum, err := r.items(ctx, st)
		return number(sum) + " " + kind + " in the inventory", err
	}
}

// naiveReceiver gives what it is sent, as often as it is sent, and cannot be asked what it gave.
type naiveReceiver struct {
	fault func(n int64) itemserver.Fault
	mu    sync.Mutex
	posts int64
	given int64
}

func (n *naiveReceiver) sum() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.given
}

const bodyMax = 64 << 10

// ServeHTTP takes POST and nothing else.
func (n *naiveReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	var body struct {
		Data struct {
			Amount string `json:"amount"`
		} `json:"data"`
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, bodyMax))
	err = errors.Join(err, json.Unmarshal(text, &body))
	amount, bad := strconv.ParseInt(body.Data.Amount, 10, 64)
	if err != nil || bad != nil {
		http.Error(w, "not a reward", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	n.posts++
	n.given += amount
	fault := n.fault(n.posts)
	n.mu.Unlock()
	if fault == itemserver.Drop {
		panic(http.ErrAbortHandler) // the library's way to hang up
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(outbox.Answer{ // whoever hung up asks again
		Status: outbox.StatusApplied, Key: r.Header.Get(outbox.HeaderKey),
	})
}

// claimMin is how long a relay's claim lasts at least: it has to be sent within.
const claimMin = time.Second

func claimFor(ttl time.Duration) time.Duration { return max(ttl, claimMin) }

// relayTo makes a relay to a receiver.
func (p *payer) relayTo(
	url, name string, ttl time.Duration, now func() time.Time, onStep func(outbox.Step, []int64),
) (*outbox.Relay, func(), error) {
	sink, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: url, Now: now})
	if err != nil {
		return nil, nil, err
	}
	const retry = 20 * time.Millisecond
	relay, err := outbox.New(p.pool, sink, outbox.Options{
		Name: name, ClaimFor: claimFor(ttl), Timeout: claimFor(ttl) / 2, BackoffMin: retry,
		BackoffMax: retry, PauseMax: retry, Now: now, OnStep: onStep,
	})
	return relay, sink.Close, err
}

// drained relays until everything is delivered.
func (st *stage) drained(ctx context.Context, url, name string) error {
	relay, end, err := st.relayTo(url, name, st.opt.TTL, st.opt.Now, nil)
	if err != nil {
		return err
	}
	defer end()
	const tries, pause = 400, 25 * time.Millisecond
	for range tries {
		if _, err := relay.Drain(ctx); err != nil {
			return err
		}
		var left int64
		if err := st.pool.QueryRow(ctx, outboxLeftSQL).Scan(&left); err != nil {
			return postgresError("count what is not delivered", err)
		}
		if left == 0 {
			return nil
		}
		if err := st.wait(ctx, pause); err != nil {
			return err
		}
	}
	return notPlayed("the relay does not deliver what is queued")
}
