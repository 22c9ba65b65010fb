package tui

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"
)

// logObject reads an object of the log: names with texts. What is none has no names.
func logObject(raw string) map[string]string {
	var loose map[string]any
	if json.Unmarshal([]byte(raw), &loose) != nil {
		return nil
	}
	out := make(map[string]string, len(loose))
	for name, value := range loose {
		if text, ok := value.(string); ok {
			out[name] = text
			continue
		}
		out[name] = fmt.Sprint(value)
	}
	return out
}

// idempotencyKey is what a repeat of the deed is recognised by; empty when the deed has none.
func idempotencyKey(e *inspect.LogEntry) string {
	args := logObject(e.Arguments)
	if event := args["event"]; event != "" && args["player"] != "" {
		return args["player"] + "/" + event
	}
	return args["deed"]
}

// logText writes a row of the log on two levels: what was intended, the command that does it, and
// below it what came of it.
func logText(d *desk, e, other *inspect.LogEntry) []string {
	g := d.theme.Glyphs
	words, _ := outcomeWord(d, e)
	lines := []string{
		e.Action + "  " + e.Target,
		"  " + d.tr("%s at %s, because: %s", e.Operator, stamp(e.At), e.Reason),
		"",
		"    $ " + e.Command,
		"",
		"    " + g.BottomLeft + " " + words + linked(d, e, other),
	}
	row := func(label, value string) {
		if value != "" {
			lines = append(lines, "      "+fitLabel(label)+value)
		}
	}
	row(d.tr("approval"), numberText(e.Approval))
	row(d.tr("ticket"), e.Ticket)
	row(d.tr("repeats known by"), idempotencyKey(e))
	lines = append(lines, changeLines(d, logObject(e.Before), logObject(e.After))...)
	for _, part := range []struct{ title, raw string }{
		{d.tr("What was seen"), e.Observed}, {d.tr("What was asked"), e.Arguments},
	} {
		values := logObject(part.raw)
		if len(values) == 0 {
			continue
		}
		lines = append(lines, "", part.title)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			lines = append(lines, "  "+fitLabel(name)+values[name])
		}
	}
	return append(lines, "", d.tr("Row"),
		"  "+fitLabel(d.tr("row"))+idText(e.ID)+", "+string(e.Phase),
		"  "+fitLabel(d.tr("from"))+strings.TrimSpace(e.Host+" "+e.Client)+" ("+e.DBUser+")",
		"  "+fitLabel(d.tr("hash"))+hex.EncodeToString(e.Hash),
		"  "+fitLabel(d.tr("hash before"))+hex.EncodeToString(e.PrevHash))
}

// linked says which row the deed began or ended with, when it has two.
func linked(d *desk, e, other *inspect.LogEntry) string {
	switch {
	case e.Intent != 0 && other != nil:
		return "  " + d.tr("begun in row %d at %s", e.Intent, stamp(other.At))
	case e.Intent != 0:
		return "  " + d.tr("begun in row %d", e.Intent)
	case e.Phase == inspect.LogIntent && other != nil:
		words, _ := outcomeWord(d, other)
		return "  " + d.tr("ended in row %d at %s: %s", other.ID, stamp(other.At), words)
	case e.Phase == inspect.LogIntent:
		return "  " + d.tr("no result is among the rows that were read; doing the same again settles it")
	}
	return ""
}

// partner returns the row that a deed of two rows has besides, if it is among those that were read.
func partner(l *logList, e *inspect.LogEntry) *inspect.LogEntry {
	for _, it := range l.shown.all {
		if e.Intent != 0 && it.row.ID == e.Intent || it.row.Intent != 0 && it.row.Intent == e.ID {
			return it.row
		}
	}
	return nil
}

func numberText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// changeLines writes what a deed changed, before beside after.
func changeLines(d *desk, before, after map[string]string) []string {
	names := slices.Sorted(maps.Keys(before))
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	const width = 26
	g := d.theme.Glyphs
	lines := []string{
		"      " + fitLabel("") + safetext.Fit(d.tr("before"), width, "") + "   " + d.tr("after"),
	}
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		sign := g.Arrow
		switch {
		case !has: // only what it was is written down
			is, sign = g.Dash, " "
		case !had:
			was = g.Dash
		case was == is:
			sign = g.Equal
		}
		lines = append(lines, "      "+fitLabel(name)+
			safetext.Fit(safetext.Cell(was), width, g.Ellipsis)+" "+sign+" "+safetext.Cell(is))
	}
	return lines
}
