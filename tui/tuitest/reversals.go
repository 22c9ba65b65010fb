package tuitest

import (
	"context"

	"rewardctl/grant"
	"rewardctl/repair"
)

// PreviewReverse implements tui.Reverser.
func (w *World) PreviewReverse(ctx context.Context, q repair.ReverseRequest) (
	repair.ReversePreview, error,
) {
	if err := w.enter(ctx); err != nil {
		return repair.ReversePreview{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := repair.ReversePreview{Request: q, At: w.now(), Set: "aa"}
	for _, have := range w.postings {
		if have.ID == q.LedgerID {
			p.Items = append(p.Items, repair.ReverseItem{
				Posting: have, Left: have.Amount, Asked: have.Amount, Take: have.Amount,
				BalanceBefore: 300, BalanceAfter: 300 - have.Amount, Outcome: grant.ReverseDone,
				Note: "it is taken back in full",
			})
		}
	}
	return p, nil
}

// Reverse implements tui.Reverser.
func (w *World) Reverse(ctx context.Context, p repair.ReversePreview, _ repair.ReverseRun) (
	repair.ReversePreview, error,
) {
	if err := w.enter(ctx); err != nil {
		return p, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reversed = append(w.reversed, p.Request)
	return p, nil
}

// Reversed returns the reversals that were carried out.
func (w *World) Reversed() []repair.ReverseRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.ReverseRequest(nil), w.reversed...)
}
