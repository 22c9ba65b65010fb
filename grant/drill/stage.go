package drill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const (
	kind           = "gems"
	expected int64 = 100 // what one event of a drill pays
)

// stage is what one run of a drill is played on: a schema, a key prefix, a lease store, an engine
// and the report.
type stage struct {
	payer
	opt    Options
	about  Description
	db     *scratch
	prefix string
	store  *lease.Store
	random *rand.Rand // decides what the drill leaves open; by the seed
	start  time.Time
	report *Report
	bare   bool // no rewards are due
	keyed  bool // the unique key stays

	// look says what the column in the middle shows; the lease of the watched resource by default.
	look    func(context.Context) (string, error)
	watched string

	mu        sync.Mutex // guards what follows, and the timeline
	events    []string   // that are due
	resources []string   // whose keys are removed
	keys      []string   // further keys to remove
	children  []*process
	closers   []func()
	extra     []Check // beside the invariants
}

// reward is a reward that is due in a drill.
type reward struct {
	player, event, resource string
}

// run plays the drill once and removes everything it made, also when it was stopped.
func (s script) run(ctx context.Context, opt Options) (report Report, err error) {
	if s.whole != nil {
		return s.whole(ctx, opt)
	}
	id := opt.NewID()
	report = Report{Defence: opt.Defence, TTL: opt.TTL, Pause: opt.Pause}
	st := &stage{
		opt: opt, about: s.Description, prefix: "drill:" + id + ":", report: &report, bare: s.bare,
		keyed:  s.key,
		random: rand.New(rand.NewPCG(opt.Seed, opt.Seed)),
	}
	// The options of the store are checked before anything is made.
	if st.store, err = storeFor(opt.Redis, st.prefix, opt.TTL, opt.Now); err != nil {
		return report, err
	}
	if st.db, err = newScratch(ctx, opt.Pool, schemaName(id)); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, st.db.drop(ctx)) }()
	defer func() { err = errors.Join(err, st.clean(ctx)) }()
	if err := st.prepare(ctx); err != nil {
		return report, err
	}
	if err := s.play(ctx, st); err != nil {
		return report, err
	}
	st.closeAll() // a worker that still runs could change what is counted
	return report, st.check(ctx)
}

// schemaName keeps the id short: PostgreSQL cuts names at 63 bytes.
func schemaName(id string) string {
	const idMax = 40
	return "rewardctl_drill_" + id[:min(len(id), idMax)]
}

// prepare makes the engine, and takes the unique key away from runs that do without it.
func (st *stage) prepare(ctx context.Context) error {
	engine, err := st.engineOn(st.db.pool, "worker-a", nil)
	if err != nil {
		return err
	}
	st.payer = payer{
		pool: st.db.pool, engine: engine, defence: st.opt.Defence, name: st.about.Name,
	}
	if !st.with(Unique) && !st.bare && !st.keyed {
		if _, err := st.db.pool.Exec(ctx, uniqueKeyDropSQL); err != nil {
			return postgresError("prepare the drill", err)
		}
	}
	st.start = st.opt.Now()
	st.report.Started = st.start
	return nil
}

// with reports whether this run has a defence.
func (st *stage) with(d Defence) bool {
	return st.opt.Defence == d || st.opt.Defence == st.about.Full()
}

// due records that a reward has to be paid, once, and watches the lease of its player. Each word
// makes a player and an event of its own.
func (st *stage) due(ctx context.Context, word string) (reward, error) {
	player := "drill-player"
	if word != "" {
		player += "-" + word
	}
	r := reward{
		player: player, event: "drill:" + st.about.Name + ":" + player,
		resource: grant.ResourceFor(player),
	}
	if _, err := st.db.pool.Exec(ctx, claimAddSQL, r.player, r.event, kind, expected); err != nil {
		return r, postgresError("prepare the drill", err)
	}
	if st.report.PlayerID == "" {
		st.report.PlayerID, st.report.EventID, st.report.Expected = r.player, r.event, expected
	}
	st.events = append(st.events, r.event)
	st.watch(r.resource)
	return r, nil
}

// watch shows the lease of a resource in the middle column, and removes its keys at the end.
func (st *stage) watch(resource string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.resources = append(st.resources, resource)
	st.watched = resource
}

// key returns a key of this run, which is removed at the end. Keys of one tag share a slot.
func (st *stage) key(name, tag string) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	k := st.prefix + name + ":{" + tag + "}"
	st.keys = append(st.keys, k)
	return k
}

// atEnd runs f before the keys and the schema are removed.
func (st *stage) atEnd(f func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.closers = append(st.closers, f)
}

// over returns a pause that passes d by a little, by the seed.
func (st *stage) over(d time.Duration) time.Duration {
	return d + overPause + time.Duration(st.random.Int64N(int64(overPause)))
}

// note adds a sentence to the report, once.
func (st *stage) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(st.report.Notes, text) {
		st.report.Notes = append(st.report.Notes, text)
	}
}

// wait lets time pass.
func (st *stage) wait(ctx context.Context, d time.Duration) error { return st.opt.Wait(ctx, d) }

// take acquires for a worker, waiting as long as Redis says that another holds the lease. From the
// worker's name, such as "worker-b", follows the column that says so.
func (st *stage) take(ctx context.Context, worker string, r reward) (grant.Lease, error) {
	return st.takeFrom(ctx, st.store, worker, r)
}

func (st *stage) takeFrom(
	ctx context.Context, store *lease.Store, worker string, r reward,
) (grant.Lease, error) {
	const least = 2 * time.Millisecond // an expiry is noticed at the server's next tick
	told := false
	ask := grant.Ask{Resource: r.resource, Owner: st.owner(worker)}
	for {
		answer := store.Acquire(ctx, []grant.Ask{ask})[0]
		switch {
		case answer.Lease != nil:
			return *answer.Lease, nil
		case answer.Holder == nil:
			return grant.Lease{}, answer.Err
		}
		if !told {
			told = true
			text := "asks for the lease: held by " + workerName(answer.Holder.Owner)
			if err := st.says(ctx, worker, text); err != nil {
				return grant.Lease{}, err
			}
		}
		if err := st.wait(ctx, max(answer.Holder.Left, least)); err != nil {
			return grant.Lease{}, err
		}
	}
}

// owner names one acquisition of a worker.
func (st *stage) owner(worker string) string { return worker + "@drill/1#" + st.opt.NewID() }

// giveBack releases a lease and shows that only the holder of the exact value can.
func (st *stage) giveBack(ctx context.Context, worker string, held grant.Lease) error {
	value := lease.FormatValue(held.Token, held.Owner)
	freed, err := st.store.ReleaseExact(ctx, held.Resource, value)
	if err != nil {
		return err
	}
	return st.says(ctx, worker, fmt.Sprintf("releases token %d: %s", held.Token, freedText(freed)))
}

// pays has a worker pay under a lease it believes to hold, and shows what became of it.
func (st *stage) pays(ctx context.Context, worker string, r reward, held grant.Lease) error {
	p, err := st.pay(ctx, letter(worker), r, held)
	if err != nil {
		return err
	}
	return st.paid(ctx, worker, p, fmt.Sprintf("pays %d %s", expected, kind))
}

// paid records what became of a payment.
func (st *stage) paid(ctx context.Context, worker string, p payment, deed string) error {
	if p.refused == nil {
		return st.says(ctx, worker, fmt.Sprintf("%s: posted as ledger %d", deed, p.ledgerID))
	}
	st.refused(*p.refused)
	return st.says(ctx, worker, fmt.Sprintf("%s: refused by the %s, %s", deed,
		LineWords(p.refused.Line), p.refused.Detail))
}

// refused records that a line of defence refused a deed.
func (st *stage) refused(r Refusal) { st.report.Refusals = append(st.report.Refusals, r) }

// LineWords names a line of defence in a sentence, such as "unique key".
func LineWords(d Defence) string {
	switch d {
	case Unique:
		return "unique key"
	case Compare:
		return "comparison of the lease's value"
	case Idempotency:
		return "key of the request"
	}
	return string(d)
}

// letter is the short name of a worker: "B" for "worker-b".
func letter(worker string) string {
	return strings.ToUpper(worker[strings.LastIndexByte(worker, '-')+1:])
}

// says puts a deed of a worker into its column: the first one's is on the left.
func (st *stage) says(ctx context.Context, worker, text string) error {
	switch letter(worker) {
	case "A":
		return st.row(ctx, text, "")
	case "B":
		return st.row(ctx, "", text)
	}
	return st.row(ctx, "", letter(worker)+": "+text)
}

// row adds a moment to the timeline, with what both share.
func (st *stage) row(ctx context.Context, a, b string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	at := st.opt.Now().Sub(st.start)
	look := st.look
	if look == nil {
		look = st.leaseNow
	}
	text, err := look(ctx)
	if err != nil {
		return err
	}
	row := Row{At: at, WorkerA: a, Lease: text, WorkerB: b}
	st.report.Timeline = append(st.report.Timeline, row)
	st.opt.OnRow(row)
	return nil
}

// leaseNow says what Redis holds for the watched resource.
func (st *stage) leaseNow(ctx context.Context) (string, error) {
	if st.watched == "" {
		return "", nil
	}
	entry, err := st.store.Show(ctx, st.watched)
	if errors.Is(err, lease.ErrNoLease) {
		return "free", nil
	}
	if err != nil {
		return "", err
	}
	if entry.Token == 0 {
		return entry.Value, nil
	}
	return fmt.Sprintf("token %d, %s, %d ms left", entry.Token, workerName(entry.Owner),
		entry.Left.Milliseconds()), nil
}

// workerName is the part of an owner text that tells A from B.
func workerName(owner string) string {
	name, _, _ := strings.Cut(owner, "@")
	return name
}

func freedText(freed lease.Freed) string {
	switch freed.Answer {
	case lease.Released:
		return "released"
	case lease.Gone:
		return "already gone"
	case lease.Changed:
		if token, owner, err := lease.ParseValue(freed.Now); err == nil {
			return fmt.Sprintf("nothing done, the lock is token %d of %s", token, workerName(owner))
		}
		return "nothing done, the lock holds " + freed.Now
	}
	return freed.Answer.String()
}
