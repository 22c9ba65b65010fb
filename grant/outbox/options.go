package outbox

import (
	"fmt"
	"log/slog"
	"time"

	"rewardctl/grant"
)

// Policy says what later rows of a player do when one was given up or parked.
type Policy string

// The policies.
const (
	PolicyWait Policy = "wait" // they wait until an operator has dealt with it
	PolicyPass Policy = "pass" // they pass it, so the player's order is not kept
)

// Step is a moment of a row's way at which a test may stop a relay.
type Step string

// The steps, in order.
const (
	StepClaimed Step = "claimed" // the claim is committed
	StepSend    Step = "send"    // the message is about to be sent
	StepSent    Step = "sent"    // the receiver has answered
	StepMark    Step = "mark"    // the answers are about to be written down
	StepMarked  Step = "marked"  // they are committed
)

// Options configure a Relay. Name is required; every other field has a working default.
type Options struct {
	// Name is who claims, recorded with every attempt: name@host/pid.
	Name string
	// Source goes into every message; default "/rewardctl".
	Source string
	// Policy says what rows behind one that was given up do; default PolicyWait.
	Policy Policy
	// Batch is how many rows one claim takes at most; default 100.
	Batch int
	// Concurrency is how many messages are on their way at once; default 16.
	Concurrency int
	// ClaimFor is how long a claim lasts: so long a dead relay's rows lie. Default 30 s.
	ClaimFor time.Duration
	// Timeout bounds one attempt; default 10 s. It must be shorter than ClaimFor.
	Timeout time.Duration
	// StrikesMax is after how many failures a row is a dead letter; default 20.
	StrikesMax int
	// BackoffMin and BackoffMax bound the wait between two attempts, which doubles from one to
	// the other; default 1 s and 1 min.
	BackoffMin, BackoffMax time.Duration
	// PauseMax bounds how long the relay rests before it tries a receiver that is down again;
	// default 5 s. A wait that the receiver asks for may be longer, up to 15 min.
	PauseMax time.Duration
	// PollMax is the longest time between two looks at the outbox; default 1 s.
	PollMax time.Duration
	// Grace bounds how long a stopping relay waits for what is on its way; default Timeout.
	Grace time.Duration
	// Listen makes the relay hear of new rows at once. Behind PgBouncer it cannot: leave it off.
	Listen bool

	// Now tells this machine's time; default time.Now. Claims are judged by the database's clock.
	Now func() time.Time
	// Logger hears of dead letters, lost claims and receivers that go and come; default none.
	Logger *slog.Logger
	// OnStep is called at each step with the ledger ids concerned; for tests.
	OnStep func(Step, []int64)
}

const (
	retryAfterMax = 15 * time.Minute
	backoffFirst  = 100 * time.Millisecond // of a pause, doubled up to PauseMax
	pollMin       = 20 * time.Millisecond
	claimMargin   = 10 // a claim is trusted until a tenth of it is left
)

// complete fills in defaults and refuses what cannot work.
func (o *Options) complete() error {
	def := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	count := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	count(&o.Batch, 100)
	count(&o.Concurrency, 16)
	count(&o.StrikesMax, 20)
	def(&o.ClaimFor, 30*time.Second)
	def(&o.Timeout, 10*time.Second)
	def(&o.BackoffMin, time.Second)
	def(&o.BackoffMax, time.Minute)
	def(&o.PauseMax, 5*time.Second)
	def(&o.PollMax, time.Second)
	def(&o.Grace, o.Timeout)
	if o.Policy == "" {
		o.Policy = PolicyWait
	}
	if o.Source == "" {
		o.Source = "/rewardctl"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnStep == nil {
		o.OnStep = func(Step, []int64) {}
	}
	return o.check()
}

func (o *Options) check() error {
	switch {
	case o.Name == "":
		return &grant.Rejection{
			Field: "relay", Problem: "has no name", WayOut: "claims carry it: name@host/pid",
		}
	case o.Policy != PolicyWait && o.Policy != PolicyPass:
		return &grant.Rejection{
			Field: "policy", Value: string(o.Policy), Problem: "is not a policy",
			WayOut: "use wait or pass",
		}
	case o.Timeout > o.trusted():
		return &grant.Rejection{
			Field: "timeout", Value: o.Timeout.String(),
			Problem: fmt.Sprintf("does not fit into a claim of %s", o.ClaimFor),
			WayOut:  "make the claim longer or the timeout shorter",
		}
	case o.BackoffMax < o.BackoffMin:
		return &grant.Rejection{
			Field: "backoff", Value: o.BackoffMax.String(),
			Problem: "ends below its beginning " + o.BackoffMin.String(),
			WayOut:  "raise the one or lower the other",
		}
	}
	return nil
}

// trusted is for how long after the start of a claim this relay believes in it.
func (o *Options) trusted() time.Duration { return o.ClaimFor - o.ClaimFor/claimMargin }
