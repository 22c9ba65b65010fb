package itemserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
)

// Fault is a way in which a receiver goes wrong on command.
type Fault string

// The faults.
const (
	NoFault Fault = ""
	Drop    Fault = "drop"   // apply, then hang up without an answer
	Break   Fault = "break"  // answer 500, apply nothing
	Garble  Fault = "garble" // answer 200 with an error in the body, apply nothing
	Busy    Fault = "busy"   // answer 503 with Retry-After: 1
)

// Options configure a Server. The zero value of each field works.
type Options struct {
	// Secret is shared with the senders; empty means that requests are not signed.
	Secret string
	// AnyToken turns the check of fencing tokens off, for rewards that workers pay under leases
	// of other things than the player: such tokens cannot be compared.
	AnyToken bool
	// Conflict answers a repeat with 409 instead of 200, as some receivers do.
	Conflict bool
	// RefuseKind is a kind of reward that does not exist here; empty means none.
	RefuseKind string
	// Delay is waited before each answer.
	Delay time.Duration
	// Fault is asked for each POST, counted from 1; nil means that nothing goes wrong.
	Fault func(n int64, m grant.Message) Fault
	// Now tells this machine's time; default time.Now. Signatures are judged by it.
	Now func() time.Time
	// Logger hears of what is refused; default none.
	Logger *slog.Logger
}

// Server is the receiver as an http.Handler.
type Server struct {
	store store
	opts  Options
	count atomic.Int64
}

// New returns a server on the tables in the pool's schema, which it makes when they are missing.
func New(ctx context.Context, pool *pgxpool.Pool, opts Options) (*Server, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{store: store{pool}, opts: opts}
	return s, s.store.create(ctx)
}

// Received is how many POSTs came so far.
func (s *Server) Received() int64 { return s.count.Load() }

// ServeHTTP answers POST and GET on any path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet:
		s.get(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "GET or POST", http.StatusMethodNotAllowed)
	}
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	n := s.count.Add(1)
	m, problem := s.read(w, r)
	key := r.Header.Get(outbox.HeaderKey)
	if problem != nil {
		s.opts.Logger.Warn("refused", "key", key, "why", problem.reason)
		reply(w, problem.status, outbox.Answer{
			Status: outbox.StatusRefused, Key: key, Reason: problem.reason,
		})
		return
	}
	if s.opts.Delay > 0 && !pause(r.Context(), s.opts.Delay) {
		return
	}
	fault := NoFault
	if s.opts.Fault != nil {
		fault = s.opts.Fault(n, m)
	}
	switch fault {
	case Break:
		http.Error(w, "broken on command", http.StatusInternalServerError)
		return
	case Garble:
		reply(w, http.StatusOK, map[string]string{"error": "garbled on command"})
		return
	case Busy:
		w.Header().Set("Retry-After", "1")
		reply(w, http.StatusServiceUnavailable, outbox.Answer{Status: outbox.StatusBusy, Key: key})
		return
	case Drop, NoFault:
	}
	status, answer := s.apply(r.Context(), m)
	if fault == Drop {
		panic(http.ErrAbortHandler) // the library's way to hang up
	}
	reply(w, status, answer)
}

// apply applies a message and words the answer.
func (s *Server) apply(ctx context.Context, m grant.Message) (int, outbox.Answer) {
	out := outbox.Answer{Key: m.Key(), Kind: m.Kind, Amount: strconv.FormatInt(m.Amount, 10)}
	refuse := func(reason string) (int, outbox.Answer) {
		out.Status, out.Reason = outbox.StatusRefused, reason
		s.opts.Logger.Warn("refused", "key", out.Key, "why", reason)
		return http.StatusUnprocessableEntity, out
	}
	if s.opts.RefuseKind != "" && m.Kind == s.opts.RefuseKind {
		return refuse(fmt.Sprintf("there is no item %q", m.Kind))
	}
	// A reversal is not paid under a lease, so its token says nothing.
	check := !s.opts.AnyToken && m.Reverses == ""
	v, have, err := s.store.receive(ctx, m, check)
	if err != nil {
		s.opts.Logger.Error("cannot apply", "key", out.Key, "error", err.Error())
		out.Status, out.Reason = outbox.StatusBusy, "the item server's database does not answer"
		return http.StatusServiceUnavailable, out
	}
	switch v {
	case applied:
		out.Status = outbox.StatusApplied
	case repeated:
		out.Status = outbox.StatusRepeated
		if s.opts.Conflict {
			return http.StatusConflict, out
		}
	case differs:
		return refuse(fmt.Sprintf("the key was applied with %d %s, not %d %s", have.Amount,
			have.Kind, m.Amount, m.Kind))
	case stale:
		return refuse(fmt.Sprintf("token %d is older than token %d, which was accepted", m.Token,
			have.Token))
	}
	return http.StatusOK, out
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	key := query.Get("key")
	if !s.signed(r, key, nil) {
		reply(w, http.StatusUnauthorized, outbox.Answer{
			Status: outbox.StatusRefused, Key: key, Reason: "the signature is wrong or old",
		})
		return
	}
	if key == "" {
		s.list(w, r)
		return
	}
	have, _, err := s.store.status(r.Context(), key, "")
	switch {
	case err != nil:
		reply(w, http.StatusServiceUnavailable, outbox.Answer{Status: outbox.StatusBusy, Key: key})
	case have == nil:
		reply(w, http.StatusNotFound, outbox.Answer{Status: outbox.StatusAbsent, Key: key})
	default:
		reply(w, http.StatusOK, outbox.Answer{
			Status: outbox.StatusApplied, Key: key, Kind: have.Kind,
			Amount: strconv.FormatInt(have.Amount, 10),
		})
	}
}

// pause waits, and reports whether the sender is still there.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever hung up asks again
}

var errNotJSON = errors.New("the body is not a CloudEvents 1.0 event in JSON")
