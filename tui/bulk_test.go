package tui_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"rewardctl/repair/batchfile"
	"rewardctl/tui"
	"rewardctl/tui/paint"
	"rewardctl/tui/tuitest"
)

const outageFile = "testdata/bulk/outage.csv"

// exports takes what a console exports.
type exports struct {
	mu   sync.Mutex
	rows [][]string
}

func (e *exports) take(_ context.Context, x tui.Export) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rows = x.Rows
	if x.Each != nil {
		e.rows = nil
		if err := x.Each(func(row []string) error {
			e.rows = append(e.rows, row)
			return nil
		}); err != nil {
			return "", err
		}
	}
	return x.Name + "." + x.Format, nil
}

func (e *exports) taken() [][]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rows
}

// openFile opens the screen of a file, filled in as the command says.
func openFile(c *tuitest.Console, flags string) {
	c.Press(":")
	c.Paste("grant plan " + flags)
	c.Press("enter")
}

// From a file with other names and four bad rows to a plan: what the operator sees is what the
// command says, and what is planned.
func TestFileIsMappedCheckedExportedAndPlanned(t *testing.T) {
	t.Parallel()
	var out exports
	c := sample(t, 120, 40, func(o *tui.Options) { o.Export = out.take })
	openFile(c, outageFile+" --campaign outage-48 --reason 'it was down'")
	c.See("p-1")
	for _, guess := range []string{
		"Spieler                               player_id     GUESSED",
		"Qty                                   amount        GUESSED",
		"Note                                                not used",
		"--column player_id=Spieler --column kind=Currency --column amount=Qty",
	} {
		c.See(guess)
	}
	c.Press("ctrl+s")
	c.See("14 rows: 9 good, 4 bad, 1 repeat an earlier row")
	c.See("bad rows refuse the file")
	for _, bad := range []string{"p 4", "1,5", "is empty", "-3"} {
		c.See(bad)
	}
	c.Press("ctrl+s")
	c.See("4 rows are bad: correct the file")
	c.Press("/")
	c.Type("field:player_id")
	c.Press("enter")
	c.NotSee("1,5")
	c.Press("e", "enter") // all of them, whatever the filter shows
	c.See("4 rows written to bad-rows.csv")
	if got := out.taken(); len(got) != 4 || got[1][0] != "12" || got[1][7] != "1,5" {
		t.Errorf("exported %q", got)
	}
	c.Press("e", "down", "down", "enter")
	c.See("2 rows written to bad-rows.csv")
	c.Press("esc", "ctrl+g")
	c.See("--skip-invalid")
	c.See("ctrl+s plans the good rows")
	c.Press("ctrl+s")
	afterHold(c)
	c.See("plan 24: 9 rows, ready")
	want := []tui.PlanAsk{{
		Path: outageFile, Campaign: "outage-48", Reason: "it was down", Version: 1, SkipInvalid: true,
		Columns: []batchfile.Column{
			{Target: "player_id", Source: "Spieler"},
			{Target: "kind", Source: "Currency"},
			{Target: "amount", Source: "Qty"},
		},
	}}
	if got := c.World.Asked(); !reflect.DeepEqual(got, want) {
		t.Errorf("planned %+v", got)
	}
}

// What a column means is changed by a key; the command follows, and a check is asked for again.
func TestColumnIsReadAsChosen(t *testing.T) {
	t.Parallel()
	c := sample(t, 200, 40, nil)
	openFile(c, outageFile+" --campaign c --column subject=Note --column kind=Gone --reason r")
	c.See("the file has no column Gone, which was to be read as kind")
	c.See("--column subject=Note")
	c.Press("ctrl+s")
	c.See("14 rows")
	c.Press("tab", "tab")
	c.See("COLUMN OF THE FILE")
	c.Press("down", "enter")
	c.See("read the column Qty as")
	c.Type("not used")
	c.Press("enter")
	c.See("no column is read as amount")
	c.Press("ctrl+s")
	c.See("check: no column is read as amount")
	c.Press("enter")
	c.Type("amount")
	c.Press("enter")
	c.See("you chose it")
	c.See("▶ plan") // it is read as it was when it was checked
	c.Press("down", "enter")
	c.Type("not used")
	c.Press("enter")
	c.See("no column is read as kind")
	c.See("▶ columns")
}

// A file that changes between its check and its plan is said, and what was typed stays.
func TestChangedFileIsSaid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("player_id,kind,amount\np-1,gems,5\n")
	c := sample(t, 140, 40, nil)
	openFile(c, path+" --campaign c9 --reason why")
	c.See("its name")
	c.Press("ctrl+s")
	c.See("1 rows: 1 good")
	write("player_id,kind,amount\np-1,gems,5\np-2,gems,500\n")
	c.Press("ctrl+s")
	afterHold(c)
	c.See("the file changed after it was validated")
	c.See("--campaign c9 --reason why")
	c.Press("esc", "ctrl+r")
	c.See("2 rows: 2 good")
	c.Press("ctrl+s")
	afterHold(c)
	c.See("plan 24: 2 rows, ready")
}

// More bad rows than are shown are counted and exported, and cost a frame no more.
func TestManyBadRowsAreAllExported(t *testing.T) {
	t.Parallel()
	const rows = 21_000
	var b strings.Builder
	b.WriteString("player_id,kind,amount\n")
	for i := range rows {
		fmt.Fprintf(&b, "p-%d,gems,x\n", i)
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out exports
	c := sample(t, 120, 40, func(o *tui.Options) { o.Export = out.take })
	openFile(c, path+" --campaign c9 --reason why")
	c.See("its name")
	c.Press("ctrl+s")
	c.See("the first 20000 of 21000 problems; e exports all")
	c.See("15  amount      x")
	c.Press("e", "enter")
	c.See("21000 rows written")
	if got := len(out.taken()); got != rows {
		t.Errorf("%d rows are exported", got)
	}
}

// What a file is called and holds cannot act on the terminal.
func TestHostileFileIsHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f\x1b[31m.csv")
	text := "pl\x1b]0;x\x07ayer;\u202eQty;kind\n\x1b[2Jp;\u200b1;g\x9bems\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := sample(t, 80, 24, nil)
	c.Press(":")
	c.Type("grant plan")
	c.Press("enter")
	c.Paste(dir + "/f")
	c.Press("tab")
	c.See("31m")
	c.Press("esc")
	c.Exact()
}

func exporting(o *tui.Options) { o.Export = new(exports).take }

func bulkTour(c *tuitest.Console, golden func(name string)) {
	c.See("redis ●")
	openFile(c, "")
	c.See("COLUMN OF THE FILE")
	golden("file_empty")
	c.Press("esc")
	openFile(c, outageFile+" --campaign outage-48 --reason outage")
	c.See("GUESSED")
	golden("file_columns")
	c.Press("ctrl+s")
	c.See("4 bad")
	c.See("1,5")
	golden("file_bad")
	openFile(c, "testdata/bulk/named.jsonl --campaign outage-48 --reason outage")
	c.See("its name")
	c.Press("ctrl+s")
	c.See("1 good")
	golden("file_good")
	openFile(c, "testdata/bulk/nowhere.csv --campaign outage-48")
	c.See("no such file")
	golden("file_failed")
}

func TestGoldenFile(t *testing.T) {
	t.Parallel()
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			c := sample(t, size[0], size[1], exporting)
			bulkTour(c, func(name string) { c.Golden(fmt.Sprintf("%s_%d", name, size[0])) })
			c = sample(t, size[0], size[1], func(o *tui.Options) {
				exporting(o)
				o.Color = paint.ANSI256
			})
			bulkTour(c, func(name string) {
				c.GoldenColour(fmt.Sprintf("colour_%s_%d", name, size[0]))
			})
		})
	}
}

func TestGoldenFileInKorean(t *testing.T) {
	t.Parallel()
	for _, size := range sizes()[:2] {
		c := sample(t, size[0], size[1], func(o *tui.Options) { o.Language = "ko" })
		c.See("redis ●")
		openFile(c, outageFile+" --campaign outage-48 --reason outage")
		c.See("추측")
		c.Golden(fmt.Sprintf("ko_file_columns_%d", size[0]))
		c.Press("ctrl+s")
		c.See("오류 4")
		c.See("1,5")
		c.Golden(fmt.Sprintf("ko_file_bad_%d", size[0]))
	}
}

// A click puts the cursor on a column of the file, and later on a bad row, wherever the keys were.
func TestFileIsClicked(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, func(o *tui.Options) { o.Mouse = true })
	openFile(c, outageFile+" --campaign outage-48 --reason r")
	click := func(text string) {
		c.See(text)
		for y, line := range c.Lines() {
			if strings.Contains(line, text) {
				c.Send(fmt.Sprintf("\x1b[<0;10;%dM", y+1))
				return
			}
		}
	}
	click("  Currency ")
	c.See("▶ Currency")
	c.Press("enter")
	c.See("read the column Currency as")
	c.Press("esc", "ctrl+s")
	c.See("4 bad")
	click("1,5")
	c.Wait("the cursor on the row with 1,5", func(s string) bool {
		for _, line := range strings.Split(s, "\n") {
			if strings.Contains(line, "1,5") && strings.Contains(line, "▶") {
				return true
			}
		}
		return false
	})
	c.Press("enter")
	c.See("problem")
}
