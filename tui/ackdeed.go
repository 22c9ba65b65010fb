package tui

import (
	"context"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// canAck says whether the finding under the cursor can be acknowledged, or opened again.
func canAck(l *findingList, reopen bool) func() (bool, string) {
	return func() (bool, string) {
		if why := l.d.cannot(repair.WordAck); why != "" {
			return false, why
		}
		switch it := l.selected(); {
		case it == nil:
			return false, l.d.tr("there is no row under the cursor")
		case it.row.Acknowledged() && !reopen:
			return false, l.d.tr("it is acknowledged already")
		case !it.row.Acknowledged() && reopen:
			return false, l.d.tr("it is open")
		}
		return true, ""
	}
}

// askAck asks whether to decide about the finding under the cursor, for every run that finds it.
func askAck(l *findingList, reopen bool) tea.Cmd {
	f := l.selected().row
	saw := ackSeen(l.d, f.Finding, reopen)
	saw.At = l.shown.at
	return openDeed(l.d, ackDeed(l.d, f.run, f.Finding, reopen), saw)
}

func ackDeed(d *desk, run int64, f inspect.Finding, reopen bool) deed {
	req := repair.AckRequest{Finding: f.ID, Reopen: reopen}
	if f.Ack != nil {
		req.Version = f.Ack.Version
	}
	verb := "ack"
	if reopen {
		verb = "reopen"
	}
	return by(deed{verb: verb, observe: func(ctx context.Context) (Observed, error) {
		now, err := d.opts.Inspector.AuditFinding(ctx, run, f.ID)
		if err != nil {
			return Observed{}, err
		}
		o := ackSeen(d, now, reopen)
		o.next = ackDeed(d, run, now, reopen)
		return o, nil
	}}, req, func(q *repair.AckRequest) *string { return &q.Reason },
		func(ctx context.Context, q repair.AckRequest) Answer { return decideFinding(ctx, d, q) })
}

func ackSeen(d *desk, f inspect.Finding, reopen bool) Observed {
	state, version, role := d.tr("open"), int64(0), paint.Warn
	if f.Ack != nil {
		version = f.Ack.Version
		state = d.tr("open again, by %s", f.Ack.Operator)
	}
	if f.Acknowledged() {
		state, role = d.tr("acknowledged by %s", f.Ack.Operator), paint.Good
	}
	o := Observed{At: d.now(), Facts: []Fact{
		{Name: text.N("found"), Value: f.What},
		{Name: text.N("state"), Value: state, Guard: true, Role: role},
		{Name: text.N("version"), Value: idText(version), Guard: true},
	}, Effects: []string{
		d.tr("it counts as looked at, in this run and in every one that finds it again"),
		d.tr("nothing of what was found is changed"),
	}}
	if reopen {
		o.Effects[0] = d.tr("it counts as not looked at again")
	}
	switch {
	case f.Acknowledged() && !reopen:
		o.Block = d.tr("it is acknowledged already")
	case !f.Acknowledged() && reopen:
		o.Block = d.tr("it is open")
	}
	return o
}

func decideFinding(ctx context.Context, d *desk, req repair.AckRequest) Answer {
	got, err := d.opts.Operator.Acknowledge(ctx, req)
	if err != nil {
		return failure(d, req, err)
	}
	a := Answer{
		Kind: AnswerDone, Title: d.tr("finding %d is now %s", got.Finding, got.State),
		Lines: []string{got.What},
	}
	if got.LogID > 0 {
		a.Lines = append(a.Lines, d.tr("recorded as operator action %d", got.LogID))
	}
	return a
}
