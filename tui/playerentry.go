package tui

import (
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

func entryColumns(d *desk) []table.Column {
	return []table.Column{
		{Key: "time", Title: d.tr("TIME"), Min: 14, NoSort: true},
		{Key: "outcome", Title: d.tr("WHAT"), Min: 16, NoSort: true},
		{Key: "amount", Title: d.tr("AMOUNT"), Min: 9, Right: true, NoSort: true},
		{Key: "kind", Title: d.tr("KIND"), Min: 8, NoSort: true},
		{Key: "balance", Title: d.tr("BALANCE"), Min: 8, Right: true, Priority: 3, NoSort: true},
		{Key: "event", Title: d.tr("EVENT"), Min: 20, Flex: 9, Max: 70, Priority: 1, NoSort: true},
		{Key: "token", Title: d.tr("TOKEN"), Min: 8, Right: true, Priority: 4, NoSort: true},
		{Key: "actor", Title: d.tr("BY"), Min: 10, Flex: 1, Max: 16, Priority: 2, NoSort: true},
	}
}

// entries are the filtered lines of a timeline.
type entries struct {
	d    *desk
	list []*inspect.PlayerEntry
}

func (e entries) Len() int { return len(e.list) }

func (e entries) ID(i int) string {
	return string(e.list[i].Type) + strconv.FormatInt(e.list[i].ID, 10)
}

func (e entries) Find(id string) int {
	for i := range e.list {
		if e.ID(i) == id {
			return i
		}
	}
	return -1
}

func (e entries) Cells(i int, out []table.Cell) {
	p := e.list[i]
	out[0] = table.Cell{Text: p.At.Local().Format("01-02 15:04:05"), Role: paint.Muted}
	out[1] = table.Cell{
		Text: entryGlyph(e.d.theme.Glyphs, p) + " " + entryWord(e.d, p),
		Role: entryRole(p),
	}
	out[2] = table.Cell{Text: signed(p)}
	out[3] = table.Cell{Text: p.Kind}
	if p.BalanceAfter != nil {
		out[4] = table.Cell{Text: strconv.FormatInt(*p.BalanceAfter, 10)}
	}
	out[5] = table.Cell{Text: p.EventID}
	out[6] = table.Cell{Text: tokenText(p.Token), Role: paint.Muted}
	out[7] = table.Cell{Text: p.Actor}
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

func entryWord(d *desk, p *inspect.PlayerEntry) string {
	switch {
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
func lookAtEntry(d *desk, p *inspect.PlayerEntry, now time.Time) filtered {
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
func entryWhat(d *desk, p *inspect.PlayerEntry, w int) []string {
	t := d.theme
	lines := []string{t.Text(entryRole(p), entryGlyph(t.Glyphs, p)+" "+safetext.Cell(entryWord(d, p)))}
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
func entryHow(d *desk, p *inspect.PlayerEntry, w int) []string {
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
