package lease

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// FoundKind says what a scan takes a key for.
type FoundKind string

// The kinds. The first four are under our own keys, the others anywhere.
const (
	// FoundLease is a lease of ours that List shows, too.
	FoundLease FoundKind = "lease"
	// FoundUnindexed is a lease of ours without an index entry: List cannot show it.
	FoundUnindexed FoundKind = "unindexed"
	// FoundForeign is text under a lock key of ours that is not TOKEN:OWNER, or a lock key whose
	// name we never write.
	FoundForeign FoundKind = "foreign"
	// FoundWrongType is data of a type that we never keep under that key of ours.
	FoundWrongType FoundKind = "wrong_type"
	// FoundString is a text that looks like another library's lock (see ScanOptions.Pattern).
	FoundString FoundKind = "string_lock"
	// FoundHash is a hash as Redisson keeps a lock: its fields are UUID:THREAD with counters.
	FoundHash FoundKind = "hash_lock"
)

// Found is one lock that a scan met.
type Found struct {
	Key  string
	Addr string // the primary that holds it; empty when the client does not tell
	Kind FoundKind
	Type string // the server's word for the type, such as "string"
	// Resource is set for lock keys of ours; Token and Owner for leases of ours.
	Resource string
	Token    int64
	Owner    string
	// Value is the text, at most 4096 bytes of it, or the fields of a hash lock as FIELD=COUNT
	// with blanks between them. It is empty for other types.
	Value string
	// Left is the time left by the server's clock; 0 when NoExpiry is set.
	Left     time.Duration
	NoExpiry bool
}

// unusual reports whether the lock is anything but a lease in order.
func (f *Found) unusual() bool { return f.Kind != FoundLease || f.NoExpiry }

// ScanOptions say what to scan and how fast.
type ScanOptions struct {
	// Pattern selects keys by the server's own glob, such as "game:*"; empty means all keys.
	//
	// Under our own prefix every lock key counts. Elsewhere a hash counts when its content is a
	// lock's and it has an expiry or a name like a lock's; a text counts when its name is like a
	// lock's, or when a pattern was given and it has an expiry. A name is like a lock's when one
	// of its words is lock, mutex, lease, semaphore or a close relative: "player:7:lock" and
	// "playerLock" are, "block:7" and "clock" are not.
	Pattern string
	// Rate is how many keys are visited per second on each primary. Zero or less sets no limit.
	Rate int
	// Unusual leaves out the leases that are in order: in the index and with an expiry.
	Unusual bool
	// Progress is called after each page, never at the same time as another call or as emit. Nil
	// means that nobody cares.
	Progress func(ScanProgress)
}

// ScanProgress is how far a scan is.
type ScanProgress struct {
	Visited int64 // keys visited; an estimate where a pattern hides keys from us
	Total   int64 // keys there were on all primaries when each was begun
	Found   int64 // locks emitted
}

// ScanReport is what a scan has seen in all.
type ScanReport struct {
	ScanProgress
	Primaries int // primaries read to the end
	// Complete is true when every primary was read to its end. Only then does "nothing found"
	// mean that nothing is there.
	Complete bool
}

const (
	scanPage    = 1000 // keys asked for at a time
	scanPageMin = 10
	scanPerSec  = 10   // pages a second that a low rate is cut into
	valueMax    = 4096 // bytes read of a text
)

// Scan walks all keys of all primaries, page by page, and calls emit with the locks of each page
// that has any, each lock once. It reads only, and never in one piece: what comes and goes while it
// walks may be missed, what stays is found, however many pages are empty. On Cluster the primaries
// are walked at the same time, and a key that changes its primary meanwhile may be missed; emit is
// never called at the same time as itself.
//
// Reading a text or a small hash counts as its use for a server that evicts what is used least.
// Only what may be a lock is read.
//
// Memory is bounded by one page for each primary and 16 bytes for each lock found. The report is
// valid with an error, too: that of emit, the context's cause, or a *grant.BackendError.
func (s *Store) Scan(
	ctx context.Context, o ScanOptions, emit func([]Found) error,
) (ScanReport, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := scan{store: s, opts: o, emit: emit, seen: map[[16]byte]bool{}}
	err := s.eachPrimary(ctx, func(
		ctx context.Context, c redis.UniversalClient, addr string,
	) error {
		err := w.primary(ctx, c, addr)
		if err != nil {
			cancel(err) // the first error counts; it ends the other walks
		}
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Complete = err == nil
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var own *emitError
	switch {
	case err == nil:
		return w.report, nil
	case errors.As(err, &own):
		return w.report, own.error
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return w.report, err
	}
	return w.report, broken("scan", err)
}

// emitError marks an error of the caller's own.
type emitError struct{ error }

// Unwrap returns the caller's error.
func (e *emitError) Unwrap() error { return e.error }

// scan is one walk over all primaries.
type scan struct {
	store *Store
	opts  ScanOptions
	emit  func([]Found) error

	mu     sync.Mutex // guards what follows, and keeps calls to emit and Progress apart
	report ScanReport
	// seen holds the digests of the keys emitted: SCAN repeats keys, and a key on its way between
	// primaries is met on both.
	seen map[[16]byte]bool
}

// primary walks one primary to the end of its keys.
func (w *scan) primary(ctx context.Context, c redis.UniversalClient, addr string) error {
	size, err := c.DBSize(ctx).Result()
	var refused redis.Error
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	// An account that may not ask how many keys there are can walk them all the same.
	w.mu.Lock()
	w.report.Total += size
	w.mu.Unlock()
	p := page{store: w.store, client: c, addr: addr, patterned: w.opts.Pattern != ""}
	pace := newPace(w.store.opts.Now(), w.opts.Rate)
	for cursor := uint64(0); ; {
		keys, next, err := c.Scan(ctx, cursor, w.opts.Pattern, int64(pace.size)).Result()
		if err != nil {
			return err
		}
		found, err := p.look(ctx, keys)
		if err != nil {
			return err
		}
		// A page costs the server its size, also when a pattern leaves little of it.
		cost := max(pace.size, len(keys))
		visited := len(keys)
		if p.patterned {
			visited = cost
		}
		if err := w.hand(found, int64(visited)); err != nil {
			return err
		}
		if next == 0 {
			break
		}
		cursor = next
		if !pace.wait(ctx, w.store.opts.Now(), cost) {
			return context.Cause(ctx)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Primaries++
	return nil
}

// hand emits what was not emitted before and tells how far the walk is.
func (w *scan) hand(found []Found, visited int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := found[:0]
	for _, f := range found {
		if w.opts.Unusual && !f.unusual() {
			continue
		}
		sum := sha256.Sum256([]byte(f.Key))
		digest := [16]byte(sum[:16])
		if w.seen[digest] {
			continue
		}
		w.seen[digest] = true
		fresh = append(fresh, f)
	}
	r := &w.report
	r.Visited += visited
	r.Total = max(r.Total, r.Visited) // keys are added while we walk
	r.Found += int64(len(fresh))
	if len(fresh) > 0 {
		if err := w.emit(fresh); err != nil {
			return &emitError{err}
		}
	}
	if w.opts.Progress != nil {
		w.opts.Progress(r.ScanProgress)
	}
	return nil
}

// pace keeps a walk at its rate.
type pace struct {
	size  int // keys of a page
	every time.Duration
	due   time.Time // when the next page may be asked for
}

func newPace(now time.Time, rate int) pace {
	if rate <= 0 {
		return pace{size: scanPage, due: now}
	}
	return pace{
		size:  min(max(rate/scanPerSec, scanPageMin), scanPage),
		every: time.Second / time.Duration(rate), due: now,
	}
}

// wait waits until the keys visited fit the rate, and answers false when the context ended first.
// Time lost elsewhere is not caught up with a burst.
func (p *pace) wait(ctx context.Context, now time.Time, visited int) bool {
	p.due = p.due.Add(time.Duration(visited) * p.every)
	if ahead := p.due.Sub(now); ahead > 0 {
		return pause(ctx, ahead)
	}
	p.due = now
	return ctx.Err() == nil
}
