package workbook

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// cellParts are what stands inside one cell.
type cellParts struct {
	value  []byte // v
	text   []byte // is
	form   []byte // f
	values int
	forms  int
}

// cell reads one cell to its end and appends it to Cells.
func (r *Rows) cell(tag xml.StartElement) error {
	column := r.column + 1
	if ref := attr(tag, "r"); ref != "" {
		c, row, ok := parseRef(ref)
		if !ok || row != r.Number || c < column {
			return r.fault(fmt.Sprintf("cell %q is out of its place", clip(ref)))
		}
		column = c
	}
	if column > columnsMax {
		return r.fault("it has more columns than a sheet can have")
	}
	r.column = column
	parts, err := r.parts()
	if err != nil {
		return err
	}
	for len(r.Cells) < column {
		r.Cells = append(r.Cells, Cell{})
	}
	r.Cells[column-1] = r.interpret(tag, parts)
	if len(r.text) > rowMax {
		return &Error{
			Row: r.Number, Problem: fmt.Sprintf("the row is longer than %d bytes", rowMax),
			WayOut: "clear the cells that are not needed",
		}
	}
	return nil
}

// parts reads what stands inside a cell.
func (r *Rows) parts() (c cellParts, err error) {
	depth := len(r.part.path)
	from := len(r.text)
	for len(r.part.path) >= depth {
		token, err := r.part.next()
		if err != nil {
			return c, err
		}
		inside := r.part.path[min(depth, len(r.part.path)):]
		switch token := token.(type) {
		case xml.StartElement:
			if len(inside) == 1 {
				switch inside[0] {
				case "v", "is":
					c.values++
				case "f":
					c.forms++
				}
				from = len(r.text)
			}
		case xml.CharData:
			if inText(inside) {
				r.text = append(r.text, token...)
			}
		case xml.EndElement:
			if len(inside) == 0 && len(r.part.path) == depth {
				switch text := r.text[from:]; token.Name.Local {
				case "v":
					c.value = text
				case "is":
					c.text = text
				case "f":
					c.form = text
				}
			}
		}
		if len(r.text) > rowMax {
			return c, nil // the caller refuses the row
		}
	}
	return c, nil
}

// inText reports whether text at this place belongs to the cell. What is read aloud for a text
// (rPh) does not.
func inText(inside []string) bool {
	switch len(inside) {
	case 1:
		return inside[0] == "v" || inside[0] == "f"
	case 2:
		return inside[0] == "is" && inside[1] == "t"
	case 3:
		return inside[0] == "is" && inside[1] == "r" && inside[2] == "t"
	}
	return false
}

// interpret makes a Cell of what the file says.
func (r *Rows) interpret(tag xml.StartElement, c cellParts) Cell {
	kind := attr(tag, "t")
	value := c.value
	if kind != "str" && kind != "inlineStr" {
		value = bytes.TrimSpace(value)
	}
	switch {
	case c.forms > 0 && len(c.form) > 0:
		return Cell{Text: append([]byte("="), c.form...), Kind: Formula}
	case c.forms > 0:
		return Cell{Text: value, Kind: Formula}
	case c.values > 1:
		return Cell{Text: value, Kind: Damaged}
	}
	switch kind {
	case "", "n":
		if len(value) == 0 {
			return Cell{}
		}
		return r.number(attr(tag, "s"), value)
	case "s":
		if len(value) == 0 {
			return Cell{}
		}
		n, err := strconv.ParseUint(string(value), 10, 64)
		text, ok := r.book.texts.get(n)
		if err != nil || !ok {
			return Cell{Text: value, Kind: Damaged}
		}
		return r.textCell(tag, text)
	case "str":
		return r.textCell(tag, unescape(value))
	case "inlineStr":
		return r.textCell(tag, unescape(c.text))
	case "b":
		if len(value) == 0 {
			return Cell{}
		}
		return Cell{Text: truthWord(value), Kind: Truth}
	case "e":
		return Cell{Text: value, Kind: Fault}
	case "d":
		return Cell{Text: value, Kind: Number, Shown: ShownAsDate}
	}
	return Cell{Text: value, Kind: Damaged}
}

// textCell judges whether a text is shown.
func (r *Rows) textCell(tag xml.StartElement, text []byte) Cell {
	c := Cell{Text: text}
	n, err := strconv.ParseUint(attr(tag, "s"), 10, 32)
	if err == nil && n < uint64(len(r.book.styles)) && r.book.styles[n].hidesText {
		c.Shown, c.Format = ShownAsOther, r.book.styles[n].code
	}
	return c
}

func truthWord(value []byte) []byte {
	switch string(value) {
	case "1":
		return []byte("TRUE")
	case "0":
		return []byte("FALSE")
	}
	return value
}

// number judges how much of a number a person sees.
func (r *Rows) number(index string, value []byte) Cell {
	c := Cell{Text: value, Kind: Number}
	if index == "" {
		return c
	}
	n, err := strconv.ParseUint(index, 10, 32)
	if err != nil || n >= uint64(len(r.book.styles)) {
		if err == nil && n == 0 {
			return c // a workbook without styles
		}
		c.Kind = Damaged
		return c
	}
	s := r.book.styles[n]
	c.Shown, c.Format = s.shown, s.code
	if s.zeros > 0 && len(value) >= s.zeros {
		c.Shown = ShownExactly
	}
	return c
}

// Column is a column's letters: 1 is A, 28 is AB.
func Column(n int) string {
	var letters []byte
	for ; n > 0; n = (n - 1) / 26 {
		letters = append([]byte{byte('A' + (n-1)%26)}, letters...)
	}
	return string(letters)
}

// parseRef reads "AB12" and "$AB$12".
func parseRef(ref string) (column, row int, ok bool) {
	ref = strings.ReplaceAll(ref, "$", "")
	at := 0
	for ; at < len(ref) && at < 4; at++ {
		c := ref[at] | 0x20
		if c < 'a' || c > 'z' {
			break
		}
		column = column*26 + int(c-'a'+1)
	}
	row, err := strconv.Atoi(ref[at:])
	if err != nil && !errors.Is(err, strconv.ErrSyntax) {
		return 0, 0, false
	}
	return column, row, err == nil && column > 0 && column <= columnsMax && row > 0 && row <= rowsMax
}

func parseRange(ref string) (Range, bool) {
	first, last, two := strings.Cut(ref, ":")
	if !two {
		last = first
	}
	fromColumn, fromRow, ok1 := parseRef(first)
	toColumn, toRow, ok2 := parseRef(last)
	ok := ok1 && ok2 && fromColumn <= toColumn && fromRow <= toRow
	return Range{fromRow, toRow, fromColumn, toColumn}, ok
}
