package tui

import (
	"context"
	"fmt"
	"time"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// Reverser is what the console needs to take postings back. *repair.Operator implements it.
type Reverser interface {
	PreviewReverse(ctx context.Context, req repair.ReverseRequest) (repair.ReversePreview, error)
	Reverse(ctx context.Context, p repair.ReversePreview, run repair.ReverseRun) (
		repair.ReversePreview, error)
}

// askReverse asks whether to take a posting back.
func askReverse(d *desk, e *inspect.PlayerEntry) tea.Cmd {
	req := repair.ReverseRequest{ReverseSelection: repair.ReverseSelection{LedgerID: e.ID}}
	return openDeed(d, reverseDeed(d, req), Observed{At: d.now(), Facts: []Fact{
		{Name: text.N("posting"), Value: fmt.Sprintf("%d %s", e.Amount, e.Kind), Guard: true},
		{Name: text.N("event"), Value: e.EventID, Guard: true},
	}})
}

func reverseDeed(d *desk, req repair.ReverseRequest) deed {
	return by(deed{verb: "reverse", observe: func(ctx context.Context) (Observed, error) {
		look := req
		look.DryRun, look.Reason = true, "look"
		p, err := d.opts.Reverser.PreviewReverse(ctx, look)
		if err != nil {
			return Observed{}, err
		}
		return reverseSeen(d, req, p), nil
	}}, req, func(q *repair.ReverseRequest) *string { return &q.Reason },
		func(ctx context.Context, q repair.ReverseRequest) Answer { return reverse(ctx, d, q) })
}

func reverseSeen(d *desk, req repair.ReverseRequest, p repair.ReversePreview) Observed {
	o := Observed{At: d.now(), next: reverseDeed(d, req)}
	if len(p.Items) == 0 {
		o.Block = d.tr("there is no such posting")
		return o
	}
	it := p.Items[0]
	o.Facts = []Fact{
		{
			Name: text.N("posting"), Value: fmt.Sprintf("%d %s", it.Posting.Amount, it.Posting.Kind),
			Guard: true,
		},
		{Name: text.N("event"), Value: it.Posting.EventID, Guard: true},
		{Name: text.N("player"), Value: it.Posting.PlayerID},
		{Name: text.N("back"), Value: d.tr("%d before, %d left", it.Back, it.Left), Guard: true},
		{Name: text.N("balance"), Value: d.tr("%d, then %d", it.BalanceBefore, it.BalanceAfter)},
		{
			Name: text.N("answer"), Value: it.Outcome.String(),
			Show: func(time.Time) string { return it.Outcome.String() },
		},
	}
	if it.Spent > 0 {
		o.Facts = append(o.Facts, Fact{Name: text.N("spent"), Value: idText(it.Spent), Role: paint.Warn})
	}
	if it.Note != "" {
		o.Effects = append(o.Effects, it.Note)
	}
	o.Effects = append(o.Effects,
		d.tr("a posting of the opposite amount is added; nothing is deleted"))
	o.Effects = append(o.Effects, p.Warnings...)
	if p.Changes() == 0 {
		o.Block = d.tr("there is nothing to take back: %s", it.Outcome)
	}
	return o
}

func reverse(ctx context.Context, d *desk, req repair.ReverseRequest) Answer {
	p, err := d.opts.Reverser.PreviewReverse(ctx, req)
	if err != nil {
		return failure(d, req, err)
	}
	p, err = d.opts.Reverser.Reverse(ctx, p, repair.ReverseRun{})
	if err != nil {
		return failure(d, req, err)
	}
	a := Answer{Kind: AnswerDone, Title: d.tr("reversed: %s", req.Target())}
	for _, it := range p.Items {
		a.Lines = append(a.Lines, it.Outcome.String()+". "+it.Note)
		if it.Take == 0 || it.NotRun {
			a.Kind, a.Title = AnswerRefused, d.tr("nothing was taken back: %s", it.Outcome)
		}
	}
	return a
}
