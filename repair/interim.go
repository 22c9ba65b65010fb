package repair

import (
	"context"
	"errors"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is what an Operator needs of a lease store; *lease.Store implements it.
type Store interface {
	Check(ctx context.Context) error
}

var errInterim = errors.New("repair: being built")

// New returns an Operator.
func New(pool *pgxpool.Pool, store Store, engine Engine, opts Options) (*Operator, error) {
	return &Operator{pool: pool, store: store, engine: engine, opts: opts}, nil
}

// Release releases a lease and burns its token.
func (o *Operator) Release(context.Context, ReleaseRequest) (Release, error) {
	return Release{}, errInterim
}

// PreviewGrant says what one grant would do now.
func (o *Operator) PreviewGrant(context.Context, grant.Request) (GrantPreview, error) {
	return GrantPreview{}, errInterim
}

// Previews says what each grant would do now, in order.
func (o *Operator) Previews(context.Context, []grant.Request) ([]GrantPreview, error) {
	return nil, errInterim
}

// Preview is Previews reduced to the predicted results.
func (o *Operator) Preview(context.Context, []grant.Request) ([]grant.Result, error) {
	return nil, errInterim
}

// Grant grants by hand.
func (o *Operator) Grant(context.Context, grant.Request) (GrantDeed, error) {
	return GrantDeed{}, errInterim
}
