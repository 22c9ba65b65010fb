package tui_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"rewardctl/grant"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

func lookUp(c *tuitest.Console, player string) {
	c.Type(player)
	c.Press("enter")
	c.See("Player › " + player)
}

// The empty screen says what can be typed, and offers who was looked at, in this console and in
// the one before.
func TestPlayersLookedAtAreOffered(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var state []byte
	keep := func(o *tui.Options) {
		o.SaveState = func(raw []byte) {
			mu.Lock()
			defer mu.Unlock()
			state = raw
		}
	}
	c := sample(t, 120, 32, keep)
	c.World.Post(grant.Request{PlayerID: "player-77", EventID: "e:1", Kind: "gems", Amount: 5})
	c.Press("2")
	c.See("a player's id")
	c.See("how a name or an id begins")
	c.See("a line of a ticket, pasted")
	c.See("who was looked at is listed here")
	lookUp(c, "player-42")
	c.See("4 entries")
	c.Press("s")
	lookUp(c, "player-77")
	c.See("1 entries")
	c.Press("s")
	c.See("▶ player-77")
	c.Press("down")
	c.See("▶ player-42")
	c.Press("enter")
	c.See("4 entries")
	c.Press("s")
	c.See("▶ player-42") // it is the newest now
	c.Press("esc")
	c.See("4 entries")
	c.Stop()
	_ = c.End()
	mu.Lock()
	defer mu.Unlock()
	again := sample(t, 120, 32, func(o *tui.Options) { o.State = state })
	again.Press("2")
	again.See("▶ player-42")
	again.Press("down", "enter")
	again.See("Player › player-77")
}

// A ticket's line is pasted as it is; the player in it is shown.
func TestTicketLineFindsThePlayer(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("2")
	c.Paste("ZD-5512: player-42 says the chest of Monday is missing\nsecond line")
	c.See("player-42 says the chest of Monday is missing")
	c.Press("enter")
	c.See("Player › player-42")
	c.See("4 entries")
}

// What looks like one reward paid twice, and what an audit found, is marked, explained and grouped.
func TestPaidTwiceIsMarked(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.World.Post(grant.Request{
		PlayerID: "player-42", EventID: "OUTAGE:player-42:ZD-5512:gems:v1", Kind: "gems", Amount: 200,
	})
	c.Press("2")
	lookUp(c, "player-42")
	c.See("✓ again ▲")
	c.See("✓ granted ▲7") // finding 7 is about the daily reward
	c.See("finding 7: paid twice under ids that differ in case only")
	c.See("The same reward was posted before: ledger row 4")
	c.Press("=")
	c.See("what looks paid twice stands together")
	c.Wait("the marked ones first", func(s string) bool {
		return strings.LastIndex(s, "granted ▲ ") < strings.Index(s, "season-48")
	})
	c.Press("n", "N")
	c.See("Finding 7 of audit 12, open: paid twice")
	c.Press("F")
	c.See("one event is paid once")
	c.Press("esc", "=")
	c.Wait("the order of time", func(s string) bool {
		return strings.Index(s, "▲7") > strings.Index(s, "season-48")
	})
}

// The copy menu and the export are those of every list.
func TestPlayerIsCopiedAndExported(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got tui.Export
	c := sample(t, 120, 32, func(o *tui.Options) {
		o.Export = func(_ context.Context, rows tui.Export) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			got = rows
			return "rows.jsonl", nil
		}
	})
	c.Press("2")
	lookUp(c, "player-42")
	c.See("4 entries")
	for key, what := range map[string]string{
		"i": "its id", "r": "the row as text", "j": "the row as JSON",
		"c": "the command that lists the same", "s": "SQL that shows it again",
	} {
		c.Press("y")
		c.See("a letter, or enter")
		c.Press(key)
		c.See("copied " + what)
	}
	c.Press("/")
	c.Type("amount:>=200")
	c.Press("enter")
	c.See("1 match")
	c.Press("e")
	c.See("the 1 rows that match the filter")
	c.Press("down", "enter")
	c.See("1 rows written to rows.jsonl")
	mu.Lock()
	defer mu.Unlock()
	if got.Format != "jsonl" || got.Rows[0][0] != "2026-11-30T14:02:03Z" ||
		got.Rows[0][1] != "granted" || got.Rows[0][2] != "200" ||
		got.Rows[0][5] != "outage:player-42:ZD-5512:gems:v1" {
		t.Errorf("exported %+v", got)
	}
}

// A filter that names a column that is not there says so.
func TestWrongColumnInAFilterIsSaid(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("/")
	c.Type("ownr:worker")
	c.See("there is no column ownr: did you mean owner? It is looked for as text")
	c.Press("esc", "/")
	c.Type("reward:player-42") // a name with a colon is no mistake
	c.See("1 match")
	c.NotSee("there is no column")
	c.Press("esc", "/")
	c.Type("left:<x")
	c.See("left:<x: compare with a number, a time such as 5s, or a day")
	c.Press("backspace")
	c.Type("10s")
	c.See("2 match")
}

// A range is marked from the last mark to the cursor, whichever is above.
func TestRangeIsMarked(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("v")
	c.See("1 marked")
	c.Press("j", "j", "v")
	c.See("3 marked")
	c.Press("\\", "G", "space", "k", "\x00")
	c.See("2 marked")
}
