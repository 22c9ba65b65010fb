package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// format is how a command prints its data.
type format string

// The formats of -o.
const (
	formatTable format = "table" // aligned columns for people
	formatJSON  format = "json"  // one JSON document
	formatJSONL format = "jsonl" // one JSON object a line
	formatCSV   format = "csv"   // for spreadsheets, guarded against formulas unless --raw
)

// parseFormat reads the value of -o.
func parseFormat(s string) (format, error) {
	switch f := format(s); f {
	case formatTable, formatJSON, formatJSONL, formatCSV:
		return f, nil
	}
	return "", usage("output", "use table, json, jsonl or csv", "-o %q is not a format", s)
}

// tone is what a cell means, for colour. The word in the cell always says it, too.
type tone uint8

const (
	plain tone = iota
	good
	notice
	bad
	faint
)

// cell is one value of a row.
type cell struct {
	text   string
	number bool // a number: aligned to the right, and never guarded in CSV
	tone   tone
}

// column is the heading of a column: its name in CSV and its title in a table.
type column struct {
	name  string
	title string
}

// listing is what a command found: rows for people and spreadsheets, values for JSON.
type listing struct {
	columns  []column
	rows     [][]cell
	values   []any
	document any    // what -o json prints instead of the bare values, when there is more to say
	empty    string // what a table says instead of no rows
}

func text(s string) cell          { return cell{text: s} }
func toned(s string, t tone) cell { return cell{text: s, tone: t} }
func number(n int64) cell         { return cell{text: strconv.FormatInt(n, 10), number: true} }
func instant(t time.Time) cell    { return cell{text: when(t)} }
func columns(names ...string) []column {
	cols := make([]column, len(names))
	for i, n := range names {
		cols[i] = column{name: n, title: strings.ToUpper(strings.ReplaceAll(n, "_", " "))}
	}
	return cols
}

// numberOrBlank leaves a number that means "none" out.
func numberOrBlank(n int64) cell {
	if n == 0 {
		return cell{number: true}
	}
	return number(n)
}

// when writes a time for people: UTC, to the millisecond; nothing for the zero time.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05.000Z")
}

// span writes a duration for people, such as "4.2s" or "3m20s".
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return d.Round(time.Second).String()
}

// print writes a listing in the asked format.
func (a *app) print(l listing) error {
	f, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	switch f {
	case formatTable:
		return a.printTable(l)
	case formatCSV:
		return a.printCSV(l)
	case formatJSONL:
		return a.printLines(l)
	case formatJSON:
		if l.document != nil {
			return writeJSON(a.stdout, l.document, true)
		}
		return writeJSON(a.stdout, emptyNotNull(l.values), true)
	}
	return nil
}

// printOne writes a single thing: a JSON object, or its fields one below the other.
func (a *app) printOne(value any, fields []field) error {
	f, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	switch f {
	case formatTable:
		return a.printFields(fields)
	case formatCSV:
		l := listing{rows: make([][]cell, 1)}
		for _, one := range fields {
			l.columns = append(l.columns, column{name: one.name})
			l.rows[0] = append(l.rows[0], one.cell)
		}
		return a.printCSV(l)
	case formatJSONL:
		return writeJSON(a.stdout, value, false)
	case formatJSON:
		return writeJSON(a.stdout, value, true)
	}
	return nil
}

// emptyNotNull makes JSON write no values as [] and not as null.
func emptyNotNull[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

func (a *app) printLines(l listing) error {
	w := bufio.NewWriter(a.stdout)
	for _, v := range l.values {
		if err := writeJSON(w, v, false); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeJSON writes a value and a line end. Characters that act on a terminal or cannot be seen
// are written as escapes (see harmlessJSON); < > & stay readable.
func writeJSON(w io.Writer, value any, indent bool) error {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	if indent {
		out.SetIndent("", "  ")
	}
	if err := out.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := w.Write(harmlessJSON(data.Bytes()))
	return err
}

// jsonTime is a time in JSON: RFC 3339 in UTC, or null.
func jsonTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339Nano)
	return &s
}

// jsonID is a 64-bit id or token in JSON: text, since programs that keep numbers as doubles would
// change its last digits; null for none.
func jsonID(n int64) *string {
	if n == 0 {
		return nil
	}
	s := strconv.FormatInt(n, 10)
	return &s
}

// jsonText is a text in JSON, or null when it is empty.
func jsonText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
