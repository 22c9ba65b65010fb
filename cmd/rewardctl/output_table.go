package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"rewardctl/tui/safetext"
)

// field is one named value of a single thing.
type field struct {
	name string
	cell cell
}

// safeText makes text from servers and files harmless on a terminal and keeps it on one line.
func safeText(s string) string { return safetext.Cell(s) }

// printTable writes rows for people: columns as wide as their widest cell, numbers to the right,
// each text harmless. The last column is not padded, so lines have no trailing blanks.
func (a *app) printTable(l listing) error {
	if len(l.rows) == 0 {
		if l.empty != "" {
			a.say("%s", l.empty)
		}
		return nil
	}
	widths := make([]int, len(l.columns))
	for i, c := range l.columns {
		widths[i] = safetext.Width(c.title)
	}
	for _, row := range l.rows {
		for i := range row {
			row[i].text = safeText(row[i].text)
			widths[i] = max(widths[i], safetext.Width(row[i].text))
		}
	}
	w := bufio.NewWriter(a.stdout)
	paint := a.painter(a.stdout)
	head := make([]cell, len(l.columns))
	for i, c := range l.columns {
		head[i] = cell{text: c.title, number: l.rows[0][i].number, tone: faint}
	}
	writeRow(w, head, widths, paint)
	for _, row := range l.rows {
		writeRow(w, row, widths, paint)
	}
	return w.Flush()
}

func writeRow(w *bufio.Writer, row []cell, widths []int, paint func(string, tone) string) {
	var line strings.Builder
	for i, c := range row {
		pad := safetext.Spaces(widths[i] - safetext.Width(c.text))
		if i > 0 {
			line.WriteString("  ")
		}
		if c.number {
			line.WriteString(pad)
		}
		line.WriteString(paint(c.text, c.tone))
		if !c.number {
			line.WriteString(pad)
		}
	}
	w.WriteString(strings.TrimRight(line.String(), " "))
	w.WriteByte('\n')
}

// printFields writes one thing, a field a line. Fields without a value are left out.
func (a *app) printFields(fields []field) error {
	width := 0
	for _, f := range fields {
		if f.cell.text != "" {
			width = max(width, safetext.Width(f.name))
		}
	}
	w := bufio.NewWriter(a.stdout)
	paint := a.painter(a.stdout)
	for _, f := range fields {
		if f.cell.text == "" {
			continue
		}
		name := strings.ReplaceAll(f.name, "_", " ")
		fmt.Fprintf(w, "%s  %s\n", paint(safetext.Fit(name, width, ""), faint),
			paint(safeText(f.cell.text), f.cell.tone))
	}
	return w.Flush()
}

// painter returns a function that colours harmless text for a stream, or leaves it as it is.
func (a *app) painter(stream any) func(string, tone) string {
	if !a.colour(stream) {
		return func(s string, _ tone) string { return s }
	}
	codes := [...]string{plain: "", good: "32", notice: "33", bad: "31", faint: "2"}
	return func(s string, t tone) string {
		if codes[t] == "" || s == "" {
			return s
		}
		return "\x1b[" + codes[t] + "m" + s + "\x1b[0m"
	}
}

// harmlessJSON writes the characters that act on a terminal or cannot be seen as escapes. In
// JSON they can only stand inside a text, where the escape means the same character.
func harmlessJSON(data []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(data))
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf && data[0] != 0x7f {
			out.WriteByte(data[0])
			data = data[1:]
			continue
		}
		r, size := utf8.DecodeRune(data)
		switch {
		case !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			out.Write(data[:size])
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		data = data[size:]
	}
	return out.Bytes()
}
