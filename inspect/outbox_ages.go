package inspect

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// OutboxAgeMax is how many of the oldest rows OutboxAges looks at.
const OutboxAgeMax = 10_000

// OutboxAgeBounds returns the ages that divide what waits to be sent: below the first, from each to
// the next, and from the last on.
func OutboxAgeBounds() []time.Duration {
	return []time.Duration{
		time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour,
	}
}

// OutboxAges is how long what is to be sent has waited since it was posted.
type OutboxAges struct {
	// Counts are the rows of each range of ages, youngest first: one more than OutboxAgeBounds.
	Counts []int
	Looked int // the sum of them: at most OutboxAgeMax, of the oldest
}

// OutboxAges tells the ages of what is to be sent. It returns a *grant.BackendError when PostgreSQL
// could not be asked.
func (r *Reader) OutboxAges(ctx context.Context) (OutboxAges, error) {
	bounds := OutboxAgeBounds()
	a := OutboxAges{Counts: make([]int, len(bounds)+1)}
	seconds := make([]float64, len(bounds))
	for i, b := range bounds {
		seconds[i] = b.Seconds()
	}
	const op = "tell how long deliveries wait"
	err := r.read(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[struct {
			Age    int `db:"age"`
			Amount int `db:"amount"`
		}](ctx, tx, outboxAgesSQL, struct {
			Bounds []float64 `db:"bounds"`
			Bound  int       `db:"bound"`
		}{seconds, OutboxAgeMax})
		for _, row := range rows {
			a.Counts[row.Age] += row.Amount
			a.Looked += row.Amount
		}
		return err
	})
	return a, err
}
