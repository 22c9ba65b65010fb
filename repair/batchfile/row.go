package batchfile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"rewardctl/grant"
)

// Row is one data row with its verdict.
type Row struct {
	Line int // the physical line on which it begins, from 1
	// Request is what to grant. Of a refused row it holds what could be read, for showing.
	Request grant.Request
	// AmountText is the amount as it stands in the file.
	AmountText string
	// DuplicateOf is the line of an earlier row with the same key and content; 0 otherwise.
	DuplicateOf int
	// Repeated is true when later rows are duplicates of this one.
	Repeated bool
	// Problems say why the row is refused; none means that it is good.
	Problems []Problem
}

// cells are the used cells of one record, trimmed, in the scanner's memory.
type cells struct {
	line  int
	blank bool // nothing in any cell
	extra int  // how many cells there are, when more than the header has; else 0
	marks int  // text marks of spreadsheets taken off

	hidden bool // the row is hidden in its sheet

	player, kind, amount, subject, event cell
}

// cell is one trimmed cell. cut means that the row ends before it.
type cell struct {
	text  []byte
	cut   bool
	fault fault // what is wrong with it already as JSON
}

// cut takes the used cells out of a record.
func (l layout) cut(s *scanner) cells {
	c := cells{line: s.start, blank: s.blankFrom(0), hidden: s.sheet != nil && s.sheet.rows.Hidden}
	c.player = c.take(s, l.player, false)
	c.kind = c.take(s, l.kind, false)
	c.subject = c.take(s, l.subject, false)
	c.event = c.take(s, l.event, false)
	c.amount = c.take(s, l.amount, true)
	if s.cells() > l.width && !s.blankFrom(l.width) {
		c.extra = s.cells()
	}
	return c
}

func (c *cells) take(s *scanner, column int, amount bool) cell {
	if column < 0 {
		return cell{}
	}
	if column >= s.cells() {
		return cell{cut: true}
	}
	text := trim(s.cell(column))
	if s.json != nil {
		return cell{text: text, fault: s.json.faults[column]}
	}
	if s.sheet != nil {
		if f := s.sheet.fault(column, amount); f.found() {
			return cell{text: text, fault: f}
		}
	}
	if len(text) > 1 && text[0] == '\'' && looksLikeFormula(string(text[1:])) {
		text = trim(text[1:])
		c.marks++
	}
	return cell{text: text}
}

// judge interprets rows; it keeps what rows share.
type judge struct {
	opt    Options
	layout layout
	max    int64
	kinds  map[string]string // one copy of each kind's text
}

func newJudge(opt Options, l layout) *judge {
	j := &judge{opt: opt, layout: l, max: opt.Limits.AmountMax, kinds: make(map[string]string)}
	if j.max <= 0 {
		j.max = grant.AmountMaxDefault
	}
	return j
}

// kindsShared bounds the memory for texts of kinds in files that have a new one in each row.
const kindsShared = 1 << 12

func (j *judge) shared(kind []byte) string {
	if text, ok := j.kinds[string(kind)]; ok {
		return text
	}
	text := string(kind)
	if len(j.kinds) < kindsShared {
		j.kinds[text] = text
	}
	return text
}

// row makes a Row of the cells, with every problem that the row has by itself.
func (j *judge) row(c cells) Row {
	r := Row{Line: c.line, AmountText: string(c.amount.text), Request: grant.Request{
		PlayerID: string(c.player.text), Kind: j.shared(c.kind.text),
		Actor: j.opt.Actor, Reason: j.opt.Reason, Line: c.line,
	}}
	if c.blank {
		r.add("row", "", "holds nothing", "delete the row")
		return r
	}
	if c.hidden {
		r.add("row", "", "is hidden in the sheet", "unhide it (a filter hides rows too) or delete it")
	}
	if c.extra > 0 {
		wayOut := "quote the cell that contains the separator"
		if j.layout.sheet {
			wayOut = "name the column in the header, or clear the cell"
		}
		r.add("row", "", fmt.Sprintf("has %d cells, the header has %d", c.extra, j.layout.width),
			wayOut)
	}
	r.addID("player_id", c.player, false)
	r.addID("kind", c.kind, true)
	r.addAmount(c.amount, j.max)
	j.addEvent(&r, c)
	if len(r.Problems) > 0 {
		return r
	}
	if no := grant.Validate(r.Request, j.opt.Limits); no != nil {
		r.add(no.Field, no.Value, no.Problem, no.WayOut)
	}
	return r
}

// addEvent sets the event id: the file's own, or the one built from meaning.
func (j *judge) addEvent(r *Row, c cells) {
	if j.layout.event >= 0 {
		r.Request.EventID = string(c.event.text)
		r.addID("event", c.event, false)
		return
	}
	if j.layout.subject >= 0 {
		r.addID("subject", c.subject, false)
	}
	if len(r.Problems) > 0 {
		return
	}
	id, err := grant.EventID(grant.EventParts{
		Campaign: j.opt.Campaign, PlayerID: r.Request.PlayerID, Subject: string(c.subject.text),
		Kind: r.Request.Kind, Version: j.opt.Version,
	})
	if err == nil {
		r.Request.EventID = id
		return
	}
	var no *grant.Rejection
	if !errors.As(err, &no) {
		no = &grant.Rejection{Field: "event", Problem: err.Error(), WayOut: "add a column event"}
	}
	r.add(no.Field, no.Value, no.Problem, no.WayOut)
}

func (r *Row) add(field, value, problem, wayOut string) {
	r.Problems = append(r.Problems, Problem{r.Line, field, value, problem, wayOut})
}

const cellMissing = "the row ends before this column"

func (r *Row) addID(field string, id cell, blanks bool) {
	if id.cut {
		r.add(field, "", cellMissing, "fill it in or delete the row")
	} else if id.fault.found() {
		r.add(field, string(id.text), id.fault.problem, id.fault.wayOut)
	} else if f := idFault(id.text, blanks); f.found() {
		r.add(field, string(id.text), f.problem, f.wayOut)
	}
}

func (r *Row) addAmount(text cell, max int64) {
	if text.cut {
		r.add("amount", "", cellMissing, "fill it in or delete the row")
		return
	}
	amount, f := parseAmount(text.text, max)
	if text.fault.found() {
		f = text.fault
	}
	if f.found() {
		r.add("amount", string(text.text), f.problem, f.wayOut)
	}
	r.Request.Amount = amount
}

// checksum covers where a record stands and every cell of it.
func checksum(s *scanner, table *crc32.Table) uint32 {
	sum := crc32.Update(uint32(s.start), table, nil)
	end := []byte{0xff} // no UTF-8 text contains it
	for i := range s.ends {
		sum = crc32.Update(sum, table, s.cell(i))
		sum = crc32.Update(sum, table, end)
	}
	if s.sheet != nil {
		sum = crc32.Update(sum, table, s.sheet.looks())
	}
	return sum
}

// appendKey appends what makes two rows the same: the player and the event.
func appendKey(dst []byte, r *grant.Request) []byte {
	dst = append(dst, r.PlayerID...)
	dst = append(dst, 0) // no id contains it
	return append(dst, r.EventID...)
}

// withoutPlayer takes the player out of an event id when its digits could be taken for a point
// in time.
func withoutPlayer(r *grant.Request) string {
	if len(r.PlayerID) < 10 {
		return r.EventID
	}
	return strings.ReplaceAll(r.EventID, r.PlayerID, "")
}
