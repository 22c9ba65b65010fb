package drill

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rewardctl/grant"
)

const partition = "partition"

func partitionScript() script {
	return script{
		Description: Description{
			Name: partition,
			Plays: "The network between worker A and Redis is cut, then between A and PostgreSQL while " +
				"its payment is under way; worker B takes over, and the network heals.",
			Defences: []Defence{None, Fence, Unique, All}, Columns: workers(), TTL: ttlShort,
		},
		play: playPartition,
	}
}

func playPartition(ctx context.Context, st *stage) error {
	if err := playCutFromRedis(ctx, st); err != nil {
		return err
	}
	return playCutFromPostgres(ctx, st)
}

// playCutFromRedis: A does not hear that it has lost its lease, and PostgreSQL is within reach.
func playCutFromRedis(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "redis")
	if err != nil {
		return err
	}
	c, err := st.cable(ctx)
	if err != nil {
		return err
	}
	a, err := st.takeFrom(ctx, c.store, "worker-a", r)
	if err != nil {
		return err
	}
	c.cut()
	answer := make(chan string, 1)
	go func() {
		got := c.store.Renew(ctx, []grant.Lease{a})[0]
		switch {
		case got.Err != nil:
			answer <- got.Err.Error()
		case got.Lost:
			answer <- "lost"
		default:
			answer <- "extended"
		}
	}()
	if err := st.row(ctx, "takes the lease; its network to Redis is cut", ""); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-a", r, a); err != nil {
		return err
	}
	c.heal()
	if err := st.row(ctx, "healed: its renewal is answered: "+<-answer, ""); err != nil {
		return err
	}
	if err := st.giveBack(ctx, "worker-a", a); err != nil {
		return err
	}
	return st.giveBack(ctx, "worker-b", b)
}

// remote is worker A with a line to PostgreSQL of its own.
type remote struct {
	payer
	*wire
	pid    uint32
	armed  bool // the line is cut as soon as the next payment is about to be sent
	losing bool // its answer is lost
	// asked is closed when the engine has given up waiting and asks after its answer.
	asked chan struct{}
	once  sync.Once
}

func (st *stage) remote(ctx context.Context) (*remote, error) {
	a := &remote{wire: newWire(st.opt.Now), payer: st.payer, asked: make(chan struct{})}
	pool, err := st.poolVia(ctx, a.wire)
	if err != nil {
		return nil, err
	}
	a.pool = pool
	if a.engine, err = st.engineOn(pool, "worker-a", a.passes); err != nil {
		return nil, err
	}
	a.pid, err = warm(ctx, pool)
	return a, err
}

func (a *remote) passes(step grant.Step) {
	switch {
	case step == grant.StepSend && a.armed:
		a.armed = false
		a.cut()
	case step == grant.StepSend && a.losing:
		a.losing = false
		a.loseReply()
	case step == grant.StepResolve:
		a.once.Do(func() { close(a.asked) })
	}
}

// patience is how long A waits for an answer at least: its payment has to be under way by then.
const patience = time.Second

// late is what became of a payment that was under way when the line was cut.
type late struct {
	payment payment
	err     error
}

// sendCut has A send a payment into the cut line. It is under way from then on, whatever A does.
func (a *remote) sendCut(ctx context.Context, r reward, held grant.Lease) <-chan late {
	done := make(chan late, 1)
	if a.defence == All {
		a.armed = true // the engine reads before it sends
		go func() {
			p, err := a.payByEngine(ctx, "A", r, &held)
			done <- late{p, err}
		}()
		return done
	}
	a.cut()
	bounded, cancel := context.WithDeadline(ctx, held.Until)
	go func() {
		defer cancel()
		p, err := a.pay(bounded, "A", r, held)
		done <- late{p, err}
	}()
	return done
}

// playCutFromPostgres: what A has sent arrives when the network heals, after B has paid.
func playCutFromPostgres(ctx context.Context, st *stage) error {
	before, err := st.due(ctx, "before")
	if err != nil {
		return err
	}
	a, err := st.remote(ctx)
	if err != nil {
		return err
	}
	held, err := st.take(ctx, "worker-a", before)
	if err != nil {
		return err
	}
	p, err := a.pay(ctx, "A", before, held)
	if err == nil {
		err = st.paid(ctx, "worker-a", p, "with its network whole, pays")
	}
	if err != nil {
		return err
	}
	r, err := st.due(ctx, "postgres")
	if err != nil {
		return err
	}
	if held, err = st.take(ctx, "worker-a", r); err != nil {
		return err
	}
	held.Until = st.opt.Now().Add(max(st.opt.TTL, patience))
	underWay := a.sendCut(ctx, r, held)
	err = st.row(ctx, "takes the lease and sends its payment; the network is cut", "")
	if err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	return a.heals(ctx, st, r, underWay)
}

// heals lets the payment arrive and shows what A hears of it; then A works as before.
func (a *remote) heals(ctx context.Context, st *stage, r reward, underWay <-chan late) error {
	var got late
	if st.opt.Defence != All {
		got = <-underWay
		if got.err == nil {
			return notPlayed("a payment through a cut network was answered")
		}
		if err := st.row(ctx, "gets no answer, and gives up", ""); err != nil {
			return err
		}
	} else {
		select {
		case <-a.asked:
		case got = <-underWay:
			return notPlayed("a payment through a cut network was answered: %v", got.err)
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := st.row(ctx, "gets no answer, and asks after it", ""); err != nil {
			return err
		}
	}
	a.heal()
	if st.opt.Defence == All {
		if got = <-underWay; got.err != nil {
			return got.err
		}
	}
	if err := st.gone(ctx, a.pid); err != nil {
		return err
	}
	if st.opt.Defence == All {
		deed := "healed: it asks again under the same lease"
		if err := st.paid(ctx, "worker-a", got.payment, deed); err != nil {
			return err
		}
	} else if err := a.arrived(ctx, st); err != nil {
		return err
	}
	next, err := st.due(ctx, "after")
	if err != nil {
		return err
	}
	held, err := st.take(ctx, "worker-a", next)
	if err != nil {
		return err
	}
	p, err := a.pay(ctx, "A", next, held)
	if err != nil {
		return err
	}
	return st.paid(ctx, "worker-a", p, "takes the next lease and pays")
}

// arrived shows what became of a payment whose sender had given up.
func (a *remote) arrived(ctx context.Context, st *stage) error {
	c, err := st.count(ctx)
	if err != nil {
		return err
	}
	// One for each of the three events, and without defences two more.
	const once, twice = 3, 5
	if st.opt.Defence != None {
		detail := "what it had sent arrives after B's payment"
		st.refused(Refusal{Worker: "A", Line: st.opt.Defence, Detail: detail})
		return st.row(ctx, fmt.Sprintf("healed: %s, and is refused by the %s", detail,
			LineWords(st.opt.Defence)), "")
	}
	if c.Postings != twice {
		return notPlayed("%d postings, from %d to %d were to be: the late payment never arrived",
			c.Postings, once, twice)
	}
	return st.row(ctx, "healed: what it had sent arrives, and is paid", "")
}
