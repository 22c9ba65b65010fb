package outbox

import (
	"context"
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
