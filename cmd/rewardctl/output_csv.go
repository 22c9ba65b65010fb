package main

import (
	"encoding/csv"
	"io"

	"rewardctl/repair/batchfile"
)

// writeCSV writes a listing as CSV. Unless raw is asked for, a text that a spreadsheet would run
// as a formula gets an apostrophe in front; numbers never do. Reading a file takes exactly one
// apostrophe away again, so an export can be imported and names the same players.
func writeCSV(w io.Writer, l listing, raw bool) error {
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
				record = append(record, c.text)
				continue
			}
			record = append(record, batchfile.Guard(c.text))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
