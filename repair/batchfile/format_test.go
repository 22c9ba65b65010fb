package batchfile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"

	"golang.org/x/text/encoding/unicode"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fiveRows is the file of B37 in its plain form.
const fiveRows = "player_id,kind,amount,note\n" +
	"p1,gems,1,\"a, b\"\n" +
	"p2,gems,2,\"c;d;e;f;g\"\n" +
	"p3,gems,3,\n" +
	"p4,\"gems\",4,\"two\nlines\"\n" +
	"p5,gems,5,é\n"

func utf16(t *testing.T, order unicode.Endianness, text string) string {
	t.Helper()
	out, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// B37: the same five rows in every form that spreadsheets write.
func TestB37Forms(t *testing.T) {
	t.Parallel()
	semicolons := strings.NewReplacer(`"a, b"`, `a, b`, `"c;d;e;f;g"`, `"c;d;e;f;g"`)
	withSemicolons := strings.NewReplacer(
		"player_id,kind,amount,note", "player_id;kind;amount;note",
		"p1,gems,1,", "p1;gems;1;", "p2,gems,2,", "p2;gems;2;", "p3,gems,3,", "p3;gems;3;",
		"p4,\"gems\",4,", "p4;\"gems\";4;", "p5,gems,5,", "p5;gems;5;")
	semicolon := semicolons.Replace(withSemicolons.Replace(fiveRows))
	forms := map[string]string{
		"plain":               fiveRows,
		"mark":                "\ufeff" + fiveRows,
		"mark, quoted header": "\ufeff\"player_id\"" + strings.TrimPrefix(fiveRows, "player_id"),
		"UTF-16LE":            utf16(t, unicode.LittleEndian, fiveRows),
		"UTF-16BE":            utf16(t, unicode.BigEndian, fiveRows),
		"semicolons":          semicolon,
		"sep line":            "sep=;\n" + semicolon,
		"quoted sep line":     "\ufeff\"sep=;\"\r\n" + semicolon,
		"tabs":                strings.ReplaceAll(withSemicolons.Replace(fiveRows), ";", "\t"),
		"CRLF":                strings.ReplaceAll(fiveRows, "\n", "\r\n"),
		"CR":                  strings.ReplaceAll(fiveRows, "\n", "\r"),
		"no final line end":   strings.TrimSuffix(fiveRows, "\n"),
		"trailing column": strings.NewReplacer("note\n", "note,\n", "b\"\n", "b\",\n",
			"g\"\n", "g\",\n", "3,\n", "3,,\n").Replace(fiveRows),
		"trailing separators": strings.NewReplacer("b\"\n", "b\",\n", "3,\n", "3,,,\n").
			Replace(fiveRows),
		"blank lines": strings.ReplaceAll(fiveRows, "\np", "\n\np"),
	}
	for name, text := range forms {
		check, rows := read(t, text)
		var got []string
		for _, row := range rows {
			r := row.Request
			got = append(got, fmt.Sprintf("%s %s %d", r.PlayerID, r.Kind, r.Amount))
		}
		want := "p1 gems 1,p2 gems 2,p3 gems 3,p4 gems 4,p5 gems 5"
		if strings.Join(got, ",") != want || check.Good != 5 {
			t.Errorf("%s: %v, %+v", name, got, check)
		}
		mustContain(t, check.Warnings[0].String(), "columns that are not used: note")
	}
}

// Line numbers are physical: what an editor shows.
func TestLineNumbersAreTrue(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll("player_id,note,kind,amount\n"+ // 1
			"p1,\"one\ntwo\n\nthree\",gems,1\n"+ // 2 to 5
			"\n"+ // 6
			"p2,\"x\",gems,2\n"+ // 7
			"p3,\"\n\",gems,3\n"+ // 8 and 9
			"p4,,gems,4", "\n", end) // 10
		_, rows := read(t, text)
		var lines []int
		for _, row := range rows {
			lines = append(lines, row.Line)
		}
		if fmt.Sprint(lines) != "[2 7 8 10]" {
			t.Errorf("line end %q: %v", end, lines)
		}
	}
}

// TestRefusedWhole shows what a person reads about files that are refused as a whole.
func TestRefusedWhole(t *testing.T) {
	t.Parallel()
	const header = "player_id,kind,amount\n"
	files := []struct{ name, text string }{
		{"empty", ""},
		{"only a mark", "\ufeff"},
		{"only blank lines", "\n\n\r\n"},
		{"header only", header},
		{"sep line only", "sep=;\n"},
		{"no header", "p1,gems,100\n"},
		{"missing column", "player_id,kind,amont\np1,gems,1\n"},
		{"two missing columns", "player_id;name\np1;x\n"},
		{"column twice", "player_id,kind,amount,Amount\n"},
		{"two event columns", "player_id,kind,amount,event,reward_event_id\n"},
		{"unknown separator", "player_id:kind:amount\np1:gems:1\n"},
		{"unknown sep line", "sep=#\nplayer_id#kind#amount\n"},
		{"sep line against header", "sep=;\n" + header + "p1,gems,1\n"},
		{"bare quote", header + "p1,gems,1\np\"2,gems,1\n"},
		{"text after quote", header + "\"p1\"x,gems,1\n"},
		{"open quote", header + "p1,gems,1\n\"p2,gems,1\np3,gems,1\n"},
		{"open quote in header", "\"player_id,kind,amount\np1,gems,1\n"},
		{"NUL", header + "p1,gems,1\np2,ge\x00ms,1\n"},
		{"NUL far behind", header + strings.Repeat("p1,gems,1\n", 100) + "p\x00\n"},
		{"Latin-1", header + "p1,gems,1\nJos\xe9,gems,1\n"},
		{"UTF-16 without mark", "p\x00l\x00a\x00y\x00"},
		{"UTF-16 cut off", "\xff\xfep\x00l"},
		{"UTF-32", "\xff\xfe\x00\x00p\x00\x00\x00"},
		{"compressed", "\x1f\x8brest"},
		{"endless row", header + strings.Repeat("x", 1<<21) + "\n"},
		{"endless quote", header + "p1,gems,1\n\"" + strings.Repeat("x\n", 1<<20) + "\n"},
	}
	var got strings.Builder
	for _, f := range files {
		text := refusal(t, f.text)
		_, text, found := strings.Cut(text, "grants.csv")
		if !found {
			t.Errorf("%s: the file is not named: %s", f.name, text)
		}
		fmt.Fprintf(&got, "%-24s FILE%s\n", f.name, text)
	}
	golden(t, "refused.txt", got.String())
}

// TestProblemTexts shows what a person reads about rows.
func TestProblemTexts(t *testing.T) {
	t.Parallel()
	check, _ := read(t, "player_id,kind,amount,event,note\n"+
		"7.65612E+16,gems,\"1,234\",e1,\n"+
		"p\u200b1,,1e3,e1,\n"+
		"p1,gems,-5,e1,\n"+
		"p1,gems,+5,e1\n"+
		"p1,gems,5.0,e1\n"+
		"p1,gems,５,e1\n"+
		"p1,gems,many,e1\n"+
		"p1,gems,0,e1\n"+
		"p1,gems,2000000000,e1\n"+
		"p1,gems\n"+
		"p1,gems,1,e1,note,more\n"+
		",,,,\n"+
		"123.0,gems,1,e1\n"+
		"\"76,561,198\",gems,1,e1\n"+
		strings.Repeat("p", 201)+",gems,1,e1\n"+
		"p1,Gold Coins,1,e1\n"+
		"p2,Gold  Coins,1,e1\n"+
		"p3,gems,1,e3\np3,gems,2,e3\np3,gems,1,e3\n"+
		"p4,gems,1,e4\np4,coins,1,e4\n"+
		"p5,gems,1,e5\np5,gems,1,e5\nP5,gems,1,e5\n")
	var got strings.Builder
	for _, p := range check.Problems {
		fmt.Fprintln(&got, p.Error())
	}
	fmt.Fprintf(&got, "\n")
	for _, w := range check.Warnings {
		fmt.Fprintln(&got, w.String())
	}
	fmt.Fprintf(&got, "\n%d rows: %d good, %d duplicates, %d refused for %d problems\n",
		check.Rows, check.Good, check.Duplicates, check.Refused, check.ProblemCount)
	golden(t, "problems.txt", got.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", name, got)
	}
}

func TestProblemsAreBoundedButCounted(t *testing.T) {
	t.Parallel()
	streamed := 0
	check, _ := readWith(t, "player_id,kind,amount\n"+strings.Repeat("p1,gems,x\n", 500),
		batchfile.Options{KeepMax: 7, OnProblem: func(batchfile.Problem) { streamed++ }})
	if len(check.Problems) != 7 || check.ProblemCount != 500 || streamed != 500 {
		t.Errorf("%d kept, %d counted, %d streamed", len(check.Problems), check.ProblemCount,
			streamed)
	}
}

func TestRowsMax(t *testing.T) {
	t.Parallel()
	file := open(t, write(t, "player_id,kind,amount\np1,gems,1\np2,gems,1\np3,gems,1\n"),
		batchfile.Options{RowsMax: 2})
	_, err := file.Validate(context.Background())
	var fe *batchfile.FileError
	if !errors.As(err, &fe) || fe.Line != 4 {
		t.Errorf("%v", err)
	}
}

func TestCampaignIsNeeded(t *testing.T) {
	t.Parallel()
	path := write(t, "player_id,kind,amount\np1,gems,1\n")
	_, err := batchfile.Open(context.Background(), path, batchfile.Options{})
	if err == nil {
		t.Fatal("opened without a campaign")
	}
	mustContain(t, err.Error(), "--campaign", path)
	path = write(t, "player_id,kind,amount,event\np1,gems,1,e1\n")
	file, err := batchfile.Open(context.Background(), path, batchfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	_, err := tryOpen(t, filepath.Join(t.TempDir(), "none.csv"), batchfile.Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	var fe *batchfile.FileError
	if _, err := tryOpen(t, t.TempDir(), batchfile.Options{}); !errors.As(err, &fe) {
		t.Errorf("%v", err)
	}
}

// A file that changes between the passes is noticed before a changed row is given.
func TestChangedFileIsNoticed(t *testing.T) {
	t.Parallel()
	const text = "player_id,kind,amount\np1,gems,1\np2,gems,2\np3,gems,3\n"
	for name, changed := range map[string]string{
		"amount":    strings.Replace(text, "p2,gems,2", "p2,gems,9", 1),
		"separator": strings.Replace(text, "p2,gems,2", "p2,gem,s2", 1),
		"shorter":   "player_id,kind,amount\np1,gems,1\n",
		"broken":    strings.Replace(text, "p2,gems,2", "p\"2,gems,", 1),
		"replaced":  "",
	} {
		path := write(t, text)
		file := open(t, path, batchfile.Options{})
		for range file.Rows(context.Background()) {
			break
		}
		if _, err := file.Validate(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		var given []string
		var last error
		for row, err := range file.Rows(context.Background()) {
			if err != nil {
				last = err
				continue
			}
			given = append(given, row.Request.PlayerID)
		}
		if !errors.Is(last, batchfile.ErrChanged) || len(given) > 1 {
			t.Errorf("%s: rows %v, then %v", name, given, last)
		}
	}
}

func TestRowsNeedValidate(t *testing.T) {
	t.Parallel()
	file := open(t, write(t, fiveRows), batchfile.Options{})
	for _, err := range file.Rows(context.Background()) {
		if !errors.Is(err, batchfile.ErrNotValidated) {
			t.Errorf("%v", err)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	file := open(t, write(t, fiveRows), batchfile.Options{})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := file.Validate(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := file.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, err := range file.Rows(gone) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	path := write(t, fiveRows)
	file := open(t, path, batchfile.Options{})
	other := filepath.Join(filepath.Dir(path), "other.csv")
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{path: true, other: true, path + "x": false} {
		if same, err := file.Same(name); same != want || err != nil {
			t.Errorf("%s: %v, %v", name, same, err)
		}
	}
}
