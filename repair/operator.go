package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Engine is what an Operator needs of the grant engine; *grant.Engine implements it.
type Engine interface {
	Grant(ctx context.Context, req grant.Request) (grant.Result, error)
}

// Options configure an Operator. Operator and NewID are required; the rest has working defaults.
type Options struct {
	// Operator is who acts: recorded in every row, beside the database session's user.
	Operator string
	// Host is the machine that the operator works on, as it calls itself; recorded in every row,
	// beside the address that the database sees. May be empty.
	Host string
	// Ticket is the case that the deeds belong to, such as INC-77; recorded in every row. May be
	// empty.
	Ticket string
	// ReadOnly makes every deed answer a *ReadOnlyError; dry runs and previews work. It cannot be
	// lifted: make another Operator.
	ReadOnly bool
	// Limits bound what one grant may ask for, as for the engine.
	Limits grant.Limits
	// Players is the studio's own list of players; grants to others are rejected.
	Players PlayerTable
	// Plans say which plans need a second person; the zero value asks for nobody.
	Plans PlanPolicy
	// Now tells this machine's time; default time.Now.
	Now func() time.Time
	// NewID returns a fresh text of at least 128 random bits; required. It names tombstones.
	NewID func() string
	// LockTimeout bounds the wait for a grant in flight when a token is burned; default 2 s.
	LockTimeout time.Duration
	// Timeout bounds each call to one server; default 5 s.
	Timeout time.Duration
}

const (
	lockTimeoutDefault = 2 * time.Second
	timeoutDefault     = 5 * time.Second
	reasonMax          = 500 // bytes of a reason, as in the ledger
	ticketMax          = 200 // bytes of a ticket
)

// Store is what an Operator needs of a lease store; *lease.Store implements it.
type Store interface {
	Show(ctx context.Context, resource string) (lease.Entry, error)
	History(ctx context.Context, resource string) ([]lease.Event, error)
	Counter(ctx context.Context, resource string) (token int64, ok bool, err error)
	ReleaseExact(ctx context.Context, resource, value string) (lease.Freed, error)
	Counters(ctx context.Context, resources []string) ([]lease.CounterSeen, error)
	ScanCounters(ctx context.Context, take func([]string) error) error
	RaiseCounters(
		ctx context.Context, seen []lease.CounterSeen, fences []int64,
	) ([]lease.CounterAnswer, []error)
}

// Operator carries out deeds. It is safe for concurrent use.
type Operator struct {
	pool   *pgxpool.Pool
	store  Store
	engine Engine
	opts   Options
	logged atomic.Int64 // rows of the log
}

// New returns an Operator that writes through pool, releases locks in store and grants through
// engine. The engine may be nil where nothing is granted. It fails without a pool, a store, NewID
// or the operator's name.
func New(pool *pgxpool.Pool, store Store, engine Engine, opts Options) (*Operator, error) {
	if pool == nil || store == nil || opts.NewID == nil {
		return nil, errors.New(
			"repair: an operator needs a database pool, a lease store and Options.NewID")
	}
	opts.Operator = strings.TrimSpace(opts.Operator)
	if opts.Operator == "" {
		return nil, &grant.Rejection{
			Field: "operator", Problem: "is empty", WayOut: "say who acts: every deed is logged",
		}
	}
	if opts.Ticket = strings.TrimSpace(opts.Ticket); len(opts.Ticket) > ticketMax {
		return nil, &grant.Rejection{
			Field: "ticket", Value: opts.Ticket[:40] + "...", Problem: "is longer than 200 bytes",
			WayOut: "give its number",
		}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = lockTimeoutDefault
	}
	if opts.Timeout <= 0 {
		opts.Timeout = timeoutDefault
	}
	if opts.Plans.ApproveWithin <= 0 {
		opts.Plans.ApproveWithin = approveWithinDefault
	}
	if opts.ReadOnly {
		store, engine = closedStore{store}, closedEngine{}
	}
	return &Operator{pool: pool, store: store, engine: engine, opts: opts}, nil
}

// PreconditionError says that something is not as the operator saw it, so nothing was done.
type PreconditionError struct {
	Resource string
	Have     string // what is there now, such as "42:worker-90@host/7#ab12"
	Want     string // what the operator saw
	WayOut   string
	Now      Seen // the lock as it is now; without a Value when there is none
	// DenialID is the row of operator_action that records the refusal. It is 0 after a dry run,
	// and when the row could not be written; LogProblem then says why.
	DenialID   int64
	LogProblem string
}

// Error reads "R changed: it has ..., not ...; look again".
func (e *PreconditionError) Error() string {
	return fmt.Sprintf("%s changed: it has %s, not %s; %s", e.Resource, e.Have, e.Want, e.WayOut)
}

// BusyError says that a burn waited too long for a grant in flight. Nothing was changed.
type BusyError struct {
	Resource string
	PID      int    // the database session that blocks; 0 when it could not be seen
	Session  string // what it is, such as "rewardctl, active since 12:00:01"
	Waited   time.Duration
}

// Error names the session that blocks.
func (e *BusyError) Error() string {
	who := "another session"
	if e.PID != 0 {
		who = fmt.Sprintf("database session %d (%s)", e.PID, e.Session)
	}
	return fmt.Sprintf("the fence of %s is being written by %s; waited %s, nothing was changed; "+
		"try again", e.Resource, who, e.Waited)
}
