package tui

import (
	"slices"
	"strings"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// evidenceText writes a finding in full: the rule, the rows side by side with what differs
// marked, the proof and the remedy.
func evidenceText(d *desk, f *inspect.Finding) []string {
	lines := []string{f.What, "", d.tr("rule") + "  " + f.Rule, "", d.tr("Rows of %s", f.Table)}
	width := 0
	for _, c := range f.Columns {
		width = max(width, safetext.Width(safetext.Cell(c)))
	}
	const cellWidth, rowsMax = 30, 6
	shown := f.Rows[:min(len(f.Rows), rowsMax)]
	for i, c := range f.Columns {
		mark := d.theme.Glyphs.Equal
		if slices.Contains(f.Differs, c) {
			mark = d.theme.Glyphs.NotEqual
		}
		line := "  " + mark + " " + safetext.Fit(safetext.Cell(c), width, "")
		for _, row := range shown {
			value := d.theme.Glyphs.Dash
			if i < len(row) && row[i] != nil {
				value = *row[i]
			}
			line += "  " + safetext.Fit(safetext.Cell(value), cellWidth, d.theme.Glyphs.Ellipsis)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if int64(len(shown)) < f.Count {
		lines = append(lines, "  "+d.tr("%d of %d rows", len(shown), f.Count))
	}
	lines = append(lines, "", d.tr("What to do"), "  "+f.Remedy, "",
		d.tr("A read-only statement that shows it again; s copies it"))
	return append(lines, strings.Split(f.Proof, "\n")...)
}

// openEvidence shows a finding in full.
func openEvidence(d *desk, f *inspect.Finding) tea.Cmd {
	d.root.open(newPage(d.root, f.Word, evidenceText(d, f)), false)
	return nil
}
