package drill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

const ranking = "ranking"

// WayAtomic has the server add: nobody has to wait for anybody.
const WayAtomic Way = "atomic"

func rankingScript() script {
	return script{
		Description: Description{
			Name: ranking,
			Plays: "Two workers add points to one player's score in a ranking: read, add and write back; " +
				"the same under a lease; and with an atomic update that needs no lock.",
			Defences: []Defence{None, Lease, All},
			Columns:  [3]string{"worker A", "score", "worker B"}, TTL: ttlShort,
		},
		play: playRanking, bare: true,
	}
}

const (
	scoreStart = 100
	scoreAdded = 30
	member     = "drill-player"
	freeRacers = 4  // workers, when the cost is measured
	freeLaps   = 10 // updates of each
)

// board is a sorted set.
type board struct {
	st  *stage
	key string
	r   reward
}

func playRanking(ctx context.Context, st *stage) error {
	b := board{st: st, key: st.key("ranking", member), r: reward{resource: "ranking:" + member}}
	st.watch(b.r.resource)
	st.look = func(ctx context.Context) (string, error) {
		score, err := b.read(ctx)
		return number(score), err
	}
	if err := b.write(ctx, scoreStart); err != nil {
		return err
	}
	var err error
	switch st.opt.Defence {
	case None:
		err = b.playNaive(ctx)
	case Lease:
		err = b.playLeased(ctx)
	default:
		err = b.playAtomic(ctx)
	}
	if err != nil {
		return err
	}
	score, err := b.read(ctx)
	if err != nil {
		return err
	}
	const want = scoreStart + 2*scoreAdded
	st.expect(fmt.Sprintf("score = %d + 2 x %d", scoreStart, scoreAdded), want, score)
	if st.opt.Defence != All {
		return nil
	}
	return b.compare(ctx)
}

func (b board) read(ctx context.Context) (int64, error) {
	score, err := b.st.opt.Redis.ZScore(ctx, b.key, member).Result()
	if err != nil {
		return 0, redisError("read the score", err)
	}
	return int64(score), nil
}

func (b board) write(ctx context.Context, score int64) error {
	err := b.st.opt.Redis.ZAdd(ctx, b.key, redis.Z{Score: float64(score), Member: member}).Err()
	if err != nil {
		return redisError("write the score", err)
	}
	return nil
}

func (b board) add(ctx context.Context, points int64) error {
	if err := b.st.opt.Redis.ZIncrBy(ctx, b.key, float64(points), member).Err(); err != nil {
		return redisError("add to the score", err)
	}
	return nil
}

// playNaive: both read before either writes.
func (b board) playNaive(ctx context.Context) error {
	a, err := b.read(ctx)
	if err != nil {
		return err
	}
	if err := b.st.row(ctx, fmt.Sprintf("reads %d", a), ""); err != nil {
		return err
	}
	other, err := b.read(ctx)
	if err != nil {
		return err
	}
	if err := b.st.row(ctx, "", fmt.Sprintf("reads %d", other)); err != nil {
		return err
	}
	if err := b.write(ctx, a+scoreAdded); err != nil {
		return err
	}
	if err := b.st.row(ctx, fmt.Sprintf("writes %d", a+scoreAdded), ""); err != nil {
		return err
	}
	if err := b.write(ctx, other+scoreAdded); err != nil {
		return err
	}
	return b.st.row(ctx, "", fmt.Sprintf("writes %d", other+scoreAdded))
}

// playLeased: B has to wait, although its points have nothing to do with A's.
func (b board) playLeased(ctx context.Context) error {
	long, err := b.st.working()
	if err != nil {
		return err
	}
	a, err := b.st.takeFrom(ctx, long, "worker-a", b.r)
	if err != nil {
		return err
	}
	score, err := b.read(ctx)
	if err != nil {
		return err
	}
	if err := b.st.row(ctx, fmt.Sprintf("takes the lease, reads %d", score), ""); err != nil {
		return err
	}
	_, busy, err := b.st.ask(ctx, long, "worker-b", b.r)
	if err != nil {
		return err
	}
	if busy == nil {
		return notPlayed("worker B got a lease that is held")
	}
	if err := b.st.row(ctx, "", "asks for the lease: has to wait"); err != nil {
		return err
	}
	if err := b.write(ctx, score+scoreAdded); err != nil {
		return err
	}
	if err := b.st.row(ctx, fmt.Sprintf("writes %d", score+scoreAdded), ""); err != nil {
		return err
	}
	if err := b.st.giveBack(ctx, "worker-a", a); err != nil {
		return err
	}
	other, err := b.st.takeFrom(ctx, long, "worker-b", b.r)
	if err != nil {
		return err
	}
	if score, err = b.read(ctx); err != nil {
		return err
	}
	if err := b.write(ctx, score+scoreAdded); err != nil {
		return err
	}
	text := fmt.Sprintf("takes the lease, reads %d, writes %d", score, score+scoreAdded)
	if err := b.st.row(ctx, "", text); err != nil {
		return err
	}
	return b.st.giveBack(ctx, "worker-b", other)
}

func (b board) playAtomic(ctx context.Context) error {
	if err := b.add(ctx, scoreAdded); err != nil {
		return err
	}
	text := fmt.Sprintf("ZINCRBY %d: needs no lease", scoreAdded)
	if err := b.st.row(ctx, text, ""); err != nil {
		return err
	}
	if err := b.add(ctx, scoreAdded); err != nil {
		return err
	}
	return b.st.row(ctx, "", text)
}

// compare has workers run freely against each other in each of the three ways.
func (b board) compare(ctx context.Context) error {
	for _, way := range []Way{WayNone, WayLease, WayAtomic} {
		m, err := b.race(ctx, way)
		if err != nil {
			return err
		}
		b.st.report.Methods = append(b.st.report.Methods, m)
		if way != WayNone { // what the naive way loses in a free race is luck
			b.st.expect(fmt.Sprintf("%s: score after %d free updates", way, freeRacers*freeLaps),
				m.Want, m.Have)
		}
	}
	b.st.note("The ways ran freely against each other, %d workers with %d updates each; cost is per "+
		"update.", freeRacers, freeLaps)
	return nil
}

// race measures one way.
func (b board) race(ctx context.Context, way Way) (Method, error) {
	m := Method{Way: way, Want: freeRacers * freeLaps * scoreAdded}
	if err := b.write(ctx, 0); err != nil {
		return m, err
	}
	var waits, waited atomic.Int64
	problems := make([]error, freeRacers)
	began := b.st.opt.Now()
	var wg sync.WaitGroup
	for i := range freeRacers {
		wg.Go(func() {
			for range freeLaps {
				if problems[i] = b.lap(ctx, way, &waits, &waited); problems[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	m.Cost = b.st.opt.Now().Sub(began) / (freeRacers * freeLaps)
	m.Waits, m.Waited = int(waits.Load()), time.Duration(waited.Load())
	if err := errors.Join(problems...); err != nil {
		return m, err
	}
	var err error
	m.Have, err = b.read(ctx)
	m.Lost = m.Have - m.Want
	trips := map[Way]float64{WayNone: 2, WayLease: 4, WayAtomic: 1} // acquire and release make four
	m.Trips = trips[way]
	return m, err
}

// lap is one update.
func (b board) lap(ctx context.Context, way Way, waits, waited *atomic.Int64) error {
	switch way {
	case WayAtomic:
		return b.add(ctx, scoreAdded)
	case WayLease:
		long, err := b.st.working()
		if err != nil {
			return err
		}
		held, err := b.queue(ctx, func() (*grant.Lease, error) {
			held, _, err := b.st.ask(ctx, long, "worker-a", b.r)
			return held, err
		}, waits, waited)
		if err != nil {
			return err
		}
		err = b.bump(ctx)
		return errors.Join(err, long.Release(ctx, []grant.Lease{*held})[0])
	}
	return b.bump(ctx)
}

// bump reads, adds and writes back.
func (b board) bump(ctx context.Context) error {
	score, err := b.read(ctx)
	if err != nil {
		return err
	}
	return b.write(ctx, score+scoreAdded)
}

// queue asks until it gets the lease, and counts the wait.
func (b board) queue(
	ctx context.Context, ask func() (*grant.Lease, error), waits, waited *atomic.Int64,
) (*grant.Lease, error) {
	const pause = time.Millisecond
	asked := b.st.opt.Now()
	for told := false; ; told = true {
		held, err := ask()
		if err != nil || held != nil {
			if told {
				waits.Add(1)
				waited.Add(int64(b.st.opt.Now().Sub(asked)))
			}
			return held, err
		}
		if err := b.st.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}
