package batchfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"
	"rewardctl/repair/batchfile/workbook/booktest"
)

// german are the columns of the files below.
func german() []batchfile.Column {
	return []batchfile.Column{
		{Target: "player_id", Source: "Spieler"},
		{Target: "kind", Source: "Art"},
		{Target: "amount", Source: "Menge"},
		{Target: "subject", Source: "Rang"},
	}
}

// inForms writes the same rows as every form of file.
func inForms(t testing.TB) map[string]string {
	t.Helper()
	const csv = "Rang;Notiz;SPIELER;Art;Menge\nr1;x;p1;gems;5\nr2;;p2;gold;7\n"
	const jsonl = `{"Rang":"r1","Spieler":"p1","Art":"gems","Menge":5,"Notiz":"x"}` + "\n" +
		`{"spieler":"p2","Rang":"r2","Art":"gold","Menge":"7"}` + "\n"
	dir := t.TempDir()
	paths := map[string]string{"xlsx": writeBook(t, booktest.Book{Sheets: []booktest.Sheet{{
		Name: "S", Rows: booktest.Table(
			[]string{"Rang", "Spieler", "Notiz", "Art", "Menge"}, []string{"r1", "p1", "", "gems", "5"},
			[]string{"r2", "p2", "", "gold", "7"},
		),
	}}})}
	for name, text := range map[string]string{"csv": csv, "jsonl": jsonl} {
		paths[name] = filepath.Join(dir, "f."+name)
		if err := os.WriteFile(paths[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestNamedColumnsAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	want := []string{"p1 season-34:p1:r1:gems:v1 gems 5", "p2 season-34:p2:r2:gold:v1 gold 7"}
	for form, path := range inForms(t) {
		file := open(t, path, batchfile.Options{Columns: german()})
		if _, err := file.Validate(t.Context()); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		var got []string
		for row, err := range file.Rows(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			r := row.Request
			got = append(got, fmt.Sprintf("%s %s %s %d", r.PlayerID, r.EventID, r.Kind, r.Amount))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", form, got)
		}
		if !slices.Equal(file.Columns(), german()) {
			t.Errorf("%s: its columns are %v", form, file.Columns())
		}
	}
}

// A column that was named is meant, whatever else has the name of its target.
func TestNamedColumnIsMeantBeforeOneOfTheName(t *testing.T) {
	t.Parallel()
	check, rows := readWith(t, "player_id,account,kind,amount\np1,a1,gems,1\n",
		batchfile.Options{Columns: []batchfile.Column{{Target: "player_id", Source: "Account"}}})
	if len(rows) != 1 || rows[0].Request.PlayerID != "a1" {
		t.Fatalf("%+v", rows)
	}
	mustContain(t, check.Warnings[0].String(), "not used: player_id")
}

func TestColumnsAreRefused(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		columns string // blanks separate
		says    []string
	}{
		{"gold=Art", []string{`"gold=Art"`, "names no column of grants", "player_id, kind, amount"}},
		{"=Art", []string{"names no column of grants"}},
		{"kind=", []string{`"kind="`, "names no column of the file"}},
		{"kind=\u200b", []string{"names no column of the file"}},
		{"kind", []string{`"kind"`, "--column player_id=NAME"}},
		{"kind=Art kind=Typ", []string{`"kind=Typ"`, `a second column, beside "Art"`, "keep one"}},
		{"event=a reward_event_id=b", []string{"gives event a second column"}},
		{"kind=Art amount=art", []string{`"amount=art"`, "read as kind already", "once"}},
	} {
		_, err := batchfile.ParseColumns(strings.Fields(one.columns))
		var no *grant.Rejection
		if !errors.As(err, &no) || no.Field != "column" {
			t.Errorf("%s: %v", one.columns, err)
			continue
		}
		mustContain(t, err.Error(), one.says...)
	}
	for form, path := range inForms(t) {
		for _, one := range []struct {
			columns string
			says    []string
		}{
			{"player_id=Spielerin kind=Art amount=Menge", []string{
				`"Spielerin" (for player_id) is missing`, `"Art"`, `"Menge"`, "--column TARGET=NAME",
			}},
			{"player_id=nobody", []string{`"nobody" (for player_id)`, "kind", "amount", `"Art"`}},
			{"player_id=Spieler", []string{"kind and the", "amount is missing", "--column"}},
			{"player_id=Spieler kind=Art amount=Menge event=Beleg", []string{
				`"Beleg" (for event) is missing`,
			}},
			{"player_id=Spieler kind=Art amount=Menge event=Notiz subject=Rang", []string{
				`"Rang" (for subject) would not be used`,
			}},
		} {
			columns, err := batchfile.ParseColumns(strings.Fields(one.columns))
			if err != nil {
				t.Fatal(err)
			}
			_, err = tryOpen(t, path, batchfile.Options{Columns: columns})
			var fe *batchfile.FileError
			if !errors.As(err, &fe) {
				t.Errorf("%s, %s: %v", form, one.columns, err)
				continue
			}
			if form == "xlsx" || fe.Line == 1 {
				mustContain(t, err.Error(), one.says...)
			} else {
				t.Errorf("%s, %s: line %d: %v", form, one.columns, fe.Line, err)
			}
		}
	}
}

// The columns of a file are found, and what they could mean is guessed, never taken.
func TestLookAt(t *testing.T) {
	t.Parallel()
	for form, path := range inForms(t) {
		look, err := batchfile.LookAt(t.Context(), path, batchfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range look.Columns {
			got[strings.ToLower(c.Name)] = c.Target + "?" + c.Guess + " " + c.Sample
		}
		for name, want := range map[string]string{
			"spieler": "?player_id p1", "art": "?kind gems", "menge": "?amount 5", "rang": "?subject r1",
		} {
			if got[name] != want {
				t.Errorf("%s: %s is %q, want %q", form, name, got[name], want)
			}
		}
		look, err = batchfile.LookAt(t.Context(), path, batchfile.Options{Columns: german()[:2]})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range look.Columns {
			if strings.EqualFold(c.Name, "spieler") && (c.Target != "player_id" || c.Guess != "") {
				t.Errorf("%s: %+v", form, c)
			}
		}
	}
}

func TestLookAtOffersSheets(t *testing.T) {
	t.Parallel()
	row := func(cells ...string) []string { return cells }
	path := writeBook(t, booktest.Book{Sheets: []booktest.Sheet{
		{Name: "Old", Rows: booktest.Table(row("user", "item", "qty"), row("p1", "gems", "1"))},
		{Name: "New", Rows: booktest.Table(row("user", "item", "qty"), row("p2", "gems", "2"))},
		{Name: "Secret", State: "hidden", Rows: booktest.Table(row("x"))},
	}})
	look, err := batchfile.LookAt(t.Context(), path, batchfile.Options{})
	if err != nil || !slices.Equal(look.Sheets, []string{"Old", "New"}) || look.Columns != nil {
		t.Fatalf("%+v, %v", look, err)
	}
	look, err = batchfile.LookAt(t.Context(), path, batchfile.Options{Sheet: "new"})
	if err != nil || look.Sheet != "New" || len(look.Columns) != 3 ||
		look.Columns[0].Sample != "p2" || look.Columns[2].Guess != "amount" {
		t.Fatalf("%+v, %v", look, err)
	}
	if _, err = batchfile.LookAt(t.Context(), path, batchfile.Options{Sheet: "none"}); err == nil {
		t.Error("a sheet that is not there is not refused")
	}
}

// A file that grew, or whose name leads to another one, is not what was validated.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	const text = "player_id,kind,amount\np1,gems,1\n"
	path := write(t, text)
	file := open(t, path, batchfile.Options{})
	if _, err := file.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := file.Unchanged(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"p2,gems,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := file.Unchanged(); !errors.Is(err, batchfile.ErrChanged) {
		t.Errorf("a longer file: %v", err)
	}
	file = open(t, path, batchfile.Options{})
	other := write(t, text+"p3,gems,1\n")
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := file.Unchanged(); !errors.Is(err, batchfile.ErrChanged) {
		t.Errorf("another file under the name: %v", err)
	}
	piped := open(t, "-", batchfile.Options{Stdin: strings.NewReader(text)})
	if err := piped.Unchanged(); err != nil {
		t.Errorf("standard input: %v", err)
	}
}
