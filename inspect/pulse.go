package inspect

import (
	"context"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

const (
	// PulseMinutes is how many minutes a Pulse reaches back.
	PulseMinutes = 30
	// pulseRows bounds how many rows of a table a pulse looks at.
	pulseRows = 50_000
	// pulseCount is where counting what waits stops.
	pulseCount = 100_000
	// PulseFenced is how many minutes a Pulse reaches back for what the fence refused.
	PulseFenced = 60
	// pulseFencedRows is where counting that stops.
	pulseFencedRows = 10_000
)

// Pulse is what happened in the last minutes and what waits for somebody, for a glance.
type Pulse struct {
	At time.Time // this machine's clock
	// Grants and Refusals are counts per minute, the oldest minute first, the running one last.
	Grants, Refusals []int
	// Bounded says that the counts begin later than PulseMinutes ago: there was too much to look
	// at.
	Bounded bool

	// Fenced counts per minute the writes that the fence refused, as Grants does, of PulseFenced
	// minutes. LateWrites and Collisions are their sums: of holders that wrote after a higher token
	// had been accepted or theirs had been burned, and of those whose token another owner had, too.
	Fenced                 []int
	LateWrites, Collisions int64
	FencedBounded          bool // there were more than were looked at

	Waiting int64         // postings that wait for delivery, counted up to 100,000
	Oldest  time.Duration // the age of the oldest of them, by the database's clock
	Dead    int64         // postings whose delivery was given up
	Parked  int64         // postings whose delivery was stopped by an operator
	CutOff  int64         // deeds of operators that were begun and have no result

	// RedisTook and PostgresTook are how long one small question took; 0 when it failed.
	RedisTook, PostgresTook time.Duration
	Missing                 []Missing
}

type pulseArgs struct {
	Minutes int   `db:"minutes"`
	Bound   int64 `db:"bound"`
}

type pulseRow struct {
	What   string `db:"what"`
	Ago    int    `db:"ago"`
	Amount int    `db:"amount"`
}

type waitingArgs struct {
	Bound int64 `db:"bound"`
}

type waitingRow struct {
	Waiting int64    `db:"waiting"`
	Dead    int64    `db:"dead"`
	Parked  int64    `db:"parked"`
	Oldest  *float64 `db:"oldest_seconds"`
	CutOff  int64    `db:"cut_off"`
}

// Blind says why nothing was counted; it is nil when the counts were read.
func (p *Pulse) Blind() error {
	for _, m := range p.Missing {
		if m.Backend == grant.PostgreSQL {
			return m.Err
		}
	}
	return nil
}

// Pulse takes a look at everything once, cheaply enough to be asked every second. With one server
// down the answer says what is missing; the error is only ever the context's.
func (r *Reader) Pulse(ctx context.Context) (Pulse, error) {
	p := Pulse{
		At:     r.opts.Now(),
		Grants: make([]int, PulseMinutes), Refusals: make([]int, PulseMinutes),
		Fenced: make([]int, PulseFenced),
	}
	if err := r.pulsePostgres(ctx, &p); err != nil {
		p.Missing = append(p.Missing, Missing{grant.PostgreSQL, "counts", err})
	}
	if err := r.pulseRedis(ctx, &p); err != nil {
		p.Missing = append(p.Missing, Missing{grant.Redis, "latency", err})
	}
	return p, ctx.Err()
}

func (r *Reader) pulsePostgres(ctx context.Context, p *Pulse) error {
	return r.read(ctx, "take the pulse", func(ctx context.Context, tx pgx.Tx) error {
		start := r.opts.Now()
		waiting, err := collect[waitingRow](ctx, tx, pulseWaitingSQL, waitingArgs{pulseCount})
		if err != nil {
			return err
		}
		p.PostgresTook = r.opts.Now().Sub(start)
		w := waiting[0]
		p.Waiting, p.Dead, p.Parked, p.CutOff = w.Waiting, w.Dead, w.Parked, w.CutOff
		p.Oldest = time.Duration(value(w.Oldest) * float64(time.Second))
		rows, err := collect[pulseRow](ctx, tx, pulseMinuteSQL, pulseArgs{PulseMinutes, pulseRows})
		if err != nil {
			return err
		}
		p.count(rows)
		fenced, err := collect[pulseRow](ctx, tx, pulseFencedSQL, struct {
			Minutes   int    `db:"minutes"`
			Bound     int64  `db:"bound"`
			Tombstone string `db:"tombstone"`
		}{PulseFenced, pulseFencedRows, grant.BurnOwner("")})
		p.countFenced(fenced)
		return err
	})
}

// count puts the minutes of both tables in their places. Where as many rows as may be looked at
// were looked at, and none was older than the first minute, there are more.
func (p *Pulse) count(rows []pulseRow) {
	looked, older := map[string]int{}, map[string]bool{}
	for _, row := range rows {
		looked[row.What] += row.Amount
		at := PulseMinutes - 1 - row.Ago
		switch {
		case at < 0:
			older[row.What] = true
		case row.What == "posting":
			p.Grants[at] += row.Amount
		default:
			p.Refusals[at] += row.Amount
		}
	}
	for what, n := range looked {
		p.Bounded = p.Bounded || n >= pulseRows && !older[what]
	}
}

// countFenced puts the minutes of what the fence refused in their places.
func (p *Pulse) countFenced(rows []pulseRow) {
	looked := 0
	for _, row := range rows {
		looked += row.Amount
		if at := PulseFenced - 1 - row.Ago; at >= 0 {
			p.Fenced[at] += row.Amount
		}
		if row.What == grant.TokenCollision.String() {
			p.Collisions += int64(row.Amount)
		} else {
			p.LateWrites += int64(row.Amount)
		}
	}
	p.FencedBounded = looked >= pulseFencedRows
}

// pulseRedis asks one small question and measures it.
func (r *Reader) pulseRedis(ctx context.Context, p *Pulse) error {
	if r.store == nil {
		return &grant.BackendError{Backend: grant.Redis, Op: "take the pulse", Err: errNoPool}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.Timeout, errTooSlow)
	defer cancel()
	start := r.opts.Now()
	if _, err := r.store.Alive(ctx, []string{"nobody"}); err != nil {
		return backendError(ctx, grant.Redis, "take the pulse", err)
	}
	p.RedisTook = r.opts.Now().Sub(start)
	return nil
}
