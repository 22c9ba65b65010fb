package batchfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"

	"golang.org/x/text/encoding/unicode"
)

// readAll returns every row of a text as one line each, or why the file is refused.
func readAll(
	ctx context.Context, t testing.TB, name, text string,
) ([]string, *batchfile.Check, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := batchfile.Open(ctx, path, batchfile.Options{Campaign: "c", Actor: "a", Reason: "r"})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	check, err := f.Validate(ctx)
	if err != nil {
		return nil, nil, err
	}
	var rows []string
	for row, err := range f.Rows(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d %s %s %s %d", row.Line, row.Request.PlayerID, row.Request.EventID,
			row.Request.Kind, row.Request.Amount)
		for _, p := range row.Problems {
			line += " | " + p.Field + " " + p.Problem
		}
		if row.DuplicateOf > 0 {
			line += fmt.Sprintf(" = %d", row.DuplicateOf)
		}
		rows = append(rows, line)
	}
	return rows, check, nil
}

// JSON lines give the same grants as the same rows in CSV.
func TestJSONLinesGrantWhatCSVGrants(t *testing.T) {
	t.Parallel()
	csv := "player_id,subject,kind,amount\n00123,rank-1,gems,5\n123,rank-1,gems,5\n'=1+1,x,gems,7\n" +
		"00123,rank-1,gems,5\n"
	lines := `{"player_id": "00123", "subject": "rank-1", "kind": "gems", "amount": 5}

{"amount": "5", "kind": "gems", "subject": "rank-1", "player_id": 123}
{"player_id": "=1+1", "subject": "x", "kind": "gems", "amount": 7}
{"player_id": "00123", "subject": "rank-1", "kind": "gems", "amount": 5}
`
	want, _, err := readAll(t.Context(), t, "a.csv", csv)
	if err != nil {
		t.Fatal(err)
	}
	strip := func(rows []string) string {
		var out []string
		for _, row := range rows {
			_, rest, _ := strings.Cut(row, " ")
			before, _, _ := strings.Cut(rest, " = ")
			out = append(out, before)
		}
		return strings.Join(out, "\n")
	}
	marked, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(lines)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plain": lines, "mark": "\ufeff" + lines, "CRLF": strings.ReplaceAll(lines, "\n", "\r\n"),
		"CR": strings.ReplaceAll(lines, "\n", "\r"), "UTF-16": marked,
		"no final end": strings.TrimSuffix(lines, "\n"),
	} {
		got, check, err := readAll(t.Context(), t, "a.jsonl", text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strip(got) != strip(want) || check.Duplicates != 1 || check.Good != 3 {
			t.Errorf("%s:\n%s\nwant\n%s", name, strip(got), strip(want))
		}
		if !strings.HasPrefix(got[1], "3 ") || !strings.HasSuffix(got[3], " = 1") {
			t.Errorf("%s: the lines are %q", name, got)
		}
	}
}

// B36, B38, B40 hold for JSON lines too: what is ambiguous is refused with its line.
func TestJSONLinesRefuseWhatIsAmbiguous(t *testing.T) {
	t.Parallel()
	const changed = "player_id is a number whose digits programs may change"
	for object, says := range map[string]string{
		`"player_id":76561198308210211`:          changed,
		`"player_id":7.65612E+16`:                changed,
		`"player_id":"7.65612E+16"`:              "player_id is a number in scientific notation",
		`"player_id":"p\u200b1"`:                 "player_id contains U+200B",
		`"player_id":"p\u00001"`:                 "player_id contains U+0000",
		`"player_id":"p\ud800"`:                  "player_id contains U+FFFD",
		`"player_id":null`:                       "player_id is empty",
		`"player_id":{"a":1}`:                    "player_id is neither a text nor a number",
		`"player_id":"p","player_id":"q"`:        "player_id is there twice",
		`"player_id":"p","amount":1.5`:           "amount has a separator",
		`"player_id":"p","amount":1e3`:           "amount is in scientific notation",
		`"player_id":"p","amount":-5`:            "amount is negative",
		`"player_id":"p","amount":0`:             "amount is not above zero",
		`"player_id":"p","amount":true`:          "amount is neither a text nor a number",
		`"player_id":"p","amount":"1,000"`:       "amount has a separator",
		`"player_id":"p","amount":9223372036854`: "amount is over the limit",
	} {
		line := `{"kind":"gems",` + object
		if !strings.Contains(object, "amount") {
			line += `,"amount":1`
		}
		rows, check, err := readAll(t.Context(), t, "a.jsonl",
			`{"player_id":"first","kind":"gems","amount":1}`+"\n"+line+"}\n")
		if err != nil || check.Refused != 1 || !strings.Contains(rows[1], says) {
			t.Errorf("%s: %q, %v", object, rows, err)
		}
	}
}

func TestJSONLinesRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	const good = `{"player_id":"p","kind":"gems","amount":1}` + "\n"
	for text, want := range map[string]struct {
		line int
		says string
	}{
		`[{"player_id":"p"}]`:                                               {0, "JSON array"},
		`{"player_id":"p","kind":"gems"}` + "\n":                            {1, "key amount is missing"},
		good + `{"player_id":"p","kind":"gems","amount":1,"subject":"s"}`:   {2, "not in the first line"},
		good + `{"player_id":"p","kind":"gems","amount":1`:                  {2, "no JSON object"},
		good + `{"player_id":"p","kind":"gems","amount":1} {"player_id":1}`: {2, "something follows"},
		good + `"text"`:                      {2, "no JSON object"},
		good + "{\"player_id\":\"\xff\"}":    {2, "not UTF-8"},
		good + "\n\nplayer_id,kind\n":        {4, "no JSON object"},
		good + strings.Repeat(" ", 1<<20+10): {2, "longer than"},
	} {
		_, _, err := readAll(t.Context(), t, "a.jsonl", text)
		var fe *batchfile.FileError
		if !errors.As(err, &fe) || fe.Line != want.line || !strings.Contains(fe.Problem, want.says) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

// FuzzJSONLines: whatever the text, every line is counted once, and what is good survives as it
// was written.
func FuzzJSONLines(f *testing.F) {
	f.Add(`{"player_id":"p","kind":"gems","amount":1}`)
	f.Add("{\"player_id\":\"p\",\"kind\":\"gems\",\"amount\":1}\n{\"player_id\":1,\"kind\":\"\"}")
	f.Add(`{"player_id":"\ud800","kind":"g","amount":"1","x":[{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		rows, check, err := readAll(t.Context(), t, "a.jsonl", text)
		if err != nil {
			return
		}
		if check.Rows != check.Good+check.Duplicates+check.Refused || len(rows) != check.Rows {
			t.Fatalf("%d rows, %+v", len(rows), check)
		}
		var first map[string]any
		if json.Unmarshal([]byte(text), &first) == nil && check.Good == 1 {
			if id, is := first["player_id"].(string); is && !strings.Contains(rows[0],
				strings.TrimSpace(id)) {
				t.Fatalf("%q became %q", text, rows[0])
			}
		}
	})
}
