package batchfile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"

	"pgregory.net/rapid"
)

// Whatever rows a file has, each is counted once, and what the tables settle is what a plain
// comparison of all pairs settles.
func TestEachRowCountsOnce(t *testing.T) {
	t.Parallel()
	type line struct {
		player, event, kind string
		amount              int
	}
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) line {
			return line{
				rapid.SampledFrom([]string{"p1", "P1", "p2", "", "p\u200b"}).Draw(rt, "player"),
				rapid.SampledFrom([]string{"e1", "e2", "E1", " "}).Draw(rt, "event"),
				rapid.SampledFrom([]string{"gems", "coins"}).Draw(rt, "kind"),
				rapid.IntRange(0, 2).Draw(rt, "amount"),
			}
		}), 1, 40).Draw(rt, "lines")
		var text strings.Builder
		text.WriteString("player_id,event,kind,amount\n")
		for _, l := range lines {
			fmt.Fprintf(&text, "%s,%s,%s,%d\n", l.player, l.event, l.kind, l.amount)
		}
		bad := func(l line) bool {
			return l.player == "" || l.player == "p\u200b" || l.event == " " || l.amount == 0
		}
		_, rows := read(t, text.String())
		for i, l := range lines {
			clash, first := false, 0
			for j, other := range lines {
				if bad(other) || other.player != l.player || other.event != l.event {
					continue
				}
				clash = clash || other != l
				if j < i && first == 0 {
					first = j + 2
				}
			}
			refused := bad(l) || clash
			if refused {
				first = 0
			}
			row := rows[i]
			if row.Line != i+2 || (len(row.Problems) > 0) != refused || row.DuplicateOf != first {
				rt.Fatalf("row %d of %q: %+v; want refused %v, duplicate of %d", i, text.String(),
					row, refused, first)
			}
		}
	})
}

// FuzzRead looks for texts that crash the reader, that the two passes read differently, or of
// which a row is lost.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		fiveRows, "\ufeff" + fiveRows, "sep=;\nplayer_id;kind;amount\np1;gems;1\n",
		"player_id,kind,amount\rp1,gems,1\rp1,gems,2\r", "\xff\xfep\x00", "\"", "a\"b",
		"player_id,kind,amount,event\np1,gems,1,e1\np1,gems,1,e1\n'=1,\"a\"\"b\",１,x\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzFile(t, write(t, string(text)), fmt.Sprintf("%q", text))
	})
}

// fuzzFile reads a file that may be anything: it is refused with words, or each of its rows is
// counted once and given once.
func fuzzFile(t *testing.T, path, text string) {
	t.Helper()
	file, err := tryOpen(t, path, batchfile.Options{})
	var check *batchfile.Check
	if err == nil {
		check, err = file.Validate(context.Background())
	}
	if err != nil {
		var fe *batchfile.FileError
		if !errors.As(err, &fe) || fe.Name == "" || fe.Problem == "" || fe.WayOut == "" {
			t.Fatalf("%s: %v", text, err)
		}
		return
	}
	rows, good, line := 0, 0, 1
	for row, err := range file.Rows(context.Background()) {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if row.Line <= line {
			t.Fatalf("%s: line %d after line %d", text, row.Line, line)
		}
		rows, line = rows+1, row.Line
		if len(row.Problems) == 0 && row.DuplicateOf == 0 {
			good++
		}
	}
	if rows != check.Rows || good != check.Good ||
		check.Good+check.Duplicates+check.Refused != check.Rows {
		t.Fatalf("%s: %d rows, %d good, check %+v", text, rows, good, check)
	}
}

func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"=1", "'=1", "\"-", " \t", "''"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		guarded := batchfile.Guard(text)
		if batchfile.Unguard(guarded) != text {
			t.Fatalf("%q becomes %q becomes %q", text, guarded, batchfile.Unguard(guarded))
		}
		if guarded != "" && strings.IndexByte("=+-@\t\r\n", guarded[0]) >= 0 {
			t.Fatalf("%q is not guarded", text)
		}
	})
}
