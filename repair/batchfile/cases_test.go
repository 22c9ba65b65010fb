package batchfile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"
)

// B19: the id of a row comes from meaning, so the same file under another name, another order of
// columns or on another day gives the same ids.
func TestB19EventIDsDoNotDependOnTheFile(t *testing.T) {
	t.Parallel()
	_, a := read(t, "player_id,kind,amount,subject\np1,gems,100,rank-3\n")
	_, b := read(t, "amount;subject;kind;player_id\n100;rank-3;gems;p1\n")
	_, c := read(t, "player_id,kind,amount\np1,gems,100\n")
	if id := a[0].Request.EventID; id != "season-34:p1:rank-3:gems:v1" {
		t.Errorf("id %q", id)
	}
	if a[0].Request.EventID != b[0].Request.EventID {
		t.Errorf("%q and %q", a[0].Request.EventID, b[0].Request.EventID)
	}
	if id := c[0].Request.EventID; id != "season-34:p1::gems:v1" {
		t.Errorf("without subject: %q", id)
	}
	_, d := readWith(t, "player_id,kind,amount\np1,gems,100\n", batchfile.Options{Version: 2})
	if id := d[0].Request.EventID; id != "season-34:p1::gems:v2" {
		t.Errorf("version 2: %q", id)
	}
}

func TestB19RandomEventWarns(t *testing.T) {
	t.Parallel()
	check, _ := read(t, "player_id,kind,amount,event\n"+
		"p1,gems,1,e1\np2,gems,1,1b4e28ba-2fa1-11d2-883f-0016d3cca427\n")
	if len(check.Warnings) != 1 {
		t.Fatalf("%v", check.Warnings)
	}
	mustContain(t, check.Warnings[0].String(), "line 3", "paid again")
	check, _ = read(t, "player_id,kind,amount\n1700000000,gems,1\n")
	if check.WarningCount != 0 {
		t.Errorf("a player's digits warn: %v", check.Warnings)
	}
}

func TestB21SameKeyTwice(t *testing.T) {
	t.Parallel()
	text := "player_id,event,kind,amount\n" +
		"p1,e1,gems,100\n" + // 2
		"p2,e1,gems,100\n" + // 3
		"p3,e1,gems,1\n" + // 4
		"p1,e1,gems,100\n" + // 5
		"p4,e1,gems,1\n" + // 6
		"p2,e1,gems,250\n" + // 7
		"p5,e1,gems,1\n" + // 8
		"p1,e1,gems,100\n" // 9
	check, rows := read(t, text)
	if check.Good != 4 || check.Duplicates != 2 || check.Refused != 2 {
		t.Errorf("%+v", check)
	}
	for _, row := range rows {
		switch row.Line {
		case 5, 9:
			if row.DuplicateOf != 2 || len(row.Problems) != 0 {
				t.Errorf("line %d: %+v", row.Line, row)
			}
		case 3, 7:
			if len(row.Problems) != 1 || row.Problems[0].Field != "amount" {
				t.Fatalf("line %d: %+v", row.Line, row)
			}
			mustContain(t, row.Problems[0].Error(), fmt.Sprintf("as line %d ", 10-row.Line))
		default:
			if row.DuplicateOf != 0 || len(row.Problems) != 0 {
				t.Errorf("line %d: %+v", row.Line, row)
			}
		}
	}
	if len(check.Problems) != 2 || check.Problems[0].Line != 3 || check.Problems[1].Line != 7 {
		t.Errorf("%v", check.Problems)
	}
	want := []batchfile.KindTotal{{Kind: "gems", Rows: 4, Total: 103, Largest: 100, LargestLine: 2}}
	if fmt.Sprint(check.Kinds) != fmt.Sprint(want) || check.Players != 4 {
		t.Errorf("totals %v of %d players", check.Kinds, check.Players)
	}
}

// A duplicate of a key that turns out to clash is refused with the rest, and a long list of
// lines is cut.
func TestB21ManyLinesOfOneKey(t *testing.T) {
	t.Parallel()
	text := "player_id,event,kind,amount\n" + strings.Repeat("p1,e1,gems,100\n", 20) +
		"p1,e1,coins,100\n"
	check, rows := read(t, text)
	if check.Refused != 21 || check.ProblemCount != 21 || check.Duplicates != 0 {
		t.Errorf("%+v", check)
	}
	problem := rows[0].Problems[0]
	if problem.Field != "kind" || problem.Value != "gems" {
		t.Errorf("%+v", problem)
	}
	mustContain(t, problem.Error(), "as line 3 (100 gems) and line 4", "and 10 more")
}

func TestB24EmptyKeys(t *testing.T) {
	t.Parallel()
	check, rows := read(t, "player_id,kind,amount,event\n"+
		"p1,gems,1\n"+ // missing
		"p2,gems,1,\n"+ // empty
		"p3,gems,1,  \u00a0\n"+ // blanks only
		",gems,1,e1\n"+
		"p5,gems,1,e1\n")
	if check.Refused != 4 || check.Good != 1 {
		t.Errorf("%+v", check)
	}
	for i, field := range []string{"event", "event", "event", "player_id"} {
		p := rows[i].Problems
		if len(p) != 1 || p[0].Line != i+2 || p[0].Field != field || p[0].WayOut == "" {
			t.Errorf("line %d: %v", i+2, p)
		}
	}
	check, _ = read(t, "player_id,kind,amount,subject\np1,gems,1,\np2,gems,1, \np3,gems,1\n,,,\n")
	if check.Refused != 4 || check.Problems[0].Field != "subject" {
		t.Errorf("%+v", check)
	}
}

func TestB36SpreadsheetNumbers(t *testing.T) {
	t.Parallel()
	check, rows := read(t, "player_id,kind,amount\n7.65612E+16,gems,1\n"+
		"\"7,65612E+16\",gems,1\n76561198308210211.0,gems,1\n76561198308210211,gems,1\n")
	if check.Refused != 3 || rows[3].Request.PlayerID != "76561198308210211" {
		t.Errorf("%+v", check)
	}
	for i, row := range rows[:3] {
		if len(row.Problems) != 1 {
			t.Fatalf("%+v", row)
		}
		mustContain(t, row.Problems[0].Error(), fmt.Sprintf("line %d", i+2),
			"format the column as text")
	}
}

func TestB36LostLastDigitsWarn(t *testing.T) {
	t.Parallel()
	check, _ := read(t, "player_id,kind,amount\n76561198308210200,gems,1\n"+
		"76561198308210300,gems,1\n76561198308210411,gems,1\n")
	if check.Refused != 0 || len(check.Warnings) != 1 {
		t.Fatalf("%+v", check)
	}
	mustContain(t, check.Warnings[0].String(), "2 of 3", "00")
	check, _ = read(t, "player_id,kind,amount\n76561198308210200,gems,1\n"+
		"76561198308210312,gems,1\n76561198308210411,gems,1\n")
	if check.WarningCount != 0 {
		t.Errorf("%v", check.Warnings)
	}
}

func TestB38InvisibleCharacters(t *testing.T) {
	t.Parallel()
	check, rows := read(t, "\u00a0Player\u00a0ID ,KIND,Amount,event\n"+
		"abc,gems,1,e1\n"+
		"abc\u00a0,gems,1,e1\n"+ // trimmed: the same key
		"\u3000abc ,gems,1,e1\n"+
		"a\u200bbc,gems,1,e1\n"+
		"\ufeffabc,gems,1,e1\n"+
		"abc\u200e,gems,1,e1\n"+
		"a\u2060bc,gems,1,e1\n"+
		"a\u00a0bc,gems,1,e1\n"+
		"a bc,gems,1,e1\n"+
		"a\u202ebc,gems,1,e1\n"+
		"a\x1b[2Jc,gems,1,e1\n"+
		"a\u3164bc,gems,1,e1\n"+
		"Abc,gems,1,e1\n")
	if check.Good != 2 || check.Duplicates != 2 || check.Refused != 9 {
		t.Errorf("%+v", check)
	}
	if rows[1].DuplicateOf != 2 || rows[2].DuplicateOf != 2 {
		t.Errorf("%+v %+v", rows[1], rows[2])
	}
	for i, point := range []string{
		"U+200B", "U+FEFF", "U+200E", "U+2060", "U+00A0", "U+0020", "U+202E", "U+001B", "U+3164",
	} {
		row := rows[i+3]
		if len(row.Problems) != 1 || row.Problems[0].Line != i+5 {
			t.Fatalf("%+v", row)
		}
		mustContain(t, row.Problems[0].Problem, point)
	}
	var told []string
	for _, w := range check.Warnings {
		told = append(told, w.String())
	}
	mustContain(t, strings.Join(told, "\n"), "line 3: duplicate of line 2",
		"line 4: duplicate of line 2", `line 14: player_id "Abc" differs from the id of line 2`)
}

func TestB38LookAlikes(t *testing.T) {
	t.Parallel()
	check, _ := read(t, "player_id,kind,amount,event\n"+
		"é1,gems,1,e1\nE\u03011,Gems,1,e1\np3,gems,1,e1\np3,gems,1,E1\n")
	var told []string
	for _, w := range check.Warnings {
		told = append(told, fmt.Sprintf("%d/%d %s", w.Line, w.Other, w.Field))
	}
	if got := strings.Join(told, ","); got != "3/0 kind,3/2 player_id,5/4 reward_event_id" {
		t.Errorf("%s", got)
	}
	if check.Good != 4 || check.Players != 3 || check.PlayersTwice != 1 {
		t.Errorf("%+v", check)
	}
}

func TestB39LeadingZeros(t *testing.T) {
	t.Parallel()
	check, rows := read(t, "player_id,kind,amount,event\n00123,gems,1,007\n123,gems,1,007\n")
	if check.Players != 2 || rows[0].Request.PlayerID != "00123" ||
		rows[0].Request.EventID != "007" || rows[1].Request.PlayerID != "123" {
		t.Errorf("%+v", rows)
	}
}

func TestB40Amounts(t *testing.T) {
	t.Parallel()
	bad := []string{
		"1,234", "1.234", "1.355,90", "9,99", "10\u00a0237", "1'000", "1e3", "1_000", "5.0",
		"１００", "+5", "-5", "0", "", "9223372036854775808", "1000001", "000", "0x10", "1 000",
		"99999999999999999999999999", "12a", "=1", "٣", "½", "1000000000000",
	}
	var text strings.Builder
	text.WriteString("player_id,kind,amount\n")
	for i, amount := range bad {
		fmt.Fprintf(&text, "p%d,gems,\"%s\"\n", i, amount)
	}
	text.WriteString("good,gems,1000000\ngood2,gems, 0042 \n")
	opt := batchfile.Options{}
	opt.Limits.AmountMax = 1_000_000
	check, rows := readWith(t, text.String(), opt)
	if check.Refused != len(bad) || check.Good != 2 {
		t.Errorf("%+v", check)
	}
	for i, amount := range bad {
		p := rows[i].Problems
		if len(p) != 1 || p[0].Line != i+2 || p[0].Field != "amount" || p[0].Value != amount ||
			p[0].Problem == "" || p[0].WayOut == "" {
			t.Errorf("%q: %v", amount, p)
		}
		if rows[i].AmountText != amount {
			t.Errorf("%q is shown as %q", amount, rows[i].AmountText)
		}
	}
	if k := check.Kinds[0]; k.Total != 1000042 || k.Largest != 1000000 || k.LargestLine != 27 {
		t.Errorf("%+v", k)
	}
}

func TestB44GuardRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=1+1", "+1", "-2+3", "@x", "\t=1", "\r=1", "\"=1", "-abc", "＝1", " =1", "'=1", "''@",
	} {
		guarded := batchfile.Guard(text)
		if guarded != "'"+text {
			t.Errorf("%q is guarded as %q", text, guarded)
		}
		if back := batchfile.Unguard(guarded); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
	for _, text := range []string{"", "abc", "'abc", "a=1", "00123", "'"} {
		if batchfile.Guard(text) != text || batchfile.Unguard(text) != text {
			t.Errorf("%q is changed", text)
		}
	}
	check, rows := read(t, "player_id,kind,amount\n'-abc,gems,1\n-abc2,gems,1\n'x,gems,1\n")
	var found []string
	for _, row := range rows {
		found = append(found, row.Request.PlayerID)
	}
	if ids := strings.Join(found, " "); ids != "-abc -abc2 'x" || check.WarningCount != 1 {
		t.Errorf("%s, %v", ids, check.Warnings)
	}
}

// A stream is read twice from a private copy of which nothing is left.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := open(t, "-", batchfile.Options{
		Stdin: strings.NewReader("player_id,kind,amount\np1,gems,1\n"), TempDir: dir,
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	check, err := file.Validate(context.Background())
	if err != nil || check.Good != 1 || file.Name() != "standard input" {
		t.Errorf("%+v, %v, %s", check, err, file.Name())
	}
	_, err = tryOpen(t, "-", batchfile.Options{Stdin: strings.NewReader(""), TempDir: dir})
	var fe *batchfile.FileError
	if !errors.As(err, &fe) {
		t.Errorf("empty input: %v", err)
	}
	fault := errors.New("pulled out")
	_, err = tryOpen(t, "-", batchfile.Options{
		Stdin: io.MultiReader(strings.NewReader("player_id"), failing{fault}), TempDir: dir,
	})
	if !errors.Is(err, fault) {
		t.Errorf("broken input: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestStandardInputCanBeLeft(t *testing.T) {
	t.Parallel()
	never, end := io.Pipe()
	defer end.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := batchfile.Open(ctx, "-", batchfile.Options{Stdin: never, Campaign: "c"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
