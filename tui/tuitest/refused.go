package tuitest

import (
	"context"
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// Refused implements tui.Inspector.
func (w *World) Refused(ctx context.Context, q inspect.RefusedQuery) (inspect.RefusedPage, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.RefusedPage{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var page inspect.RefusedPage
	for _, one := range w.refused {
		if !one.At.Before(q.Since) {
			page.Rows = append(page.Rows, one)
		}
	}
	return page, nil
}

// OutboxAges implements tui.Inspector.
func (w *World) OutboxAges(ctx context.Context) (inspect.OutboxAges, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.OutboxAges{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	bounds := inspect.OutboxAgeBounds()
	a := inspect.OutboxAges{Counts: make([]int, len(bounds)+1)}
	for _, row := range w.outbox {
		if row.State != "pending" && row.State != "claimed" {
			continue
		}
		at := 0
		for at < len(bounds) && w.now().Sub(row.PostedAt) >= bounds[at] {
			at++
		}
		a.Counts[at]++
		a.Looked++
	}
	return a, nil
}

// Refuse puts a write into the world that its fence stopped some time ago.
func (w *World) Refuse(outcome grant.Outcome, ago time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.refused) + 1
	w.refused = append(w.refused, inspect.RefusedWrite{
		ID: int64(10 + n), At: w.now().Add(-ago), Outcome: outcome, Resource: "reward:player-42",
		PlayerID: "player-42", EventID: fmt.Sprintf("daily:%d", n), Kind: "gems", Amount: 50,
		Actor: "worker-12", Token: 46, Owner: "worker-12@game-1/82#aa", FenceToken: 48,
		FenceOwner: "worker-90@game-1/160#aa",
	})
}

// fillRefused puts late writes into the world that its fences stopped.
func (w *World) fillRefused() {
	w.Refuse(grant.StaleToken, 4*time.Minute)
	w.Refuse(grant.StaleToken, 4*time.Minute+2*time.Second)
	w.Refuse(grant.StaleToken, time.Hour/2)
}
