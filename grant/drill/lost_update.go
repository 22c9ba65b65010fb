package drill

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// LostUpdate is the race between two programs that read a balance, reckon and write it back: see
// List.
const LostUpdate = "lost-update"

// Way is how a program keeps others from writing between its read and its write.
type Way string

// The ways, the control first.
const (
	// WayNone reads, reckons and writes: whoever writes last wins.
	WayNone Way = "none"
	// WayPessimistic reads with SELECT ... FOR UPDATE: the others wait.
	WayPessimistic Way = "pessimistic"
	// WayOptimistic writes only if the version is still the one it read, else it tries again.
	WayOptimistic Way = "optimistic"
	// WayLease reads and writes while it holds a lease: the others ask again.
	WayLease Way = "lease"
)

// Ways returns the ways in the order in which they are played.
func Ways() []Way { return []Way{WayNone, WayPessimistic, WayOptimistic, WayLease} }

const (
	pointsKind       = "points"
	deduction  int64 = 30 // what each deduction takes
	rest       int64 = 40 // what must be left of it all

	workersDefault = 2
	workersMax     = 32
	roundsMax      = 1000
	freeRounds     = 25 // deductions of each worker when the cost is measured
	warmRounds     = 3  // and before anything is measured
	blockedEvery   = time.Millisecond
	heldEvery      = time.Millisecond
)

// Method is one way of the lost-update drill and what came of it.
type Method struct {
	Way Way
	// Start is the balance before, Want what must be left of it, Have what is.
	Start, Want, Have int64
	Lost              int64 // what the deductions that were overwritten had taken
	// Waits counts the deductions that had to wait for another, Waited how long altogether.
	Waits  int
	Waited time.Duration
	// Retries counts the deductions that were done over because another came first.
	Retries int
	// Trips is how many round trips to a server a deduction took, on average.
	Trips float64
	// Cost is what a deduction took when the workers ran freely against each other afterwards, and
	// FreeRetries how many were done over then.
	Cost        time.Duration
	FreeRetries int
}

// Step is one moment of a way, shown for two workers and one round.
type Step struct {
	At     time.Duration // since the way began
	Way    Way
	Worker int // 1 is the first
	Text   string
}

func completeLostUpdate(o *Options) error {
	if o.Workers == 0 {
		o.Workers = workersDefault
	}
	if o.Rounds == 0 {
		o.Rounds = 1
	}
	if o.Workers < 2 || o.Workers > workersMax {
		return &grant.Rejection{
			Field: "workers", Value: strconv.Itoa(o.Workers),
			Problem: fmt.Sprintf("is not from 2 to %d", workersMax),
			WayOut:  "it takes two to lose an update",
		}
	}
	if o.Rounds < 1 || o.Rounds > roundsMax {
		return &grant.Rejection{
			Field: "rounds", Value: strconv.Itoa(o.Rounds),
			Problem: fmt.Sprintf("is not from 1 to %d", roundsMax), WayOut: "give fewer or more",
		}
	}
	return nil
}

func lostUpdate(ctx context.Context, opt Options) (report Report, err error) {
	id := opt.NewID()
	report = Report{
		Name: opt.Name, Defence: opt.Defence, TTL: opt.TTL, Started: opt.Now(), OK: true,
		Workers: opt.Workers, Rounds: opt.Rounds, PlayerID: "drill-player",
		Expected: rest,
	}
	db, err := newScratch(ctx, opt.Pool, schemaName(id))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.drop(ctx)) }()
	pool, err := widePool(ctx, db.pool, opt.Workers)
	if err != nil {
		return report, err
	}
	defer pool.Close()
	store, err := lease.New(opt.Redis, lease.Options{
		Prefix: "drill:" + id + ":", TTL: opt.TTL, Now: opt.Now,
	})
	if err != nil {
		return report, err
	}
	for _, way := range Ways() {
		p := &plays{opt: opt, pool: pool, store: store, way: way, player: "drill-" + string(way)}
		method, err := p.play(ctx)
		err = errors.Join(err, p.clean(ctx))
		if err != nil {
			return report, err
		}
		report.Methods = append(report.Methods, method)
		report.Steps = append(report.Steps, p.steps...)
		report.Checks = append(report.Checks, method.check(opt))
	}
	for _, check := range report.Checks {
		report.OK = report.OK && check.Holds
	}
	return report, nil
}

// check compares. The control must lose what the barriers made it lose: without real concurrency
// the other ways would prove nothing.
func (m Method) check(opt Options) Check {
	sum := fmt.Sprintf("%d - %d x %d", m.Start, opt.Workers*opt.Rounds, deduction)
	want, name := m.Want, fmt.Sprintf("%s: %s = balance", m.Way, sum)
	if m.Way == WayNone {
		want = m.Start - int64(opt.Rounds)*deduction
		name = fmt.Sprintf("none: loses all but one of each round, as it must: %s is not %d", sum, want)
	}
	return Check{
		name, strconv.FormatInt(want, 10), strconv.FormatInt(m.Have, 10), m.Have == want,
	}
}

// widePool is a pool with a connection for each worker and two to look on.
func widePool(ctx context.Context, base *pgxpool.Pool, workers int) (*pgxpool.Pool, error) {
	config := base.Config()
	config.MaxConns = int32(workers + 2)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, postgresError("open the drill's schema", err)
	}
	return pool, nil
}

// plays is one way being played.
type plays struct {
	opt    Options
	pool   *pgxpool.Pool
	store  *lease.Store
	way    Way
	player string
	forced bool // the barriers stand

	start time.Time
	pids  []int32  // the workers' sessions
	all   *barrier // at the beginning of a round, and between read and write

	mu     sync.Mutex
	tally  Method
	trips  int
	begun  int           // deductions with barriers that got hold of the balance, in order
	queued int           // workers told in this round that another holds the lease
	turned chan struct{} // closed when queued changes
	steps  []Step
}

// play plays the way with barriers, which make the workers collide, and then once more without,
// which tells the cost.
func (p *plays) play(ctx context.Context) (Method, error) {
	n, rounds := p.opt.Workers, p.opt.Rounds
	p.turned = make(chan struct{})
	if err := p.warm(ctx); err != nil {
		return Method{}, err
	}
	p.forced, p.tally = true, Method{}
	start := rest + int64(n*rounds)*deduction
	if err := p.put(ctx, start); err != nil {
		return Method{}, err
	}
	p.start = p.opt.Now()
	if err := p.run(ctx, rounds); err != nil {
		return Method{}, err
	}
	m := p.tally
	var err error
	if m.Have, err = p.balance(ctx); err != nil {
		return m, err
	}
	m.Way, m.Start, m.Want = p.way, start, rest
	m.Lost = m.Have - m.Want
	m.Trips = float64(p.trips) / float64(n*rounds)

	p.forced, p.tally = false, Method{}
	if err := p.put(ctx, int64(n*freeRounds)*deduction); err != nil {
		return m, err
	}
	began := p.opt.Now()
	if err := p.run(ctx, freeRounds); err != nil {
		return m, err
	}
	m.Cost = p.opt.Now().Sub(began) / time.Duration(n*freeRounds)
	m.FreeRetries = p.tally.Retries
	return m, nil
}

// warm lets the sessions and the servers get to know the statements, which the first way would else
// pay for all.
func (p *plays) warm(ctx context.Context) error {
	if err := p.put(ctx, int64(p.opt.Workers*warmRounds)*deduction); err != nil {
		return err
	}
	return p.run(ctx, warmRounds)
}

// run has all workers make their deductions. The first error stops them all.
func (p *plays) run(ctx context.Context, rounds int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.all = newBarrier(p.opt.Workers)
	p.pids = make([]int32, p.opt.Workers)
	conns := make([]*pgxpool.Conn, p.opt.Workers)
	for i := range conns {
		conn, err := p.pool.Acquire(ctx)
		if err != nil {
			return postgresError("open a worker's session", err)
		}
		defer conn.Release()
		conns[i], p.pids[i] = conn, int32(conn.Conn().PgConn().PID())
	}
	var wg sync.WaitGroup
	for i, conn := range conns {
		w := &deductor{plays: p, conn: conn, number: i + 1}
		wg.Go(func() {
			for range rounds {
				if err := w.round(ctx); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (p *plays) put(ctx context.Context, amount int64) error {
	if _, err := p.pool.Exec(ctx, pointsPutSQL, p.player, pointsKind, amount); err != nil {
		return postgresError("give the points", err)
	}
	return nil
}

func (p *plays) balance(ctx context.Context) (int64, error) {
	var amount, version int64
	err := p.pool.QueryRow(ctx, pointsReadSQL, p.player, pointsKind).Scan(&amount, &version)
	if err != nil {
		return 0, postgresError("read the points", err)
	}
	return amount, nil
}

// clean removes the way's keys from Redis, also when the drill was stopped.
func (p *plays) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanFor,
		errors.New("removing the drill's keys took too long"))
	defer cancel()
	resource := grant.ResourceFor(p.player)
	var problems []error
	for _, key := range []string{
		p.store.LockKey(resource), p.store.FenceKey(resource), p.store.HistoryKey(resource),
	} {
		if err := p.opt.Redis.Unlink(ctx, key).Err(); err != nil {
			problems = append(problems, &grant.BackendError{
				Backend: grant.Redis, Op: "remove the drill's keys", Err: err,
			})
		}
	}
	return errors.Join(problems...)
}

// barrier lets its members pass when all of them have come, again and again.
type barrier struct {
	mu   sync.Mutex
	size int
	here int
	open chan struct{}
}

func newBarrier(size int) *barrier { return &barrier{size: size, open: make(chan struct{})} }

// wait blocks until all members wait. The error is the context's cause.
func (b *barrier) wait(ctx context.Context) error {
	b.mu.Lock()
	open := b.open
	if b.here++; b.here == b.size {
		b.here, b.open = 0, make(chan struct{})
		close(open)
	}
	b.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
