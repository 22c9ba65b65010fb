package batchfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// verdicts are what rows have because of other rows. The lists are sorted by line, and rows come
// by line, so a cursor finds them.
type verdicts struct {
	duplicates []duplicate
	repeated   []uint32 // lines that later rows repeat
	clashes    []clash
	groups     []clashGroup
}

type duplicate struct{ line, of uint32 }

type clash struct{ line, group uint32 }

// clashGroup is the rows of one key with differing content, by line.
type clashGroup struct {
	field string // the first field that differs: "kind" or "amount"
	rows  []clashRow
}

type clashRow struct {
	line   uint32
	kind   string
	amount int64
}

// finish settles the keys that the file names twice and sums up. The tables are free afterwards.
func (v *validation) finish() verdicts {
	var out verdicts
	kinds := make([]KindTotal, len(v.kinds))
	for i := range uint32(v.keys.rows.n) {
		head := v.keys.rows.at(i)
		if !head.first {
			continue
		}
		if head.next != 0 && v.settle(head, &out) {
			continue
		}
		v.check.Good++
		v.players.players.at(head.player).hits++
		kinds[head.kind].add(head)
	}
	for _, group := range out.groups {
		for i := range group.rows {
			v.problem(group.problem(i))
		}
	}
	slices.SortFunc(out.duplicates, func(a, b duplicate) int { return cmp.Compare(a.line, b.line) })
	slices.SortFunc(out.clashes, func(a, b clash) int { return cmp.Compare(a.line, b.line) })
	for _, d := range out.duplicates {
		v.warn(Warning{
			Line: int(d.line), Other: int(d.of),
			Text: fmt.Sprintf("duplicate of line %d: it is granted once", d.of),
		})
	}
	v.sumUp(kinds)
	sortByLine(v.check.Problems)
	return out
}

// settle decides one key that several rows name. It reports whether their content differs.
func (v *validation) settle(head *keyRow, out *verdicts) (differ bool) {
	rows := []*keyRow{head}
	for next := head.next; next != 0; {
		row := v.keys.rows.at(next - 1)
		differ = differ || row.kind != head.kind || row.amount != head.amount
		rows = append(rows, row)
		next = row.next
	}
	slices.SortFunc(rows, func(a, b *keyRow) int { return cmp.Compare(a.line, b.line) })
	if !differ {
		out.repeated = append(out.repeated, head.line)
		for _, row := range rows[1:] {
			out.duplicates = append(out.duplicates, duplicate{row.line, head.line})
		}
		v.check.Duplicates += len(rows) - 1
		return false
	}
	group := clashGroup{"amount", make([]clashRow, len(rows))}
	for i, row := range rows {
		group.rows[i] = clashRow{row.line, v.kinds[row.kind], row.amount}
		if row.kind != head.kind {
			group.field = "kind"
		}
		out.clashes = append(out.clashes, clash{row.line, uint32(len(out.groups))})
	}
	out.groups = append(out.groups, group)
	v.check.Refused += len(rows)
	return true
}

// problem is the problem of one row whose key other rows give other content.
func (g clashGroup) problem(at int) Problem {
	row := g.rows[at]
	value := row.kind
	if g.field == "amount" {
		value = strconv.FormatInt(row.amount, 10)
	}
	var lines []string
	for i := 0; i < len(g.rows) && len(lines) < linesNamed; i++ {
		if other := g.rows[i]; i != at {
			lines = append(lines, fmt.Sprintf("%d (%d %s)", other.line, other.amount, other.kind))
		}
	}
	others := "line " + strings.Join(lines, " and line ")
	if more := len(g.rows) - 1 - len(lines); more > 0 {
		others += fmt.Sprintf(" and %d more", more)
	}
	return Problem{
		int(row.line), g.field, value,
		"has the same player and event as " + others + ", but their content differs",
		"keep one of these rows, or give them different events",
	}
}

// problemOn is the problem of the row on a line of the group.
func (g clashGroup) problemOn(line uint32) Problem {
	at, _ := slices.BinarySearchFunc(g.rows, line,
		func(r clashRow, line uint32) int { return cmp.Compare(r.line, line) })
	return g.problem(at)
}

func (k *KindTotal) add(row *keyRow) {
	k.Rows++
	if k.Total > math.MaxInt64-row.amount {
		k.Total = math.MaxInt64
	} else {
		k.Total += row.amount
	}
	if row.amount > k.Largest {
		k.Largest, k.LargestLine = row.amount, int(row.line)
	}
}

// sumUp fills in the totals and the warnings about the file as a whole, which come first.
func (v *validation) sumUp(kinds []KindTotal) {
	c := &v.check
	for i := range kinds {
		if kinds[i].Rows > 0 {
			kinds[i].Kind = v.kinds[i]
			c.Kinds = append(c.Kinds, kinds[i])
		}
	}
	slices.SortFunc(c.Kinds, func(a, b KindTotal) int { return strings.Compare(a.Kind, b.Kind) })
	for i := range uint32(v.players.players.n) {
		switch hits := v.players.players.at(i).hits; {
		case hits > 1:
			c.PlayersTwice++
			fallthrough
		case hits == 1:
			c.Players++
		}
	}
	slices.SortStableFunc(c.Warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
	whole := v.wholeFile()
	c.WarningCount += len(whole)
	c.Warnings = append(whole, c.Warnings...)
}

// wholeFile collects the warnings that no single row has.
func (v *validation) wholeFile() []Warning {
	var out []Warning
	if ignored := v.file.layout.ignored; len(ignored) > 0 {
		out = append(out, Warning{Text: "columns that are not used: " +
			shorten(strings.Join(ignored, ", "), 200)})
	}
	if v.zeros*2 > v.long {
		out = append(out, Warning{Field: "player_id", Text: fmt.Sprintf(
			"%d of %d ids with 17 and more digits end in 00, as ids do that lost their last "+
				"digits in a spreadsheet: compare some with the source", v.zeros, v.long)})
	}
	if v.random.count > 0 {
		out = append(out, Warning{Field: "reward_event_id", Text: fmt.Sprintf(
			"event ids contain a random text or a point in time, %d in all, the first on line %d: "+
				"the same reward under a new id is paid again", v.random.count, v.random.line)})
	}
	if v.marks.count > 0 && !v.file.layout.marked {
		out = append(out, Warning{Text: fmt.Sprintf(
			"cells begin with an apostrophe before = + - or @, %d in all, the first on line %d: "+
				"it is the text mark of spreadsheets and not part of the id",
			v.marks.count, v.marks.line)})
	}
	for _, k := range v.check.Kinds {
		if k.Total == math.MaxInt64 {
			out = append(out, Warning{
				Field: "kind", Value: k.Kind,
				Text: "the sum of its amounts is beyond what can be counted",
			})
		}
	}
	return out
}
