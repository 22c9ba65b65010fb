package inspect

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is what a Reader needs of a lease store; *lease.Store implements it.
type Store interface {
	Check(ctx context.Context) error
}

var errInterim = errors.New("inspect: being built")

// New returns a Reader of pool, which may be a read replica's, and store. Either may be nil:
// its part of every answer is then missing.
func New(pool *pgxpool.Pool, store Store, opts Options) (*Reader, error) {
	return &Reader{pool: pool, store: store, opts: opts}, nil
}

// Leases lists leases with a verdict on each.
func (r *Reader) Leases(context.Context, LeaseFilter) (LeaseList, error) {
	return LeaseList{}, errInterim
}

// Lease tells everything about one resource.
func (r *Reader) Lease(context.Context, string) (LeaseDetail, error) {
	return LeaseDetail{}, errInterim
}

// Watch calls emit for each change until ctx or the look channel ends, or emit fails.
func (r *Reader) Watch(context.Context, WatchOptions, func(Change) error) error {
	return errInterim
}

// Tokens tells the history of a resource's tokens.
func (r *Reader) Tokens(context.Context, string) (TokenHistory, error) {
	return TokenHistory{}, errInterim
}

// Player returns a page of a player's timeline.
func (r *Reader) Player(context.Context, PlayerQuery) (PlayerPage, error) {
	return PlayerPage{}, errInterim
}

// Explain explains one reward of one player.
func (r *Reader) Explain(context.Context, string, string) (Explanation, error) {
	return Explanation{}, errInterim
}

// Doctor looks at everything that granting depends on.
func (r *Reader) Doctor(context.Context) (Diagnosis, error) { return Diagnosis{}, errInterim }
