package batchfile_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"
	"rewardctl/repair/batchfile/workbook/booktest"

	"pgregory.net/rapid"
)

func header(columns ...string) booktest.Row {
	if columns == nil {
		columns = []string{"player_id", "kind", "amount", "event"}
	}
	return booktest.Table(columns)[0]
}

func cells(list ...booktest.Cell) booktest.Row { return booktest.Row{Cells: list} }

// good is a row that is granted.
func good(player string) booktest.Row {
	return cells(booktest.Text(player), booktest.Text("gems"), booktest.Number("5"),
		booktest.Shared("e-"+player))
}

func writeBook(t testing.TB, book booktest.Book) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grants.xlsx")
	if err := os.WriteFile(path, book.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// requests validates a file and returns what it asks for, without the lines.
func requests(t testing.TB, path string, opt batchfile.Options) ([]string, *batchfile.Check) {
	t.Helper()
	file := open(t, path, opt)
	check, err := file.Validate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for row, err := range file.Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s|%s|%s|%d|%v", row.Request.PlayerID, row.Request.EventID,
			row.Request.Kind, row.Request.Amount, row.DuplicateOf > 0)
		for _, p := range row.Problems {
			line += "|" + p.Field + " " + p.Problem
		}
		list = append(list, line)
	}
	return list, check
}

// Whatever texts a sheet has, it asks for what the same texts ask for in CSV.
func TestSheetAsksForWhatCSVAsksFor(t *testing.T) {
	t.Parallel()
	texts := []string{
		"p1", "00123", "123", " p1 ", "P1", "p\u200b1", "'=1+1", "=1", "7.65612E+16", "1,234",
		"_x0041_", "_x005F_x0041_", "\u00a0p1", "名前", "a\x01b", "p\"1", "<&>", "", "5", "10",
	}
	rapid.Check(t, func(rt *rapid.T) {
		record := rapid.SliceOfN(rapid.SampledFrom(texts), 4, 4)
		records := rapid.SliceOfN(record, 1, 12).Draw(rt, "records")
		records = append([][]string{{"player_id", "kind", "amount", "subject"}}, records...)
		// A sheet has no row that holds nothing, and "_x0041_" is how it writes an A.
		var rows [][]string
		for _, r := range records {
			if strings.Join(r, "") != "" {
				rows = append(rows, r)
			}
		}
		if len(rows) == 1 {
			return
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		replace := strings.NewReplacer("_x005F_", "_", "_x0041_", "A")
		for _, r := range rows {
			decoded := make([]string, len(r))
			for i := range r {
				decoded[i] = replace.Replace(r[i])
			}
			if err := w.Write(decoded); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		wantRows, want := requests(t, write(t, text.String()), batchfile.Options{})
		gotRows, got := requests(t, writeBook(t, booktest.One(booktest.Table(rows...)...)),
			batchfile.Options{})
		if fmt.Sprint(gotRows) != fmt.Sprint(wantRows) {
			rt.Fatalf("sheet: %q\nCSV:   %q", gotRows, wantRows)
		}
		if got.Good != want.Good || got.Refused != want.Refused || got.Players != want.Players {
			rt.Fatalf("sheet %+v, CSV %+v", got, want)
		}
	})
}

// TestSheetCells shows what a person reads about cells that are not plain text.
func TestSheetCells(t *testing.T) {
	t.Parallel()
	n, s := booktest.Number, booktest.Text
	formatted := func(style int, digits string) booktest.Cell {
		return booktest.Cell{Value: digits, Style: style}
	}
	typed := func(kind, value string) booktest.Cell { return booktest.Cell{Type: kind, Value: value} }
	inner := func(kind, xml string) booktest.Cell { return booktest.Cell{Type: kind, Inner: xml} }
	formats := []string{
		"#,##0", "0.00", "yyyy-mm-dd", "0,", "0%", ";;;", "00000", `0"000"`, "0.00E+00", "[h]:mm",
		`_(* #,##0_);_(* \(#,##0\)`, "[Red]0;-0", "@", `"p-"@`,
	}
	rows := []struct {
		name   string
		player booktest.Cell
		amount booktest.Cell
	}{
		{"number as id", n("76561198"), n("5")},
		{"15 digits", n("123456789012345"), n("5")},
		{"16 digits", n("1234567890123456"), n("5")},
		{"beyond 2^53", n("76561198308210208"), n("5")},
		{"scientific", n("7.6561198308210208E+16"), n("5")},
		{"decimals", n("123.0"), n("5")},
		{"half", n("123.5"), n("5.5")},
		{"negative", n("-123"), n("-5")},
		{"long amount", s("p1"), n("1234567890123456")},
		{"scientific amount", s("p1"), n("1E3")},
		{"grouped format", formatted(1, "12345"), formatted(1, "1500")},
		{"decimal format", formatted(2, "12345"), formatted(2, "1500")},
		{"date", formatted(3, "45000"), formatted(3, "45000")},
		{"thousands", s("p2"), formatted(4, "5000")},
		{"percent", s("p2"), formatted(5, "5")},
		{"shows nothing", formatted(6, "12345"), formatted(6, "5")},
		{"zeros", formatted(7, "123"), formatted(7, "5")},
		{"enough zeros", formatted(7, "12345"), formatted(7, "12345")},
		{"literal", s("p2"), formatted(8, "5")},
		{"exponent", s("p2"), formatted(9, "5")},
		{"time", s("p2"), formatted(10, "5")},
		{"accounting", s("p3"), formatted(11, "5")},
		{"colour", s("p4"), formatted(12, "5")},
		{"text format", formatted(13, "777"), formatted(13, "5")},
		{"text in a text format", booktest.Cell{Type: "inlineStr", Value: "p5", Style: 14}, n("5")},
		{"hidden text", booktest.Cell{Type: "inlineStr", Value: "p6", Style: 6}, n("5")},
		{"formula", inner("str", "<f>A1</f><v>p7</v>"), inner("", "<f>1+4</f><v>5</v>")},
		{"shared formula", inner("str", `<f t="shared" si="0"/><v>p7</v>`), n("5")},
		{"never computed", s("p7"), inner("", "<f>1+4</f>")},
		{"truth", typed("b", "1"), typed("b", "0")},
		{"error", typed("e", "#N/A"), typed("e", "#DIV/0!")},
		{"date type", typed("d", "2026-11-30"), n("5")},
		{"unknown type", typed("zz", "1"), n("5")},
		{"no such text", typed("s", "4000"), typed("s", "-1")},
		{"no such style", formatted(99, "1"), n("5")},
		{"two values", s("p8"), inner("", "<v>5</v><v>50</v>")},
		{"rich text", inner("inlineStr", "<is><r><t>p</t></r><r><rPr><b/></rPr><t>9</t></r>"+
			"<rPh sb=\"0\" eb=\"1\"><t>no</t></rPh></is>"), n("5")},
		{"formula string", typed("str", "p10"), n("5")},
		{"empty", booktest.Cell{}, booktest.Cell{}},
		{"number of no digits", n("abc"), n("NaN")},
	}
	book := booktest.One(header())
	book.Formats = formats
	for i, r := range rows {
		book.Sheets[0].Rows = append(book.Sheets[0].Rows,
			cells(r.player, s("gems"), r.amount, s(fmt.Sprintf("e%d", i))))
	}
	var got strings.Builder
	at := 0
	for row, err := range validated(t, writeBook(t, book)).Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s:", rows[at].name)
		if len(row.Problems) == 0 {
			fmt.Fprintf(&got, " %s %d\n", row.Request.PlayerID, row.Request.Amount)
		}
		for i, p := range row.Problems {
			if i == 0 {
				fmt.Fprintln(&got)
			}
			fmt.Fprintf(&got, "    %s\n", p.Error())
		}
		at++
	}
	golden(t, "sheet_cells.txt", got.String())
}

func validated(t testing.TB, path string) *batchfile.File {
	t.Helper()
	file := open(t, path, batchfile.Options{})
	if _, err := file.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSheetRows: hidden rows are refused, empty ones passed over, lines are the sheet's own.
func TestSheetRows(t *testing.T) {
	t.Parallel()
	hidden, low, far := good("p2"), good("p3"), good("p5")
	hidden.Attr, low.Attr, far.Number = ` hidden="1"`, ` ht="0" customHeight="1"`, 70
	empty := cells(booktest.Cell{Style: 1, Inner: " "}, booktest.Cell{Type: "shared", Value: ""})
	more := good("p6")
	more.Cells = append(more.Cells, booktest.Cell{}, booktest.Text("x"))
	book := booktest.One(empty, header(), good("p1"), hidden, low, empty, good("p4"), far, more,
		empty, empty)
	book.Formats = []string{"0"}
	file := validated(t, writeBook(t, book))
	var got []string
	for row, err := range file.Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d %s", row.Line, row.Request.PlayerID)
		for _, p := range row.Problems {
			line += ": " + p.Problem + "; " + p.WayOut
		}
		got = append(got, line)
	}
	want := []string{
		"3 p1",
		"4 p2: is hidden in the sheet; unhide it (a filter hides rows too) or delete it",
		"5 p3: is hidden in the sheet; unhide it (a filter hides rows too) or delete it",
		"7 p4", "70 p5",
		"71 p6: has 6 cells, the header has 4; name the column in the header, or clear the cell",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

func TestSheetByName(t *testing.T) {
	t.Parallel()
	book := booktest.Book{Sheets: []booktest.Sheet{
		{Name: "Old", Rows: []booktest.Row{header(), good("p1")}},
		{Name: "Notes"},
		{Name: "Now & then", Rows: []booktest.Row{header(), good("p2"), good("p3")}},
		{Name: "Lists", State: "veryHidden", Rows: []booktest.Row{header(), good("p4")}},
	}}
	path := writeBook(t, book)
	for name, want := range map[string]string{
		"": `"Old", "Now & then", "Lists" (hidden)`, "Lists": "is hidden", "Nope": `no sheet "Nope"`,
		"Notes": "it is empty",
	} {
		_, err := tryOpen(t, path, batchfile.Options{Sheet: name})
		var fe *batchfile.FileError
		if !errors.As(err, &fe) {
			t.Fatalf("%q: %v", name, err)
		}
		mustContain(t, err.Error(), want, path)
	}
	for name, want := range map[string]int{"Old": 1, "NOW & THEN": 2} {
		if got, _ := requests(t, path, batchfile.Options{Sheet: name}); len(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	book.Sheets = book.Sheets[:2] // one that holds something, and one that does not
	if got, _ := requests(t, writeBook(t, book), batchfile.Options{}); len(got) != 1 {
		t.Errorf("%q", got)
	}
	_, err := tryOpen(t, write(t, fiveRows), batchfile.Options{Sheet: "Old"})
	if err == nil {
		t.Fatal("a CSV file has a sheet")
	}
	mustContain(t, err.Error(), "no workbook", "--sheet")
}

// Line numbers are the sheet's, so the sheet is named where there are several.
func TestSheetIsNamed(t *testing.T) {
	t.Parallel()
	book := booktest.Book{Sheets: []booktest.Sheet{
		{Name: "Grants", Rows: []booktest.Row{header("player_id", "kind")}}, {Name: "Notes"},
	}}
	_, err := tryOpen(t, writeBook(t, book), batchfile.Options{})
	if err == nil {
		t.Fatal("opened without a column amount")
	}
	mustContain(t, err.Error(), `line 1: sheet "Grants": the column amount is missing`)
}

// A workbook on the standard input is known by its first bytes.
func TestSheetFromStandardInput(t *testing.T) {
	t.Parallel()
	book := booktest.One(header(), good("p1"), good("p2")).Bytes()
	got, _ := requests(t, "-", batchfile.Options{Stdin: bytes.NewReader(book)})
	if len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// A workbook that changes between the passes is noticed before a changed row is given.
func TestChangedSheetIsNoticed(t *testing.T) {
	t.Parallel()
	formula := booktest.Cell{Type: "str", Inner: "<f>A1</f><v>p2</v>"}
	plain := cells(booktest.Text("p2"), booktest.Text("gems"), booktest.Number("5"),
		booktest.Text("e2"))
	changed := cells(formula, booktest.Text("gems"), booktest.Number("5"), booktest.Text("e2"))
	path := writeBook(t, booktest.One(header(), good("p1"), plain))
	file := validated(t, path)
	err := os.WriteFile(path, booktest.One(header(), good("p1"), changed).Bytes(), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range file.Rows(context.Background()) {
		last = err
	}
	if !errors.Is(last, batchfile.ErrChanged) {
		t.Errorf("%v", last)
	}
}
