package grant

import "time"

// Limits bound what a single request may ask for.
type Limits struct {
	AmountMax int64 // highest amount of one grant; 0 means AmountMaxDefault
}

const (
	// AmountMaxDefault is the highest amount of one grant unless configured. It is far below the
	// range of a bigint, so that no sum of postings overflows a balance in practice.
	AmountMaxDefault int64 = 1_000_000_000

	textMax  = 200 // longest id, kind or resource, in bytes: an index entry must fit a page
	proseMax = 500 // longest actor or reason, in bytes

	batchMaxDefault = 1000             // items in one transaction
	batchMaxLimit   = 5000             // more would hold row locks for too long
	gateEvery       = 30 * time.Second // how long a passed schema check is trusted
	sendTries       = 5                // attempts of a transaction that deadlocks or serialises
	sendPause       = 10 * time.Millisecond
	resolveFor      = 10 * time.Second // how long a lost answer is asked after
	resolveTryFor   = 3 * time.Second  // one try of it
	vouchedFor      = 10 * time.Second // bound of a transaction under leases without a deadline
	resolvePause    = 50 * time.Millisecond
	resolvePauseMax = time.Second
	heldPause       = 5 * time.Millisecond // first pause before a held lease is asked for again
	heldPauseMax    = 100 * time.Millisecond
	// leaseCallFor bounds reading the floors and asking for leases. A driver takes up to 2 s more
	// to give up a connection that went dead, and within 5 s the caller should know.
	leaseCallFor = 2500 * time.Millisecond
)

// The compiler checks that the default batch fits the limit.
const _ = uint(batchMaxLimit - batchMaxDefault)
