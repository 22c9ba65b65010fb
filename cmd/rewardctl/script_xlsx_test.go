package main

import (
	"encoding/csv"
	"os"
	"strings"

	"rewardctl/repair/batchfile/workbook/booktest"

	"github.com/rogpeppe/go-internal/testscript"
)

// xlsx writes a workbook with a sheet of texts for each CSV file; =CSV makes a hidden one, and a
// cell "=TEXT" is a formula.
func xlsx(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: xlsx OUT SHEET=CSV...")
	}
	var book booktest.Book
	for _, arg := range args[1:] {
		name, file, _ := strings.Cut(arg, "=")
		records, err := csv.NewReader(strings.NewReader(ts.ReadFile(file))).ReadAll()
		ts.Check(err)
		sheet := booktest.Sheet{Name: name, Rows: booktest.Table(records...)}
		if name == "" {
			sheet.Name, sheet.State = "hidden", "hidden"
		}
		for _, row := range sheet.Rows {
			for i, cell := range row.Cells {
				if formula, is := strings.CutPrefix(cell.Value, "="); is {
					row.Cells[i] = booktest.Cell{Inner: "<f>" + formula + "</f><v>10</v>"}
				}
			}
		}
		book.Sheets = append(book.Sheets, sheet)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), book.Bytes(), 0o600))
}
