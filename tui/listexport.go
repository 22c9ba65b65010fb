package tui

import (
	"context"
	"encoding/json"
	"strings"

	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// Export is what a list shows, to be written to a file: exactly those rows, in that order.
type Export struct {
	Name   string // of the list, such as "leases"
	Format string // "csv" or "jsonl"
	Header []string
	Rows   [][]string
}

// exportMsg says where an export went.
type exportMsg struct {
	path string
	rows int
	err  error
}

// cells returns keys of the columns and what stands in them for some rows.
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
			row[c] = out[c].Text
		}
		rows = append(rows, row)
	}
	return header, rows
}

// taken returns the marked rows that are shown, or all when none is marked.
func (l *list[R]) taken() (items []*item[R], marked bool) {
	for _, it := range l.shown.items {
		if l.table.Marked(it.id) {
			items = append(items, it)
		}
	}
	if len(items) > 0 {
		return items, true
	}
	return l.shown.items, false
}

// pickExport asks for the format of an export.
func (l *list[R]) pickExport() tea.Cmd {
	d := l.d
	if d.opts.Export == nil {
		d.say(Warned, d.tr("this console cannot write files"))
		return nil
	}
	items, marked := l.taken()
	if len(items) == 0 {
		d.say(Warned, d.tr("there are no rows to export"))
		return nil
	}
	title := d.tr("export %d rows, as shown", len(items))
	if marked {
		title = d.tr("export the %d marked rows that are shown", len(items))
	}
	var choices []choice
	for _, format := range []string{"csv", "jsonl"} {
		choices = append(choices, choice{label: format, run: func() tea.Cmd {
			return l.export(format, items)
		}})
	}
	return openPicker(d, title, choices)
}

func (l *list[R]) export(format string, items []*item[R]) tea.Cmd {
	d := l.d
	_, cmd := d.start(d.ctx, "export", false, deedLimit, func(ctx context.Context, _ *job) tea.Msg {
		header, rows := l.cells(items)
		path, err := d.opts.Export(ctx, Export{string(l.spec.id), format, header, rows})
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
	safe := make([]string, len(row))
	for i, cell := range row {
		safe[i] = safetext.Cell(cell)
	}
	return strings.Join(safe, "  ")
}
