package tui

import (
	"strings"

	"rewardctl/repair/batchfile"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
)

// bulkFolds is the height below which the form is folded into one line while a table has the keys.
const bulkFolds = 24

// View draws the steps, the form, the table of the step, and the command that does the same.
func (s *bulkScreen) View(w, h int) string {
	t := s.d.theme
	lines := []string{s.stepLine(w)}
	if s.zone == zoneForm || h >= bulkFolds {
		lines = append(lines, s.formLines(w)...)
	} else {
		lines = append(lines, s.folded())
	}
	for _, one := range s.problem {
		for _, part := range safetext.Wrap(safetext.Cell(one), max(w-4, 8)) {
			lines = append(lines, " "+t.Text(paint.Bad, t.Glyphs.Wrong+" "+part))
		}
	}
	rule := t.Text(paint.Muted, strings.Repeat(t.Glyphs.Rule, w))
	tail := []string{rule}
	const commandMax = 3
	argv := s.ask().CLI()
	if s.value(bulkFile) == "" {
		argv = argv[:3] // there is nothing to plan yet
	}
	for _, part := range s.d.commandText(argv, w-1, commandMax) {
		tail = append(tail, " "+part)
	}
	lines = append(lines, rule)
	room := max(h-len(lines)-len(tail), 0)
	pane := s.columnsView
	if s.pane == zoneCheck {
		pane = s.checkView
	}
	s.tableAt = len(lines)
	body := pane(w, room)
	for len(body) < room {
		body = append(body, "")
	}
	lines = append(append(lines, body[:room]...), tail...)
	for len(lines) < h {
		lines = append(lines, "")
	}
	for i := range lines[:h] {
		lines[i] = safetext.Fit(lines[i], w, t.Glyphs.Ellipsis)
	}
	return strings.Join(lines[:h], "\n")
}

// stepLine says how far the file is on its way to a plan.
func (s *bulkScreen) stepLine(w int) string {
	t, tr := s.d.theme, s.d.tr
	now := 0
	switch {
	case s.fresh():
		now = 3
	case s.checking():
		now = 2
	case s.looked && len(s.look.Columns) > 0:
		if now = 1; len(s.lacking()) == 0 {
			now = 2
		}
	}
	var b strings.Builder
	for i, name := range []string{tr("file"), tr("columns"), tr("check"), tr("plan")} {
		if i > 0 {
			b.WriteString(t.Text(paint.Muted, " "+strings.Repeat(t.Glyphs.Rule, 2)+" "))
		}
		switch {
		case i < now:
			b.WriteString(t.Text(paint.Good, t.Glyphs.OK+" "+name))
		case i == now:
			b.WriteString(t.Text(paint.Strong, t.Glyphs.Cursor+" "+name))
		default:
			b.WriteString(t.Text(paint.Muted, "  "+name))
		}
	}
	return spread(" "+b.String(), t.Text(paint.Muted, s.fileWords())+" ", w, t.Glyphs.Ellipsis)
}

// fileWords say what the file is.
func (s *bulkScreen) fileWords() string {
	if s.look.Format == "" {
		return ""
	}
	words := s.look.Format + ", " + byteWords(s.look.Bytes)
	if s.look.Sheet != "" {
		words += ", " + s.d.tr("sheet %s", safetext.Cell(s.look.Sheet))
	}
	return words
}

// byteWords writes a size.
func byteWords(n int64) string {
	const kilo = 1 << 10
	switch {
	case n < kilo:
		return idText(n) + " B"
	case n < kilo*kilo:
		return idText((n+kilo/2)/kilo) + " KiB"
	}
	return idText((n+kilo*kilo/2)/(kilo*kilo)) + " MiB"
}

// formLines draw the fields.
func (s *bulkScreen) formLines(w int) []string {
	t, tr := s.d.theme, s.d.tr
	const label = 11
	hints := [bulkCount]string{
		tr("CSV, JSON lines or XLSX; tab completes"), tr("tab shows the sheets"),
		tr("such as season-2026-week-34"), tr("1; 2 pays the same once more"),
		tr("why, for the record"),
	}
	names := [bulkCount]string{tr("file"), tr("sheet"), tr("campaign"), tr("version"), tr("reason")}
	var lines []string
	for _, i := range s.shownFields() {
		focused := s.zone == zoneForm && s.focus == i
		mark := " "
		if focused {
			mark = t.Glyphs.Cursor
		}
		width := min(w-label-4, 80)
		value := s.fields[i].view(t, width, focused)
		if !focused && s.fields[i].value() == "" {
			value = t.Text(paint.Field, " ") + t.Text(paint.Muted, safetext.Fit(hints[i], width-1,
				t.Glyphs.Ellipsis))
		}
		lines = append(lines, " "+t.Text(paint.Accent, mark)+" "+
			t.Text(paint.Muted, safetext.Fit(names[i], label-1, ""))+value)
		if i == bulkFile && focused && len(s.paths) > 1 {
			lines = append(lines, "   "+t.Text(paint.Accent, safetext.Cut(
				safetext.Spaces(label-1)+s.pathWords(), w-4, t.Glyphs.Ellipsis)))
		}
	}
	return lines
}

// pathWords are the names that a path may go on with, without the folders they share.
func (s *bulkScreen) pathWords() string {
	names := make([]string, len(s.paths))
	for i, path := range s.paths {
		whole := strings.TrimSuffix(path, "/")
		names[i] = safetext.Cell(path[strings.LastIndex(whole, "/")+1:])
	}
	return strings.Join(names, "  ")
}

// folded is the form in one line.
func (s *bulkScreen) folded() string {
	t, tr := s.d.theme, s.d.tr
	part := func(label string, i int) string {
		value := safetext.Cell(s.value(i))
		if value == "" {
			value = t.Glyphs.Dash
		}
		return t.Text(paint.Muted, label+" ") + t.Text(paint.Strong, value) + "  "
	}
	return " " + part(tr("file"), bulkFile) + part(tr("campaign"), bulkCampaign) +
		part(tr("version"), bulkVersion) + part(tr("reason"), bulkReason)
}

// checkView draws what the check found: sums, what becomes of bad rows, and only those rows.
func (s *bulkScreen) checkView(w, h int) []string {
	lines := s.checkLines(w)
	if s.checked == nil && !s.checking() {
		words := s.d.tr("not checked; ctrl+s checks every row and grants nothing")
		return append(lines, " "+s.d.theme.Text(paint.Muted, words))
	}
	if s.checked != nil && s.checked.Check().Refused == 0 {
		return lines
	}
	room := max(h-len(lines), 0)
	if room < 2 {
		return lines
	}
	s.tableAt += len(lines)
	return append(lines, strings.Split(s.bad.View(w, room), "\n")...)
}

// Click puts the cursor on a row of the table that is shown, and gives it the keys.
func (s *bulkScreen) Click(x, y int) {
	y -= s.tableAt
	if y <= 0 { // in the form
		return
	}
	if s.pane == zoneCheck {
		s.bad.Click(x, y)
		s.zone = zoneCheck
	} else if s.columns.Click(y) {
		s.zone = zoneColumns
	}
}

func (s *bulkScreen) checkLines(w int) []string {
	t, tr := s.d.theme, s.d.tr
	at, _, problems := s.found.Load().now()
	if s.checking() {
		const width = 12
		share := 0.0
		if at.Total > 0 {
			share = float64(at.Bytes) / float64(at.Total)
		}
		words := tr("checking %s %d%%  %d rows, %d good, %d bad, %d repeat an earlier row",
			t.Glyphs.Heat(share, width), int(share*100), at.Rows, at.Rows-at.Refused-at.Repeated,
			at.Refused, at.Repeated)
		lines := []string{" " + t.Text(paint.Accent, words)}
		if problems == 0 {
			lines = append(lines, " "+t.Text(paint.Muted, tr("no row is bad so far; x stops the check")))
		}
		return lines
	}
	if s.checked == nil {
		return nil
	}
	check := s.checked.Check()
	sign, role := t.Glyphs.OK, paint.Good
	if check.Refused > 0 {
		sign, role = t.Glyphs.Warning, paint.Warn
	}
	words := tr("%d rows: %d good, %d bad, %d repeat an earlier row", check.Rows, check.Good,
		check.Refused, check.Duplicates)
	lines := []string{" " + t.Text(role, sign+" "+words)}
	if check.Good > 0 {
		lines = append(lines, "   "+safetext.Cut(s.goodWords(check), w-4, t.Glyphs.Ellipsis))
	}
	return append(lines, s.nextWords(check, w)...)
}

// goodWords sum the good rows up.
func (s *bulkScreen) goodWords(check *batchfile.Check) string {
	tr := s.d.tr
	kinds := make([]string, len(check.Kinds))
	for i, k := range check.Kinds {
		kinds[i] = idText(k.Total) + " " + safetext.Cell(k.Kind)
	}
	words := tr("good: %s to %d players", strings.Join(kinds, ", "), check.Players)
	if most := largest(check); most != nil {
		words += tr("; the largest %d %s on line %d", most.Largest, safetext.Cell(most.Kind),
			most.LargestLine)
	}
	if check.PlayersTwice > 0 {
		words += tr("; %d players named more than once", check.PlayersTwice)
	}
	return words
}

// nextWords say what comes next, and what becomes of the bad rows.
func (s *bulkScreen) nextWords(check *batchfile.Check, w int) []string {
	t, tr := s.d.theme, s.d.tr
	var lines []string
	add := func(role paint.Role, words string) {
		lines = append(lines, "   "+t.Text(role, safetext.Cut(words, w-4, t.Glyphs.Ellipsis)))
	}
	if check.WarningCount > 0 {
		add(paint.Warn, tr("note: %s", safetext.Cell(check.Warnings[0].String()))+
			moreWords(s.d, check.WarningCount-1))
	}
	stored := s.stored.Load()
	switch {
	case s.isPlanning() && stored < int64(check.Rows):
		add(paint.Accent, tr("planning %s %d of %d rows are stored",
			t.Glyphs.Heat(float64(stored)/float64(check.Rows), planBar), stored, check.Rows))
	case s.isPlanning():
		add(paint.Accent, tr("planning: all rows are stored; they are hashed, and the preview is made"))
	case !s.fresh():
		add(paint.Warn, tr("the form changed since this check: ctrl+s checks again"))
	case check.Refused > 0 && !s.skip:
		add(paint.Warn, tr("bad rows refuse the file: e exports them, ctrl+g leaves them out"))
	case check.Refused > 0:
		add(paint.Plain, tr("ctrl+s plans the good rows; the bad ones are listed as rejected"))
	default:
		add(paint.Plain, tr("ctrl+s plans these rows: they are frozen, nothing is granted yet"))
	}
	return lines
}

// planBar is how wide the bar of a plan's progress is.
const planBar = 12

func moreWords(d *desk, n int) string {
	if n <= 0 {
		return ""
	}
	return d.tr("  (%d more: n)", n)
}
