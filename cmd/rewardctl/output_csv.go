package main

import (
	"encoding/csv"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"rewardctl/repair/batchfile"
)

// writeCSV writes a listing as CSV. Unless raw is asked for, a text that a spreadsheet would run
// as a formula gets an apostrophe in front; numbers never do. Reading a file takes exactly one
// apostrophe away again, so an export can be imported and names the same players. Each text passes
// shown, when there is one.
func writeCSV(w io.Writer, l listing, raw bool, shown func(string) string) error {
	if shown == nil {
		shown = func(s string) string { return s }
	}
	out := csv.NewWriter(w)
	record := make([]string, 0, len(l.columns))
	for _, c := range l.columns {
		record = append(record, c.name)
	}
	if len(record) > 0 { // a further page of a streamed listing has no heading
		if err := out.Write(record); err != nil {
			return err
		}
	}
	for _, row := range l.rows {
		record = record[:0]
		for _, c := range row {
			if c.number || raw {
				record = append(record, shown(c.text))
				continue
			}
			record = append(record, shown(batchfile.Guard(c.text)))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// printCSV writes a listing as CSV to stdout.
func (a *app) printCSV(l listing) error { return writeCSV(a.stdout, l, a.raw, a.shownAs(a.stdout)) }

// shownAs returns what a text passes on its way to w: on a terminal, whatever --raw and TERM say,
// characters that act on it are replaced by visible substitutes, and the person is told in the
// end. Files and pipes get every byte; there it returns nil.
func (a *app) shownAs(w io.Writer) func(string) string {
	file, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return nil
	}
	return func(s string) string {
		safe := safeText(s)
		a.replaced = a.replaced || safe != s
		return safe
	}
}

// sayReplaced says that what a terminal showed is not what a file would hold.
func (a *app) sayReplaced() {
	if a.replaced {
		a.say("characters that act on a terminal are shown as substitutes; a file or a pipe gets " +
			"every byte")
	}
}
