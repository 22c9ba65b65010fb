package tui

import (
	"context"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	outboxRequeue = repair.OutboxRequeue
	outboxPark    = repair.OutboxPark
)

// askDelivery asks whether to change the delivery under the cursor.
func askDelivery(l *outboxList, word repair.OutboxDeed) tea.Cmd {
	row := *l.selected().row
	action := deliveryDeed(l.d, word, row)
	saw := deliverySeen(l.d, word, row)
	saw.At = l.shown.at
	return openDeed(l.d, action, saw)
}

func deliveryDeed(d *desk, word repair.OutboxDeed, row inspect.OutboxRow) deed {
	req := repair.OutboxRequest{
		Deed: word, LedgerID: row.LedgerID, State: row.State, Attempts: row.Attempts,
	}
	return by(deed{verb: string(word), observe: func(ctx context.Context) (Observed, error) {
		got, err := d.opts.Inspector.OutboxShow(ctx, row.LedgerID)
		if err != nil {
			return Observed{}, err
		}
		o := deliverySeen(d, word, got.OutboxRow)
		o.next = deliveryDeed(d, word, got.OutboxRow)
		return o, nil
	}}, req, outboxReason,
		func(ctx context.Context, q repair.OutboxRequest) Answer { return changeOutbox(ctx, d, q) })
}

func outboxReason(q *repair.OutboxRequest) *string { return &q.Reason }

func deliverySeen(d *desk, word repair.OutboxDeed, row inspect.OutboxRow) Observed {
	words, role := laneWord(d, row.Lane)
	o := Observed{At: d.now(), Facts: []Fact{
		{Name: text.N("state"), Value: row.State, Guard: true, Role: role},
		{Name: text.N("tries"), Value: idText(int64(row.Attempts)), Guard: true},
		{Name: text.N("stands"), Value: words},
		{Name: text.N("error"), Value: row.LastError},
		{Name: text.N("player"), Value: row.PlayerID},
	}}
	o.Effects = deliveryEffects(d, word)
	if word == outboxRequeue {
		if row.State == "delivered" {
			o.Block = d.tr("it is delivered already: there is nothing to send")
		}
		return o
	}
	if row.State == "delivered" || row.State == "parked" {
		o.Block = d.tr("it is %s already", row.State)
	}
	return o
}

// deliveryEffects says what a deed does to a delivery.
func deliveryEffects(d *desk, word repair.OutboxDeed) []string {
	if word == outboxRequeue {
		return []string{
			d.tr("it is sent again at once, and its failures are counted anew"),
			d.tr("the receiver knows it by its key: what has arrived is not given twice"),
		}
	}
	return []string{
		d.tr("it is not sent until somebody requeues it"),
		d.tr("whether later deliveries to the player wait for it is the relay's policy"),
	}
}

func changeOutbox(ctx context.Context, d *desk, req repair.OutboxRequest) Answer {
	got, err := d.opts.Operator.ChangeOutbox(ctx, req)
	if err != nil {
		return failure(d, req, err)
	}
	a := Answer{Kind: AnswerDone, Title: d.tr("%d deliveries changed: %s", got.Rows, req.Deed)}
	if got.Before != "" {
		a.Lines = append(a.Lines, d.tr("before: %s", got.Before))
	}
	if got.LogID > 0 {
		a.Lines = append(a.Lines, d.tr("recorded as operator action %d", got.LogID))
	}
	return a
}

// askAllDead asks whether to send again everything that was given up. What is counted is what is
// changed: when another number matches by then, nothing is done.
func askAllDead(d *desk) tea.Cmd {
	return openDeed(d, deadDeed(d, -1), Observed{At: d.now(), Facts: []Fact{
		{Name: text.N("dead"), Value: d.theme.Glyphs.Dash},
	}})
}

func deadDeed(d *desk, count int64) deed {
	req := repair.OutboxRequest{
		Deed: outboxRequeue, Attempts: -1, Filter: repair.OutboxFilter{State: "dead"}, Expect: count,
	}
	return by(deed{
		verb: "requeue", confirm: idText(max(count, 0)) + "-requeue",
		observe: func(ctx context.Context) (Observed, error) {
			dry := req
			dry.DryRun, dry.Reason = true, "look"
			got, err := d.opts.Operator.ChangeOutbox(ctx, dry)
			if err != nil {
				return Observed{}, err
			}
			o := Observed{At: d.now(), next: deadDeed(d, got.Rows), Facts: []Fact{{
				Name: text.N("dead"), Value: idText(got.Rows), Guard: count >= 0, Role: paint.Bad,
			}}, Effects: []string{
				d.tr("all %d are sent again at once, or none if their number has changed", got.Rows),
			}}
			if got.Rows == 0 {
				o.Block = d.tr("none is dead")
			}
			return o, nil
		},
	}, req, outboxReason,
		func(ctx context.Context, q repair.OutboxRequest) Answer { return changeOutbox(ctx, d, q) })
}
