package tui

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"
	"rewardctl/tui/text"
)

func notFound(err error) bool { return errors.Is(err, inspect.ErrNotFound) }

// entryFields are what a filter may name besides the columns.
func entryFields() []string { return []string{"type", "date", "reason", "owner"} }

func entryColumns(d *desk) []column[entry] {
	type row = entry
	col := func(c table.Column, cell func(e *row) table.Cell, by func(a, b *row) int) column[row] {
		return column[row]{c, func(e *row, _ time.Time) table.Cell { return cell(e) }, by}
	}
	number := func(n int64, text string) table.Cell {
		return table.Cell{Text: text, Value: table.Value{Kind: table.Number, N: n}}
	}
	return []column[row]{
		col(table.Column{Key: "time", Title: "TIME", Min: 14}, func(e *row) table.Cell {
			return table.Cell{
				Text: e.At.Local().Format("01-02 15:04:05"), Role: paint.Muted,
				Value: table.Value{Kind: table.Instant, N: e.At.UnixNano()},
			}
		}, func(a, b *row) int { return cmp.Compare(b.seq, a.seq) }),
		col(table.Column{Key: "outcome", Title: "WHAT", Min: 16}, func(e *row) table.Cell {
			return entryCell(d, e)
		}, func(a, b *row) int { return cmp.Compare(entryWord(d, a), entryWord(d, b)) }),
		col(table.Column{Key: "amount", Title: "AMOUNT", Min: 9, Right: true},
			func(e *row) table.Cell { return number(e.Amount, signed(&e.PlayerEntry)) },
			func(a, b *row) int { return cmp.Compare(a.Amount, b.Amount) }),
		plainColumn(table.Column{Key: "kind", Title: "KIND", Min: 8},
			func(e *row) string { return e.Kind }),
		col(table.Column{Key: "balance", Title: "BALANCE", Min: 8, Right: true, Priority: 3},
			func(e *row) table.Cell {
				if b := e.BalanceAfter; b != nil {
					return number(*b, strconv.FormatInt(*b, 10))
				}
				return table.Cell{}
			}, nil),
		plainColumn(table.Column{Key: "event", Title: "EVENT", Min: 20, Flex: 9, Max: 70, Priority: 1},
			func(e *row) string { return e.EventID }),
		col(table.Column{Key: "token", Title: "TOKEN", Min: 8, Right: true, Priority: 4},
			func(e *row) table.Cell {
				c := number(e.Token, tokenText(e.Token))
				c.Role = paint.Muted
				return c
			}, func(a, b *row) int { return cmp.Compare(a.Token, b.Token) }),
		plainColumn(table.Column{Key: "actor", Title: "BY", Min: 10, Flex: 1, Max: 16, Priority: 2},
			func(e *row) string { return e.Actor }),
	}
}

// entryCell says in a word what an entry is; what looks paid twice is marked.
func entryCell(d *desk, e *entry) table.Cell {
	g := d.theme.Glyphs
	c := table.Cell{
		Text: entryGlyph(g, &e.PlayerEntry) + " " + entryWord(d, e), Role: entryRole(&e.PlayerEntry),
	}
	if !e.twice() {
		return c
	}
	c.Role = paint.Bad
	c.Text += " " + twiceMark(g, e)
	return c
}

// signed writes the change of a posting with its sign; what was not posted stands in brackets.
func signed(p *inspect.PlayerEntry) string {
	switch {
	case p.Type == inspect.EntryPosting:
		return fmt.Sprintf("%+d", p.Amount)
	case p.Amount == 0:
		return ""
	default:
		return fmt.Sprintf("(%d)", p.Amount)
	}
}

func entryWord(d *desk, p *entry) string {
	switch {
	case p.again:
		return d.tr("again")
	case p.Type == inspect.EntryPosting && p.Reverses != 0:
		return d.tr("reversed")
	case p.Type == inspect.EntryPosting:
		return d.tr("granted")
	case p.Type == inspect.EntryClaim:
		return d.tr("due, %s", p.Outcome)
	case p.Outcome != "":
		return strings.ReplaceAll(p.Outcome, "_", " ")
	default:
		return string(p.Type)
	}
}

// entryTypeWord says in words what the entries of a type are.
func entryTypeWord(t inspect.EntryType) string {
	switch t {
	case inspect.EntryPosting:
		return text.N("what was granted")
	case inspect.EntryClaim:
		return text.N("what is due")
	case inspect.EntryRefusal:
		return text.N("what was refused")
	default:
		return text.N("what operators did")
	}
}

func entryGlyph(g paint.Glyphs, p *inspect.PlayerEntry) string {
	switch p.Type {
	case inspect.EntryPosting:
		return g.OK
	case inspect.EntryClaim:
		return g.Hollow
	case inspect.EntryRefusal:
		return g.Wrong
	default:
		return g.Mark
	}
}

func entryRole(p *inspect.PlayerEntry) paint.Role {
	switch p.Type {
	case inspect.EntryPosting:
		if p.Reverses != 0 {
			return paint.Warn
		}
		return paint.Good
	case inspect.EntryRefusal:
		return paint.Bad
	case inspect.EntryAction:
		return paint.Accent
	default:
		return paint.Muted
	}
}

// lookAtEntry has a filter look at an entry.
func lookAtEntry(d *desk, p *entry, now time.Time) filtered {
	return filtered{now: now, text: func(field string) string {
		switch field {
		case "event":
			return p.EventID
		case "kind":
			return p.Kind
		case "outcome":
			return p.Outcome + " " + entryWord(d, p)
		case "actor":
			return p.Actor
		case "token":
			return tokenText(p.Token)
		case "reason":
			return p.Reason
		case "owner":
			return p.Owner
		}
		return strings.Join([]string{
			p.EventID, p.Kind, string(p.Type), p.Outcome, entryWord(d, p), p.Actor, p.Reason, p.Owner,
		}, "\n")
	}, value: func(field string) table.Value {
		switch field {
		case "time":
			return table.Value{Kind: table.Instant, N: p.At.UnixNano()}
		case "amount":
			return table.Value{Kind: table.Number, N: p.Amount}
		case "token":
			return table.Value{Kind: table.Number, N: p.Token}
		case "balance":
			if p.BalanceAfter != nil {
				return table.Value{Kind: table.Number, N: *p.BalanceAfter}
			}
		}
		return table.Value{}
	}}
}

// entryWhat writes what an entry is about.
func entryWhat(d *desk, e *entry, w int) []string {
	t, p := d.theme, &e.PlayerEntry
	head := entryCell(d, e)
	lines := []string{t.Text(head.Role, safetext.Cell(head.Text))}
	for _, words := range twiceWords(d, e) {
		for _, part := range safetext.Wrap(safetext.Cell(words), w) {
			lines = append(lines, t.Text(paint.Bad, part))
		}
	}
	add := adder(t, &lines, w)
	add("", p.Detail)
	add(d.tr("event"), p.EventID)
	add(d.tr("amount"), strings.TrimSpace(signed(p)+" "+p.Kind))
	if p.BalanceBefore != nil && p.BalanceAfter != nil {
		add(d.tr("balance"), d.tr("%d, then %d", *p.BalanceBefore, *p.BalanceAfter))
	}
	if p.HaveKind != "" {
		add(d.tr("posted"), d.tr("%d %s is there under this id", p.HaveAmount, p.HaveKind))
	}
	if p.Reverses != 0 {
		add(d.tr("reverses"), d.tr("ledger row %d", p.Reverses))
	}
	add(d.tr("reason"), p.Reason)
	return lines
}

// entryHow writes by whom, when and under which token an entry came to be.
func entryHow(d *desk, e *entry, w int) []string {
	p := &e.PlayerEntry
	var lines []string
	add := adder(d.theme, &lines, w)
	add(d.tr("time"), stamp(p.At))
	add(d.tr("by"), p.Actor)
	if p.Token > 0 {
		add(d.tr("token"), d.tr("%d of %s", p.Token, p.Owner))
	}
	if p.FenceToken > 0 {
		add(d.tr("fence"), d.tr("%d of %s was accepted before", p.FenceToken, p.FenceOwner))
	}
	add(d.tr("delivery"), deliveryWords(d, p))
	add(d.tr("command"), p.Command)
	add(d.tr("row"), strconv.FormatInt(p.ID, 10))
	return lines
}

func adder(t *paint.Theme, lines *[]string, w int) func(label, value string) {
	return func(label, value string) {
		if value != "" {
			*lines = append(*lines, wrapped(t, label, value, paint.Plain, w)...)
		}
	}
}

func deliveryWords(d *desk, p *inspect.PlayerEntry) string {
	dl := p.Delivery
	if dl == nil {
		if p.Type == inspect.EntryPosting {
			return d.tr("no outbox row: it will never be delivered")
		}
		return ""
	}
	text := dl.State
	if !dl.Delivered.IsZero() {
		text += " " + dl.Delivered.Local().Format("15:04:05")
	}
	if dl.Attempts > 0 {
		text += d.tr(", %d attempts", dl.Attempts)
	}
	if !dl.NextAttempt.IsZero() && dl.Delivered.IsZero() {
		text += d.tr(", next %s", dl.NextAttempt.Local().Format(time.TimeOnly))
	}
	if dl.LastError != "" {
		text += ": " + dl.LastError
	}
	return text
}
