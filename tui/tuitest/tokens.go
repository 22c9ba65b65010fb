package tuitest

import (
	"context"
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// Tokens implements tui.Inspector: three tokens before the one that is held, one of which was
// never seen and one of which woke up too late.
func (w *World) Tokens(ctx context.Context, resource string) (inspect.TokenHistory, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.TokenHistory{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, held := w.leases[resource]
	if held && l.Foreign != "" {
		return w.displaced(l), nil
	}
	if !held || l.Token == 0 {
		return inspect.TokenHistory{}, &inspect.NotFoundError{What: "resource", Name: resource}
	}
	start := w.now().Add(-3 * time.Minute).Truncate(time.Minute)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	worker := func(n int) string { return fmt.Sprintf("worker-%02d@game-1/%d#aa", n, 70+n) }
	top := l.Token
	h := inspect.TokenHistory{
		Resource: resource, Lease: &l,
		Fence: &inspect.FenceSeen{Fence: grant.Fence{
			Resource: resource, Token: top - 1, Owner: worker(90),
		}, At: at(90)},
		Tokens: []inspect.TokenUse{
			{
				Token: top - 3, Owner: worker(12), Issued: at(0), End: inspect.TokenExpired, Accepted: 1,
				Refused: 2, Marks: []inspect.MarkKind{inspect.MarkFencedOff},
			},
			{
				Token: top - 1, Owner: worker(90), Issued: at(60), Ended: at(69),
				End: inspect.TokenReleased, Accepted: 1, Marks: []inspect.MarkKind{inspect.MarkGap},
			},
			{Token: top, Owner: l.Owner, Issued: at(150)},
		},
		Marks: []inspect.TokenMark{
			{
				Kind: inspect.MarkFencedOff, Token: top - 3,
				Why: "it wrote after a higher token had been accepted, and was refused",
			},
			{Kind: inspect.MarkGap, Token: top - 1, Why: "one token below it was never seen"},
		},
	}
	h.Entries = []inspect.TokenEntry{
		{At: at(0), Event: inspect.TokenIssued, Token: top - 3, Owner: worker(12)},
		{
			At: at(28), Event: inspect.TokenUsed, Token: top - 3, Owner: worker(12), EventID: "daily:0",
			Detail: "posting 1: 50 gems by worker-12",
		},
		{At: at(60), Event: inspect.TokenIssued, Token: top - 1, Owner: worker(90)},
		{
			At: at(66), Event: inspect.TokenUsed, Token: top - 1, Owner: worker(90), EventID: "daily:1",
			Detail: "posting 2: 50 gems by worker-90",
		},
		{At: at(69), Event: inspect.TokenReleased, Token: top - 1, Owner: worker(90)},
		{
			At: at(75), Event: inspect.TokenRefused, Token: top - 3, Owner: worker(12),
			Outcome: "stale_token", EventID: "daily:1", Detail: "the fence was above it",
		},
		{
			At: at(81), Event: inspect.TokenRefused, Token: top - 3, Owner: worker(12),
			Outcome: "stale_token", EventID: "daily:1", Detail: "the fence was above it",
		},
		{At: at(150), Event: inspect.TokenIssued, Token: top, Owner: l.Owner},
	}
	return h, nil
}

// displaced is the history of a resource whose key another program has taken over.
func (w *World) displaced(l inspect.Lease) inspect.TokenHistory {
	at := w.now().Add(-time.Hour).Truncate(time.Minute)
	owner := "worker-07@game-1/77#aa"
	return inspect.TokenHistory{
		Resource: l.Resource, Lease: &l,
		Tokens: []inspect.TokenUse{{
			Token: 7, Owner: owner, Issued: at, End: inspect.TokenExpired, Accepted: 1,
		}},
		Entries: []inspect.TokenEntry{
			{At: at, Event: inspect.TokenIssued, Token: 7, Owner: owner},
			{At: at.Add(time.Second), Event: inspect.TokenUsed, Token: 7, Owner: owner},
		},
	}
}
