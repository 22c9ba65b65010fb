// Package booktest writes XLSX workbooks for tests, good ones and bad ones. Only test files may
// import it.
package booktest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Book is a workbook to be written.
type Book struct {
	Sheets []Sheet
	// Formats are number formats: the cells of style i+1 have Formats[i].
	Formats []string
	// Parts replace parts of the archive, or are added to them; "" leaves a part out.
	Parts map[string]string
}

// Sheet is one sheet. Before and After are XML before and behind its rows.
type Sheet struct {
	Name, State   string
	Before, After string
	Rows          []Row
}

// Row is one row; Number 0 follows the row before it. Attr is more XML in its tag.
type Row struct {
	Number int
	Attr   string
	Cells  []Cell
}

// Cell is one cell; the zero value leaves it out.
type Cell struct {
	Type  string // the attribute t; "shared" puts Value into the table of shared texts
	Value string
	Style int
	Inner string // XML inside the cell in place of Value
}

// Text is a cell with a text of its own.
func Text(text string) Cell { return Cell{Type: "inlineStr", Value: text} }

// Shared is a cell with a text of the shared table.
func Shared(text string) Cell { return Cell{Type: "shared", Value: text} }

// Number is a number cell, with its digits as they are stored.
func Number(digits string) Cell { return Cell{Value: digits} }

// Table makes rows of texts, of which every other is shared.
func Table(records ...[]string) []Row {
	rows := make([]Row, len(records))
	for i, record := range records {
		for j, text := range record {
			cell := Text(text)
			if (i+j)%2 == 0 {
				cell = Shared(text)
			}
			if text == "" {
				cell = Cell{}
			}
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows
}

// One is a workbook with one sheet of these rows.
func One(rows ...Row) Book { return Book{Sheets: []Sheet{{Name: "Grants", Rows: rows}}} }

// Bytes is the workbook as a file.
func (b Book) Bytes() []byte {
	parts := b.parts()
	for name, text := range b.Parts {
		if parts[name] = text; text == "" {
			delete(parts, name)
		}
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(part, parts[name])
		}
		if err != nil {
			panic(err) // memory does not refuse
		}
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

const (
	head       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	kinds      = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	main       = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relations  = ` xmlns="http://schemas.openxmlformats.org/package/2006/relationships"`
	relation   = `<Relationship Id="%s" Type="` + kinds + `/%s" Target="%s"/>`
	stylesName = "xl/styles.xml"
)

func (b Book) parts() map[string]string {
	parts := map[string]string{
		"_rels/.rels": head + "<Relationships" + relations + ">" +
			fmt.Sprintf(relation, "rId1", "officeDocument", "xl/workbook.xml") + "</Relationships>",
	}
	var list, refs strings.Builder
	texts := &shared{at: make(map[string]int)}
	for i, sheet := range b.Sheets {
		file := fmt.Sprintf("worksheets/sheet%d.xml", i+1)
		state := ""
		if sheet.State != "" {
			state = fmt.Sprintf(` state=%q`, sheet.State)
		}
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d"%s r:id="rId%d"/>`, escape(sheet.Name), i+1,
			state, i+1)
		fmt.Fprintf(&refs, relation, fmt.Sprintf("rId%d", i+1), "worksheet", file)
		parts["xl/"+file] = head + "<worksheet" + main + ">" + sheet.Before + "<sheetData>" +
			rowsXML(sheet.Rows, texts) + "</sheetData>" + sheet.After + "</worksheet>"
	}
	fmt.Fprintf(&refs, relation, "rIdT", "sharedStrings", "sharedStrings.xml")
	fmt.Fprintf(&refs, relation, "rIdS", "styles", "/"+stylesName)
	parts["xl/_rels/workbook.xml.rels"] = head + "<Relationships" + relations + ">" +
		refs.String() + "</Relationships>"
	parts["xl/workbook.xml"] = head + "<workbook" + main + ` xmlns:r="` + kinds + `"><sheets>` +
		list.String() + "</sheets></workbook>"
	parts["xl/sharedStrings.xml"] = head + "<sst" + main + ">" + texts.xml.String() + "</sst>"
	parts[stylesName] = b.styles()
	return parts
}

func (b Book) styles() string {
	formats, cells := "", `<xf numFmtId="0"/>`
	for i, code := range b.Formats {
		formats += fmt.Sprintf(`<numFmt numFmtId="%d" formatCode="%s"/>`, 164+i, escape(code))
		cells += fmt.Sprintf(`<xf numFmtId="%d"/>`, 164+i)
	}
	return head + "<styleSheet" + main + "><numFmts>" + formats + "</numFmts><cellXfs>" + cells +
		"</cellXfs></styleSheet>"
}

// shared is the table of shared texts while it grows.
type shared struct {
	at  map[string]int
	xml strings.Builder
}

func (s *shared) index(text string) int {
	i, known := s.at[text]
	if !known {
		i = len(s.at)
		s.at[text] = i
		fmt.Fprintf(&s.xml, `<si><t xml:space="preserve">%s</t></si>`, escape(text))
	}
	return i
}

func rowsXML(rows []Row, texts *shared) string {
	var b strings.Builder
	number := 0
	for _, row := range rows {
		number++
		if row.Number > 0 {
			number = row.Number
		}
		fmt.Fprintf(&b, `<row r="%d"%s>`, number, row.Attr)
		for i, cell := range row.Cells {
			if cell == (Cell{}) {
				continue
			}
			fmt.Fprintf(&b, `<c r="%s%d"%s>%s</c>`, letters(i+1), number, cell.attributes(),
				cell.inner(texts))
		}
		b.WriteString("</row>")
	}
	return b.String()
}

func (c Cell) attributes() string {
	text := ""
	if c.Style > 0 {
		text += fmt.Sprintf(` s="%d"`, c.Style)
	}
	switch c.Type {
	case "":
	case "shared":
		text += ` t="s"`
	default:
		text += ` t="` + c.Type + `"`
	}
	return text
}

func (c Cell) inner(texts *shared) string {
	switch {
	case c.Inner != "":
		return c.Inner
	case c.Type == "shared":
		return fmt.Sprintf("<v>%d</v>", texts.index(c.Value))
	case c.Type == "inlineStr":
		return `<is><t xml:space="preserve">` + escape(c.Value) + "</t></is>"
	}
	return "<v>" + escape(c.Value) + "</v>"
}

// escape writes a text for XML. Control characters, which XML cannot hold, become _x0000_.
func escape(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c < 0x20 && c != '\t' && c != '\n' {
			fmt.Fprintf(&b, "_x%04X_", c)
			continue
		}
		_ = xml.EscapeText(&b, []byte(string(c))) // a builder does not refuse
	}
	return b.String()
}

func letters(n int) string {
	text := ""
	for ; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text
}
