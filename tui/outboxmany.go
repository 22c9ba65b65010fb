package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// outboxMarks is a frozen set of marked deliveries, as they were seen.
type outboxMarks struct {
	word   repair.OutboxDeed
	rows   []inspect.OutboxRow // by ledger id, as they are changed
	ids    []int64             // what was marked
	left   int                 // marked rows in a state in which the deed makes no sense
	gone   int                 // marked rows that are delivered and listed no more
	hidden map[int64]bool      // rows of the set that the filter does not show
}

// deliveryKey is a key that acts on the marked deliveries, or on the one under the cursor.
func deliveryKey(l *outboxList, key, help string, word repair.OutboxDeed) Binding {
	return Binding{
		Keys: []string{key}, Help: help, Note: l.markNote(), Changes: true,
		Enabled: func() (bool, string) {
			if marks := l.table.MarkCount(); marks > 0 {
				return canChangeMarked(l, word, marks)
			}
			return actable(l, repair.OutboxRequest{Deed: word}.Word())
		},
		Action: func() tea.Cmd {
			if l.table.MarkCount() > 0 {
				return askMarkedDeliveries(l, word)
			}
			return askDelivery(l, word)
		},
	}
}

func canChangeMarked(l *outboxList, word repair.OutboxDeed, count int) (bool, string) {
	switch why := l.d.cannot(repair.OutboxRequest{Deed: word}.Word()); {
	case why != "":
		return false, why
	case count > outboxShown:
		return false, l.d.tr("%d are marked, %d can be changed at once; the command outbox %s --all "+
			"takes more", count, outboxShown, word)
	case l.d.now().Sub(l.shown.at) > staleAfter:
		return false, l.d.tr("what is shown is too old to act upon; r reads it again")
	}
	return true, ""
}

// askMarkedDeliveries asks whether to change exactly the deliveries that are marked.
func askMarkedDeliveries(l *outboxList, word repair.OutboxDeed) tea.Cmd {
	items, gone := l.marked()
	m := outboxMarks{word: word, gone: gone, hidden: map[int64]bool{}}
	for _, it := range items {
		m.ids = append(m.ids, it.row.LedgerID)
		m.hidden[it.row.LedgerID] = l.shown.find(it.id) < 0
		m.add(*it.row)
	}
	if len(m.rows) == 0 {
		l.d.say(Warned, l.d.tr("in the state they are in, none of the marked deliveries can be changed "+
			"so"))
		return nil
	}
	action, saw := newOutboxMany(l.d, m)
	saw.At = l.shown.at
	return openDeed(l.d, action, saw)
}

// add puts a row into the set if the deed makes sense in its state.
func (m *outboxMarks) add(row inspect.OutboxRow) {
	switch row.State {
	case "dead", "pending":
	case "parked":
		if m.word == outboxPark {
			m.left++
			return
		}
	default: // a relay has it, or it has arrived
		m.left++
		return
	}
	m.rows = append(m.rows, row)
}

// newOutboxMany makes the deed for a frozen set, and how the set was seen.
func newOutboxMany(d *desk, m outboxMarks) (deed, Observed) {
	requests := make([]repair.OutboxRequest, len(m.rows))
	for i, row := range m.rows {
		requests[i] = repair.OutboxRequest{
			Deed: m.word, LedgerID: row.LedgerID, State: row.State, Attempts: row.Attempts,
		}
	}
	set, err := repair.NewOutboxSet(m.word, requests)
	action := deed{
		word: set.Word(), target: d.tr("%d deliveries", len(set.Requests)), verb: string(m.word),
		confirm: strconv.Itoa(len(set.Requests)) + "-" + string(m.word),
		cli:     func(reason string) []string { return set.WithReason(reason).CLI() },
		observe: func(ctx context.Context) (Observed, error) { return lookAtDeliveries(ctx, d, m) },
		run: func(ctx context.Context, reason string, tell func(string)) Answer {
			return changeDeliveries(ctx, d, set.WithReason(reason), tell)
		},
	}
	o := m.observed(d, set)
	if err != nil {
		o.Block = err.Error()
	}
	return action, o
}

// lookAtDeliveries reads the rows of the set again.
func lookAtDeliveries(ctx context.Context, d *desk, was outboxMarks) (Observed, error) {
	page, err := d.opts.Inspector.Outbox(ctx, inspect.OutboxQuery{
		IDs: was.ids, Limit: len(was.ids),
	})
	if err != nil {
		return Observed{}, err
	}
	m := outboxMarks{word: was.word, ids: was.ids, gone: was.gone, hidden: was.hidden}
	for _, row := range page.Rows {
		m.add(row)
	}
	m.gone += len(was.ids) - len(page.Rows)
	action, o := newOutboxMany(d, m)
	o.next = action
	return o, nil
}

// observed describes the set: every delivery is a row that must not change.
func (m outboxMarks) observed(d *desk, set repair.OutboxSet) Observed {
	o := Observed{At: d.now()}
	dead, hidden := 0, 0
	for _, row := range m.rows {
		if row.State == "dead" {
			dead++
		}
		words, role := laneWord(d, row.Lane)
		note := ""
		if m.hidden[row.LedgerID] {
			hidden++
			note = "  " + d.tr("(hidden by the filter)")
		}
		o.Rows = append(o.Rows, Fact{
			Name: idText(row.LedgerID) + " " + row.PlayerID, Guard: true, Role: role,
			Value: fmt.Sprintf("%s %d", row.State, row.Attempts),
			Show: func(time.Time) string {
				return words + "  " + d.tr("%d tries", row.Attempts) + "  " + row.LastError + note
			},
		})
	}
	o.Facts = []Fact{
		{Name: text.N("rows"), Value: strconv.Itoa(len(set.Requests))},
		{Name: text.N("dead"), Value: strconv.Itoa(dead), Role: badIf(int64(dead))},
		{Name: text.N("set"), Value: set.Digest},
	}
	if o.Effects = []string{d.tr("each is sent again at once, if its state and tries are still " +
		"these")}; m.word == outboxPark {
		o.Effects[0] = d.tr("each waits for a requeue, if its state and tries are still these")
	}
	if hidden > 0 {
		o.Effects = append(o.Effects, d.tr("%d of them are hidden by the filter", hidden))
	}
	if m.left > 0 {
		o.Effects = append(o.Effects, d.tr("%d marked ones are left out: their state does not allow it",
			m.left))
	}
	if m.gone > 0 {
		o.Effects = append(o.Effects, d.tr("%d that were marked are delivered by now", m.gone))
	}
	if len(set.Requests) == 0 {
		o.Block = d.tr("none of them can be changed any more")
	}
	return o
}

// changeDeliveries changes the rows one after the other and answers each.
func changeDeliveries(
	ctx context.Context, d *desk, set repair.OutboxSet, tell func(string),
) Answer {
	done, all := 0, len(set.Requests)
	results := d.opts.Operator.ChangeOutboxMany(ctx, set, func(repair.OutboxOf) {
		done++
		tell(fmt.Sprintf("%d/%d", done, all))
	})
	counts := map[AnswerKind]int{}
	a := Answer{Spent: ScreenOutbox}
	for _, r := range results {
		kind, words := changedOf(d, r)
		counts[kind]++
		a.Rows = append(a.Rows, signOf(d.theme.Glyphs, kind)+" "+idText(r.Request.LedgerID)+"  "+words)
	}
	a.Title = d.tr("%d of %d changed: %s", counts[AnswerDone], all, set.Deed)
	a.settle(d, counts, all)
	return a
}

// settle makes one answer of those of many: what kind it is, and how many there are of each.
func (a *Answer) settle(d *desk, counts map[AnswerKind]int, all int) {
	switch {
	case counts[AnswerUnknown] > 0:
		a.Kind = AnswerUnknown
		a.Lines = []string{d.tr("it may have been done, or not. Doing exactly the same again is safe " +
			"and tells:")}
	case counts[AnswerDone] == all:
		a.Kind = AnswerDone
	case counts[AnswerFailed] > 0:
		a.Kind = AnswerFailed
	default:
		a.Kind = AnswerRefused
	}
	if n := counts[AnswerRefused]; n > 0 {
		a.Title += d.tr(", %d left: they changed", n)
	}
	if n := counts[AnswerFailed]; n > 0 {
		a.Title += d.tr(", %d failed", n)
	}
	if n := counts[AnswerUnknown]; n > 0 {
		a.Title += d.tr(", %d UNKNOWN", n)
	}
}

// changedOf says what became of one delivery of a set.
func changedOf(d *desk, r repair.OutboxOf) (AnswerKind, string) {
	var broken *grant.BackendError
	switch {
	case r.NotRun:
		return AnswerFailed, d.tr("not tried: the run stopped before it")
	case errors.As(r.Err, &broken) && broken.Doubt, errors.Is(r.Err, context.DeadlineExceeded),
		errors.Is(r.Err, context.Canceled):
		return AnswerUnknown, d.tr("UNKNOWN: %s", r.Err)
	case broken != nil:
		return AnswerFailed, r.Err.Error()
	case r.Err != nil:
		return AnswerRefused, r.Err.Error()
	}
	return AnswerDone, d.tr("was %s; operator action %d", r.Change.Before, r.Change.LogID)
}
