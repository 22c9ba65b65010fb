package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"rewardctl/repair/batchfile"
)

// hostile are texts that would drive a terminal or hide what follows (B45).
var hostile = [...]string{
	"\x1b[2J", "\x1b[6n", "\x1b]0;title\a", "\x1b]52;c;aGk=\a", "\x1b]52;c;aGk", "\x1bPq\x1b\\",
	"\u009b2J", "\x9b2J", "a\rb", "\a", "x\u202ey", "zero\u200bwidth", "line\nbreak", "\x7f",
}

func testApp(format string) (*app, *bytes.Buffer, *bytes.Buffer) {
	var out, messages bytes.Buffer
	a := &app{process: process{
		stdin: strings.NewReader(""), stdout: &out, stderr: &messages,
		env: func(string) string { return "" }, now: time.Now,
	}}
	a.output = format
	return a, &out, &messages
}

func acts(s string) bool {
	for _, r := range s {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) ||
			r == unicode.ReplacementChar && !strings.Contains(s, "�")) {
			return true
		}
	}
	return false
}

func TestB45NothingHostileReachesTheTerminal(t *testing.T) {
	t.Parallel()
	for _, name := range hostile {
		a, out, messages := testApp("table")
		l := listing{
			columns: columns("player", "amount"),
			rows:    [][]cell{{text(name + "TAIL"), number(1)}, {text("p"), number(22)}},
		}
		if err := a.print(l); err != nil {
			t.Fatal(err)
		}
		if err := a.printOne(nil, []field{{"player", text(name + "TAIL")}}); err != nil {
			t.Fatal(err)
		}
		a.say("player %s", name+"TAIL")
		a.report(notFound("player", name, "look at "+name, "player %s is not known", name+"TAIL"))
		for where, text := range map[string]string{"stdout": out.String(), "stderr": messages.String()} {
			if acts(text) {
				t.Errorf("%q reaches %s as %q", name, where, text)
			}
			if strings.Count(text, "TAIL") != 2 {
				t.Errorf("%q hides what follows on %s: %q", name, where, text)
			}
		}
		if lines := strings.Count(out.String(), "\n"); lines != 4 {
			t.Errorf("%q makes %d lines of 4: %q", name, lines, out.String())
		}
	}
}

func TestB45JSONEscapes(t *testing.T) {
	t.Parallel()
	for _, name := range append(hostile[:], "plain", "日本語", "emoji \U0001f600", "tag \U000e0041") {
		var out bytes.Buffer
		if err := writeJSON(&out, map[string]string{"player": name}, false); err != nil {
			t.Fatal(err)
		}
		if acts(strings.ReplaceAll(out.String(), "\\ufffd", "")) {
			t.Errorf("%q is written as %q", name, out.String())
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if want := strings.ToValidUTF8(name, "\ufffd"); back["player"] != want {
			t.Errorf("%q comes back as %q", name, back["player"])
		}
	}
}

func TestB44CSVGuardsTextAndLeavesNumbers(t *testing.T) {
	t.Parallel()
	names := []string{"=1+1", "+1", "-2+3", "@x", "\t=1", "\r=1", `"=1`, "'=1", "-abc", "plain"}
	for _, name := range names {
		a, out, _ := testApp("csv")
		l := listing{columns: columns("player_id", "amount"), rows: [][]cell{{text(name), number(-5)}}}
		if err := a.print(l); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		got := records[1]
		if strings.ContainsAny(got[0][:1], "=+-@\t\r") {
			t.Errorf("%q is exported as %q", name, got[0])
		}
		if back := batchfile.Unguard(got[0]); strings.TrimSuffix(back, "\r") !=
			strings.TrimSuffix(name, "\r") {
			t.Errorf("%q comes back as %q", name, back)
		}
		if got[1] != "-5" {
			t.Errorf("the amount is exported as %q", got[1])
		}
		a.raw = true
		out.Reset()
		if err := a.print(l); err != nil {
			t.Fatal(err)
		}
		if records, err = csv.NewReader(out).ReadAll(); err != nil || records[1][0] != name {
			t.Errorf("--raw exports %q as %q (%v)", name, records, err)
		}
	}
}

func TestTableAligns(t *testing.T) {
	t.Parallel()
	a, out, _ := testApp("table")
	l := listing{columns: columns("player_id", "amount", "why"), rows: [][]cell{
		{text("日本"), number(5), text("x")}, {text("p-1001"), number(12345), text("")},
	}}
	if err := a.print(l); err != nil {
		t.Fatal(err)
	}
	want := "PLAYER ID  AMOUNT  WHY\n日本            5  x\np-1001      12345\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestEmptyListings(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"table": "", "json": "[]\n", "jsonl": "", "csv": "player\n",
	} {
		a, out, messages := testApp(format)
		err := a.print(listing{columns: columns("player"), empty: "no player"})
		if err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", format, out.String(), err)
		}
		if format == "table" && messages.String() != "no player\n" {
			t.Errorf("table says %q", messages.String())
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", 999 * time.Millisecond: "999ms", 4200 * time.Millisecond: "4.2s",
		200 * time.Second: "3m20s", -time.Second: "-1.0s",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

func TestOutputArgument(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"lease list -o json": "json", "lease list --output=jsonl": "jsonl", "-ojson x": "json",
		"x --output csv": "csv", "x -o=json": "json", "x": "", "x -- -o json": "", "x -o": "",
	} {
		if got := outputArgument(strings.Fields(line)); got != want {
			t.Errorf("%q asks for %q, want %q", line, got, want)
		}
	}
}
