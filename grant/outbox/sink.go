package outbox

import (
	"context"
	"errors"
	"time"

	"rewardctl/grant"
)

// Verdict says what became of one attempt, as far as the sender can tell.
type Verdict string

// The verdicts.
const (
	Delivered Verdict = "delivered" // the receiver has it now
	Repeated  Verdict = "repeated"  // the receiver had it before, with the same content
	Refused   Verdict = "refused"   // never going to be accepted; trying again is no use
	Failed    Verdict = "failed"    // not accepted, perhaps because of what is in it
	NotNow    Verdict = "not_now"   // the receiver is down, busy or not set up: nothing was done
	Unknown   Verdict = "unknown"   // it may have arrived
	Absent    Verdict = "absent"    // answer of a probe only: the receiver does not have it
)

// Report is a verdict with what the receiver or the network said.
type Report struct {
	Verdict Verdict
	Detail  string // one line, without secrets; empty when there is nothing to say
	// Doubt is set with Failed when it may have arrived all the same.
	Doubt bool
	// RetryAfter is how long the receiver asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Kind and Amount are what the receiver has under the key, as it says in the answer to a probe;
	// empty when it has nothing or does not say.
	Kind, Amount string
	// Guessed is set with Absent when the receiver cannot be asked for the status of a message, and
	// was taken not to have it.
	Guessed bool
}

// Sink is where messages go. Its methods may be called at once from many goroutines; they return
// soon after their context ends.
type Sink interface {
	// Name says what it is, such as "http".
	Name() string
	// Publish sends one message and waits for the receiver's word.
	Publish(ctx context.Context, m grant.Message) Report
	// Close gives up its connections.
	Close()
}

// Prober is a Sink whose receiver can be asked whether it has a message. The answer is Delivered,
// Absent, Refused (it has other content under the key), NotNow or Unknown.
type Prober interface {
	Probe(ctx context.Context, m grant.Message) Report
}

// Listed is one key of which a receiver says that it has it, and with what.
type Listed struct {
	Key    string `json:"key"`
	Kind   string `json:"kind"`
	Amount string `json:"amount"` // in decimal
}

// ErrNoListing says that a receiver does not list what it has.
var ErrNoListing = errors.New("the receiver does not list what it has")

// Lister is a Prober whose receiver can list what it has.
type Lister interface {
	// List returns what comes after a key, in an order of the receiver's, and the key after which
	// the next page begins; that is empty at the end. It returns ErrNoListing when the receiver
	// cannot list, and a *BusyError when it did not answer.
	List(ctx context.Context, after string) (page []Listed, next string, err error)
}

// BusyError says that a receiver did not answer a question.
type BusyError struct {
	Detail     string        // one line, without secrets
	RetryAfter time.Duration // how long the receiver asks to wait; 0 when it does not say
}

// Error returns what the receiver or the network said.
func (e *BusyError) Error() string { return e.Detail }
