package inspect

import (
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotFound is what errors.Is finds in an error about a resource or player that nobody knows.
var ErrNotFound = errors.New("not found")

// NotFoundError says that nothing at all is known under a name. It is not an empty answer.
type NotFoundError struct {
	What string // "player" or "resource"
	Name string
}

// Error reads `player "p1" is not known: no claim, posting, refusal or action names it`.
func (e *NotFoundError) Error() string {
	if e.What == "player" {
		return fmt.Sprintf("player %q is not known: "+
			"no claim, posting, refusal, balance or operator action names it", e.Name)
	}
	if e.What == "outbox row" {
		return fmt.Sprintf("outbox row %q is not known: no posting of that id is queued", e.Name)
	}
	return fmt.Sprintf("%s %q is not known: no lease, token, fence, refusal or action names it",
		e.What, e.Name)
}

// Is makes errors.Is(err, ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// Missing says which server could not be asked and what the answer lacks because of it.
type Missing struct {
	Backend grant.Backend
	Lacks   string // such as "fences and claims"
	Err     error  // why, never nil
}

// String reads "postgresql: no fences and claims: connection refused".
func (m Missing) String() string { return fmt.Sprintf("%s: no %s: %v", m.Backend, m.Lacks, m.Err) }

// Evidence is one observation behind a verdict or an explanation.
type Evidence struct {
	Name    string // such as "heartbeat"
	Finding string // such as "silent: the owner's heartbeat key is gone"
}

// Options configure a Reader. The zero value of each field has a working default.
type Options struct {
	// Now tells this machine's time; default time.Now. It is shown and compared, never trusted.
	Now func() time.Time
	// Replica serves the histories of players and tokens, which may then lag. Verdicts, fences and
	// the doctor always ask the primary. Nil means that the primary serves everything.
	Replica *pgxpool.Pool
	// RedisCLI is the command line that reaches the server of the leases, without what it asks and
	// without secrets, such as "redis-cli -h cache -p 6380"; default "redis-cli". People are shown
	// it.
	RedisCLI string
	// Players is the studio's own list of players, which FindPlayers looks in.
	Players PlayerTable
	// TTL is the configured time of a lease; 0 means unknown: nothing is then called expiring,
	// overdue or longer than its TTL.
	TTL time.Duration
	// Timeout bounds each question to one server; default 5 s.
	Timeout time.Duration
	// SkewMax is how far clocks may differ before Doctor warns; default 500 ms.
	SkewMax time.Duration
	// OutboxAgeMax is how old an undelivered posting may be before Doctor warns; default 5 min.
	OutboxAgeMax time.Duration
	// SchemaVersion is the newest migration this program knows; 0 means that Doctor does not
	// compare it.
	SchemaVersion int64
	// OutboxPass says that a row that was given up holds up no later ones of its player.
	OutboxPass bool
	// OutboxSource is the source in messages; default "/rewardctl".
	OutboxSource string
}

// Reader answers questions. It is safe for concurrent use.
type Reader struct {
	pool  *pgxpool.Pool
	store Store
	opts  Options
}
