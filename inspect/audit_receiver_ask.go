package inspect

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// asking is what the parts of a run that ask the receiver share.
type asking struct {
	ReceiverPlan
	now func() time.Time

	all, asked int64
	began      time.Time // of the first question; zero until then
	silent     int       // unanswered questions in a row

	mu   sync.Mutex
	next time.Time // when the next question may be asked
}

func newAsking(plan ReceiverPlan, now func() time.Time) *asking {
	if plan.Concurrency <= 0 {
		plan.Concurrency = askAtOnce
	}
	return &asking{ReceiverPlan: plan, now: now}
}

// rate is how many questions per second are answered; before the first a guess.
func (a *asking) rate() float64 {
	if took := a.now().Sub(a.began).Seconds(); a.asked > 0 && took > 0 {
		return float64(a.asked) / took
	}
	if a.Rate > 0 {
		return float64(a.Rate)
	}
	return askPage
}

// left is how long the rest takes.
func (a *asking) left() time.Duration {
	return time.Duration(float64(max(a.all-a.asked, 0)) / a.rate() * float64(time.Second))
}

// turn waits until the next question may be asked.
func (a *asking) turn(ctx context.Context) error {
	if a.Rate <= 0 {
		return ctx.Err()
	}
	a.mu.Lock()
	now := a.now()
	at := a.next
	if at.Before(now) {
		at = now
	}
	a.next = at.Add(time.Second / time.Duration(a.Rate))
	a.mu.Unlock()
	return rest(ctx, at.Sub(now))
}

// rest waits, or returns why ctx ended.
func rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// about asks about one posting, again when there is no answer.
func (a *asking) about(
	ctx context.Context, p queuedPosting, source string, bound time.Duration,
) (r Receipt) {
	pause := askPauseMin
	for try := range askTries {
		if try > 0 {
			if rest(ctx, min(max(pause, r.RetryAfter), askPauseMax)) != nil {
				return r
			}
			pause *= 2
		}
		if a.turn(ctx) != nil {
			return r
		}
		one, cancel := context.WithTimeout(ctx, bound)
		r = a.Receiver.Ask(one, p.message(source))
		cancel()
		if r.State != ReceiptNone {
			return r
		}
	}
	return r
}

// answered is a posting and what the receiver says about it.
type answered struct {
	posted  queuedPosting
	receipt Receipt
}

// comparison is a part that asks about the postings of one range of ids.
type comparison struct {
	first int64
	odd   []answered
}

// ask asks about every posting of the range. No transaction is open meanwhile: a slow receiver
// must not hold back the database's clean-up.
func (c *comparison) ask(ctx context.Context, u *unitRun) error {
	if u.asks.began.IsZero() {
		u.asks.began = u.reader.opts.Now()
	}
	c.odd = nil
	after := c.first - 1
	for {
		page, err := c.page(ctx, u, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := c.askPage(ctx, u, page); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

func (c *comparison) page(
	ctx context.Context, u *unitRun, after int64,
) (page []queuedPosting, err error) {
	sql, err := statement("receiver_page")
	if err != nil {
		return nil, err
	}
	err = u.reader.read(ctx, "read the deliveries", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{
			"after": after, "until": c.first + askSlot, "since": u.plan.from(), "limit": askPage,
		})
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, pgx.RowToStructByName[queuedPosting])
		return err
	})
	return page, err
}

// askPage asks about some postings, several at once.
func (c *comparison) askPage(ctx context.Context, u *unitRun, page []queuedPosting) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make(chan answered)
	go func() {
		defer close(answers)
		var group errgroup.Group
		group.SetLimit(u.asks.Concurrency)
		for _, p := range page {
			if ctx.Err() != nil {
				break
			}
			group.Go(func() error {
				answers <- answered{
					p, u.asks.about(ctx, p, u.reader.opts.OutboxSource, u.reader.opts.Timeout),
				}
				return nil
			})
		}
		_ = group.Wait()
	}()
	var problem error
	for a := range answers {
		if ctx.Err() != nil {
			continue // what was given up says nothing about the receiver
		}
		if problem = c.take(u, a); problem != nil {
			cancel(problem)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// take takes one answer.
func (c *comparison) take(u *unitRun, a answered) error {
	switch a.receipt.State {
	case ReceiptUnasked:
		return &ReceiverError{Detail: a.receipt.Detail, Unasked: true}
	case ReceiptNone:
		if u.asks.silent++; u.asks.silent >= askSilentMax {
			return &ReceiverError{Detail: a.receipt.Detail}
		}
	case ReceiptHas, ReceiptOther, ReceiptAbsent:
		u.asks.silent = 0
	}
	u.asks.asked++
	if a.posted.odd(a.receipt) != "" {
		c.odd = append(c.odd, a)
	}
	u.progress(u)
	return nil
}

// judge looks again at the deliveries that do not fit and reports those that still do not.
func (c *comparison) judge(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	if len(c.odd) == 0 {
		return nil
	}
	receipts := map[int64]Receipt{}
	var ids []int64
	for _, a := range c.odd {
		receipts[a.posted.ID] = a.receipt
		ids = append(ids, a.posted.ID)
	}
	sql, err := statement("receiver_again")
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return err
	}
	again, err := pgx.CollectRows(rows, pgx.RowToStructByName[queuedPosting])
	if err != nil {
		return err
	}
	var found []draft
	var unanswered *draft
	for _, p := range again {
		r := receipts[p.ID]
		switch word := p.odd(r); word {
		case "":
		case "not_answered":
			if unanswered == nil {
				unanswered = &draft{evidenceRow: evidenceRow{
					Word: word, Key: strconv.FormatInt(p.ID, 10), IsNew: true,
				}}
			}
			unanswered.count++
			if len(unanswered.given) < evidenceMax {
				unanswered.given = append(unanswered.given, p.columns(r)...)
			}
		default:
			u.collect(&found, draft{
				evidenceRow: evidenceRow{
					Word: word, Key: strconv.FormatInt(p.ID, 10), PlayerID: p.PlayerID,
					EventID: p.EventID, IsNew: true,
				},
				count: 1, given: p.columns(r), state: p.State,
			})
		}
	}
	if unanswered != nil {
		found = append(found, *unanswered)
	}
	return u.finish(ctx, tx, found)
}

// columns lays both sides beside each other: what is posted, and what the receiver says.
func (p queuedPosting) columns(r Receipt) [][]jsonCol {
	text := func(s string) *string { return &s }
	var delivered *string
	if p.Delivered != nil {
		delivered = text(p.Delivered.UTC().Format(time.RFC3339Nano))
	}
	said := []jsonCol{{"source", text("receiver")}, {"receiver", text(string(r.State))}}
	if r.Kind != "" || r.Amount != "" {
		said = append(said, jsonCol{"kind", &r.Kind}, jsonCol{"amount", &r.Amount})
	}
	if r.Detail != "" {
		said = append(said, jsonCol{"detail", &r.Detail})
	}
	return [][]jsonCol{{
		{"source", text("reward_outbox")},
		{"ledger_id", text(strconv.FormatInt(p.ID, 10))},
		{"player_id", &p.PlayerID},
		{"reward_event_id", &p.EventID},
		{"kind", &p.Kind},
		{"amount", text(fmt.Sprint(p.Amount))},
		{"state", &p.State},
		{"attempts", text(strconv.Itoa(p.Attempts))},
		{"delivered_at", delivered},
	}, said}
}
