package tui

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// Export is what a list shows, to be written to a file: exactly those rows, in that order.
type Export struct {
	Name   string // of the list, such as "leases"
	Format string // "csv" or "jsonl"; or ExportMarkdown
	Header []string
	Rows   [][]string
	// Each gives the rows one by one instead, where they are too many to be held at once.
	Each func(write func(row []string) error) error
}

// exportMsg says where an export went.
type exportMsg struct {
	path string
	rows int
	err  error
}

// cells returns keys of the columns and what stands in them for some rows: moments and durations
// in full, and words without the sign before them.
func (l *list[R]) cells(items []*item[R]) (header []string, rows [][]string) {
	out := make([]table.Cell, len(l.spec.columns))
	for _, c := range l.spec.columns {
		header = append(header, c.Key)
	}
	data := listData[R]{&view[R]{items: items}, &l.spec, l.d.now()}
	for i := range items {
		clear(out)
		data.Cells(i, out)
		row := make([]string, len(out))
		for c := range out {
			row[c] = exact(l.d.theme.Glyphs, out[c])
		}
		rows = append(rows, row)
	}
	return header, rows
}

// exact is what a cell says to a program.
func exact(g paint.Glyphs, c table.Cell) string {
	switch c.Value.Kind {
	case table.Instant:
		return time.Unix(0, c.Value.N).UTC().Format(time.RFC3339Nano)
	case table.Duration:
		if c.Value.N != int64(forever) {
			return time.Duration(c.Value.N).Truncate(time.Millisecond).String()
		}
	case table.Number:
		return strconv.FormatInt(c.Value.N, 10)
	case table.None:
	}
	if sign, rest, ok := strings.Cut(c.Text, " "); ok && slices.Contains(signs(g), sign) {
		return rest
	}
	if strings.Trim(c.Text, g.Full+g.Empty) == "" {
		return "" // a bar repeats what another column says
	}
	return c.Text
}

// signs stand before words that say the same.
func signs(g paint.Glyphs) []string {
	return []string{
		g.OK, g.Hollow, g.Wrong, g.Warning, g.Dot, g.Mark, g.Arrow, g.Dash, g.Equal, "?",
	}
}

// ways are the exports that are offered: what is shown, and what is marked, in each format.
func (l *list[R]) ways() []choice {
	d := l.d
	var choices []choice
	add := func(label string, run func(format string) tea.Cmd) {
		for _, format := range []string{"csv", "jsonl"} {
			choices = append(choices, choice{label: label, note: format, run: func() tea.Cmd {
				return run(format)
			}})
		}
	}
	if marked, gone := l.marked(); len(marked) > 0 {
		words := d.tr("the %d marked rows", len(marked))
		if hidden := l.unseen(marked); hidden > 0 {
			words += d.tr(", %d of them not shown", hidden)
		}
		if gone > 0 {
			words += d.tr(", without %d that are gone", gone)
		}
		add(words, func(format string) tea.Cmd { return l.export(format, marked) })
	}
	if n := len(l.shown.items); n > 0 {
		items := l.shown.items
		words := d.tr("all %d rows, as shown", n)
		if l.filter != "" {
			words = d.tr("the %d rows that match the filter, as shown", n)
		}
		add(words, func(format string) tea.Cmd { return l.export(format, items) })
	}
	if l.extra != nil {
		words := l.extraSays
		if words == "" {
			words = d.tr("also what is older: every page of this filter")
		}
		add(words, l.extra)
	}
	return choices
}

// unseen counts the rows that the filter hides.
func (l *list[R]) unseen(items []*item[R]) int {
	n := 0
	for _, it := range items {
		if l.shown.find(it.id) < 0 {
			n++
		}
	}
	return n
}

// pickExport asks what to export, and in which format.
func (l *list[R]) pickExport() tea.Cmd {
	d := l.d
	if d.opts.Export == nil {
		d.say(Warned, d.tr("this console cannot write files"))
		return nil
	}
	choices := l.ways()
	if len(choices) == 0 {
		d.say(Warned, d.tr("there are no rows to export"))
		return nil
	}
	return openPicker(d, d.tr("export into a new file"), choices)
}

func (l *list[R]) export(format string, items []*item[R]) tea.Cmd {
	d := l.d
	_, cmd := d.start(d.ctx, "export", false, deedLimit, func(ctx context.Context, _ *job) tea.Msg {
		header, rows := l.cells(items)
		path, err := d.opts.Export(ctx, Export{
			Name: string(l.spec.id), Format: format, Header: header, Rows: rows,
		})
		return exportMsg{path, len(rows), err}
	})
	return cmd
}

// exported tells where the rows went.
func (d *desk) exported(msg exportMsg) {
	if msg.err != nil {
		d.say(Erred, d.tr("nothing was exported"), msg.err.Error())
		return
	}
	d.say(Info, d.tr("%d rows written to %s", msg.rows, msg.path))
}

// jsonLine writes a row as one JSON object, its keys in the order of the columns.
func jsonLine(header, row []string) string {
	var b strings.Builder
	for i, name := range header {
		key, _ := json.Marshal(name) // text always encodes
		value, _ := json.Marshal(row[i])
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	return b.String() + "}"
}

func textLine(row []string) string {
	safe := make([]string, 0, len(row))
	for _, cell := range row {
		if cell != "" {
			safe = append(safe, safetext.Cell(cell))
		}
	}
	return strings.Join(safe, "  ")
}
