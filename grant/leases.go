package grant

import (
	"context"
	"time"
)

// Lease is one acquisition, as its owner knows it.
type Lease struct {
	Resource string
	Owner    string
	Token    int64
	// Until is the moment up to which the lease may be trusted: the start of the attempt plus
	// TTL minus margin, with a monotonic reading. Zero means that the caller vouches for it.
	Until time.Time
}

// Holder is who holds a lease instead of us.
type Holder struct {
	Resource string
	Owner    string
	Token    int64
	Left     time.Duration // time left; negative when the lock has no expiry
	// Foreign is true when the key is occupied by other data: not a value of ours. Owner then
	// holds the raw value, as far as it could be read.
	Foreign bool
}

// Ask is a request for one lease.
type Ask struct {
	Resource string
	Owner    string // unique per acquisition; asking again with the same owner is safe
	Floor    int64  // the resource's fence, read just before: the token issued is above it
}

// Answer is what a lease store says to one Ask. Exactly one of the three is set.
type Answer struct {
	Lease  *Lease  // acquired
	Holder *Holder // busy: held by somebody else. Busy is not broken
	Err    error   // not acquired: the store could not answer, or its data is damaged
}

// Leases is what the engine needs of a lease store. Package grant/lease implements it on Redis.
type Leases interface {
	// Acquire answers each ask, in order. An ask whose reply was lost is asked again with the
	// same owner and then answered with the same token. An Answer.Err that wraps
	// *BackendError says whether the lease may exist all the same (Doubt).
	Acquire(ctx context.Context, asks []Ask) []Answer
	// Release ends each lease whose exact value is still there, and answers in order: nil for
	// released or already gone or held by somebody else by now, an error when the store could
	// not be reached; the lease then ends with its TTL.
	Release(ctx context.Context, leases []Lease) []error
}
