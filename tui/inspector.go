package tui

import (
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"
)

const (
	sideFrom    = 140 // columns from which the inspector stands beside the list
	sideWidth   = 48
	belowHeight = 8 // lines of the inspector below the list
	belowFrom   = 15
)

// withInspector draws a table with the details of its row: beside it when there is room, below
// it in two columns otherwise. detail returns what and how; nil draws the table alone.
func withInspector(d *desk, list *table.Table, w, h int, detail func(w int) (a, b []string),
) []string {
	t := d.theme
	switch {
	case detail == nil, w < sideFrom && h < belowFrom:
		list.SetSize(w, h)
		return strings.Split(list.View(), "\n")
	case w >= sideFrom:
		list.SetSize(w-sideWidth-2, h)
		lines := strings.Split(list.View(), "\n")
		a, b := detail(sideWidth - 1)
		side := append(append(a, ""), b...)
		bar := t.Text(paint.Muted, t.Glyphs.Bar)
		for i := range lines {
			lines[i] += bar + " " + safetext.Fit(at(side, i), sideWidth, t.Glyphs.Ellipsis)
		}
		return lines
	}
	list.SetSize(w, h-belowHeight)
	lines := strings.Split(list.View(), "\n")
	lines = append(lines, t.Text(paint.Muted, strings.Repeat(t.Glyphs.Rule, w)))
	half := (w - 5) / 2
	a, b := detail(half)
	for i := range belowHeight - 1 {
		lines = append(lines, "  "+safetext.Fit(at(a, i), half, t.Glyphs.Ellipsis)+"  "+
			safetext.Fit(at(b, i), w-half-4, t.Glyphs.Ellipsis))
	}
	return lines
}

// at returns line i, or nothing when there are fewer.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
