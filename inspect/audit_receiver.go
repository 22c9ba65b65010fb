package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// ReceiptState is what a receiver says about one message.
type ReceiptState string

// What a receiver says.
const (
	ReceiptHas     ReceiptState = "has"     // it has the message, with this content
	ReceiptOther   ReceiptState = "other"   // it has other content under the message's key
	ReceiptAbsent  ReceiptState = "absent"  // it does not have it
	ReceiptNone    ReceiptState = "none"    // it gave no answer; it may do so later
	ReceiptUnasked ReceiptState = "unasked" // it cannot be asked at all
)

// Receipt is the answer of a receiver about one message.
type Receipt struct {
	State ReceiptState
	// Kind and Amount are what the receiver has under the key; empty when it does not say.
	Kind, Amount string
	Detail       string // what it said or why there is no answer; text from outside
	// RetryAfter is how long it asks to wait; 0 when it does not say.
	RetryAfter time.Duration
}

// Received is one key that a receiver has.
type Received struct{ Key, Kind, Amount string }

// ErrNoList is what Receiver.List returns when the receiver does not list what it has.
var ErrNoList = errors.New("the receiver does not list what it has")

// Receiver is where postings are delivered to. Its methods may be called at once from many
// goroutines; they return soon after their context ends, and change nothing.
type Receiver interface {
	// Ask asks whether it has a message.
	Ask(ctx context.Context, m grant.Message) Receipt
	// List returns the keys after one, in an order of its own, and the key after which the next
	// page begins; that is empty at the end. It returns ErrNoList when the receiver cannot list.
	List(ctx context.Context, after string) (page []Received, next string, err error)
}

// ReceiverPlan says how the outbox check compares deliveries with what the receiver has. The zero
// value compares nothing.
type ReceiverPlan struct {
	Receiver Receiver
	// From leaves out what was posted earlier; zero means all.
	From time.Time
	// Rate is how many questions are asked per second at most; 0 means as many as it answers.
	Rate int
	// Concurrency is how many questions are on their way at once; default 8.
	Concurrency int
}

// ReceiverError says that a receiver could not be compared with.
type ReceiverError struct {
	Detail string // what it said; text from outside
	// Unasked is set when it answers no such question, so that trying again is no use.
	Unasked bool
}

// Error says whether trying again helps.
func (e *ReceiverError) Error() string {
	if e.Unasked {
		return "the receiver does not answer questions about what it has"
	}
	return "the receiver does not answer: " + e.Detail
}

const (
	askAtOnce    = 8
	askSlot      = 65_536 // ids per part: what is asked again when a run is cut off
	askPage      = 1000
	askTries     = 3
	askPauseMin  = 250 * time.Millisecond
	askPauseMax  = 5 * time.Second
	askSilentMax = 16 // unanswered questions in a row: the receiver is down
)

// queuedPosting is a posting and how its delivery stands.
type queuedPosting struct {
	ID        int64      `db:"ledger_id"`
	PlayerID  string     `db:"player_id"`
	EventID   string     `db:"reward_event_id"`
	Kind      string     `db:"kind"`
	Amount    int64      `db:"amount"`
	Token     int64      `db:"fence_token"`
	At        time.Time  `db:"created_at"`
	Reverses  string     `db:"reverses"`
	State     string     `db:"state"`
	Doubt     bool       `db:"doubt"`
	Attempts  int        `db:"attempts"`
	Delivered *time.Time `db:"delivered_at"`
}

func (p queuedPosting) message(source string) grant.Message {
	return grant.Message{
		PlayerID: p.PlayerID, EventID: p.EventID, Kind: p.Kind, Amount: p.Amount, Token: p.Token,
		LedgerID: p.ID, At: p.At, Reverses: p.Reverses, Source: source,
	}
}

// odd reports what does not fit between a delivery and what the receiver says, as the word of a
// rule; empty when all is well. What is on its way, or will be asked about before it is sent, is
// not odd: the relay settles it.
func (p queuedPosting) odd(r Receipt) string {
	switch {
	case r.State == ReceiptNone:
		return "not_answered"
	case r.State == ReceiptOther:
		return "received_other"
	case r.State == ReceiptAbsent && p.State == "delivered":
		return "not_received"
	case r.State == ReceiptHas && (p.State == "dead" || p.State == "parked"),
		r.State == ReceiptHas && p.State == "pending" && !p.Doubt:
		return "received_early"
	}
	return ""
}

// cutReceiver adds the parts of the outbox check that ask the receiver.
func (a *auditRun) cutReceiver(ctx context.Context, tx pgx.Tx, ledgerRows int64) ([]unit, error) {
	if a.plan.Receiver.Receiver == nil {
		return nil, nil
	}
	own, err := ownLedger()
	if err != nil {
		return nil, err
	}
	sql, err := statement("receiver_slots")
	if err != nil {
		return nil, err
	}
	type slot struct {
		Slot int64 `db:"slot"`
		Rows int64 `db:"rows"`
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"width": askSlot, "since": a.plan.from()})
	if err != nil {
		return nil, err
	}
	slots, err := pgx.CollectRows(rows, pgx.RowToStructByName[slot])
	if err != nil {
		return nil, err
	}
	if a.asks == nil {
		a.asks = newAsking(a.plan.Receiver, a.reader.opts.Now)
	}
	var units []unit
	for _, s := range slots {
		c := &comparison{first: s.Slot * askSlot}
		units = append(units, unit{
			name: fmt.Sprintf("receiver, postings from %d", c.first), source: own, questions: s.Rows,
			scope: scope{parts: 1}, before: c.ask, read: c.judge,
		})
	}
	list := &listing{}
	return append(units, unit{
		name: "keys of the receiver", source: own, rows: ledgerRows, scope: scope{parts: 1},
		before: list.fetch, read: list.judge,
	}), nil
}

// from is the time from which on postings are compared; nil means all.
func (p *AuditPlan) from() *time.Time {
	if p.Receiver.From.IsZero() {
		return nil
	}
	return &p.Receiver.From
}
