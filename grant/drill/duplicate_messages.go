package drill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rewardctl/grant"
)

const duplicateMessages = "duplicate-messages"

func duplicateMessagesScript() script {
	return script{
		Description: Description{
			Name: duplicateMessages,
			Plays: "One request arrives in many messages, consumed at once: in one process, and in " +
				"several.",
			Defences:  []Defence{None, Unique, All},
			Columns:   [3]string{"consumers in one process", "postings of the event", "processes"},
			TTL:       ttlShort,
			Processes: true,
		},
		play: playDuplicateMessages,
	}
}

func playDuplicateMessages(ctx context.Context, st *stage) error {
	const least, more = 4, 5
	copies := least + st.random.IntN(more)
	if err := playInOne(ctx, st, copies); err != nil {
		return err
	}
	const processes = 3
	return playInSeveral(ctx, st, processes)
}

// shows puts the number of postings into the middle.
func (st *stage) shows(r reward) {
	st.look = func(ctx context.Context) (string, error) {
		there, err := st.posted(ctx, r)
		if err != nil || there.ID == 0 {
			return "none", err
		}
		c, err := st.count(ctx)
		return number(c.Most), err
	}
}

// consume handles one copy: with the engine, or after a look that saw nothing.
func (p *payer) consume(
	ctx context.Context, worker string, r reward, wait func(context.Context, time.Duration) error,
) (payment, error) {
	if p.defence != All {
		// The token of a lease that all of them believe to hold.
		return p.pay(ctx, worker, r, grant.Lease{Resource: r.resource, Token: 1, Owner: worker})
	}
	const pause = 2 * time.Millisecond
	for {
		got, err := p.payByEngine(ctx, worker, r, nil)
		if err != nil || got.refused == nil || got.refused.Line != Lease {
			return got, err
		}
		if err := wait(ctx, pause); err != nil {
			return got, err
		}
	}
}

// playInOne lets all copies look, which is their barrier, and then pay at once.
func playInOne(ctx context.Context, st *stage, copies int) error {
	r, err := st.due(ctx, "one")
	if err != nil {
		return err
	}
	st.shows(r)
	for range copies {
		there, err := st.posted(ctx, r)
		if err != nil {
			return err
		}
		if there.ID != 0 {
			return notPlayed("a copy was paid before all had looked")
		}
	}
	text := fmt.Sprintf("%d copies of the message are consumed; all look: not paid", copies)
	if err := st.row(ctx, text, ""); err != nil {
		return err
	}
	payments, problems := make([]payment, copies), make([]error, copies)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			<-start
			payments[i], problems[i] = st.consume(ctx, fmt.Sprintf("A%d", i+1), r, st.wait)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(problems...); err != nil {
		return err
	}
	paid := 0
	for _, p := range payments {
		if p.refused == nil {
			paid++
		} else {
			st.refused(*p.refused)
		}
	}
	return st.row(ctx, fmt.Sprintf("all pay at once: %d paid, %d refused", paid, copies-paid), "")
}

const (
	roleConsumer = "consumer"
	stepLooked   = "looked" // it has seen that nothing is paid
)

func playConsumer(ctx context.Context, a *actor) error {
	there, err := a.posted(ctx, a.reward())
	if err != nil {
		return err
	}
	if there.ID != 0 {
		return notPlayed("a copy was paid before all had looked")
	}
	if err := a.tell(event{Step: stepLooked}); err != nil {
		return err
	}
	p, err := a.consume(ctx, a.Worker, a.reward(), a.wait)
	if err != nil {
		return err
	}
	return a.tell(told(p))
}

// playInSeveral is the same with processes.
func playInSeveral(ctx context.Context, st *stage, processes int) error {
	r, err := st.due(ctx, "several")
	if err != nil {
		return err
	}
	st.shows(r)
	all := make([]*process, processes)
	for i := range all {
		name := fmt.Sprintf("process-%d", i+1)
		if all[i], err = st.spawn(ctx, roleConsumer, name, r, holding(stepLooked)); err != nil {
			return err
		}
		if _, err := all[i].until(ctx, stepLooked); err != nil {
			return err
		}
		if err := st.row(ctx, "", name+" has a copy, and looks: not paid"); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := p.goOn(); err != nil {
			return err
		}
	}
	for _, p := range all {
		e, err := p.until(ctx, stepPaid)
		if err != nil {
			return err
		}
		got, text := e.payment(), p.worker+" pays"
		if got.refused != nil {
			st.refused(*got.refused)
			text += ": refused by the " + LineWords(got.refused.Line)
		}
		if err := st.row(ctx, "", text); err != nil {
			return err
		}
	}
	return nil
}
