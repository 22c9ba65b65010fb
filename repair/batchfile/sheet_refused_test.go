package batchfile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	encode16 "unicode/utf16"

	"rewardctl/repair/batchfile"
	"rewardctl/repair/batchfile/workbook/booktest"
)

const sheetPart = "xl/worksheets/sheet1.xml"

// rawSheet is a workbook whose sheet is this XML.
func rawSheet(inside string) booktest.Book {
	book := booktest.One()
	book.Parts = map[string]string{sheetPart: "<worksheet>" + inside + "</worksheet>"}
	return book
}

// with puts XML around the rows of a workbook with one good row.
func with(before, after string) booktest.Book {
	book := booktest.One(header(), good("p1"))
	book.Sheets[0].Before, book.Sheets[0].After = before, after
	return book
}

func withPart(name, text string) booktest.Book {
	book := booktest.One(header(), good("p1"))
	book.Parts = map[string]string{name: text}
	return book
}

func compound(stream string) []byte {
	file := make([]byte, 4096)
	copy(file, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	binary.LittleEndian.PutUint32(file[48:], 1)
	for i, unit := range encode16.Encode([]rune(stream)) {
		binary.LittleEndian.PutUint16(file[1024+128+2*i:], unit)
	}
	return file
}

// TestSheetRefusedWhole shows what a person reads about workbooks that are refused as a whole.
func TestSheetRefusedWhole(t *testing.T) {
	t.Parallel()
	whole := booktest.One(header(), good("p1")).Bytes()
	hiddenHead := header()
	hiddenHead.Attr = ` hidden="1"`
	formulaHead := header()
	formulaHead.Cells[1] = booktest.Cell{Type: "str", Inner: "<f>B9</f><v>kind</v>"}
	head := `<row r="1">`
	for _, name := range []string{"player_id", "kind", "amount"} {
		head += `<c t="inlineStr"><is><t>` + name + `</t></is></c>`
	}
	head += "</row>"
	row := `<row r="2"><c r="A2"><v>1</v></c></row>`
	files := []struct {
		name string
		file []byte
	}{
		{"empty sheet", booktest.One().Bytes()},
		{"header only", booktest.One(header()).Bytes()},
		{"no header", booktest.One(good("p1")).Bytes()},
		{"missing column", booktest.One(header("player_id", "kind")).Bytes()},
		{"column twice", booktest.One(header("player_id", "kind", "amount", "Amount")).Bytes()},
		{"hidden header", booktest.One(hiddenHead, good("p1")).Bytes()},
		{"formula in the header", booktest.One(formulaHead, good("p1")).Bytes()},
		{"hidden column", with(`<cols><col min="3" max="3" hidden="1"/></cols>`, "").Bytes()},
		{"column without width", with(`<cols><col min="1" max="2" width="0"/></cols>`, "").Bytes()},
		{"merged cells", with("", `<mergeCells><mergeCell ref="B2:B9"/></mergeCells>`).Bytes()},
		{"merged nonsense", with("", `<mergeCells><mergeCell ref="9B:"/></mergeCells>`).Bytes()},
		{"hidden sheet", booktest.Book{Sheets: []booktest.Sheet{{
			Name: "S", State: "hidden", Rows: []booktest.Row{header()},
		}}}.Bytes()},
		{"no sheets", booktest.Book{}.Bytes()},
		{"sheet not there", withPart(sheetPart, "").Bytes()},
		{"cut off", whole[:len(whole)/2]},
		{"only the magic", []byte("PK\x03\x04rest")},
		{"other archive", withPart("_rels/.rels", "").Bytes()},
		{"OpenDocument", booktest.Book{Parts: map[string]string{
			"_rels/.rels": "", "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
		}}.Bytes()},
		{"binary workbook", booktest.Book{Parts: map[string]string{
			"xl/workbook.bin": "x", "_rels/.rels": `<Relationships><Relationship Id="r" ` +
				`Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>`,
		}}.Bytes()},
		{"old workbook", compound("Workbook")},
		{"with a password", compound("EncryptedPackage")},
		{"short compound file", []byte("\xd0\xcf\x11\xe0rest")},
		{"part twice", twice(t)},
		{"encrypted part", bytes.Replace(whole, []byte("PK\x01\x02\x14\x00\x14\x00\x08\x00"),
			[]byte("PK\x01\x02\x14\x00\x14\x00\x09\x00"), 20)},
		{"wrong checksum", flipped(whole)},
		{"rows twice", rawSheet("<sheetData/><sheetData/>").Bytes()},
		{"no rows", rawSheet("<cols/>").Bytes()},
		{"cut-off XML", rawSheet("<sheetData>" + head + row).Bytes()},
		{"wrong end tag", rawSheet("<sheetData></row></sheetData>").Bytes()},
		{"row order", rawSheet("<sheetData>" + head + row + row + "</sheetData>").Bytes()},
		{"row number", rawSheet(`<sheetData><row r="x"/></sheetData>`).Bytes()},
		{"row too far", rawSheet(`<sheetData><row r="1048577"/></sheetData>`).Bytes()},
		{"cell of another row", rawSheet(`<sheetData><row r="1"><c r="A2"/></row></sheetData>`).
			Bytes()},
		{"cell order", rawSheet(`<sheetData><row r="1"><c r="B1"/><c r="A1"/></row></sheetData>`).
			Bytes()},
		{"column too far", rawSheet(`<sheetData><row r="1"><c r="XFE1"/></row></sheetData>`).Bytes()},
		{"document type", withPart(sheetPart, `<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>`).Bytes()},
		{"entity", rawSheet("<sheetData>&a;</sheetData>").Bytes()},
		{"not UTF-8", rawSheet("<sheetData>\xe9</sheetData>").Bytes()},
		{"another encoding", withPart(sheetPart,
			`<?xml version="1.0" encoding="ISO-8859-1"?><worksheet><sheetData/></worksheet>`).Bytes()},
		{"deep", rawSheet(strings.Repeat("<a>", 100)).Bytes()},
		{"endless text", rawSheet("<sheetData>" + strings.Repeat(" ", 2<<20)).Bytes()},
		{"endless row", rawSheet(`<sheetData><row r="1">` + strings.Repeat(
			"<c><v>"+strings.Repeat("9", 1000)+"</v></c>", 1100) + "</row></sheetData>").Bytes()},
		{"damaged texts", withPart("xl/sharedStrings.xml", "<sst><si>").Bytes()},
		{"damaged styles", withPart("xl/styles.xml", "<styleSheet").Bytes()},
	}
	var got strings.Builder
	for _, f := range files {
		path := filepath.Join(t.TempDir(), "grants.xlsx")
		if err := os.WriteFile(path, f.file, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := tryOpen(t, path, batchfile.Options{})
		if err == nil {
			_, err = file.Validate(context.Background())
		}
		var fe *batchfile.FileError
		if !errors.As(err, &fe) || fe.Name != path || fe.WayOut == "" {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		fmt.Fprintf(&got, "%-22s FILE%s\n", f.name, strings.TrimPrefix(err.Error(), path))
	}
	golden(t, "sheet_refused.txt", got.String())
}

// twice is a workbook with two parts of one name: what a program reads then is its own secret.
func twice(t *testing.T) []byte {
	t.Helper()
	book := withPart("xl/worksheets/SHEET1.xml", "<worksheet><sheetData/></worksheet>")
	return book.Bytes()
}

// flipped changes one byte inside a part, so that its checksum no longer fits.
func flipped(file []byte) []byte {
	sum := crc32.ChecksumIEEE([]byte("none"))
	out := bytes.Clone(file)
	at := bytes.Index(out, []byte("PK\x01\x02"))
	for ; at >= 0; at = nextHead(out, at) {
		binary.LittleEndian.PutUint32(out[at+16:], sum)
	}
	return out
}

func nextHead(file []byte, at int) int {
	next := bytes.Index(file[at+4:], []byte("PK\x01\x02"))
	if next < 0 {
		return -1
	}
	return at + 4 + next
}

// TestSheetBombs: small archives that unpack to hundreds of megabytes cost little memory and end
// as a refusal.
func TestSheetBombs(t *testing.T) {
	const large = 48 << 20
	// What lies in memory for the test alone would let that much garbage pile up, too.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	open, end := "<worksheet><sheetData>", "</sheetData></worksheet>"
	rows := strings.Repeat("<row><c/></row>", large/15)
	bombs := map[string]booktest.Book{
		"text":  withPart(sheetPart, open+strings.Repeat(" ", large)+end),
		"depth": withPart(sheetPart, open+strings.Repeat("<a>", large/3)),
		"rows":  withPart(sheetPart, open+rows+end),
		"attribute": withPart(sheetPart, `<worksheet a="`+strings.Repeat("x", large)+`">`+
			open+end),
		"styles": withPart("xl/styles.xml", "<styleSheet>"+strings.Repeat(" <!-- -->", large/9)+
			"</styleSheet>"),
		"texts": withPart("xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", large/5)+"</sst>"),
		"relations": withPart("xl/_rels/workbook.xml.rels", "<Relationships>"+
			strings.Repeat("<Relationship/>", large/15)),
	}
	rows = ""
	for name, book := range bombs {
		path := writeBook(t, book)
		bombs[name] = booktest.Book{}
		info, err := os.Stat(path)
		if err != nil || info.Size() > large/40 {
			t.Fatalf("%s: %v, %v", name, info, err)
		}
		before := liveHeap()
		var low, high runtime.MemStats
		runtime.ReadMemStats(&low)
		file, err := tryOpen(t, path, batchfile.Options{})
		if err == nil {
			_, err = file.Validate(context.Background())
		}
		runtime.ReadMemStats(&high)
		var fe *batchfile.FileError
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v", name, err)
		}
		if grown := int64(high.HeapSys) - int64(low.HeapSys); grown > 64<<20 {
			t.Errorf("%s: the heap grew by %d MiB", name, grown>>20)
		}
		t.Logf("%-10s %8d bytes: live before %d MiB, %v", name, info.Size(), before>>20, err)
	}
}

// FuzzSheet looks for workbooks that crash the reader, that the two passes read differently, or of
// which a row is lost.
func FuzzSheet(f *testing.F) {
	plain := booktest.One(header(), good("p1"), good("p2"))
	f.Add("", "", "", []byte(nil))
	f.Add("<worksheet><sheetData><row><c t=\"s\"><v>0</v></c></row></sheetData></worksheet>",
		"<sst><si><t>player_id</t></si></sst>", "<styleSheet/>", []byte(nil))
	f.Add("", "", "", plain.Bytes())
	f.Add("<worksheet><cols><col min=\"1\" max=\"2\" hidden=\"1\"/></cols><sheetData><row r=\"3\" "+
		"hidden=\"1\"><c r=\"B3\" t=\"inlineStr\"><is><r><t>_x0041_</t></r></is></c></row></sheetData>"+
		"<mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells></worksheet>", "", "", []byte(nil))
	f.Fuzz(func(t *testing.T, sheet, texts, styles string, raw []byte) {
		book := plain
		book.Parts = make(map[string]string)
		for name, text := range map[string]string{
			sheetPart: sheet, "xl/sharedStrings.xml": texts, "xl/styles.xml": styles,
		} {
			if text != "" {
				book.Parts[name] = text
			}
		}
		file := book.Bytes()
		if len(raw) > 0 {
			file = raw
		}
		path := filepath.Join(t.TempDir(), "grants.xlsx")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		fuzzFile(t, path, fmt.Sprintf("%q %q %q %q", sheet, texts, styles, raw))
	})
}
