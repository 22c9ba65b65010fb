package drill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// PausedHolder is the race that a lease alone cannot prevent: see List.
const PausedHolder = "paused-holder"

const (
	kind           = "gems"
	expected int64 = 100 // what the drill's event pays
)

// race is one run of the drill.
type race struct {
	opt      Options
	db       *scratch
	store    *lease.Store
	engine   *grant.Engine
	player   string
	event    string
	resource string
	start    time.Time
	taken    []grant.Lease // what clean releases
	never    time.Time     // zero: the deadline of a lease that its holder vouches for
	report   *Report
}

func pausedHolder(ctx context.Context, opt Options) (report Report, err error) {
	id := opt.NewID()
	report = Report{
		Name: opt.Name, Defence: opt.Defence, TTL: opt.TTL, Pause: opt.Pause, Expected: expected,
		PlayerID: "drill-player", EventID: "drill:" + PausedHolder + ":drill-player",
	}
	db, err := newScratch(ctx, opt.Pool, schemaName(id))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.drop(ctx)) }()
	r := &race{
		opt: opt, db: db, player: report.PlayerID, event: report.EventID,
		resource: grant.ResourceFor(report.PlayerID), report: &report,
	}
	if err := r.prepare(ctx, "drill:"+id+":"); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, r.clean(ctx)) }()
	if err := r.play(ctx); err != nil {
		return report, err
	}
	return report, r.check(ctx)
}

func completePausedHolder(o *Options) error {
	if o.Pause == 0 {
		o.Pause = o.TTL + overPause
	}
	if o.Pause <= o.TTL {
		return &grant.Rejection{
			Field: "pause", Value: o.Pause.String(), Problem: "does not pass the lease's TTL of " +
				o.TTL.String(),
			WayOut: "give a longer pause: the drill is about a holder that stalls past its lease",
		}
	}
	return nil
}

// schemaName keeps the id short: PostgreSQL cuts names at 63 bytes.
func schemaName(id string) string {
	const idMax = 40
	return "rewardctl_drill_" + id[:min(len(id), idMax)]
}

// prepare makes the lease store, the engine and the due reward, and takes the defences away that
// this run does without.
func (r *race) prepare(ctx context.Context, prefix string) error {
	var err error
	r.store, err = lease.New(r.opt.Redis, lease.Options{
		Prefix: prefix, TTL: r.opt.TTL, Now: r.opt.Now,
	})
	if err != nil {
		return err
	}
	r.engine, err = grant.NewEngine(r.db.pool, r.store, grant.Options{
		Worker: "worker-a@drill/1", Now: r.opt.Now, NewID: r.opt.NewID, Wait: r.opt.Wait,
	})
	if err != nil {
		return err
	}
	_, err = r.db.pool.Exec(ctx, claimAddSQL, r.player, r.event, kind, expected)
	if err == nil && (r.opt.Defence == None || r.opt.Defence == Fence) {
		_, err = r.db.pool.Exec(ctx, uniqueKeyDropSQL)
	}
	if err != nil {
		return postgresError("prepare the drill", err)
	}
	return nil
}

// play runs the race. The two workers take turns, because in the race that matters they do: A
// sleeps while B works.
func (r *race) play(ctx context.Context) error {
	r.start = r.opt.Now()
	r.report.Started = r.start
	a, err := r.takeLease(ctx, "worker-a@drill/1")
	if err != nil {
		return err
	}
	if err := r.row(ctx, "takes the lease, then stalls", ""); err != nil {
		return err
	}
	b, err := r.takeLease(ctx, "worker-b@drill/2")
	if err != nil {
		return err
	}
	if err := r.row(ctx, "(stalled)", "finds the lease expired and takes it"); err != nil {
		return err
	}
	if err := r.tryToPay(ctx, "B", b); err != nil {
		return err
	}
	if left := r.opt.Pause - r.opt.Now().Sub(r.start); left > 0 {
		if err := r.opt.Wait(ctx, left); err != nil {
			return err
		}
	}
	woken := fmt.Sprintf("wakes up, believes to hold token %d", a.Token)
	if err := r.row(ctx, woken, ""); err != nil {
		return err
	}
	if err := r.tryToPay(ctx, "A", a); err != nil {
		return err
	}
	if err := r.release(ctx, "A", a); err != nil {
		return err
	}
	if err := r.release(ctx, "B", b); err != nil {
		return err
	}
	if r.opt.Defence != All {
		return nil
	}
	return r.payAgain(ctx)
}

// takeLease acquires for a worker, waiting as long as Redis says that another holds the lease.
func (r *race) takeLease(ctx context.Context, worker string) (grant.Lease, error) {
	const least = 2 * time.Millisecond // an expiry is noticed at the server's next tick
	told := false
	ask := grant.Ask{Resource: r.resource, Owner: worker + "#" + r.opt.NewID()}
	for {
		answer := r.store.Acquire(ctx, []grant.Ask{ask})[0]
		switch {
		case answer.Lease != nil:
			r.taken = append(r.taken, *answer.Lease)
			return *answer.Lease, nil
		case answer.Holder == nil:
			return grant.Lease{}, answer.Err
		}
		if !told {
			told = true
			text := "asks for the lease: held by " + workerName(answer.Holder.Owner)
			if err := r.row(ctx, "(stalled)", text); err != nil {
				return grant.Lease{}, err
			}
		}
		if err := r.opt.Wait(ctx, max(answer.Holder.Left, least)); err != nil {
			return grant.Lease{}, err
		}
	}
}

func (r *race) tryToPay(ctx context.Context, worker string, held grant.Lease) error {
	p, err := r.pay(ctx, worker, held)
	if err != nil {
		return err
	}
	return r.paid(ctx, worker, p, fmt.Sprintf("pays %d %s", expected, kind))
}

// paid records what became of a payment.
func (r *race) paid(ctx context.Context, worker string, p payment, deed string) error {
	if p.refused == nil {
		return r.deed(ctx, worker, fmt.Sprintf("%s: posted as ledger %d", deed, p.ledgerID))
	}
	r.report.Refusals = append(r.report.Refusals, *p.refused)
	by := map[Defence]string{Fence: "the fence", Unique: "the unique key"}[p.refused.Line]
	return r.deed(ctx, worker, fmt.Sprintf("%s: refused by %s, %s", deed, by, p.refused.Detail))
}

// release gives a lease back and shows that only the holder of the exact value can.
func (r *race) release(ctx context.Context, worker string, held grant.Lease) error {
	value := lease.FormatValue(held.Token, held.Owner)
	freed, err := r.store.ReleaseExact(ctx, held.Resource, value)
	if err != nil {
		return err
	}
	return r.deed(ctx, worker, fmt.Sprintf("releases token %d: %s", held.Token, freedText(freed)))
}

// payAgain shows the second line behind the first: with a fresh lease the fence lets A pass, and
// the unique key still stops it.
func (r *race) payAgain(ctx context.Context) error {
	p, err := r.payByEngine(ctx, "A", nil)
	if err != nil {
		return err
	}
	return r.paid(ctx, "A", p, "asks again with a new lease")
}

func (r *race) deed(ctx context.Context, worker, text string) error {
	if worker == "A" {
		return r.row(ctx, text, "")
	}
	return r.row(ctx, "", text)
}

// row adds a moment to the timeline, with what Redis says about the lease.
func (r *race) row(ctx context.Context, a, b string) error {
	at := r.opt.Now().Sub(r.start)
	entry, err := r.store.Show(ctx, r.resource)
	if err != nil && !errors.Is(err, lease.ErrNoLease) {
		return err
	}
	row := Row{At: at, WorkerA: a, Lease: leaseText(entry), WorkerB: b}
	r.report.Timeline = append(r.report.Timeline, row)
	r.opt.OnRow(row)
	return nil
}

// leaseText says what Redis holds; the zero entry is no lease.
func leaseText(entry lease.Entry) string {
	if entry.Value == "" {
		return "free"
	}
	return fmt.Sprintf("token %d, %s, %d ms left", entry.Token, workerName(entry.Owner),
		entry.Left.Milliseconds())
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

const cleanFor = 5 * time.Second // removing the run's keys may take so long after the drill ended

// clean removes the run's keys from Redis, also when the drill was stopped.
func (r *race) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanFor,
		errors.New("removing the drill's keys took too long"))
	defer cancel()
	problems := r.store.Release(ctx, r.taken) // takes them out of the index as well
	keys := []string{r.store.FenceKey(r.resource), r.store.HistoryKey(r.resource)}
	for _, key := range keys {
		if err := r.opt.Redis.Unlink(ctx, key).Err(); err != nil {
			problems = append(problems, &grant.BackendError{
				Backend: grant.Redis, Op: "remove the drill's keys", Err: err,
			})
		}
	}
	return errors.Join(problems...)
}
